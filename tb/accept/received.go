package accept

import (
	"bytes"
	"fmt"

	"rnic/abi"
)

func broken(clause, format string, args ...any) *problem {
	return &problem{clause, fmt.Sprintf(format, args...)}
}

// received judges a completion of the receive queue.
func (q *qp) received(now uint64, c *Completion) {
	const clause = "roce.md, Responder; Work completion status"
	r := &q.responds
	if q.shared != nil {
		w := q.shared.claim(c.ID)
		if w == nil {
			q.fail(now, r.states0(), clause, "completion of receive %#x, which is not outstanding in the shared queue", c.ID)
			return
		}
		r.posts = append(r.posts, *w)
	}
	if r.done == len(r.posts) || r.posts[r.done].ID != c.ID {
		due := "none"
		if r.done < len(r.posts) {
			due = fmt.Sprintf("%#x", r.posts[r.done].ID)
		}
		q.fail(now, r.states0(), clause, "completion of receive %#x, due is %s", c.ID, due)
		return
	}
	i := r.done
	r.done++
	if c.Status == abi.StatusWRFlush && !(q.shared != nil && q.unreliable() && !q.loose()) {
		if !q.mayEnd(now) {
			q.fail(now, r.states0(), clause, "receive %#x is flushed, for which there is no reason", c.ID)
		}
		r.flushed = true
		return
	}
	if q.blind {
		return
	}
	var why *problem
	next := r.states[:0]
	for _, s := range r.states {
		if e := q.ended(s, i, c); e == nil {
			next = append(next, s)
		} else if why == nil {
			why = e
		}
	}
	if next = q.inOrder(next, c.ID); len(next) == 0 && why == nil {
		q.fail(now, r.states0(), "roce.md, Shared receive queue: WQEs are taken in post order", "receive %#x was not that of the message", c.ID)
		return
	}
	if r.flushed {
		why, next = broken(clause, "it comes behind one that was flushed"), nil
	}
	if r.states = next; len(next) == 0 {
		s := r.begins
		q.fail(now, s, why.clause, "receive %#x completes as %v: %s", c.ID, c.Status, why.text)
		return
	}
	switch {
	case c.Status != abi.StatusSuccess && q.unreliable() && c.Status != abi.StatusLocProt:
	case c.Status != abi.StatusSuccess:
		q.mayFail(now)
		r.flushed = true
	case c.Flags&abi.CQEWithInv != 0:
		q.a.Deregistered(now, abi.Key(c.Imm))
	}
}

// states0 is the PSN that is expected, for messages.
func (r *responder) states0() seq {
	if len(r.states) == 0 {
		return r.begins
	}
	return r.states[0].epsn
}

// ended judges the completion of receive i in a state that the responder may be in.
func (q *qp) ended(s *state, i int, c *Completion) *problem {
	const clause = "roce.md, Responder; Work completion status"
	if len(s.ended) == 0 || s.ended[0].index != i {
		return broken(clause, "its message has not come in full; %06x is expected", s.epsn.psn())
	}
	a := s.ended[0]
	if a.at > c.Made {
		return broken(clause, "made in cycle %d, the message came in cycle %d", c.Made, a.at)
	}
	if c.Status != a.status {
		return broken(clause, "due is %v", a.status)
	}
	if c.Status == abi.StatusSuccess {
		switch {
		case c.Opcode != a.opcode || c.Flags != a.flags:
			return broken(clause, "as %v, %v, due %v, %v", c.Opcode, c.Flags, a.opcode, a.flags)
		case c.Flags&^abi.CQEGRH != 0 && c.Imm != a.imm:
			return broken(clause, "with immediate or key %#x, due %#x", c.Imm, a.imm)
		case int(c.ByteLen) != a.len:
			return broken(clause, "with %d bytes, due %d", c.ByteLen, a.len)
		case c.SrcQPN != a.from:
			return broken(clause, "from QP %#x, the peer is %#x", c.SrcQPN, a.from)
		}
	}
	if e := q.landed(s, a.landings, c.Status == abi.StatusSuccess); e != nil {
		return e
	}
	s.last = a.came
	s.ended = s.ended[1:]
	for k := range s.ended {
		s.ended[k].landings -= a.landings
	}
	return nil
}

// landed demands that the first n writes of a state are in memory, and forgets them.
func (q *qp) landed(s *state, n int, good bool) *problem {
	if n == 0 {
		return nil
	}
	for i := 0; i < n; i++ {
		l := &s.lands[i]
		if l.index >= 0 {
			k := i
			for k < n && s.lands[k].index == l.index {
				k++
			}
			if good {
				if e := q.scattered(s.lands[i:k]); e != nil {
					return e
				}
			}
			i = k - 1
			continue
		}
		got := q.a.bytes(l.key, l.va, len(l.data))
		if got != nil && !q.a.fog && !bytes.Equal(got, l.data) {
			if k := q.a.overwritten(l, got); k >= 0 {
				return broken("roce.md, Responder: Memory order", "byte %d of the WRITE of PSN %06x is not in memory at %#x", k, l.psn.psn(), l.va+uint64(k))
			}
		}
	}
	s.lands = append(s.lands[:0:0], s.lands[n:]...)
	return nil
}

// scattered demands that a message is where its receive says.
func (q *qp) scattered(l []landing) *problem {
	if l[0].index >= len(q.responds.posts) {
		return nil // of a shared queue, and under way: nobody knows where
	}
	w := &q.responds.posts[l[0].index]
	if w.Read == nil {
		return nil
	}
	var want []byte
	for i := range l {
		want = append(want, l[i].data...)
	}
	got := w.Read(len(want))
	if l[0].void > 0 && len(got) == len(want) {
		copy(want[:l[0].void], got)
	}
	if !bytes.Equal(got, want) {
		return broken("roce.md, Responder: Memory order", "byte %d of the message of receive %#x is not in memory", differ(got, want), w.ID)
	}
	return nil
}
