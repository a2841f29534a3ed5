package roce

import (
	"encoding/binary"
	"hash/crc32"
)

// CRC is the register of a CRC-32 in progress (polynomial 0x04C11DB7, reflected;
// IEEE 802.3 clause 3.2.9): the one of the FCS and of the ICRC. The register
// starts at FCSStart or ICRCStart, takes bytes in order of the wire, and Sum is
// what the wire then carries, little-endian.
type CRC uint32

const (
	FCSStart  CRC = 0xFFFFFFFF // all ones, nothing taken yet
	ICRCStart CRC = 0xDEBB20E3 // FCSStart after 8 bytes of 0xFF in place of the LRH

	// Residue is the register after data and its own stored sum: a receiver
	// that runs over both compares with this. It is no accident that ICRCStart
	// has the same value: both are a register of 0 after four bytes of 0xFF.
	Residue CRC = 0xDEBB20E3
)

// Width is 32 bits.
func (CRC) Width() int { return 32 }

// Sum is the complement of the register, to be stored little-endian.
func (c CRC) Sum() uint32 { return ^uint32(c) }

// Update takes any number of bytes.
func (c CRC) Update(b []byte) CRC {
	return CRC(^crc32.Update(^uint32(c), crc32.IEEETable, b))
}

// Beat takes the first n bytes (0..64) of a beat of the datapath. A full beat
// goes to the processor's carry-less multiplier where there is one, a part of
// one to the tables, which are faster at lengths that are not multiples of 16.
func (c CRC) Beat(b *[64]byte, n int) CRC {
	if n == 64 {
		return c.Update(b[:])
	}
	return c.table(b[:n])
}

// FCS is the frame check sequence of a frame, stored little-endian behind it.
func FCS(frame []byte) uint32 { return FCSStart.Update(frame).Sum() }

// crcTables[k][x] is the register that byte x leaves k bytes later.
var crcTables = func() (t [16][256]CRC) {
	for x := range t[0] {
		t[0][x] = CRC(crc32.IEEETable[x])
	}
	for k := 1; k < 16; k++ {
		for x := range t[k] {
			c := t[k-1][x]
			t[k][x] = t[0][c&0xFF] ^ c>>8
		}
	}
	return t
}()

// table takes bytes 16, 8, 4 and 1 at a time. Unlike Update it does not let b
// escape to the heap.
func (c CRC) table(b []byte) CRC {
	t := &crcTables
	for len(b) >= 16 {
		x := binary.LittleEndian.Uint64(b) ^ uint64(c)
		y := binary.LittleEndian.Uint64(b[8:])
		c = t[15][x&255] ^ t[14][x>>8&255] ^ t[13][x>>16&255] ^ t[12][x>>24&255] ^
			t[11][x>>32&255] ^ t[10][x>>40&255] ^ t[9][x>>48&255] ^ t[8][x>>56] ^
			t[7][y&255] ^ t[6][y>>8&255] ^ t[5][y>>16&255] ^ t[4][y>>24&255] ^
			t[3][y>>32&255] ^ t[2][y>>40&255] ^ t[1][y>>48&255] ^ t[0][y>>56]
		b = b[16:]
	}
	if len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b) ^ uint64(c)
		c = t[7][x&255] ^ t[6][x>>8&255] ^ t[5][x>>16&255] ^ t[4][x>>24&255] ^
			t[3][x>>32&255] ^ t[2][x>>40&255] ^ t[1][x>>48&255] ^ t[0][x>>56]
		b = b[8:]
	}
	if len(b) >= 4 {
		x := binary.LittleEndian.Uint32(b) ^ uint32(c)
		c = t[3][x&255] ^ t[2][x>>8&255] ^ t[1][x>>16&255] ^ t[0][x>>24]
		b = b[4:]
	}
	for _, x := range b {
		c = t[0][byte(c)^x] ^ c>>8
	}
	return c
}
