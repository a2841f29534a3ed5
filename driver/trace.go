package driver

import (
	"fmt"

	"rnic/abi"
)

// Tracer is what a Bus may be besides: it is told of the calls of the thread. A call
// may make others, which are told of too.
type Tracer interface {
	Trace(c Call, end bool)
}

// Call is a call of the driver, as it begins or as it ends.
type Call struct {
	Name   string // PostSend, PostRecv, Poll, Arm, Wait, CQEvent, Modify, or an admin command's
	Object string // what Number is of: "qp", "cq", "vector", or nothing
	Number uint32
	What   fmt.Stringer // operation of the first work request, new state; or nil
	Posted int          // work requests given

	Count int // at the end: done, or completions
	Err   error
}

// begin tells that a call begins.
func (d *Device) begin(c Call) Call {
	if t, ok := d.bus.(Tracer); ok {
		t.Trace(c, false)
	}
	return c
}

// end tells what it came to.
func (d *Device) end(c Call, n int, err error) {
	if t, ok := d.bus.(Tracer); ok {
		c.Count, c.Err = n, err
		t.Trace(c, true)
	}
}

// first is the operation of the first work request.
func first(wrs []SendWR) fmt.Stringer {
	if len(wrs) == 0 {
		return nil
	}
	return wrs[0].Op
}

// target is the state that Modify asks for.
func (a *QPAttr) target(mask abi.QPAttr) fmt.Stringer {
	if mask&abi.AttrState == 0 {
		return nil
	}
	return a.State
}
