package transfer

import (
	"encoding/binary"
	"fmt"
	"math"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
)

// coordinateSender sets host a up and lets the senders run, round by round.
func (r *run) coordinateSender(t *hdl.Thread, bus *host.Bus) error {
	s := &r.a
	if err := s.setup(bus); err != nil {
		return err
	}
	if err := s.connect(t); err != nil {
		return err
	}
	t.Sleep(settle)
	r.settled(s)
	for round := 1; round <= r.rounds; round++ {
		if r.j.Op != abi.OpRead {
			if err := r.load(s, 0, round); err != nil {
				return err
			}
		}
		if m := s.h.OOB.Recv(t); string(m) != "go" {
			return fmt.Errorf("host b: %s", m)
		}
		s.round = round
		s.begin.Notify()
		if err := s.gather(t, &s.done, round); err != nil {
			return err
		}
		s.ended = t.Now()
		s.h.OOB.Send([]byte("sent"))
		if r.j.unreliable() {
			r.calm(t, s)
		}
	}
	s.h.OOB.Recv(t) // host b has all, and has compared it
	r.calm(t, s)
	return s.counters()
}

// load puts the messages of a round into the buffer at off of a host.
func (r *run) load(s *side, off, round int) error {
	per := r.j.round()
	for i := (round - 1) * per; i < min(round*per, r.messages); i++ {
		m, err := r.j.message(i)
		if err != nil {
			return err
		}
		if _, err := s.buf.WriteAt(m, int64(off+r.j.slot(i))); err != nil {
			return err
		}
	}
	return nil
}

// sender posts the messages of one QP, at most Depth at once.
func (r *run) sender(t *hdl.Thread, bus *host.Bus, s *side, n int) error {
	per := r.j.round()
	for round := 1; round <= r.rounds; round++ {
		if !s.await(t, round) {
			return nil
		}
		q := outbox{r: r, s: s, t: t, began: t.Now(), qp: s.qps[n].On(s.dev.On(bus)), cq: s.cqs[n].On(s.dev.On(bus)), wcs: make([]driver.WC, 16)}
		first := (round - 1) * per
		first += (n - first%r.j.QPs + r.j.QPs) % r.j.QPs
		for i := first; i < min(round*per, r.messages); i += r.j.QPs {
			if err := q.post(i); err != nil {
				return err
			}
		}
		if err := q.flush(); err != nil {
			return err
		}
		for q.open > 0 {
			if err := q.poll(pollCycles); err != nil {
				return err
			}
		}
		s.count(&s.done)
	}
	return nil
}

// outbox is the send queue of one QP as its thread sees it.
type outbox struct {
	r     *run
	s     *side
	t     *hdl.Thread
	began uint64 // cycle
	qp    *driver.QP
	cq    *driver.CQ
	wcs   []driver.WC
	batch []driver.SendWR
	sges  []abi.SGE
	order []uint64 // messages posted and not completed
	open  int
}

// post adds a message to the batch; a full batch is posted, with room for it.
func (o *outbox) post(i int) error {
	j := &o.r.j
	if j.Due != nil {
		for due := o.began + j.Due(i); o.t.Now() < due; {
			if err := o.poll(min(pollCycles, due-o.t.Now())); err != nil {
				return err
			}
		}
	}
	wr := driver.SendWR{ID: uint64(i), Op: j.Op, Signaled: true, Imm: uint32(i)}
	if j.Op >= abi.OpWrite {
		wr.RemoteAddr, wr.RKey = o.s.peer.VA+uint64(o.s.off+j.slot(i)), o.s.peer.Key
	}
	if j.datagrams() {
		to := j.dest(i)
		wr.AH, wr.RemoteQPN, wr.RemoteQKey = o.s.ahs[to], o.s.qpns[to], j.qkey(to)
	}
	var m []byte
	if j.Inline || j.atomic() {
		var err error
		if m, err = j.message(i); err != nil {
			return err
		}
	}
	switch {
	case j.Inline:
		wr.Inline = m
	case j.atomic():
		wr.SwapAdd = binary.LittleEndian.Uint64(m)
		fallthrough
	default:
		from := len(o.sges)
		o.sges = o.s.sges(o.sges, o.s.off+j.slot(i), j.length(i))
		wr.SGEs = o.sges[from:]
	}
	o.batch = append(o.batch, wr)
	if len(o.batch) < min(max(1, j.Batch), j.Depth) {
		return nil
	}
	return o.flush()
}

func (o *outbox) flush() error {
	if len(o.batch) == 0 {
		return nil
	}
	for o.open+len(o.batch) > o.r.j.Depth {
		if err := o.poll(pollCycles); err != nil {
			return err
		}
	}
	if _, err := o.qp.PostSend(o.batch...); err != nil {
		return err
	}
	for i := range o.batch {
		o.order = append(o.order, o.batch[i].ID)
	}
	o.open += len(o.batch)
	o.batch, o.sges = o.batch[:0], o.sges[:0]
	return nil
}

// pollCycles is how long the loop of a CPU takes that polls.
const pollCycles = 8

// wait takes completions: at least one, but of a job that is polled what there is
// after so many cycles.
func (o *outbox) wait(cycles uint64) (int, error) {
	if !o.r.j.Polled {
		return o.cq.Wait(o.wcs, math.MaxInt64)
	}
	o.t.Sleep(cycles)
	return o.cq.Poll(o.wcs)
}

// poll takes completions: each message once, in order.
func (o *outbox) poll(cycles uint64) error {
	n, err := o.wait(cycles)
	if err != nil {
		return err
	}
	for _, wc := range o.wcs[:n] {
		switch {
		case wc.Status != abi.StatusSuccess:
			return fmt.Errorf("message %d: %v (%v)", wc.ID, wc.Status, wc.VendorErr)
		case o.open == 0 || wc.ID != o.order[0] || wc.Opcode != o.r.j.Op.WCOpcode() || wc.QPN != o.qp.Number():
			return fmt.Errorf("QP %d: unexpected completion %+v", o.qp.Number(), wc)
		}
		if o.r.latency != nil {
			o.r.latency[wc.ID] = o.t.Now() - o.began - o.r.j.Due(int(wc.ID))
		}
		if o.r.j.Op == abi.OpRead {
			if err := o.r.compare(o.s, o.s.off, int(wc.ID)); err != nil {
				return err
			}
		}
		o.order = o.order[1:]
		o.open--
	}
	return nil
}
