package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file, from 1.
type Pos struct{ Line, Col int }

// Error is what is wrong at a place of a file.
type Error struct {
	File string
	Pos
	Msg string
}

// Error is file:line:column: reason.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Errors are all that was found in a file, in its order.
type Errors []*Error

// Error has a line for each, 20 at most.
func (l Errors) Error() string {
	const most = 20
	var b strings.Builder
	for i, e := range l {
		switch {
		case i == most:
			fmt.Fprintf(&b, "\nand %d more", len(l)-most)
			return b.String()
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// sorted puts them in the order of the file, each once.
func (l Errors) sorted() Errors {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.CompactFunc(l, func(a, b *Error) bool { return *a == *b })
}

// oneOf says what a word may be, and which is meant perhaps.
func oneOf(word string, names []string) string {
	if s := nearest(word, names); s != "" {
		return fmt.Sprintf("did you mean %q?", s)
	}
	if len(names) == 0 {
		return "there is none"
	}
	return "must be one of " + strings.Join(names, ", ")
}

// nearest is the name that few changes of letters make of a word; "": none is near.
func nearest(word string, names []string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	best, least := "", min(len(word), 2+len(word)/4)
	for _, n := range names {
		if d := distance(word, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts letters to be added, left out or changed.
func distance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return long
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
