package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Fault is one small change of the design that makes it wrong.
type Fault struct {
	Name   string
	Is     string // what is wrong then
	Clause string // of the rule that is broken
	File   string // of the design, from the root of the module
	Old    string // occurs once in File
	New    string
}

//go:embed faults.txt
var list string

// Parse reads a list of faults. An entry is
//
//	fault  NAME
//	is     what is wrong then
//	clause where the rule is found
//	file   path from the root of the module
//	-old lines, as they are in the file
//	+new lines
//
// Entries are separated by empty lines; lines that begin with # are comments.
func Parse(text string) (faults []Fault, err error) {
	var f *Fault
	keys := map[string]func(*Fault) *string{
		"is":     func(f *Fault) *string { return &f.Is },
		"clause": func(f *Fault) *string { return &f.Clause },
		"file":   func(f *Fault) *string { return &f.File },
	}
	for i, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		switch {
		case line == "" || line[0] == '#':
			f = nil
		case key == "fault":
			faults = append(faults, Fault{Name: value})
			f = &faults[len(faults)-1]
		case f == nil:
			return nil, fmt.Errorf("line %d: %q is no part of an entry, which begins with \"fault NAME\"", i+1, line)
		case line[0] == '-':
			f.Old += line[1:] + "\n"
		case line[0] == '+':
			f.New += line[1:] + "\n"
		case keys[key] == nil:
			return nil, fmt.Errorf("line %d: %q is none of fault, is, clause, file, - and +", i+1, key)
		default:
			*keys[key](f) = value
		}
	}
	seen := map[string]bool{}
	for i := range faults {
		f := &faults[i]
		switch {
		case f.Name == "" || f.Is == "" || f.Clause == "" || f.File == "" || f.Old == "":
			return nil, fmt.Errorf("fault %q: name, is, clause, file and old lines must be there", f.Name)
		case seen[f.Name]:
			return nil, fmt.Errorf("fault %q: there are two of that name", f.Name)
		}
		seen[f.Name] = true
	}
	return faults, nil
}

// Apply returns the file with the fault in it, and the line where that begins.
func (f *Fault) Apply(root string) (text []byte, line int, err error) {
	b, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return nil, 0, fmt.Errorf("fault %s: %w", f.Name, err)
	}
	right := "\n" + string(b) // so that old lines begin where a line does
	if n := strings.Count(right, "\n"+f.Old); n != 1 {
		return nil, 0, fmt.Errorf("fault %s: the old lines are %d times in %s, must be once:\n%s", f.Name, n, f.File, f.Old)
	}
	before, after, _ := strings.Cut(right, "\n"+f.Old)
	return []byte((before + "\n" + f.New + after)[1:]), strings.Count(before, "\n") + 1, nil
}
