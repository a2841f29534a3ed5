package roce

import "fmt"

// MTU is the path MTU: payload bytes per packet, headers not included, as the
// enumeration of verbs. 0, 6 and 7 are not valid.
type MTU uint8

const (
	MTU256  MTU = 1
	MTU512  MTU = 2
	MTU1024 MTU = 3
	MTU2048 MTU = 4
	MTU4096 MTU = 5
)

// Width is 3 bits.
func (MTU) Width() int { return 3 }

// Valid tells whether m is one of the five.
func (m MTU) Valid() bool { return m >= MTU256 && m <= MTU4096 }

// Shift is the binary logarithm of Bytes, 8 to 12.
func (m MTU) Shift() uint { return 7 + uint(m) }

// Bytes is the payload of a full packet, 256 to 4096 bytes.
func (m MTU) Bytes() int { return 1 << m.Shift() }

// Packets is the number of packets of a message, and so of the PSNs that it or
// a READ's responses take: max(1, ceil(length / MTU)).
func (m MTU) Packets(length uint32) uint32 {
	if length == 0 {
		return 1
	}
	return (length-1)>>m.Shift() + 1
}

// String returns the bytes, as "1024".
func (m MTU) String() string {
	if !m.Valid() {
		return fmt.Sprintf("MTU(%d)", uint8(m))
	}
	return fmt.Sprint(m.Bytes())
}

// MTUOf returns the enumeration value for a number of bytes.
func MTUOf(bytes int) (m MTU, ok bool) {
	for m := MTU256; m <= MTU4096; m++ {
		if m.Bytes() == bytes {
			return m, true
		}
	}
	return 0, false
}
