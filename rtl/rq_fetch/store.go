package rqfetch

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// word is the width of the data path.
type word [port.BeatBytes]byte

type storeRegs struct {
	// Arriving data.
	Beat   uint8  // of the present read
	Merge  bool   // port 1 shows the word that the read starts in the middle of
	Ticket uint8  // of the last read that has ended
	Errs   uint64 // by ticket modulo 64: the read failed
	// Answer whose words the RAMs show on port 0.
	Busy   bool
	Answer want
}

// Store holds the lines. Words 0, 2, 4, 6 of each are in Even, the others in
// Odd, so that an entry with four elements (80 bytes) is read at once.
type Store struct {
	Data hdl.In[port.ReadBeat]
	WQE  hdl.Out[port.RQWQE]

	Want     hdl.In[want]
	Flight   hdl.In[flight]
	Filled   hdl.Out[filled]
	Answered hdl.Out[answered]

	Even, Odd hdl.RAM[word] // port 0 answers, port 1 arriving data
	hdl.Regs[storeRegs]
}

// Eval stores and answers side by side.
func (s *Store) Eval() {
	s.fill()
	s.answer()
	s.read()
}

func (s *Store) bank(w uint8) *hdl.RAM[word] {
	if w&1 == 0 {
		return &s.Even
	}
	return &s.Odd
}

func ramAddr(line, w uint8) int { return int(line)*wordsPerLine/2 + int(w>>1) }

// fill writes arriving beats into their line. The first word of a read that
// starts in its middle keeps what it holds before that.
func (s *Store) fill() {
	q, d := &s.Q, &s.D
	if !s.Flight.Valid() {
		return
	}
	f := s.Flight.Head()
	if f.Shift != 0 && !q.Merge {
		s.bank(f.Word).Read(1, ramAddr(f.Line, f.Word))
		d.Merge = true
		return
	}
	if !s.Data.Valid() || !s.Filled.Ready() {
		return
	}
	b := s.Data.Take()
	if w := f.Word + q.Beat; w < wordsPerLine {
		bank := s.bank(w)
		first := 0
		if q.Beat == 0 {
			first = int(f.Shift)
		}
		old := bank.Data(1)
		to := bank.WriteNext(1, ramAddr(f.Line, w))
		copy(to[:first], old[:first])
		copy(to[first:], b.Data[first:])
		d.Beat++
	}
	if !b.Last {
		return
	}
	d.Beat, d.Merge = 0, false
	d.Ticket++
	d.Errs &^= 1 << (d.Ticket % 64)
	if b.Err {
		d.Errs |= 1 << (d.Ticket % 64)
	}
	s.Filled.Put(filled{Line: f.Line, Err: b.Err})
	s.Flight.Take()
}

// read starts the oldest request once its entry is there.
func (s *Store) read() {
	q, d := &s.Q, &s.D
	if d.Busy || !s.Want.Valid() {
		return
	}
	w := s.Want.Head()
	if !w.Ready && int8(q.Ticket-w.Ticket) < 0 {
		return
	}
	d.Answer, d.Busy = *s.Want.Take(), true
	if !w.Ready && !w.NoLine && q.Errs>>(w.Ticket%64)&1 != 0 {
		d.Answer.Vendor = abi.VendorWQERead
	}
	at := uint16(w.Entry) << w.LogStride
	addr := ramAddr(w.Line, uint8(at/port.BeatBytes))
	s.Even.Read(0, addr)
	s.Odd.Read(0, addr)
}

// answer sends the entry that the RAMs show.
func (s *Store) answer() {
	q, d := &s.Q, &s.D
	if !q.Busy || !s.WQE.Ready() || !s.Answered.Ready() {
		return
	}
	d.Busy = false
	w := &q.Answer
	if !w.NoLine {
		s.Answered.Put(answered{Line: w.Line})
	}
	out := s.WQE.Next()
	if w.NoLine && w.Vendor == abi.VendorNone {
		*out = port.RQWQE{}
		return
	}
	if w.Vendor != abi.VendorNone {
		*out = port.RQWQE{Err: true, Vendor: w.Vendor}
		return
	}
	var e entry
	at := uint16(w.Entry) << w.LogStride
	if at/port.BeatBytes&1 == 0 {
		copy(e[:], s.Even.Data(0)[at%port.BeatBytes:])
		if w.LogStride > 6 {
			copy(e[port.BeatBytes:], s.Odd.Data(0)[:])
		}
	} else {
		copy(e[:], s.Odd.Data(0)[at%port.BeatBytes:])
	}
	*out = parse(&e, w.Idx, w.LogStride)
}
