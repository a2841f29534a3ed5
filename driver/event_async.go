package driver

import (
	"fmt"
	"slices"

	"rnic/abi"
)

// ofCQ, ofQP and ofSRQ tell what the number of an event is of.
func (e *AsyncEvent) ofCQ() bool { return e.Type == abi.EventCQErr }

func (e *AsyncEvent) ofQP() bool {
	switch e.Type {
	case abi.EventQPFatal, abi.EventQPReqErr, abi.EventQPAccessErr, abi.EventCommEst, abi.EventSQDrained, abi.EventQPLastWQEReached:
		return true
	}
	return false
}

func (e *AsyncEvent) ofSRQ() bool {
	return e.Type == abi.EventSRQErr || e.Type == abi.EventSRQLimitReached
}

// unacked is the count of the object that an event is of, nil if it is of none that
// exists.
func (d *device) unacked(e *AsyncEvent) *int {
	switch n := int64(e.Number); {
	case e.ofCQ() && n < int64(len(d.cqs)) && d.cqs[n] != nil:
		return &d.cqs[n].asyncUnacked
	case e.ofQP() && n < int64(len(d.qps)) && d.qps[n] != nil:
		return &d.qps[n].unacked
	case e.ofSRQ() && n < int64(len(d.srqs)) && d.srqs[n] != nil:
		return &d.srqs[n].unacked
	}
	return nil
}

// forget drops asynchronous events that nobody has taken.
func (d *device) forget(which func(e *AsyncEvent) bool) {
	d.async = slices.DeleteFunc(d.async, func(e AsyncEvent) bool { return which(&e) })
}

// AsyncEvent waits as WaitAsync, but takes the oldest event only; ok is false if
// there was none by then. The CQ, QP or SRQ that it is of can't be destroyed before
// AckAsync.
func (d *Device) AsyncEvent(until int64) (e AsyncEvent, ok bool, err error) {
	events, err := d.WaitAsync(until)
	if len(events) == 0 {
		return e, false, err
	}
	e = events[0]
	d.async = append(events[1:], d.async...)
	if n := d.unacked(&e); n != nil {
		*n++
	}
	return e, true, err
}

// AckAsync acknowledges an event that AsyncEvent returned. It fails with ErrInvalid,
// and does nothing, if the object that it is of has none; for one of no object there
// is nothing to do.
func (d *Device) AckAsync(e AsyncEvent) error {
	if !e.ofCQ() && !e.ofQP() && !e.ofSRQ() {
		return nil
	}
	n := d.unacked(&e)
	if n == nil || *n == 0 {
		return fmt.Errorf("acknowledge %s, which is acknowledged: %w", e, ErrInvalid)
	}
	*n--
	return nil
}
