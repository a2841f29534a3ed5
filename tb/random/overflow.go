package random

import (
	"rnic/hdl"
	"rnic/rtl"
	"rnic/rtl/port"
	"rnic/tb"
)

// entry sees what becomes of each frame that has come to the port of a NIC: pkt_rx
// judges them in order, and counts each. One for which rx_buf has no room is dropped.
type entry struct {
	hdl.Behave
	Stats  hdl.Tap[port.RxStats]
	last   port.RxStats
	judged func(now uint64, lost bool)
}

// Tick runs when a frame was judged.
func (e *entry) Tick() {
	s := e.Stats.Get()
	if s == e.last {
		return
	}
	lost := s.DropOverflow != e.last.DropOverflow
	e.last = s
	e.judged(e.Now(), lost)
}

// bench builds a fresh bench. If frames may find no room, its NICs have entries.
func (s *Scenario) bench() (b *tb.Bench, entries [2]*entry, err error) {
	c := s.Bench
	if s.Loss != nil {
		c.Insert = func(host int, nic *rtl.NIC) any {
			e := &entry{}
			hdl.Wire(&nic.PktRx.Stats, &e.Stats)
			entries[host] = e
			return e
		}
	}
	b, err = tb.New(c)
	return b, entries, err
}

// waiting is a frame that has come to the port and is not judged.
type waiting struct {
	badFCS bool
	data   []byte
}

// judged tells the acceptor of the oldest frame that has come, or that it has not.
func (s *side) judged(now uint64, lost bool) {
	f := s.waiting[0]
	s.waiting = s.waiting[1:]
	if lost {
		s.accept.Overflow(now, f.data)
		return
	}
	s.accept.Frame(now, false, f.badFCS, f.data)
}
