package pcie

import "encoding/binary"

// Space is a configuration space as its host reads and writes it: bytes, and
// which of their bits can be written.
type Space struct {
	data, mask [ConfigSize]byte
	shape      Shape
}

// NewSpace returns the space of a device as at power-on.
func NewSpace(shape Shape) Space {
	s := Space{shape: shape}
	w := Writable(shape)
	ConfigLayout.Encode(&w, s.mask[:])
	s.Reset()
	return s
}

// Reset puts all registers back as at power-on.
func (s *Space) Reset() {
	c := PowerOn(s.shape)
	ConfigLayout.Encode(&c, s.data[:])
}

// inside tells whether n bytes at off are an aligned register access.
func inside(off uint16, n int) bool {
	return (n == 1 || n == 2 || n == 4) && int(off)%n == 0 && int(off)+n <= ConfigSize
}

// Read returns n bytes (1, 2 or 4, naturally aligned) at off. Other accesses
// give all ones; the extended space from 0x100 on reads 0, it has nothing.
func (s *Space) Read(off uint16, n int) uint32 {
	if !inside(off, n) {
		if off >= ConfigSize {
			return 0
		}
		return 0xFFFFFFFF
	}
	var b [4]byte
	copy(b[:], s.data[off:int(off)+n])
	return binary.LittleEndian.Uint32(b[:])
}

// Write writes n bytes at off, as far as they can be written. It reports whether
// a function level reset was asked for, which is the device's to do.
func (s *Space) Write(off uint16, n int, v uint32) (reset bool) {
	if !inside(off, n) {
		return false
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	for i := range n {
		m := s.mask[int(off)+i]
		s.data[int(off)+i] = s.data[int(off)+i]&^m | b[i]&m
	}
	flr := int(offsetExpress) + 9 - int(off) // bit 15 of device control
	return flr >= 0 && flr < n && b[flr]&0x80 != 0
}

// Config returns the registers.
func (s *Space) Config() Config {
	var c Config
	_ = ConfigLayout.Decode(s.data[:], &c) // never short
	return c
}

// PayloadLimit is the MaxPayload in force, bytes. Reserved encodings are 128.
func (c *Config) PayloadLimit() int { return sizeOf(c.Express.MaxPayload) }

// ReadLimit is the MaxReadRequest in force, bytes. Reserved encodings are 128.
func (c *Config) ReadLimit() int { return sizeOf(c.Express.MaxReadReq) }

func sizeOf(code uint8) int {
	if code > 5 {
		return 128
	}
	return 128 << code
}

// BAR is the bus address of BAR 0.
func (c *Config) BAR() uint64 { return uint64(c.BAR1)<<32 | uint64(c.BAR0&^15) }
