package read

import "fmt"

// Error is a fault of a file.
type Error struct {
	File  string
	Line  int   // of a VCD, from 1; 0 for an FST
	Byte  int64 // of an FST
	Fault string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: line %d: %s", e.File, e.Line, e.Fault)
	}
	return fmt.Sprintf("%s: byte %d: %s", e.File, e.Byte, e.Fault)
}

// quote shows a word of a file, cut if it is long.
func quote(b []byte) string {
	if len(b) > 40 {
		return fmt.Sprintf("%q…", b[:40])
	}
	return fmt.Sprintf("%q", b)
}
