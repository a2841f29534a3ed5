package nic

import (
	"encoding/binary"

	"rnic/roce"
)

// CtxIndex is the number of a line of the context RAM.
type CtxIndex uint16

// Width is 10 bits.
func (CtxIndex) Width() int { return 10 }

// QueueID is one of 16 queues; two share a FIFO.
type QueueID uint8

// Width is 4 bits.
func (QueueID) Width() int { return 4 }

// Beat is one cycle's worth of data with its sideband.
type Beat struct {
	Data  [64]byte // eight words, little-endian
	Seq   uint32   // number of the beat; behind Context, of beats that its line saw
	Index CtxIndex // line of the context RAM that it updates
	Queue QueueID
	Last  bool // ends what one CRC runs over
}

// Checked is a beat with the CRC register behind it.
type Checked struct {
	Data [64]byte
	Seq  uint32
	CRC  roce.CRC
}

func word(b *[64]byte, i int) uint64       { return binary.LittleEndian.Uint64(b[8*i:]) }
func setWord(b *[64]byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[8*i:], v) }

// golden is 2^64 over the golden ratio: an odd constant without pattern.
const golden = 0x9E3779B97F4A7C15
