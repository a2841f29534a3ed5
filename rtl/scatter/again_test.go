package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/scatter"
)

// repeated makes a step that of a duplicate.
func repeated(s step) step {
	s.v.Job.Again, s.v.Drop = true, abi.DuplicateRequest
	if s.v.Job.Kind == port.JobAtomic {
		s.v.Target, s.v.Remote = port.TargetNone, port.Remote{}
	}
	return s
}

// TestAgain: a duplicate of an atomic is no atomic, and waits for none; a bad key of a
// READ's is no fault. Answers keep their order.
func TestAgain(t *testing.T) {
	bad := repeated(readOf(1))
	bad.v.Remote.Key |= port.Key(port.MptBadBounds)
	first := atomicOf(1, 0x1000)
	first.v.Job.Slot = 9
	b := play(t, scatter.Params{}, []step{first, repeated(first), repeated(readOf(1)), bad, ackOf(1), repeated(first), readOf(1)})
	b.Atomic.Latency = func() uint64 { return 1000 }
	b.settle()
	require.Len(t, b.Atomic.Seen, 1)
	require.EqualValues(t, 9, b.Atomic.Seen[0].Slot)
	require.Len(t, b.Resp.Got, 6)
	for i, kind := range []port.JobKind{port.JobAtomic, port.JobAtomic, port.JobRead, port.JobNone, port.JobAtomic, port.JobRead} {
		require.Equal(t, kind, b.Resp.Got[i].Kind)
		require.Equal(t, i > 0 && i < 5, b.Resp.Got[i].Again)
		require.Less(t, b.Resp.At[i], b.Atomic.At[0]+100, "a duplicate waits for the atomic")
	}
	for _, o := range b.Qpc.Seen {
		require.Equal(t, port.RxPacket, o.Kind, "a fault of a duplicate is reported")
	}
	require.Empty(t, b.Write.Got)
	stats := b.AckGen.Judge.Stats.Get()
	require.Equal(t, port.RespStats{DuplicateRequest: 4, DropOther: 1}, stats)
}

// TestAtomicUnread: behind an atomic whose memory can't be read nothing of its QP is
// executed nor answered, until its fault comes by; others go on.
func TestAtomicUnread(t *testing.T) {
	steps := []step{atomicOf(1, 0x1000), writeOf(1), writeOf(2), atomicOf(1, 0x2000), ackOf(1), writeOf(1), writeOf(2), readOf(1)}
	b := play(t, scatter.Params{}, steps)
	b.Atomic.Bad = map[port.BusAddr]bool{bus(0x1000): true}
	require.NoError(t, b.k.Run(500))
	require.Len(t, b.Atomic.Seen, 1)
	require.Len(t, b.Write.Got, 2)
	var got []port.QPN
	for _, j := range b.Resp.Got {
		got = append(got, j.QPN)
	}
	require.Equal(t, []port.QPN{1, 2, 2}, got)
	require.Len(t, b.Event.Got, 1, "the send queue of the QP is not concerned")
	require.EqualValues(t, 1, b.Scat.Collect.Q.Poisoned)
	b.TxFail.Push(port.SQFault{QPN: 1, Status: abi.StatusRemOp, Vendor: abi.VendorDMARead})
	b.settle()
	require.Zero(t, b.Scat.Collect.Q.Poisoned)
	require.Len(t, b.Resp.Got, 3)
}

// TestAtomicsUnread: all that are under way fail, in the same cycle or not, one QP
// besides by a key that a READ names.
func TestAtomicsUnread(t *testing.T) {
	bad := readOf(3)
	bad.v.Remote.Key |= port.Key(port.MptBadKey)
	var steps []step
	for n := range port.QPN(8) {
		steps = append(steps, atomicOf(n, 0x1000))
	}
	steps = append(steps, bad)
	for n := range port.QPN(8) {
		steps = append(steps, writeOf(n))
	}
	b := play(t, scatter.Params{}, steps)
	b.Atomic.Bad = map[port.BusAddr]bool{bus(0x1000): true}
	n := uint64(0)
	b.Atomic.Latency = func() uint64 { n++; return 200 - n } // one each cycle
	faults := 0
	verdict := b.Qpc.Answer
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		if o.Kind == port.RxFault && !o.Resp {
			faults++
		}
		return verdict(o)
	}
	b.Qpc.Latency = func() uint64 {
		if len(b.Qpc.Seen) > len(steps) { // faults
			return 400
		}
		return 3
	}
	require.NoError(t, b.k.Run(350))
	require.EqualValues(t, 8, b.Scat.Collect.Q.Poisoned)
	require.Empty(t, b.Write.Got)
	require.Equal(t, 1, faults)
	for n := range port.QPN(8) {
		b.TxFail.Push(port.SQFault{QPN: n})
	}
	b.settle()
	require.Zero(t, b.Scat.Collect.Q.Poisoned)
	require.Empty(t, b.Write.Got)
}

// rewindOf is an acknowledgement that has its QP go back.
func rewindOf(n port.QPN, gen uint8) step {
	return step{op: roce.RCAck, v: port.RxVerdict{
		QPN: n, Action: port.RxAck, Drop: abi.PacketSeqErr, Event: port.AckEvent{QPN: n, Rewind: true, At: 7, Wait: 9, Gen: gen},
	}}
}

// TestRewindInOrder: a rewind is an event like others: as it is, behind the data of
// the responses before it, and not passed by what comes behind it. One may also come
// with a response that is dropped.
func TestRewindInOrder(t *testing.T) {
	beyond := step{roce.RCReadRespOnly, 64, port.RxVerdict{
		QPN: 1, Action: port.RxDrop, Drop: abi.ImpliedNakSeqErr, HasEvent: true, Event: port.AckEvent{QPN: 1, Rewind: true, Gen: 2},
	}}
	b := play(t, scatter.Params{}, []step{ackOf(1), rewindOf(1, 0), responseOf(1), rewindOf(1, 1), beyond, rewindOf(2, 0), ackOf(1)})
	postRead(b)
	b.settle()
	var one []port.AckEvent
	for i, e := range b.Event.Got {
		if e.QPN != 1 {
			require.Equal(t, port.AckEvent{QPN: 2, Rewind: true, At: 7, Wait: 9}, e)
			require.LessOrEqual(t, b.Event.At[i]-arrived(5), uint64(10))
			continue
		}
		one = append(one, e)
		if len(one) > 2 {
			require.Greater(t, b.Event.At[i], b.Write.At[0])
		}
	}
	require.Equal(t, []port.AckEvent{
		{QPN: 1}, {QPN: 1, Rewind: true, At: 7, Wait: 9}, {QPN: 1, Una: 1},
		{QPN: 1, Rewind: true, At: 7, Wait: 9, Gen: 1}, {QPN: 1, Rewind: true, Gen: 2}, {QPN: 1},
	}, one)
}

// TestPlacedTwice: a response that is placed again leaves the same bytes, and its WQE is
// read again if need be.
func TestPlacedTwice(t *testing.T) {
	b := play(t, scatter.Params{}, []step{responseOf(1), responseOf(1), responseOf(1)})
	postRead(b)
	b.settle()
	require.Len(t, b.Event.Got, 3)
	require.Len(t, b.Write.Got, 3)
	require.Equal(t, b.Write.Got[0].Addr, b.Write.Got[2].Addr)
	require.Len(t, b.Qpc.Seen, 3, "no fault")
	require.Zero(t, b.Fetch.Lookup.Q.Valid, "no line is left")
}

// TestUnreadMeetsPoison: an atomic fails in each cycle of a stream of another QP's
// packets, which is poisoned itself: not one of these is placed.
func TestUnreadMeetsPoison(t *testing.T) {
	bad := readOf(2)
	bad.v.Remote.Key |= port.Key(port.MptBadKey)
	for latency := range uint64(40) {
		steps := []step{atomicOf(1, 0x1000), bad}
		for range 12 {
			steps = append(steps, writeOf(2), readOf(3))
		}
		b := play(t, scatter.Params{}, steps)
		b.Atomic.Bad = map[port.BusAddr]bool{bus(0x1000): true}
		b.Atomic.Latency = func() uint64 { return latency }
		b.Qpc.Latency = func() uint64 {
			if b.Qpc.Seen[len(b.Qpc.Seen)-1].Kind == port.RxFault {
				return 400
			}
			return 3
		}
		require.NoError(t, b.k.Run(300))
		require.EqualValues(t, 2, b.Scat.Collect.Q.Poisoned)
		require.Empty(t, b.Write.Got, "latency %d", latency)
		require.Greater(t, len(b.Resp.Got), 3, "the atomic, and what QP 3 reads")
	}
}
