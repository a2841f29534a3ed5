package pkttx_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
)

// QPs that fail by themselves or are stopped by others, at any time: no packet of a
// QP follows one that was not sent.
func TestNoPacketFollowsOneNotSent(t *testing.T) {
	short := 0
	for seed := uint64(1); seed <= 40; seed++ {
		rng := rand.New(rand.NewPCG(seed, 3))
		var l load
		order := map[roce.QPN][]roce.PSN{}
		stops := map[port.QPN]uint64{}
		for i := range port.QPN(4) {
			stops[0x10+i] = rng.Uint64N(4000)
		}
		for range 150 {
			qpn := 0x10 + port.QPN(rng.Uint32N(4))
			l.request(qpn, roce.RCSendOnly, split(rng, 1+rng.IntN(400), 0.02)...)
			dest := roce.QPN(qp(qpn).DestQPN)
			order[dest] = append(order[dest], l.req[len(l.req)-1].PSN)
		}
		frames := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []sent) {
			b := build(setup{seed: seed, line: 25})
			b.QPC.Answer = func(q port.TxHdrReq) port.TxHdr {
				h := qp(q.QPN)
				h.Drop = b.failed[q.QPN] || b.QPC.Now() >= stops[q.QPN]
				return h
			}
			k, err := hdl.Elaborate("bench", b, o)
			require.NoError(t, err)
			b.Req.Push(l.req...)
			b.Piece.Push(l.piece...)
			require.NoError(t, k.Run(60_000))
			require.Zero(t, b.Req.Pending()+b.Piece.Pending()+b.Data.Pending())
			return k, join(t, b.Eth.Got, b.Eth.At)
		})
		for n, f := range frames {
			p, err := roce.ParseFrame(f.Frame)
			require.NoError(t, err)
			left := order[p.BTH.DestQP]
			require.Equal(t, left[0], p.BTH.PSN, "seed %d, frame %d to QP %#x", seed, n, p.BTH.DestQP)
			order[p.BTH.DestQP] = left[1:]
		}
		for _, left := range order {
			short += len(left)
		}
	}
	require.Positive(t, short, "packets that were not sent")
}
