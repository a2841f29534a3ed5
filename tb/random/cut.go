package random

import (
	"errors"
	"fmt"
	"slices"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
)

// Way is how a QP is stopped in the middle of its traffic.
type Way uint8

// Ways.
const (
	ToReset   Way = iota // what is posted is forgotten
	ToErr                // what is posted completes: in order, done or flushed
	ToDestroy            // the QP is no more
)

// Cut stops a QP of a host. Both QPs of a pair are cut in the same phase, each in
// its way and time.
type Cut struct {
	Pair int
	Way  Way
	At   uint64 // cycles after the phase begins
}

// lastSend is the ID of the last send to a QP in ERR.
const lastSend = 1 << 62

// life is what may still come from a QP.
type life uint8

const (
	alive   life = iota
	failing      // in ERR, or it may come to that: all that is posted completes
	gone         // nothing
)

// cuts carries the cuts of the QP out, phase by phase.
func (e *end) cuts(t *hdl.Thread, bus *host.Bus) error {
	s := e.s
	for phase := range s.s.Phases {
		s.await(t, phase+1)
		for _, c := range s.s.Phases[phase].Cuts[s.n] {
			if c.Pair != e.i {
				continue
			}
			t.Sleep(c.At)
			if err := e.cut(t, s.dev.On(bus), c.Way); err != nil {
				return err
			}
		}
		s.finish()
	}
	return nil
}

// cut stops the QP in its way.
func (e *end) cut(t *hdl.Thread, dev *driver.Device, way Way) error {
	s, qp := e.s, e.qp.On(dev)
	if way == ToErr {
		if err := e.fail(t, qp); err != nil {
			return err
		}
	}
	// Nobody may post to a QP that is being reset or destroyed.
	e.halt(t)
	if way == ToErr {
		return e.drained(t, qp)
	}
	s.accept.Stop(s.cycle(), qp.Number(), true)
	err := s.hear(dev)
	if err != nil {
		return err
	}
	if way == ToReset {
		err = qp.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState)
		s.accept.Stopped(s.cycle(), qp.Number())
	} else {
		err = qp.Destroy()
		s.accept.Destroyed(s.cycle(), qp.Number())
		e.destroyed = true
	}
	if err != nil {
		return err
	}
	e.forget()
	e.abandon()
	s.moves++
	s.step.Notify()
	return nil
}

// fail takes the QP to ERR while its threads go on posting.
func (e *end) fail(t *hdl.Thread, qp *driver.QP) error {
	e.life = failing
	e.forget()
	e.s.accept.Stop(t.Now(), qp.Number(), false)
	if err := qp.Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState); err != nil {
		return err
	}
	e.s.accept.Stopped(t.Now(), qp.Number())
	t.Sleep(1000)
	return nil
}

// halt has the threads of the QP stop for the rest of the phase.
func (e *end) halt(t *hdl.Thread) {
	e.stop = true
	e.wake.Notify()
	e.space.Notify()
	e.s.room.Notify()
	for e.threads > 0 {
		t.Wait(&e.s.step, 0)
	}
}

// drained posts one last send, and waits until all that was posted has completed.
// Without that one, nobody would tell whether unsignalled sends at the end are done.
func (e *end) drained(t *hdl.Thread, qp *driver.QP) error {
	for {
		e.expect(false, completion{ID: lastSend, Opcode: abi.WCNop}, false, 0)
		_, err := qp.PostSend(driver.SendWR{ID: lastSend, Op: abi.OpNop})
		if err == nil {
			e.tellSend(nil, &driver.SendWR{ID: lastSend, Op: abi.OpNop})
			break
		}
		if !errors.Is(err, driver.ErrNoMemory) {
			return err
		}
		e.sends = e.sends[:len(e.sends)-1]
		t.Wait(&e.s.step, 0) // for a completion
	}
	for len(e.sends)+len(e.receives) > 0 {
		t.Wait(&e.s.step, 0)
	}
	e.abandon()
	return nil
}

// forget takes what is expected off the scoreboard: from now on the lists of what
// was posted say what may come.
func (e *end) forget() {
	for _, recv := range []bool{false, true} {
		e.s.owed -= len(e.s.board.Forget(queue{e.i, recv}))
	}
}

// abandon ends what the QP had under way. Receives that have not completed may have
// been written to.
func (e *end) abandon() {
	s := e.s
	e.life = gone
	for _, g := range e.groups {
		s.budget += g.Beats
		s.back += g.Back
	}
	e.groups, e.sends, e.receives = nil, nil, nil
	e.open = 0
	for i := e.received; i < min(e.posted, len(e.arrive)); i++ {
		s.loose = append(s.loose, e.arrive[i])
	}
	s.room.Notify()
	s.step.Notify()
}

// flushed judges a completion of a QP in ERR. Sends that did not ask for a completion
// may have been done without one, but not behind one that was flushed.
func (e *end) flushed(c completion, recv bool) error {
	list, seen := &e.sends, &e.sendFlushed
	if recv {
		list, seen = &e.receives, &e.recvFlushed
	}
	i := slices.IndexFunc(*list, func(p posted) bool { return p.want.ID == c.ID })
	if i < 0 {
		return fmt.Errorf("pair %d in ERR: got %+v, which is not posted", e.i, c)
	}
	for _, p := range (*list)[:i] {
		if p.completes || *seen {
			return fmt.Errorf("pair %d in ERR: got %+v before %+v", e.i, c, p.want)
		}
	}
	p := (*list)[i]
	*list = (*list)[i+1:]
	switch {
	case c.Status == abi.StatusWRFlush:
		*seen = true
	case p.fault != 0 && c.Status == p.fault && !*seen:
		*seen = true
		e.s.faults++
	case c.Status == abi.StatusLocQPOp && c.Vendor == abi.VendorDMARead && !recv && e.s.s.Unreadable != 0 && !*seen:
		*seen = true
		e.s.faults++
	case (c.Status == abi.StatusRetryExc || c.Status == abi.StatusRNRRetryExc) && !recv && !*seen: // the acceptor knows why
		*seen = true
		e.s.exhausted++
	case e.s.unanswered(c, p.want.Opcode) && !recv && !*seen:
		*seen = true
		e.s.faults++
	case c != p.want || !p.completes || *seen:
		return fmt.Errorf("pair %d in ERR (flushed: %t): got %+v of %+v", e.i, *seen, c, p)
	}
	return nil
}
