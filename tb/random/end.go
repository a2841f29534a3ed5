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
	credits []int   // receives of the peer that wait for a message, by phase
	wake    hdl.Event

	arrive   []*Message // of in, those that need a receive
	posted   int        // receives
	received int
	space    hdl.Event
	done     int // messages of out that are known to be done
	written  int // messages of in before which all WRITEs are known to have come

	life        life
	stop        bool // its threads shall
	threads     int  // that work on the phase
	destroyed   bool
	sends       []posted // not completed, in order
	receives    []posted
	sendFlushed bool // a send has been
	recvFlushed bool
}

// posted is a work request and the completion that it leads to if all goes well.
type posted struct {
	want      completion
	completes bool
	fault     abi.WCStatus // how it ends if it has a fault
}

// start takes the flows of a phase.
func (e *end) start(p *Phase) {
	e.out, e.in = &p.Flows[e.s.n][e.i], &p.Flows[1-e.s.n][e.i]
	e.next, e.posted, e.received, e.done, e.written = 0, 0, 0, 0, 0
	e.life, e.stop, e.threads, e.sendFlushed, e.recvFlushed = alive, false, 2, false, false
	if p.Doomed[e.i] {
		e.life = failing
	}
	e.arrive, e.sends, e.receives = e.arrive[:0], nil, nil
	for i := range e.in.Messages {
		if m := &e.in.Messages[i]; m.receives() {
			e.arrive = append(e.arrive, m)
		}
	}
}

// leave reports that a thread of the QP is done with the phase.
func (e *end) leave() {
	e.threads--
	e.s.finish()
}

// expect notes a work request and adds it to the scoreboard.
func (e *end) expect(recv bool, c completion, completes bool, fault abi.WCStatus) {
	c.QPN = e.qp.Number()
	if recv {
		e.receives = append(e.receives, posted{c, completes, fault})
	} else {
		e.sends = append(e.sends, posted{c, completes, fault})
	}
	if completes && e.life == alive {
		e.s.board.Expect(queue{e.i, recv}, c)
		e.s.owed++
	}
}

// complete judges a completion.
func (s *side) complete(wc *driver.WC) error {
	s.tellCompletion(wc)
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
		c.Imm, c.SrcQPN = wc.Imm, wc.SrcQPN
	}
	c.ByteLen = wc.ByteLen
	if err := e.judge(c, recv); err != nil {
		return err
	}
	s.moves++
	s.step.Notify()
	if recv {
		i := e.received
		e.received++
		e.space.Notify()
		if c.Status != abi.StatusSuccess {
			if i < len(e.arrive) {
				s.loose = append(s.loose, e.arrive[i])
			}
			return nil
		}
		return e.arrived(e.arrive[i])
	}
	if c.Status == abi.StatusSuccess && c.ID != lastSend {
		if err := e.finished(c.ID); err != nil {
			return err
		}
	}
	if e.life == failing {
		return nil // abandon gives the room back
	}
	g := e.groups[0]
	e.groups = e.groups[1:]
	e.open -= g.N
	s.budget += g.Beats
	s.back += g.Back
	e.wake.Notify()
	s.room.Notify()
	return nil
}

// judge tells whether a completion may come now.
func (e *end) judge(c completion, recv bool) error {
	switch e.life {
	case failing:
		return e.flushed(c, recv)
	case gone:
		return fmt.Errorf("pair %d was cut: got %+v", e.i, c)
	}
	if err := e.s.board.Check(queue{e.i, recv}, c); err != nil {
		return err
	}
	e.s.owed--
	list := &e.sends
	if recv {
		list = &e.receives
	}
	for (*list)[0].want != c { // unsignalled sends
		*list = (*list)[1:]
	}
	*list = (*list)[1:]
	return nil
}
