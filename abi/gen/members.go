package main

import (
	"fmt"
	"reflect"
	"strings"

	"rnic/abi"
	"rnic/bits"
)

// member is a run of whole bytes of a structure: a structure of its own, an
// array of bytes, or one or more scalar fields.
type member struct {
	name   string // in C
	goName string // of a nested structure
	off    int    // bytes from the start of the structure
	size   int    // bytes, of all elements
	nested *abi.Structure
	count  int // elements if it is an array of structures, else 0
	bytes  bool
	fields []bits.Field // BitOffset counts from the start of the structure
}

// reserved tells a member without a field that has a name.
func (m *member) reserved() bool {
	for _, f := range m.fields {
		if !f.Reserved {
			return false
		}
	}
	return m.nested == nil
}

// members cuts a structure at every byte boundary between its fields.
func members(s abi.Structure) ([]member, error) {
	var ms []member
	leaves := s.Fields
	for i := range s.Type.NumField() {
		goField := s.Type.Field(i)
		nested, count := nestedStructure(goField.Type)
		if nested == nil {
			f := leaves[0]
			if w := strings.TrimSuffix(f.Name, "]"); w != f.Name {
				return nil, fmt.Errorf("%s.%s: an array of scalars", s.Name, f.Name)
			}
			leaves = leaves[1:]
			ms = appendLeaf(ms, f, goField.Type)
			continue
		}
		first := leaves[0].BitOffset
		if first%8 != 0 {
			return nil, fmt.Errorf("%s.%s: not on a byte boundary", s.Name, goField.Name)
		}
		leaves = leaves[max(count, 1)*len(nested.Fields):]
		ms = append(ms, member{
			name: snake(goField.Name), goName: goField.Name, off: first / 8, size: max(count, 1) * nested.Size, nested: nested, count: count,
		})
	}
	for i := range ms {
		if ms[i].nested == nil {
			ms[i].name = memberName(&ms[i])
		}
	}
	return ms, nil
}

// appendLeaf opens a new member if f begins on a byte boundary, else extends
// the last one.
func appendLeaf(ms []member, f bits.Field, t reflect.Type) []member {
	if f.BitOffset%8 == 0 {
		bytes := t.Kind() == reflect.Array && !f.Reserved
		ms = append(ms, member{off: f.BitOffset / 8, bytes: bytes})
	}
	m := &ms[len(ms)-1]
	m.fields = append(m.fields, f)
	m.size = (f.BitOffset+f.Width+7)/8 - m.off
	return ms
}

func memberName(m *member) string {
	var names []string
	for _, f := range m.fields {
		if !f.Reserved {
			names = append(names, snake(f.Name))
		}
	}
	if names == nil {
		return fmt.Sprintf("reserved%d", m.off)
	}
	return strings.Join(names, "_")
}

// nestedStructure finds the structure of type t; count is the length if t is
// an array of them.
func nestedStructure(t reflect.Type) (s *abi.Structure, count int) {
	if t.Kind() == reflect.Array {
		count, t = t.Len(), t.Elem()
	}
	for _, known := range abi.Structures() {
		if known.Type == t {
			return &known, count
		}
	}
	return nil, 0
}
