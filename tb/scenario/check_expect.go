package scenario

// expectations checks what is expected.
func (r *reader) expectations(s *Scenario) {
	x := &s.Expect
	for _, c := range x.Completions {
		if c.Inv.Name != "" {
			c.inv = r.mr(s, c.Inv)
		}
		for _, f := range c.WR {
			w := r.step(s, f)
			switch {
			case w == nil:
			case w.kind().modify:
				r.fail(f.Pos, "%q changes a QP: it has no completion", f.Name)
			case w.silent() && c.Status == 0:
				r.fail(f.Pos, "%q is not signaled: it has no completion in success", f.Name)
			default:
				c.steps = append(c.steps, w)
			}
		}
	}
	for _, m := range x.Memory {
		r.memory(s, m)
	}
	for _, v := range x.Events {
		v.qp = r.qp(s, v.QP)
	}
	for _, v := range x.States {
		v.qp = r.qp(s, v.QP)
	}
	for _, l := range [][]*Packet{x.Packets, x.Order} {
		for _, p := range l {
			if p.QP.Name != "" {
				p.qp = r.qp(s, p.QP)
			}
		}
	}
}

// memory gives an expectation of memory its size.
func (r *reader) memory(s *Scenario, m *Memory) {
	switch {
	case m.Like != nil && m.Content.kind != "":
		r.fail(m.Pos, "like and %s exclude each other", m.Content.kind)
	case m.Like != nil:
		r.segment(s, m.Like, -1, true)
		if !m.sized && m.Like.mr != nil {
			m.Size, m.sized = m.Like.Size, true
		}
	case m.Content.kind == "":
		r.fail(m.Pos, "memory without content: must have like, text, hex, u64 or pattern")
	}
	if n := m.Content.len(); n >= 0 && !m.sized {
		m.Size, m.sized = uint64(n), true
	} else if n > int(m.Size) && m.sized {
		r.fail(m.Content.Pos, "content of %d bytes in %d", n, m.Size)
	}
	r.segment(s, &m.Segment, -1, true)
	if m.Like != nil && m.Like.mr != nil && m.Like.Offset+m.Size > m.Like.mr.Size {
		r.fail(m.Pos, "%d bytes at %d are not in %q, which has %d", m.Size, m.Like.Offset, m.Like.MR.Name, m.Like.mr.Size)
	}
}

// want are the bytes of an expectation of memory.
func (m *Memory) want() []byte {
	if m.Like == nil {
		return m.Content.bytes(int(m.Size), m.MR.Name)
	}
	return m.Like.mr.first()[m.Like.Offset:][:m.Size]
}
