package abi

// MaxLogRing is log2 of the largest ring: half of what a 16-bit index counts.
const MaxLogRing = 15

// RingSlot is the slot of a free-running index in a ring of 2^log entries.
func RingSlot(index uint16, log uint8) uint16 { return index & (1<<log - 1) }

// RingPhase is the phase bit that the device writes into the entry at a
// free-running index: true in passes 0, 2, 4, … over the ring.
func RingPhase(index uint16, log uint8) bool { return index>>log&1 == 0 }

// Key is a memory key, local or remote: a 24-bit index into the device's table
// and 8 bits that the consumer chooses.
type Key uint32

// Width is the number of bits of a Key.
func (Key) Width() int { return 32 }

// MakeKey joins index (24 bits) and the consumer's byte.
func MakeKey(index uint32, low uint8) Key { return Key(index<<8 | uint32(low)) }

// Index is the entry in the device's key table, 24 bits.
func (k Key) Index() uint32 { return uint32(k) >> 8 }

// Low is the byte chosen by the consumer.
func (k Key) Low() uint8 { return uint8(k) }
