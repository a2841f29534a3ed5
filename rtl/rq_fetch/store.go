package rqfetch

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// noneBad stands in arrival.Bad for no unreadable entries.
const noneBad = 0xff

// word is the width of the data path.
type word [port.BeatBytes]byte

// arrival is what has come of a line.
type arrival struct {
	Gen  bool  // use of the line that it is about
	Here uint8 // entries before it have come
	Bad  uint8 // entries from it on were unreadable
}

type storeRegs struct {
	// Arriving data.
	Beat  uint8 // of the present read
	Merge bool  // port 1 shows the word that the read starts in the middle of
	Marks uint8 // markers that have come, not yet answered
	Lines [maxLines]arrival
	// Answer of which the RAMs show words 2 Pair and 2 Pair + 1 on port 0. Part has
	// the elements before those.
	Busy   bool
	Answer want
	Pair   uint8
	Part   port.RQWQE
}

// Store holds the lines. Words 0, 2, 4, 6 of each are in Even, the others in
// Odd, so that 128 bytes are read at once.
type Store struct {
	Data hdl.In[port.ReadBeat]
	WQE  hdl.Out[port.RQWQE]

	Want     hdl.In[want]
	Flight   hdl.In[flight]
	Filled   hdl.Out[filled]
	Answered hdl.Out[answered]
	Links    hdl.Out[links]

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
	if f.Mark {
		s.Flight.Take()
		d.Marks++
		return
	}
	if f.Shift != 0 && !q.Merge {
		s.bank(f.Word).Read(1, ramAddr(f.Line, f.Word))
		d.Merge = true
		return
	}
	if !s.Data.Valid() || !s.Filled.Ready() || f.Shared && !s.Links.Ready() {
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
		if f.Shared {
			s.link(f.Line, w, to)
		}
	}
	if b.Last {
		s.arrived(f, b.Err)
	}
}

// link tells Lookup where the entries that a word of a shared queue's line may hold
// point to.
func (s *Store) link(line, w uint8, from *word) {
	k := s.Links.Next()
	k.Line, k.Word = line, w
	for i := range k.Link {
		var c abi.RWQEControl
		_ = abi.RWQEControlLayout.Decode(from[i*abi.RWQEDataOffset:], &c) // long enough by type
		k.Link[i] = link{c.Index, c.Next}
	}
}

// arrived ends a read.
func (s *Store) arrived(f *flight, err bool) {
	d := &s.D
	d.Beat, d.Merge = 0, false
	l := &d.Lines[f.Line]
	if l.Gen != f.Gen {
		*l = arrival{Gen: f.Gen, Bad: noneBad}
	}
	l.Here = f.To
	if err {
		l.Bad = min(l.Bad, f.From)
	}
	if !f.More {
		s.Filled.Put(filled{Line: f.Line, Err: err})
	}
	s.Flight.Take()
}

// ready tells whether what a request needs is there.
func (s *Store) ready(w *want) bool {
	l := &s.Q.Lines[w.Line]
	switch {
	case w.Mark:
		return s.Q.Marks != 0
	case w.NoLine:
		return true
	}
	return l.Gen == w.Gen && l.Here >= w.Need
}

// read starts the oldest request once its entry is there.
func (s *Store) read() {
	d := &s.D
	if d.Busy || !s.Want.Valid() || !s.ready(s.Want.Head()) {
		return
	}
	w := *s.Want.Take()
	switch {
	case w.Mark:
		d.Marks--
	case !w.NoLine && s.Q.Lines[w.Line].Bad < w.Need:
		w.Vendor = abi.VendorWQERead
	}
	d.Answer, d.Busy, d.Pair = w, true, 0
	s.look(&w, 0)
}

// look has the RAMs show a pair of words of an entry.
func (s *Store) look(w *want, pair uint8) {
	at := ramAddr(w.Line, uint8(uint16(w.Entry)<<w.LogStride/port.BeatBytes)+2*pair)
	s.Even.Read(0, at)
	s.Odd.Read(0, at)
}

// answer sends the entry that the RAMs show, or takes what they show of it.
func (s *Store) answer() {
	q, d := &s.Q, &s.D
	if !q.Busy || !s.WQE.Ready() || !s.Answered.Ready() {
		return
	}
	w := &q.Answer
	var out port.RQWQE
	switch {
	case w.Vendor != abi.VendorNone:
		out = port.RQWQE{Slot: w.Slot, Err: true, Vendor: w.Vendor}
	case !w.Mark:
		pair := s.pair(w)
		out = q.Part
		if q.Pair == 0 {
			out = control(&pair, w)
		}
		if more := elements(&pair, w, q.Pair, &out); more {
			d.Part, d.Pair = out, q.Pair+1
			s.look(w, d.Pair)
			return
		}
	}
	s.WQE.Put(out)
	d.Busy = false
	if !w.Mark && !w.NoLine {
		s.Answered.Put(answered{Line: w.Line})
	}
}

// pair is the bytes of an entry that the RAMs show.
func (s *Store) pair(w *want) (b pair) {
	at := uint16(w.Entry) << w.LogStride
	if at/port.BeatBytes&1 == 0 {
		copy(b[:], s.Even.Data(0)[at%port.BeatBytes:])
		if w.LogStride > 6 {
			copy(b[port.BeatBytes:], s.Odd.Data(0)[:])
		}
	} else {
		copy(b[:], s.Odd.Data(0)[at%port.BeatBytes:])
	}
	return b
}
