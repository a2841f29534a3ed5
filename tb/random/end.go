package random

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
)

// queue names a queue of a QP.
type queue struct {
	Pair int
	Recv bool
}

// String names pair and queue.
func (q queue) String() string {
	if q.Recv {
		return fmt.Sprintf("pair %d, receives", q.Pair)
	}
	return fmt.Sprintf("pair %d, sends", q.Pair)
}

// completion is what a WC must say.
type completion struct {
	ID          uint64
	Status      abi.WCStatus
	Vendor      abi.VendorErr
	Opcode      abi.WCOpcode
	Flags       abi.CQEFlags
	ByteLen     uint32
	Imm         uint32
	QPN, SrcQPN uint32
}

// end is a QP and what its two threads share.
type end struct {
	s    *side
	i    int // number of the pair
	pair *Pair
	cfg  *End
	qp   *driver.QP
	peer driver.Endpoint

	out, in *Flow
	next    int     // message to be sent
	open    int     // sends posted, or about to be, and not done
	groups  []Group // of those
	credits int     // receives of the peer that wait for a message
	wake    hdl.Event

	arrive   []*Message // of in, those that need a receive
	posted   int        // receives
	received int
	space    hdl.Event
}

// start takes the flows of a phase.
func (e *end) start(p *Phase) {
	e.out, e.in = &p.Flows[e.s.n][e.i], &p.Flows[1-e.s.n][e.i]
	e.next, e.posted, e.received = 0, 0, 0
	e.arrive = e.arrive[:0]
	for i := range e.in.Messages {
		if m := &e.in.Messages[i]; m.Op != abi.OpNop {
			e.arrive = append(e.arrive, m)
		}
	}
}

// expect adds to the scoreboard.
func (e *end) expect(recv bool, c completion) {
	c.QPN = e.qp.Number()
	e.s.board.Expect(queue{e.i, recv}, c)
	e.s.owed++
}

// complete judges a completion.
func (s *side) complete(wc *driver.WC) error {
	c := completion{
		ID: wc.ID, Status: wc.Status, Vendor: wc.VendorErr, Opcode: wc.Opcode,
		Flags: wc.Flags, QPN: wc.QPN,
	}
	var e *end
	for _, x := range s.ends {
		if x.qp == wc.QP {
			e = x
		}
	}
	if e == nil {
		return fmt.Errorf("completion of a QP that is no more: %+v", c)
	}
	recv := wc.Opcode.IsRecv()
	if recv {
		c.ByteLen, c.Imm, c.SrcQPN = wc.ByteLen, wc.Imm, wc.SrcQPN
	}
	if err := s.board.Check(queue{e.i, recv}, c); err != nil {
		return err
	}
	s.moves++
	s.owed--
	s.step.Notify()
	if recv {
		m := e.arrive[e.received]
		e.received++
		e.space.Notify()
		return s.land(m)
	}
	g := e.groups[0]
	e.groups = e.groups[1:]
	e.open -= g.N
	s.budget += g.Beats
	e.wake.Notify()
	s.room.Notify()
	return nil
}
