package atomic

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// state is where an operation is.
type state uint8

const (
	free   state = iota
	wait         // for older ones on the word, then for its turn to read
	read         // the word is being read
	write        // the new value waits for its turn
	post         // the new value is on its way to the posted queue
	finish       // over; Res and Done are to be told
)

// Width is 3 bits.
func (state) Width() int { return 3 }

func (s state) String() string {
	return [...]string{"FREE", "WAIT", "READ", "WRITE", "POST", "FINISH", "RESERVED", "RESERVED"}[s&7]
}

// slot is one operation.
type slot struct {
	State   state
	Behind  uint8 // the slots of older operations on the word, a bit each
	QPN     port.QPN
	PSN     roce.PSN
	Slot    uint8 // of the request
	Addr    port.BusAddr
	Op      roce.Opcode
	Swap    uint64 // or what is added
	Compare uint64
	Value   uint64 // original
	Err     bool
}

// matches tells whether there is a new value.
func (s *slot) matches() bool { return s.Op != roce.RCCmpSwap || s.Value == s.Compare }

// next is the new value.
func (s *slot) next() uint64 {
	if s.Op == roce.RCCmpSwap {
		return s.Swap
	}
	return s.Value + s.Swap
}

// order is a queue of slots: dma answers in the order of its requests.
type order struct {
	N    uint8
	Slot [maxSlots]uint8 // oldest first
}

func (o *order) push(i int) {
	o.Slot[o.N] = uint8(i)
	o.N++
}

func (o *order) pop() int {
	i := o.Slot[0]
	copy(o.Slot[:], o.Slot[1:])
	o.N--
	return int(i)
}
