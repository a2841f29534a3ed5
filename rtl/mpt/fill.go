package mpt

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/rtl/port"
)

// The two that write page addresses.
const (
	fillAdmin = iota // from Pages
	fillMem          // from MemPages
	fillers
)

const perBeat = port.BeatBytes / 8 // addresses of a beat

// fill takes the addresses of the pages of a region from a stream into the page table.
type fill struct {
	Busy  bool
	Bad   bool   // nothing more is written: refused, or an address was not aligned
	First uint32 // entry of the first
	Num   uint32
	Done  uint32 // taken so far
	Log   uint8  // log2 of the bytes of a page
}

func newFill(first, num uint32, log uint8, ok bool) fill {
	return fill{Busy: num != 0, Bad: !ok, First: first, Num: num, Log: log}
}

func (m *MPT) fillIn(i int) *hdl.In[port.Beat] {
	if i == fillMem {
		return &m.MemPages
	}
	return &m.Pages
}

// wantsStore is regs.Store of the next cycle, for which look-ups are held back in this
// one: the look-up that is picked now may want both ports of the page table then.
func (m *MPT) wantsStore() uint8 {
	if m.Q.Store != 0 {
		return 0
	}
	for i := fillers - 1; i >= 0; i-- {
		if m.Q.Fill[i].Busy && m.fillIn(i).Valid() {
			return uint8(1 + i)
		}
	}
	return 0
}

// fill writes one address. One that is not aligned spoils the list, but not the count
// of beats.
func (m *MPT) fill() {
	if m.Q.Store == 0 {
		return
	}
	i := int(m.Q.Store - 1)
	q, d, in := &m.Q.Fill[i], &m.D.Fill[i], m.fillIn(i)
	lane := q.Done % perBeat
	addr := binary.LittleEndian.Uint64(in.Head().Data[8*lane:])
	if addr&(1<<q.Log-1) != 0 {
		d.Bad = true
	} else if !q.Bad {
		a := port.BusAddr(addr)
		m.PageTable.Write(1, int(q.First+q.Done), &a)
	}
	d.Done = q.Done + 1
	d.Busy = d.Done != q.Num
	if lane == perBeat-1 || !d.Busy {
		in.Take()
	}
}
