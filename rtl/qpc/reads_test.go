package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// una is the first PSN of the QPs that the tests of the requester use.
const una = roce.PSN(0xfffff0)

// reading is a QP in RTS that has sent what ops say from una on: 0 is a SEND of one
// packet, n > 0 a READ of n bytes, -1 an atomic. MTU is 1,024, unit indices count
// from 1.
func reading(ops ...int) *Context {
	x := inState(abi.QPRTS)
	x.Common.MaxRd = depth
	x.SQ.PI = 100
	x.get(&port.SQGet{Packets: 16}, &env)
	next := una
	for i, n := range ops {
		p := port.ReadPost{Op: abi.OpRead, UnitIdx: uint16(i + 1), FirstPSN: next, LastPSN: next, Len: uint32(n)}
		switch {
		case n > 0:
			p.LastPSN = next.Add(uint32(n-1) / 1024)
			x.post(&p)
		case n < 0:
			p.Op, p.Len = abi.OpCompareSwap, 8
			x.post(&p)
		}
		next = p.LastPSN.Add(1)
	}
	x.put(&port.SQPut{NextPSN: next, EnteredPSN: next, ExecIdx: uint16(len(ops) + 1), Entered: uint16(len(ops) + 1), Requests: uint8(len(ops)), Messages: uint8(len(ops))})
	x.Requester.Unlimited = true
	return x
}

func TestReadPost(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI = 100
	got := x.get(&port.SQGet{Packets: 16}, &env)
	require.Equal(t, uint8(4), got.Reads, "the QP's initiator depth")
	require.False(t, got.Reading)
	require.Equal(t, InSQ|InRequester|InReads, x.post(&port.ReadPost{
		Op: abi.OpRead, UnitIdx: 7, FirstPSN: una + 2, LastPSN: una + 5, Len: 4000,
	}))
	require.Equal(t, Read{UnitIdx: 7, First: una + 2, Last: una + 5, Len: 4000}, x.Reads[0])
	require.Equal(t, una.Add(20), x.limit(), "16 granted, and the READ's")
	x.put(&port.SQPut{NextPSN: una + 6})
	x.SQ.Exec, x.SQ.Entered = 50, 50
	got = x.get(&port.SQGet{Packets: 16}, &env)
	require.Equal(t, uint8(3), got.Reads)
	require.True(t, got.Reading, "a fenced WQE waits")
	require.False(t, got.Idle)
	require.Equal(t, uint16(122), got.Window, "its PSNs count")
}

// PSNs of a READ may be acknowledged before the service is closed that sent it,
// and after it those granted.
func TestReadPostMovesTheLimit(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI = 100
	x.get(&port.SQGet{Packets: 2}, &env)
	require.Equal(t, una.Add(2), x.limit())
	x.post(&port.ReadPost{FirstPSN: una, LastPSN: una.Add(1<<23 - 1)})
	require.Equal(t, una.Add(1<<23+2), x.limit())
	x.put(&port.SQPut{NextPSN: una.Add(1 << 23)})
	require.Equal(t, una.Add(1<<23), x.limit())
	require.Zero(t, x.SQ.Granted)
}

func TestReadPostOfNoUse(t *testing.T) {
	p := &port.ReadPost{Op: abi.OpRead, FirstPSN: una, LastPSN: una}
	for _, s := range []abi.QPState{abi.QPReset, abi.QPInit, abi.QPRTR} {
		x := inState(s)
		before := *x
		require.Zero(t, x.post(p), "%v", s)
		require.Equal(t, before, *x)
	}
	x := reading()
	for range depth {
		require.NotZero(t, x.post(p))
	}
	before := *x
	require.Zero(t, x.post(p), "the list is full")
	require.Equal(t, before, *x)
	more, _ := x.mayRead()
	require.Zero(t, more)
}

func TestInitiatorDepth(t *testing.T) {
	for _, c := range []struct {
		max                       uint8
		posted, answered, retired uint8
		more                      uint8
		fence                     bool
	}{
		{0, 0, 0, 0, 0, false},
		{16, 0, 0, 0, 16, false},
		{4, 3, 0, 0, 1, true},
		{4, 4, 0, 0, 0, true},
		{4, 4, 1, 0, 1, true},
		{4, 4, 4, 0, 4, true},   // all answered, and no data is known to be in memory
		{4, 16, 16, 0, 0, true}, // no place in the list
		{4, 16, 16, 2, 2, true},
		{4, 16, 16, 16, 4, false},
		{2, 4, 0, 0, 0, true}, // made smaller since
		{16, 5, 253, 250, 5, true},
	} {
		x := inState(abi.QPRTS)
		x.Common.MaxRd = c.max
		x.Requester.Posted, x.Requester.Answered, x.Requester.Retired = c.posted, c.answered, c.retired
		more, fence := x.mayRead()
		require.Equal(t, c.more, more, "%+v", c)
		require.Equal(t, c.fence, fence, "%+v", c)
	}
}

// A READ that is answered is not over before its data is in memory: retrans knows.
func TestRetirementOfReads(t *testing.T) {
	x := reading(0, 3000, 100, 0, -1, 5000) // PSNs 0, 1..3, 4, 5, 6, 7..11
	x.Requester.Una, x.Requester.Answered = una.Add(7), 3
	require.Equal(t, una+1, x.Requester.Oldest)
	require.Equal(t, una+1, x.posted())
	for _, c := range []struct {
		known   roce.PSN // of retrans
		retired uint8
		posted  roce.PSN
	}{
		{una, 0, una.Add(1)},
		{una.Add(3), 0, una.Add(1)},
		{una.Add(4), 1, una.Add(4)},
		{una.Add(6), 2, una.Add(6)},
		{una.Add(7), 3, una.Add(7)}, // the next one is not answered: Una is good
	} {
		w := x.retire(&port.Retire{Kind: port.RetireDone, Una: c.known})
		require.Equal(t, InSQ|InRequester, w)
		require.Equal(t, c.retired, x.Requester.Retired, "%v", c.known)
		require.Equal(t, c.posted, x.posted(), "%v", c.known)
	}
	x.Requester.Una, x.Requester.Answered = una.Add(12), 4
	require.Equal(t, una.Add(7), x.posted())
	x.Requester.Answered = 3
	x.retireReads(una.Add(12))
	require.Equal(t, uint8(3), x.Requester.Retired, "not before it is answered")
	x.Requester.Answered = 4
	x.retire(&port.Retire{Kind: port.RetireDone, Una: una.Add(12)})
	require.Equal(t, una.Add(12), x.posted())
	_, fence := x.mayRead()
	require.False(t, fence)
}

// The longest READ takes half of all PSNs.
func TestRetirementOfTheLongestRead(t *testing.T) {
	x := reading()
	x.SQ.Busy = true
	x.post(&port.ReadPost{FirstPSN: una, LastPSN: una.Add(1<<23 - 1), Len: 1 << 31})
	x.put(&port.SQPut{NextPSN: una.Add(1 << 23)})
	for _, n := range []uint32{0, 1, 1 << 22, 1<<23 - 1} {
		x.Requester.Una = una.Add(n)
		x.retireReads(x.Requester.Una)
		require.Equal(t, una, x.posted())
	}
	x.Requester.Una, x.Requester.Answered = una.Add(1<<23), 1
	require.Equal(t, una, x.posted())
	x.retireReads(una.Add(1 << 23))
	require.Equal(t, una.Add(1<<23), x.posted())
}

// What is told straight to retrans does not complete a READ whose data may still
// be on its way; what goes with a packet does.
func TestEarlyEvents(t *testing.T) {
	x := reading(0, 3000, 0)
	x.Requester.Una, x.Requester.Answered = una.Add(4), 1
	x.flush(abi.StatusSuccess, abi.VendorNone)
	want := port.AckEvent{
		QPN: 1, Una: una.Add(1), Fail: true, FailPSN: una.Add(4), Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Arm: 17 << 20,
	}
	require.Equal(t, want, x.early(1, &env))
	require.Equal(t, want, x.tell(1, &env).Event)
	want.Una = una.Add(4)
	require.Equal(t, want, x.event(1, &env))
}

// A timeout that an acknowledgement has overtaken is answered, and fails nothing.
func TestTimeoutBehindAnAcknowledgement(t *testing.T) {
	for _, c := range []struct {
		known roce.PSN
		fails bool
	}{
		{una, false}, {una.Add(2), false}, {una.Add(3), true}, {una.Add(4), true},
	} {
		x := reading(0, 0, 0, 0, 0)
		x.Requester.Una = una.Add(3)
		require.Equal(t, InCommon|InSQ|InRequester, x.retire(&port.Retire{Kind: port.RetireTimeout, Una: c.known}))
		require.Equal(t, NoteEvent, x.Common.Pending&NoteEvent)
		v := x.tell(1, &env).Event
		require.Equal(t, c.fails, v.Fail, "%v", c.known)
		require.Equal(t, c.fails, x.Common.State == abi.QPErr)
		require.Equal(t, una.Add(3), v.Una)
		if c.fails {
			require.Equal(t, una.Add(3), v.FailPSN)
			require.Equal(t, abi.VendorTimeout, v.Vendor)
		}
	}
}
