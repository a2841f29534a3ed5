package waves

// A window begins with the values of all variables at its first instant. State is
// known at the edge that begins a cycle, what happens in the cycle only at the edge
// that ends it: so the dump is noted there, and what is noted before it shows in it only.

// begin is Edge while the file has not begun; it tells whether to go on.
func (t *tracer) begin(now int64) bool {
	switch t.phase {
	case primed:
		t.noteAll(t.past)
		t.dump(t.clockAt(now - t.period))
		return true
	case before:
		if now+t.period > t.from {
			t.noteAll(t.state)
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
		t.noteAll(t.state)
		if end <= t.from {
			t.phase = primed
			return false
		}
	}
	t.noteAll(t.past)
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

// dump begins the file: all values at the beginning of the window.
func (t *tracer) dump(clk byte) {
	t.phase = live
	t.resting = clk == 'x'
	reset := byte('0')
	if t.inReset {
		reset = '1'
	}
	t.put(tapeDump | (uint64(clk)|uint64(reset)<<8)*tapeKinds)
	t.t = t.from
}

// finish ends the file where the kernel stands. The edge that would end its present
// cycle never comes, so that nothing happens in it.
func (t *tracer) finish() {
	if t.phase == done {
		return
	}
	now := int64(t.k.Cycle()) * t.period
	if t.phase == before {
		t.noteAll(t.state)
	}
	if t.phase != live || !t.resting {
		t.nothing(t.past)
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

// end gives the last tape away, and with it the time at which the kernel's part of the
// file ends.
func (t *tracer) end(ps int64) {
	t.phase, t.final = done, ps
	t.at(ps)
	t.tape.upto, t.tape.last, t.tape.final = never, true, ps
	t.r.in <- t.tape
	t.tape = nil
	t.k.Unobserve(t)
}
