package waves

import "unsafe"

// renderer makes changes of one kernel's tapes, in a goroutine of its own: it compares
// what is on them with what the file shows, and renders what differs into blocks.
type renderer struct {
	m    *merger
	src  int
	from int64 // ps: the window's beginning
	in   chan *tape
	free chan *tape

	singles    []single
	owners     []owner
	shown      []shown
	quick      []quick // of shown, in an FST
	clk, reset code
	high       byte // what clk is shown as
	b          *block
	t          int64 // ps, of what is being appended to b
}

func newRenderer(m *merger, src int, vars []*Var, f format, from int64) *renderer {
	r := &renderer{m: m, src: src, from: from, b: m.block(), in: make(chan *tape, tapes), free: make(chan *tape, tapes+1)}
	for range tapes {
		r.free <- &tape{words: make([]uint64, 0, tapeSize+tapeSlack)}
	}
	r.clk, r.reset = newCode(f, vars[0], true), newCode(f, vars[1], true)
	return r
}

// run renders tapes until the last.
func (r *renderer) run() {
	for last := false; !last; {
		p := <-r.in
		r.play(p.words)
		last = p.last
		r.b.last, r.b.final = last, p.final
		r.handOver(p.upto)
		r.free <- p
	}
}

// play renders what is on a tape.
func (r *renderer) play(w []uint64) {
	b := r.b.buf
	for len(w) > 0 {
		head := w[0]
		w = w[1:]
		switch n := head / tapeKinds; head % tapeKinds {
		case tapeSingle:
			s := &r.singles[n]
			now := w[0] & s.names
			w = w[1:]
			if diff := now ^ s.shown; diff != 0 {
				s.shown = now
				b = r.single(b, s, now, diff)
			}
		case tapeOwner:
			o := &r.owners[n]
			words := len(o.was)
			o.takeAll(w[:words], o.void)
			o.void = false
			b = o.changes(b, r.shown[o.first:o.last])
			w = w[words:]
		case tapeMoved:
			o := &r.owners[n]
			w = o.take(w)
			b = o.changes(b, r.shown[o.first:o.last])
		case tapeVoid:
			if o := &r.owners[n]; !o.void {
				o.void = true
				b = o.shadow.void(b, r.shown[o.first:o.last])
			}
		case tapeTime:
			r.b.buf = b
			r.at(int64(w[0]))
			b = r.b.buf
			w = w[1:]
		case tapeClock:
			b = r.clock(b, byte(n))
		case tapeReset:
			b = r.reset.bit(b, byte(n))
		case tapeDump:
			r.b.buf = b[:0]
			r.dump(byte(n), byte(n>>8))
			b = r.b.buf
		}
	}
	r.b.buf = b
}

// at ends the changes of one time and begins those of another.
func (r *renderer) at(ps int64) {
	r.b.close(r.t)
	r.t = ps
	if len(r.b.buf) >= blockSize {
		r.handOver(ps)
	}
}

// handOver gives the block to the merger, with all changes before a time.
func (r *renderer) handOver(upto int64) {
	r.b.src, r.b.upto = r.src, upto
	r.m.in <- r.b
	r.b = r.m.block()
}

func (r *renderer) clock(b []byte, v byte) []byte {
	if v == r.high {
		return b
	}
	r.high = v
	return r.clk.bit(b, v)
}

// dump renders all values at the beginning of the window, as a part of its own.
func (r *renderer) dump(clk, reset byte) {
	r.t = r.from
	b := r.clock(r.b.buf, clk)
	b = r.reset.bit(b, reset)
	r.settle()
	for i := range r.shown {
		b = r.shown[i].append(b)
	}
	r.b.buf = b
	r.at(r.from)
}

// single renders what differs of an owner that is one word.
func (r *renderer) single(b []byte, s *single, now, diff uint64) []byte {
	if r.quick != nil {
		return s.append(b, r.quick, r.shown, now, diff)
	}
	for i := s.first; i < s.last; i++ {
		b = r.shown[i].update(b, unsafe.Pointer(&now))
	}
	return b
}
