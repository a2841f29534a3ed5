package scatter_test

import "rnic/rtl/port"

// memory is host memory by page. What was never written is 0.
type memory map[port.BusAddr]*[pageBytes]byte

func (m memory) set(a port.BusAddr, x byte) {
	p := m[a/pageBytes]
	if p == nil {
		p = new([pageBytes]byte)
		m[a/pageBytes] = p
	}
	p[a%pageBytes] = x
}

func (m memory) get(a port.BusAddr) byte {
	if p := m[a/pageBytes]; p != nil {
		return p[a%pageBytes]
	}
	return 0
}

// byteAt is a byte that is to be written.
type byteAt struct {
	at port.BusAddr
	x  byte
}
