package waves

import (
	"encoding/binary"
	"math/bits"
)

// What tracers render for an FST is records, one a change:
//
//	uint32, little-endian   handle<<2 | kind
//	value                   of a vector: bytes, first bit first, left-justified, as in the file
//	                        of a string: uvarint length, bytes
//	                        of a bit, or if the kind is x: nothing
//
// The handle is the variable's place in the file, from 1.

const (
	recordValue = 0 // of a bit: 0
	recordX     = 1
	recordOne   = 2 // of a bit: 1
	recordKind  = 3
)

// recordHead is what the records of the n-th variable begin with.
func recordHead(n int) uint32 { return uint32(n+1) << 2 }

func appendHead(b []byte, head uint32) []byte { return binary.LittleEndian.AppendUint32(b, head) }

func appendBitRecord(b []byte, head uint32, v byte) []byte {
	switch v {
	case '1':
		head |= recordOne
	case 'x':
		head |= recordX
	}
	return appendHead(b, head)
}

// appendTextValue is the value of a string, in a record as in the file.
func appendTextValue(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendRecord renders the value for an FST.
func (d *shown) appendRecord(b []byte) []byte {
	switch {
	case d.x:
		b = appendHead(b, d.code.record|recordX)
	case d.bit:
		b = appendHead(b, d.code.record|uint32(d.last)<<1)
	case d.how == asBytes:
		b = append(appendHead(b, d.code.record), d.rare.wide...)
	default:
		spare := bits.LeadingZeros64(d.mask)
		b = appendHead(b, d.code.record)
		b = binary.BigEndian.AppendUint64(b, d.last<<spare)[:len(b)+(71-spare)/8]
	}
	if d.text != nil {
		b = d.text.change(b, d.last, d.x)
	}
	return b
}
