package scenario

import (
	"slices"

	"rnic/abi"
)

// Limits of what a person writes.
const (
	maxMemory = 256 << 20
	maxQPs    = 64
	maxWork   = 4096
)

// look finds what a name means.
func look[T any](r *reader, f Ref, what string, all []*T, name func(*T) string) *T {
	var names []string
	for _, v := range all {
		if n := name(v); n != "" {
			names = append(names, n)
			if n == f.Name {
				return v
			}
		}
	}
	if f.Name != "" { // else it was no name, which was told
		r.fail(f.Pos, "no %s is named %q: %s", what, f.Name, oneOf(f.Name, names))
	}
	return nil
}

func (r *reader) qp(s *Scenario, f Ref) *QP {
	return look(r, f, "QP", s.QPs, func(q *QP) string { return q.Name })
}

func (r *reader) mr(s *Scenario, f Ref) *MR {
	return look(r, f, "memory region", s.MRs, func(m *MR) string { return m.Name })
}

func (r *reader) step(s *Scenario, f Ref) *Step {
	return look(r, f, "step", s.Work, func(w *Step) string { return w.Name })
}

// check gives names their meanings and demands that what they name goes together.
func (r *reader) check(s *Scenario) {
	total := uint64(0)
	for _, m := range s.MRs {
		r.region(m)
		if total += m.Size; total > maxMemory {
			r.fail(m.Pos, "memory regions of more than %d MiB together", maxMemory>>20)
			break
		}
	}
	if len(s.QPs) > maxQPs {
		r.fail(s.QPs[maxQPs].Pos, "more than %d QPs", maxQPs)
	}
	if len(s.Work) > maxWork {
		r.fail(s.Work[maxWork].Pos, "more than %d steps", maxWork)
	}
	r.connect(s)
	names := map[string]bool{}
	for _, w := range s.Work {
		if w.Name != "" && names[w.Name] {
			r.fail(w.Pos, "step %q: there is one already", w.Name)
		}
		names[w.Name] = true
		w.qp = r.qp(s, w.QP)
	}
	for _, w := range s.Work {
		r.work(s, w)
	}
	s.change()
	r.cycles(s)
	r.expectations(s)
}

// region gives a region its size.
func (r *reader) region(m *MR) {
	n := m.Content.len()
	switch {
	case m.Size == 0 && n <= 0:
		r.fail(m.Pos, "memory region %q has no size", m.Name)
		m.Size = 1
	case m.Size == 0:
		m.Size = uint64(n)
	case n > int(m.Size):
		r.fail(m.Content.Pos, "content of %d bytes in a region of %d", n, m.Size)
	}
}

// connect joins the QPs in pairs.
func (r *reader) connect(s *Scenario) {
	for _, q := range s.QPs {
		if q.Peer.Name == "" {
			continue
		}
		p := r.qp(s, q.Peer)
		switch {
		case p == nil:
		case p.Host == q.Host:
			r.fail(q.Peer.Pos, "%s and %s are QPs of the same host", q.Name, p.Name)
		case q.peer != nil && q.peer != p, p.peer != nil && p.peer != q:
			r.fail(q.Peer.Pos, "%s or %s has another peer", q.Name, p.Name)
		default:
			q.peer, p.peer = p, q
			if q.MTU != p.MTU || q.IPv6 != p.IPv6 {
				r.fail(q.Pos, "%s and %s must have the same mtu and ipv6", q.Name, p.Name)
			}
		}
	}
	for _, q := range s.QPs {
		if q.peer == nil && q.Peer.Name == "" {
			r.fail(q.Pos, "QP %q has no peer", q.Name)
		}
	}
}

// always are keys that every step may have.
var always = []string{"name", "qp", "op", "at", "after", "after_completions"}

// work checks a step.
func (r *reader) work(s *Scenario, w *Step) {
	if w.Op >= 0 {
		o := w.kind()
		for name, p := range w.has {
			if !slices.Contains(o.may, name) && !slices.Contains(always, name) {
				r.fail(p, "%s has no %s", o.name, name)
			}
		}
		for _, name := range o.must {
			if _, ok := w.has[name]; !ok {
				r.fail(w.Pos, "%s without %q", o.name, name)
			}
		}
		if p, ok := w.has["inline"]; ok && len(w.Local) > 0 {
			r.fail(p, "inline data and local memory exclude each other")
		}
	}
	for _, f := range w.After {
		if a := r.step(s, f); a != nil {
			if w.after = append(w.after, a); a.silent() {
				r.fail(f.Pos, "step %q is not signaled: it has no completion to wait for", f.Name)
			}
		}
	}
	if w.AfterN != nil {
		w.AfterN.qp = r.qp(s, w.AfterN.QP)
	}
	if w.qp == nil {
		return
	}
	for i := range w.Local {
		r.segment(s, &w.Local[i], w.qp.Host, true)
	}
	if len(w.Local) > w.qp.MaxSGE {
		r.fail(w.has["local"], "%d segments, max_sge of %s is %d", len(w.Local), w.qp.Name, w.qp.MaxSGE)
	}
	if w.Remote != nil {
		r.segment(s, w.Remote, 1-w.qp.Host, false)
	}
	if w.Inv.Name != "" {
		if w.inv = r.mr(s, w.Inv); w.inv != nil && w.inv.Host == w.qp.Host {
			r.fail(w.Inv.Pos, "%q is not the peer's", w.Inv.Name)
		}
	}
	if w.Inline != nil {
		r.inline(w)
	}
}

// inline gives inline data its size.
func (r *reader) inline(w *Step) {
	c := w.Inline
	if n := c.Content.len(); !c.sized && n >= 0 {
		c.Size = uint64(n)
	} else if n > int(c.Size) {
		r.fail(w.has["inline"], "content of %d bytes in %d", n, c.Size)
	}
	if c.Size > uint64(w.qp.MaxInline) {
		r.fail(w.has["inline"], "%d bytes, max_inline of %s is %d", c.Size, w.qp.Name, w.qp.MaxInline)
	}
}

// segment finds the region of a segment, which is one of the host, and its size.
func (r *reader) segment(s *Scenario, g *Segment, host int, inside bool) {
	g.mr = r.mr(s, g.MR)
	switch {
	case g.mr == nil:
		return
	case host >= 0 && g.mr.Host != host:
		r.fail(g.MR.Pos, "%q is memory of host %s", g.MR.Name, hostNames[g.mr.Host])
		return
	case !inside:
		return
	case !g.sized && g.Offset <= g.mr.Size:
		g.Size = g.mr.Size - g.Offset
	}
	if g.Offset > g.mr.Size || g.Size > g.mr.Size-g.Offset {
		r.fail(g.MR.Pos, "%d bytes at %d are not in %q, which has %d", g.Size, g.Offset, g.MR.Name, g.mr.Size)
	}
}

// cycles demands that no step waits for itself.
func (r *reader) cycles(s *Scenario) {
	const (
		open = iota + 1
		done
	)
	seen := make([]int, len(s.Work))
	var visit func(w *Step) bool
	visit = func(w *Step) bool {
		if seen[w.index] != 0 {
			return seen[w.index] == done
		}
		seen[w.index] = open
		for _, a := range w.after {
			if !visit(a) {
				return false
			}
		}
		seen[w.index] = done
		return true
	}
	for _, w := range s.Work {
		if !visit(w) {
			r.fail(w.Pos, "a step that waits for itself")
			return
		}
	}
}

// change notes the regions that the work may change: what is sent of them is judged
// by what is expected of memory, not by what was there when it was posted.
func (s *Scenario) change() {
	for _, w := range s.Work {
		o := w.kind()
		fetches := o.recv || o.wqe == abi.OpRead || o.wqe == abi.OpCompareSwap || o.wqe == abi.OpFetchAdd
		for i := range w.Local {
			if m := w.Local[i].mr; fetches && m != nil {
				m.changes = true
			}
		}
		if w.Remote != nil && w.Remote.mr != nil && o.wqe != abi.OpRead {
			w.Remote.mr.changes = true
		}
	}
}
