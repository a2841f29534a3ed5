package ackgen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
)

func placed(qpn port.QPN, psn roce.PSN, k port.JobKind) port.Placed {
	return port.Placed{QPN: qpn, Job: port.Job{Kind: k, QPN: qpn, PSN: psn, Syndrome: 31, MSN: port.MSN(psn) + 1, Len: 5, Swap: 7}}
}

// TestReplyLatency: an answer leaves one cycle after it is due.
func TestReplyLatency(t *testing.T) {
	b := newBench(t, ackgen.Params{}, hdl.Options{})
	b.Placed.Push(placed(1, 0, port.JobAck), placed(1, 1, port.JobRead), placed(1, 2, port.JobAtomic))
	b.Resp.Latency = func() uint64 { return 1 }
	require.NoError(t, b.k.Run(100))
	// Put in cycle 0, taken in 1, at responder in 2, answered in 3; one each cycle.
	require.Equal(t, []uint64{4, 5, 6}, b.Gone.At)
}

// TestReplies: all answers leave as they are, in order; what is none, not.
func TestReplies(t *testing.T) {
	var in []port.Placed
	var want []port.Job
	for i := range 200 {
		p := placed(port.QPN(i%3), roce.PSN(i), port.JobKind(i%4))
		in = append(in, p)
		if p.Job.Kind != port.JobNone {
			want = append(want, p.Job)
		}
	}
	for _, pace := range []uint64{1, 7} {
		seen := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []port.Job) {
			b := newBench(t, ackgen.Params{}, o)
			slow(&b.Resp, pace)
			b.Placed.Push(in...)
			require.NoError(t, b.k.Run(5000))
			return b.k, b.Resp.Seen
		})
		require.Equal(t, want, seen)
	}
}

// TestLost: a duplicate that gets no answer is known to responder, and counts as
// dropped; one of a purged QP is neither.
func TestLost(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	again := placed(1, 0, port.JobNone)
	again.Job.Again = true
	gone := again
	gone.QPN, gone.Job.QPN = 3, 3
	read := placed(1, 1, port.JobRead)
	read.Job.Again = true
	b.Purge.Push(port.Purge{QPN: 3, RX: true})
	b.Placed.Push(again, gone, read, again, placed(1, 2, port.JobNone))
	b.Placed.NotBefore = func(int) uint64 { return 50 }
	require.NoError(t, b.k.Run(200))
	require.Equal(t, []port.Job{again.Job, read.Job, again.Job}, b.Resp.Seen)
	require.Equal(t, port.RespStats{DropOther: 2}, b.AckGen.Judge.Stats.Get())
}

// TestRespFaultRoom: with responder full, and so all that waits for it, pkt_tx is rid
// of a fault of every QP.
func TestRespFaultRoom(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	b.Place.Throttle.Seed, b.Resp.Max = 0, 1
	b.Resp.Latency = func() uint64 { return 1 << 40 }
	for i := range roce.PSN(50) {
		b.Placed.Push(placed(1, i, port.JobAck))
	}
	for n := range port.QPN(16) {
		b.TxFail.Push(port.SQFault{QPN: n})
	}
	require.NoError(t, b.k.Run(1000))
	require.NotZero(t, b.Placed.Pending(), "responder is not full")
	require.Zero(t, b.TxFail.Pending())
}

// TestMarkerLast: a marker goes to responder only when that has taken all before it,
// and so is not held up by a full pool.
func TestMarkerLast(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	slow(&b.Resp, 100)
	b.Purge.Push(port.Purge{QPN: 3, RX: true})
	b.Placed.Push(placed(1, 0, port.JobRead), placed(1, 1, port.JobRead), placed(1, 2, port.JobRead), port.Placed{Purge: true, QPN: 3})
	b.Placed.NotBefore = func(int) uint64 { return 20 }
	require.NoError(t, b.k.Run(210))
	require.Len(t, b.Resp.Seen, 2)
	require.True(t, b.AckGen.Issue.Q.Purging, "two are taken, one waits, and so does the marker")
	require.NoError(t, b.k.Run(240))
	require.Len(t, b.Resp.Seen, 3)
	require.False(t, b.AckGen.Issue.Q.Purging)
	require.NoError(t, b.k.Run(1000))
	require.Equal(t, port.Job{Purge: true, QPN: 3}, b.Resp.Seen[3])
}
