package waves

import (
	"math/bits"
	"unsafe"

	"rnic/hdl"
)

// tape is what a kernel's tracer notes while the kernel runs, for its renderer to make
// changes of on another processor: words, each note a head and what belongs to it. The
// head is what it is in its lowest 8 bits, and above them which owner or what value.
type tape struct {
	words []uint64
	upto  int64 // ps: all before is on this tape or on earlier ones
	last  bool
	final int64 // of the last tape: where the kernel's part of the file ends
}

const (
	tapeSingle = iota // of an owner: its word follows
	tapeOwner         // of an owner: its words follow
	tapeMoved         // of an owner: of each 64 words those that moved follow, behind which they are
	tapeVoid          // of an owner: it has no value
	tapeTime          // what follows is at a time in ps, the next word
	tapeClock         // '0', '1' or 'x'
	tapeReset         // '0' or '1'
	tapeDump          // all values: the clock, and 256 times the reset. What is before it shows in it only
	tapeKinds  = 256
)

const (
	tapeSize  = 32 << 10 // words after which a tape is handed over
	tapeSlack = 8 << 10  // room for a cycle more
	blockSpan = 4096     // or cycles, so that kernels that are busy wait not long for one that is not
	tapes     = 3        // besides the one that is being filled
)

// source is an owner as a tracer notes it.
type source struct {
	home  unsafe.Pointer // where its words always are; nil if the kernel has to be asked
	moved []uint64       // of a module: the kernel's note which they are
	words uint32         // 0: the file has nothing of it
	head  uint32
}

// note appends owners as they are now, of those that may have changed.
func (t *tracer) note(list []int32) {
	w := t.tape.words
	for _, o := range list {
		if int(o) >= len(t.sources) {
			continue
		}
		switch s := &t.sources[o]; {
		case s.words == 0:
		case s.moved != nil:
			w = s.appendMoved(w)
		case s.words == 1 && s.home != nil:
			w = append(w, uint64(s.head), *(*uint64)(s.home))
		default:
			w = s.append(w, t.k, int(o))
		}
	}
	t.tape.words = w
}

// noteAll appends owners as they are now.
func (t *tracer) noteAll(list []int32) {
	for _, o := range list {
		t.tape.words = t.sources[o].append(t.tape.words, t.k, int(o))
	}
}

// append appends all words.
func (s *source) append(w []uint64, k *hdl.Kernel, owner int) []uint64 {
	home := s.home
	if home == nil {
		if home = k.Base(owner); home == nil {
			return append(w, uint64(s.head-s.head%tapeKinds+tapeVoid))
		}
	}
	return append(append(w, uint64(s.head)), unsafe.Slice((*uint64)(home), s.words)...)
}

// appendMoved appends the words that the kernel moved.
func (s *source) appendMoved(w []uint64) []uint64 {
	w = append(w, uint64(s.head+tapeMoved-tapeOwner))
	for at := uint32(0); at < s.words; at += 64 {
		set := s.moved[at/64]
		if left := s.words - at; left < 64 {
			set &= 1<<left - 1
		}
		w = append(w, set)
		for ; set != 0; set &= set - 1 {
			w = append(w, *(*uint64)(unsafe.Add(s.home, 8*(at+uint32(bits.TrailingZeros64(set))))))
		}
	}
	return w
}

// nothing appends that nothing happens in owners.
func (t *tracer) nothing(list []int32) {
	for _, o := range list {
		s := &t.sources[o]
		t.put(uint64(s.head))
		for range s.words {
			t.put(0)
		}
	}
}

func (t *tracer) put(w uint64) { t.tape.words = append(t.tape.words, w) }

// at ends what is noted of one time and begins another.
func (t *tracer) at(ps int64) {
	t.tape.words = append(t.tape.words, tapeTime, uint64(ps))
	t.t = ps
}

func (t *tracer) clock(v byte) { t.put(tapeClock | uint64(v)*tapeKinds) }

// handOver gives the tape to the renderer when it is long or spans much time. All before
// the time is on it.
func (t *tracer) handOver(ps int64) {
	if len(t.tape.words) < tapeSize && ps-t.sent < blockSpan*t.period {
		return
	}
	if err := t.m.failed.Load(); err != nil {
		panic(&hdl.Fault{Path: "waves", Cycle: t.k.Cycle(), Msg: (*err).Error()})
	}
	t.sent = ps
	t.give(ps)
	if t.rows != nil {
		t.rows.handOver(ps - RowLag*t.period)
	}
}

// give gives the tape away.
func (t *tracer) give(upto int64) {
	t.tape.upto = upto
	t.r.in <- t.tape
	t.tape = <-t.r.free
	t.tape.words = t.tape.words[:0]
}
