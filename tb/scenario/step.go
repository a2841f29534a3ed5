package scenario

import (
	"encoding/binary"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/accept"
	"rnic/tb/host"
)

// queues starts a thread for each queue that has steps, and one for the changes of
// each QP, and notes what the hosts must tell each other.
func (s *side) queues() {
	sc := s.r.s
	for i, q := range sc.QPs {
		if q.Host != s.n {
			continue
		}
		for k, name := range []string{"send", "recv", "modify"} {
			var steps []*Step
			for _, w := range sc.Work {
				if o := w.kind(); w.qp == q && (o.recv && k == 1 || o.modify && k == 2 || !o.recv && !o.modify && k == 0) {
					steps = append(steps, w)
				}
			}
			if len(steps) == 0 {
				continue
			}
			s.left += len(steps)
			s.thread(fmt.Sprintf("%s_%s", q.Name, name), func(t *hdl.Thread, bus *host.Bus) error { return s.queue(t, bus, i, steps) })
		}
	}
	for _, c := range sc.Expect.Completions {
		for _, w := range c.steps {
			if w.qp.Host == s.n {
				s.owed++
			}
		}
	}
	for _, w := range sc.Work {
		if w.qp.Host == s.n {
			continue
		}
		for _, a := range w.after {
			s.tells[a.index] = a.qp.Host == s.n
		}
		if w.AfterN != nil && w.AfterN.qp.Host == s.n {
			s.counted[sc.index(w.AfterN.qp)] = true
		}
	}
}

// queue does steps one after the other.
func (s *side) queue(t *hdl.Thread, bus *host.Bus, qp int, steps []*Step) error {
	for !s.working {
		t.Wait(&s.begin, 0)
	}
	q := s.qps[qp].On(s.dev.On(bus))
	for _, w := range steps {
		for !s.ready(w) {
			t.Wait(&s.changed, 0)
		}
		if at := s.r.start + tb.Cycles(w.At); t.Now() < at {
			t.WaitUntil(at)
		}
		if err := s.do(q, w); err != nil {
			return fmt.Errorf("%s:%d: %w", s.r.s.File, w.Line, err)
		}
		s.left--
		s.moved = t.Now()
	}
	return nil
}

// ready tells whether what a step waits for has come.
func (s *side) ready(w *Step) bool {
	for _, a := range w.after {
		if !s.done[a.index] {
			return false
		}
	}
	return w.AfterN == nil || s.counts[s.r.s.index(w.AfterN.qp)] >= w.AfterN.N
}

// do does a step.
func (s *side) do(q *driver.QP, w *Step) (err error) {
	now, o := s.h.K.Cycle(), w.kind()
	switch {
	case o.modify:
		err = s.modify(q, w)
		s.finish(w.index)
		return err
	case o.recv:
		r := driver.RecvWR{ID: uint64(w.index), SGEs: s.sges(w)}
		s.accept.PostRecv(now, q.Number(), accept.RecvWR{ID: r.ID, SGEs: r.SGEs, Read: func(n int) []byte { return s.gather(w, n) }})
		_, err = q.PostRecv(r)
		return err
	}
	wr := s.request(w)
	a := accept.SendWR{
		ID: wr.ID, Op: wr.Op, Imm: wr.Imm, Signaled: wr.Signaled, Solicited: wr.Solicited, Fence: wr.Fence,
		RemoteAddr: wr.RemoteAddr, RKey: wr.RKey, SwapAdd: wr.SwapAdd, Compare: wr.Compare, SGEs: wr.SGEs, Inline: wr.Inline != nil,
	}
	total := 0
	for _, g := range wr.SGEs {
		total += int(g.Length)
	}
	switch wr.Op {
	case abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd:
		a.Len = total
		a.Result = func() []byte { return s.gather(w, total) }
	default:
		if a.Data = s.gather(w, total); wr.Inline != nil {
			a.Data = wr.Inline
		}
		for i := range w.Local {
			a.Volatile = a.Volatile || w.Local[i].mr.changes
		}
	}
	s.accept.PostSend(now, q.Number(), a)
	_, err = q.PostSend(wr)
	return err
}

// request is the work request of a step.
func (s *side) request(w *Step) driver.SendWR {
	wr := driver.SendWR{
		ID: uint64(w.index), Op: w.kind().wqe, SGEs: s.sges(w), Imm: uint32(w.Imm),
		Signaled: !w.Unsignaled, Solicited: w.Solicited, Fence: w.Fence, SwapAdd: w.Swap + w.Add, Compare: w.Compare,
	}
	other := s.r.sides[1-s.n]
	if g := w.Remote; g != nil {
		mr := other.region(g.mr).mr
		wr.RemoteAddr, wr.RKey = mr.Addr+g.Offset, mr.RKey
		if g.keyed {
			wr.RKey = abi.Key(g.key)
		}
	}
	if w.inv != nil {
		wr.Imm = uint32(other.region(w.inv).mr.RKey)
	}
	if w.Inline != nil {
		wr.Inline = w.Inline.Content.bytes(int(w.Inline.Size), w.Name)
	}
	return wr
}

// region is that of a MR of this host.
func (s *side) region(m *MR) *region {
	for i := range s.mrs {
		if s.r.s.MRs[i] == m {
			return s.mrs[i]
		}
	}
	return nil
}

// sges are the elements of a step.
func (s *side) sges(w *Step) (l []driver.SGE) {
	for i := range w.Local {
		g := &w.Local[i]
		e := s.region(g.mr).mr.SGE(int(g.Offset), int(g.Size))
		if g.keyed {
			e.LKey = abi.Key(g.key)
		}
		l = append(l, e)
	}
	return l
}

// gather reads the first n bytes of the local memory of a step.
func (s *side) gather(w *Step, n int) (b []byte) {
	for i := range w.Local {
		g := &w.Local[i]
		b = append(b, s.region(g.mr).read(int(g.Offset), min(int(g.Size), n-len(b)))...)
	}
	return b
}

// modify takes a QP to another state.
func (s *side) modify(q *driver.QP, w *Step) error {
	n := q.Number()
	switch w.State {
	case abi.QPErr:
		s.accept.Stop(s.h.K.Cycle(), n, false)
	case abi.QPRTS:
		s.accept.Resume(n)
	}
	if err := q.Modify(driver.QPAttr{State: w.State, SQDAsyncNotify: true}, mask(w.State)); err != nil {
		return err
	}
	switch w.State {
	case abi.QPErr:
		s.accept.Stopped(s.h.K.Cycle(), n)
	case abi.QPSQD:
		s.accept.Drain(s.h.K.Cycle(), n)
	}
	return nil
}

// mask are the attributes that modify gives: the end of a drain is told by an event.
func mask(to abi.QPState) abi.QPAttr {
	if to == abi.QPSQD {
		return abi.AttrState | abi.AttrSQDAsyncNotify
	}
	return abi.AttrState
}

// complete notes a completion.
func (s *side) complete(wc *driver.WC) {
	s.accept.Complete(s.h.K.Cycle(), accept.Completion{
		QPN: wc.QPN, ID: wc.ID, Status: wc.Status, Opcode: wc.Opcode, Flags: wc.Flags,
		ByteLen: wc.ByteLen, Imm: wc.Imm, SrcQPN: wc.SrcQPN, Made: wc.Timestamp,
	})
	s.came = append(s.came, *wc)
	s.moved = s.h.K.Cycle()
	for i, q := range s.qps {
		if q != nil && q.Number() == wc.QPN {
			s.count(i)
		}
	}
	s.finish(int(wc.ID))
}

// Kinds of messages between the hosts, each with a number behind it.
const (
	stepDone = 's'
	oneMore  = 'c' // completion of a QP
)

// finish notes that a step is done.
func (s *side) finish(step int) {
	s.done[step] = true
	s.changed.Notify()
	if s.tells[step] {
		s.h.OOB.Send(binary.AppendUvarint([]byte{stepDone}, uint64(step)))
	}
}

// count notes a completion of a QP.
func (s *side) count(qp int) {
	s.counts[qp]++
	s.changed.Notify()
	if s.counted[qp] {
		s.h.OOB.Send(binary.AppendUvarint([]byte{oneMore}, uint64(qp)))
	}
}

// listen takes the messages of the other host.
func (s *side) listen(t *hdl.Thread, _ *host.Bus) error {
	for {
		m := s.h.OOB.Recv(t)
		n, _ := binary.Uvarint(m[1:])
		if m[0] == stepDone {
			s.done[n] = true
		} else {
			s.counts[n]++
		}
		s.changed.Notify()
	}
}
