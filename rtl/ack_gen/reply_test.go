package ackgen_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
)

func placed(qpn port.QPN, psn roce.PSN, s roce.Syndrome) port.Placed {
	return port.Placed{QPN: qpn, Ack: port.AckReq{Send: true, QPN: qpn, PSN: psn, Syndrome: uint8(s), MSN: port.MSN(psn) + 1}}
}

const (
	ackSynd = roce.Syndrome(31)
	nakSynd = roce.Syndrome(0x60)
	rnrSynd = roce.Syndrome(0x2e)
)

// sentOf is what Resp must carry for a report.
func sentOf(p port.Placed) port.TxPkt {
	return port.TxPkt{QPN: p.QPN, Resp: true, Opcode: roce.RCAck, PSN: p.Ack.PSN, Syndrome: p.Ack.Syndrome, MSN: p.Ack.MSN}
}

// TestMerge: what waits behind a slow pkt_tx.
func TestMerge(t *testing.T) {
	b := newBench(t, ackgen.Params{}, hdl.Options{})
	slow(&b.Tx, 100)
	in := []port.Placed{
		placed(1, 0, ackSynd),                        // taken at once
		placed(1, 1, ackSynd), placed(1, 2, ackSynd), // fill Resp
		placed(1, 3, ackSynd), // replaced
		placed(2, 0, ackSynd), // replaced, keeps its place
		placed(1, 4, ackSynd),
		placed(1, 5, nakSynd), // stays, and separates
		placed(1, 6, ackSynd), // replaced
		placed(2, 1, ackSynd),
		placed(1, 7, ackSynd),
		placed(2, 2, rnrSynd),
	}
	b.Placed.Push(in...)
	require.NoError(t, b.k.Run(3000))
	var want []port.TxPkt
	for _, i := range []int{0, 1, 2, 5, 8, 6, 9, 10} {
		want = append(want, sentOf(in[i]))
	}
	require.Equal(t, want, b.Tx.Seen)
}

// TestReplyLatency: an acknowledgement leaves one cycle after it is due.
func TestReplyLatency(t *testing.T) {
	b := newBench(t, ackgen.Params{}, hdl.Options{})
	b.Placed.Push(placed(1, 0, ackSynd), placed(1, 1, ackSynd), placed(1, 2, ackSynd))
	b.Tx.Latency = func() uint64 { return 1 }
	require.NoError(t, b.k.Run(100))
	// Put in cycle 0, taken in 1, at pkt_tx in 2, answered in 3; one each cycle.
	require.Equal(t, []uint64{4, 5, 6}, b.Gone.At)
}

// TestReplies: whatever the queue and the pace, each QP's acknowledgements leave
// in order; one is missing only if an ACK with nothing between stands for it.
func TestReplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := ackgen.Params{Acks: rapid.SampledFrom([]int{1, 2, 5, 32}).Draw(t, "acks"), NoCoalesce: rapid.Bool().Draw(t, "no coalesce")}
		pace := rapid.Uint64Range(1, 12).Draw(t, "pace")
		n := rapid.IntRange(1, 80).Draw(t, "n")
		var in []port.Placed
		for i := range n {
			s := rapid.SampledFrom([]roce.Syndrome{ackSynd, ackSynd, ackSynd, nakSynd, rnrSynd}).Draw(t, "syndrome")
			in = append(in, placed(port.QPN(rapid.IntRange(1, 4).Draw(t, "qpn")), roce.PSN(i), s))
		}
		seen := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []port.TxPkt) {
			b := newBench(t, p, o)
			slow(&b.Tx, pace)
			b.Placed.Push(in...)
			require.NoError(t, b.k.Run(5000))
			require.Zero(t, b.Placed.Pending())
			return b.k, b.Tx.Seen
		})
		if p.NoCoalesce {
			require.Len(t, seen, n)
			for i := range in {
				require.Equal(t, sentOf(in[i]), seen[i])
			}
			return
		}
		for qpn := port.QPN(1); qpn <= 4; qpn++ {
			var due []port.TxPkt
			for _, x := range in {
				if x.QPN == qpn {
					due = append(due, sentOf(x))
				}
			}
			for _, x := range seen {
				if x.QPN != qpn {
					continue
				}
				for len(due) > 0 && due[0] != x {
					require.True(t, due[0].Syndrome == 31 && x.Syndrome == 31, "%+v is missing before %+v", due[0], x)
					due = due[1:]
				}
				require.NotEmpty(t, due, "%+v is out of order", x)
				due = due[1:]
			}
			require.Empty(t, due)
		}
	})
}
