package waves

import (
	"encoding/binary"
	"math/bits"
)

// What tracers render for an FST is records, one a change:
//
//	uint32, little-endian   handle<<4 | kind
//	value                   of a bit, or if the kind is x: nothing
//	                        of a vector: bytes, first bit first, left-justified, as in the file
//	                        of a string: uvarint length, bytes
//
// The handle is the variable's place in the file, from 1. Kinds say how long the value is,
// so that whoever reads a record need not look the variable up to find the next one.

const (
	recordZero  = 0 // of a bit
	recordOne   = 1 // of a bit
	recordX     = 2
	recordLong  = 3 // a string, or a vector of more than 8 bytes
	recordShort = 4 // a vector of one byte; and so on to 8 bytes
	recordKinds = 16
)

// recordHead is what the records of the n-th variable begin with, but for the kind.
func recordHead(n int) uint32 { return uint32(n+1) * recordKinds }

// kindOf is the kind of a vector of so many bits.
func kindOf(width int) uint32 {
	if width > 64 {
		return recordLong
	}
	return recordShort + uint32(width-1)/8
}

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
	switch head := d.code.record; {
	case d.x:
		b = appendHead(b, head|recordX)
	case d.bit:
		b = appendHead(b, head|uint32(d.last))
	case d.how == asBytes:
		b = append(appendHead(b, head|kindOf(8*len(d.rare.wide))), d.rare.wide...)
	default:
		spare := bits.LeadingZeros64(d.mask)
		size := uint32(71-spare) / 8
		b = appendHead(b, head|(recordShort-1+size))
		b = binary.BigEndian.AppendUint64(b, d.last<<spare)[:len(b)+int(size)]
	}
	if d.text != nil {
		b = d.text.change(b, d.last, d.x)
	}
	return b
}
