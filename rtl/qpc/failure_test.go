package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

func TestWhichFailureCounts(t *testing.T) {
	const una = 0xfffff0
	at := func(psn roce.PSN) func(*Context) {
		return func(c *Context) { c.sqFault(&port.SQFault{PSN: psn, Status: abi.StatusLocProt}) }
	}
	local := func(c *Context) {
		c.SQ.Busy = true
		c.put(&port.SQPut{NextPSN: c.SQ.Next, EnteredPSN: c.SQ.Next, ExecIdx: 9, Entered: 9, Fault: true})
	}
	flush := func(c *Context) { c.flush(abi.StatusSuccess, abi.VendorNone) }
	timeout := func(c *Context) { c.retire(&port.Retire{Kind: port.RetireTimeout, Una: c.Requester.Una}) }
	ackTo := func(psn roce.PSN) func(*Context) { return func(c *Context) { c.Requester.Una = psn } }
	for _, c := range []struct {
		name   string
		steps  []func(*Context)
		fail   FailKind
		stop   roce.PSN
		status abi.WCStatus
	}{
		{"one", []func(*Context){at(una + 5)}, FailAt, una + 5, abi.StatusLocProt},
		{"later", []func(*Context){at(una + 5), at(una + 6)}, FailAt, una + 5, abi.StatusLocProt},
		{"the same PSN", []func(*Context){at(una + 5), func(c *Context) { c.fault(una+5, abi.StatusRemOp, 0) }}, FailAt, una + 5, abi.StatusLocProt},
		{"earlier", []func(*Context){at(una + 5), at(una + 4)}, FailAt, una + 4, abi.StatusLocProt},
		{"timeout", []func(*Context){timeout}, FailAt, una, abi.StatusRetryExc},
		{"timeout before a fault", []func(*Context){at(una + 5), timeout}, FailAt, una, abi.StatusRetryExc},
		{"timeout at the fault", []func(*Context){at(una + 5), ackTo(una + 5), timeout}, FailAt, una + 5, abi.StatusLocProt},
		{"faulty WQE", []func(*Context){local}, FailLocal, 4, abi.StatusLocQPOp},
		{"fault before a faulty WQE", []func(*Context){local, at(una + 5)}, FailAt, una + 5, abi.StatusLocProt},
		{"timeout before a faulty WQE", []func(*Context){local, timeout}, FailAt, una, abi.StatusRetryExc},
		{"timeout with nothing before a faulty WQE", []func(*Context){local, ackTo(4), timeout}, FailLocal, 4, abi.StatusLocQPOp},
		{"flush", []func(*Context){flush}, FailFlush, una, abi.StatusSuccess},
		{"nothing after a flush", []func(*Context){flush, at(una + 5), timeout}, FailFlush, una, abi.StatusSuccess},
		{"flush before a fault's turn", []func(*Context){at(una + 5), flush}, FailFlush, una, abi.StatusLocProt},
		{"flush in a fault's turn", []func(*Context){at(una + 5), ackTo(una + 5), flush}, FailAt, una + 5, abi.StatusLocProt},
		{"flush before a faulty WQE's turn", []func(*Context){local, flush}, FailFlush, una, abi.StatusLocQPOp},
		{"flush in a faulty WQE's turn", []func(*Context){local, ackTo(4), flush}, FailLocal, 4, abi.StatusLocQPOp},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := inFlight(20)
			for _, s := range c.steps {
				s(x)
			}
			require.Equal(t, abi.QPErr, x.Common.State)
			require.Equal(t, c.fail, x.Requester.Fail)
			require.Equal(t, c.stop, x.Requester.Stop)
			require.Equal(t, c.status, x.Requester.Status)
		})
	}
}

// TestErrAgain: a QP in ERR by a WQE whose turn has not come, as the peer is silent
// about those before it, is flushed by another transition to ERR.
func TestErrAgain(t *testing.T) {
	x := inFlight(20)
	una := x.Requester.Una
	x.fault(una+5, abi.StatusLocProt, abi.VendorLKeyUnknown)
	x.Common.Pending = 0
	require.True(t, x.modify(&abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPErr}, &env).ok())
	require.Equal(t, FailFlush, x.Requester.Fail)
	require.Equal(t, una, x.Requester.Stop)
	require.NotZero(t, x.Common.Pending&NoteEvent)
}

func TestTimeoutIsAlwaysAnswered(t *testing.T) {
	for _, s := range []abi.QPState{abi.QPRTS, abi.QPSQD, abi.QPErr} {
		x := inState(s)
		x.retire(&port.Retire{Kind: port.RetireTimeout})
		require.Equal(t, s, x.Common.State, "nothing was in flight")
		require.Equal(t, NoteEvent, x.Common.Pending)
	}
}

func TestCQOverrun(t *testing.T) {
	for _, s := range states {
		x := inState(s)
		x.retire(&port.Retire{Kind: port.RetireFatal})
		if s == abi.QPReset || s == abi.QPErr {
			require.Equal(t, s, x.Common.State)
			require.Zero(t, x.Common.Pending)
			continue
		}
		require.Equal(t, abi.QPErr, x.Common.State, "%v", s)
		require.Equal(t, NoteEvent|NoteFatal, x.Common.Pending)
		require.Equal(t, port.AckEvent{
			QPN: 1, Una: x.Requester.Una, Fail: true, FailPSN: x.Requester.Una, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Arm: x.arm(&env),
		}, x.event(1, &env))
		told := x.tell(1, &env)
		require.Equal(t, port.EventReq{Type: abi.EventQPFatal, Number: 1, Syndrome: uint16(abi.VendorCQOverrun)}, told.Async)
	}
}

func TestFaultOfAQPThatDoesNotSend(t *testing.T) {
	for _, s := range []abi.QPState{abi.QPReset, abi.QPInit, abi.QPRTR} {
		x := inState(s)
		before := *x
		require.Zero(t, x.sqFault(&port.SQFault{Status: abi.StatusLocProt}))
		require.Zero(t, x.retire(&port.Retire{Kind: port.RetireTimeout}))
		require.Equal(t, before, *x)
	}
	var none Context
	require.Zero(t, none.retire(&port.Retire{Kind: port.RetireDone, Messages: 1}))
	require.Zero(t, none.put(&port.SQPut{}))
	require.Zero(t, none.sqFault(&port.SQFault{}))
	require.Zero(t, none)
}

func TestTelling(t *testing.T) {
	x := inState(abi.QPErr)
	x.Common.Queued = true
	x.note(NoteEvent | NoteActivate | NoteFlushRQ | NoteCommEst | NoteSQDrained | NoteReqErr | NoteAccessErr)
	x.Requester.Vendor = abi.VendorRecvOp
	told := x.tell(3, &env)
	require.Equal(t, NoteEvent|NoteActivate|NoteFlushRQ, told.Notes)
	require.Equal(t, x.event(3, &env), told.Event)
	require.False(t, x.Common.Queued)
	var types []abi.EventType
	for ; told.Has; told = x.tell(3, &env) {
		require.Equal(t, uint32(3), told.Async.Number)
		if told.Async.Type == abi.EventQPReqErr || told.Async.Type == abi.EventQPAccessErr {
			require.Equal(t, uint16(abi.VendorRecvOp), told.Async.Syndrome)
		} else {
			require.Zero(t, told.Async.Syndrome)
		}
		types = append(types, told.Async.Type)
	}
	require.Equal(t, []abi.EventType{abi.EventCommEst, abi.EventQPReqErr, abi.EventQPAccessErr, abi.EventSQDrained}, types)
	require.Zero(t, x.Common.Pending)
}
