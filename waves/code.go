package waves

import "encoding/binary"

// format is what a file is written as.
type format uint8

const (
	asVCD format = iota
	asFST
)

// String is the format's suffix of files.
func (f format) String() string { return [...]string{"vcd", "fst"}[f] }

// code is how a variable is called in the changes of a file. In a VCD it is the
// identifier and the end of the line, as it is appended: at most 8 bytes in a word.
type code struct {
	word   uint64
	n      uint8
	record uint32 // in an FST: what its records begin with; 0 in a VCD
}

// newCode is the code of a variable. In a VCD, that of anything but a scalar stands
// apart from the value.
func newCode(f format, v *Var, scalar bool) code {
	if f == asFST {
		return code{record: recordHead(v.n)}
	}
	s := string(appendID(nil, v.n)) + "\n"
	if !scalar {
		s = " " + s
	}
	var w [8]byte
	return code{n: uint8(copy(w[:], s)), word: binary.LittleEndian.Uint64(w[:])}
}

func (c *code) append(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(b, c.word)[:len(b)+int(c.n)]
}

// bit appends the change of a scalar to '0', '1' or 'x'.
func (c *code) bit(b []byte, v byte) []byte {
	if c.record != 0 {
		return appendBitRecord(b, c.record, v)
	}
	return c.append(append(b, v))
}

// text appends the change of a string.
func (c *code) text(b []byte, s string) []byte {
	if c.record != 0 {
		return appendTextValue(appendHead(b, c.record|recordLong), s)
	}
	return c.append(appendText(append(b, 's'), s))
}
