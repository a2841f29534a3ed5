package waves

import "unsafe"

// A window begins with the values of all variables at its first instant. State is
// known at the edge that begins a cycle, what happens in the cycle only at the edge
// that ends it: so the dump is rendered there, from values noted before.

// begin is Edge while the file has not begun; it tells whether to go on.
func (t *tracer) begin(now int64) bool {
	switch t.phase {
	case primed:
		t.note(t.past)
		t.dump(t.clockAt(now - t.period))
		return true
	case before:
		if now+t.period > t.from {
			t.note(t.state)
			t.real = true
			t.phase = primed
		}
	}
	return false
}

// jumpIn is Jump while the file has not begun.
func (t *tracer) jumpIn(now, end int64) bool {
	switch t.phase {
	case done:
		return false
	case before:
		if end+t.period <= t.from {
			return false
		}
		t.note(t.state)
		if end <= t.from {
			t.phase = primed
			return false
		}
	}
	t.note(t.past)
	clk := byte('x')
	if t.phase == primed && t.real && t.from < now+t.half {
		clk = '1'
	}
	t.dump(clk)
	return true
}

// clockAt is clk at the beginning of the window, in the cycle that began then.
func (t *tracer) clockAt(cycle int64) byte {
	if t.from < cycle+t.half {
		return '1'
	}
	return '0'
}

// note takes over values without a change in the file.
func (t *tracer) note(owners []int32) {
	n := len(t.b.buf)
	t.changes(owners)
	t.b.buf = t.b.buf[:n]
}

// dump renders all values at the beginning of the window.
func (t *tracer) dump(clk byte) {
	t.phase = live
	t.t = t.from
	t.clock(clk)
	t.resting = clk == 'x'
	v := byte('0')
	if t.inReset {
		v = '1'
	}
	t.level(&t.reset, v)
	t.settle()
	b := t.b.buf
	for i := range t.shown {
		b = t.shown[i].append(b)
	}
	t.b.buf = b
	t.at(t.from) // the dump is a part of its own
}

// nothing is the handshakes and accesses of a cycle that no edge ended, whole words.
var nothing [64]byte

// finish ends the file where the kernel stands. The edge that would end its present
// cycle never comes, so that nothing happens in it.
func (t *tracer) finish() {
	if t.phase == done {
		return
	}
	now := int64(t.k.Cycle()) * t.period
	if t.phase == before {
		t.note(t.state)
	}
	if t.phase != live || !t.resting {
		n := len(t.b.buf)
		for _, o := range t.past {
			if p := t.place[o]; p > 0 {
				t.words[p-1].home = unsafe.Pointer(&nothing)
				t.word(&t.words[p-1], 0)
			} else {
				t.owner(&t.owners[^p], unsafe.Pointer(&nothing))
			}
		}
		if t.phase != live {
			t.b.buf = t.b.buf[:n]
		}
	}
	if t.phase != live {
		t.early = t.phase == before
		clk := byte('x')
		if t.phase == primed && t.real {
			clk = t.clockAt(now)
		}
		t.dump(clk)
	}
	if !t.resting {
		t.fall(now+t.half, '0')
		now += t.period
	}
	t.end(min(now, t.to))
}

// end gives the last block away, and with it the time at which the kernel's part of
// the file ends.
func (t *tracer) end(ps int64) {
	t.phase, t.final = done, ps
	t.at(ps)
	t.b.src, t.b.upto, t.b.final, t.b.last = t.src, never, ps, true
	t.m.in <- t.b
	t.b = nil
	t.k.Unobserve(t)
}
