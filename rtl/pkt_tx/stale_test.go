package pkttx_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
)

// rewinds are the cycles in which QPs were rewound.
type rewinds map[port.QPN][]uint64

// gen is the generation of a QP, as qpc knows it in a cycle.
func (w rewinds) gen(n port.QPN, now uint64) (g uint8) {
	for _, at := range w[n] {
		if at <= now {
			g++
		}
	}
	return g
}

// rewind has the bench's qpc rewind QPs in these cycles, and answer accordingly.
func (b *bench) rewind(w rewinds) {
	type stale struct {
		at uint64
		x  port.Stale
	}
	var all []stale
	for n, cycles := range w {
		for i, at := range cycles {
			all = append(all, stale{at, port.Stale{QPN: n, Gen: uint8(i + 1)}})
		}
	}
	slices.SortFunc(all, func(a, b stale) int { return int(a.at) - int(b.at) })
	for _, s := range all {
		b.Stale.Push(s.x)
	}
	b.Stale.NotBefore = func(n int) uint64 { return all[n].at }
	b.QPC.Answer = func(q port.TxHdrReq) port.TxHdr {
		h := qp(q.QPN)
		h.Stale = !q.Resp && q.Gen != w.gen(q.QPN, b.QPC.Now())
		h.Drop = h.Drop || h.Stale || b.failed[q.QPN] && !q.Resp
		return h
	}
	b.Fault.OnTake = func(f port.SQFault) {
		b.failed[f.QPN] = b.failed[f.QPN] || f.Gen == w.gen(f.QPN, b.Fault.Now())
	}
}

// gens gives the requests from the n-th on a generation.
func (l *load) gens(n int, g uint8) {
	for i := range l.req[n:] {
		l.req[n+i].Gen = g
	}
}

// leavers are the PSNs of the frames that left, and runRewound runs a load with rewinds.
func runRewound(t *testing.T, s setup, l load, w rewinds) (psns []roce.PSN, b *bench) {
	t.Helper()
	psns = hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []roce.PSN) {
		b = build(s)
		b.rewind(w)
		k, err := hdl.Elaborate("bench", b, o)
		require.NoError(t, err)
		b.feed(l)
		require.NoError(t, k.Run(s.cycles))
		require.Zero(t, b.Req.Pending()+b.Piece.Pending()+b.Resp.Pending()+b.RespPiece.Pending()+b.Data.Pending())
		var psns []roce.PSN
		for _, f := range join(t, b.Eth.Got, b.Eth.At) {
			p, err := roce.ParseFrame(f.Frame)
			require.NoError(t, err)
			psns = append(psns, p.BTH.PSN)
		}
		return k, psns
	})
	return psns, b
}

// Requests from before a rewind die in the lane, whatever is wrong with them; those
// of other QPs, responses, and those from behind it leave.
func TestStaleIsDropped(t *testing.T) {
	bad := host(0x5000, 150)
	bad.Key = badKey
	failing := bad
	failing.Key = badRead
	var l load
	var want []roce.PSN
	l.request(0x12, roce.RCSendOnly, host(1, 100)) // waits for its payload
	for i := range 6 {
		l.request(0x10, roce.RCSendFirst, host(port.VA(i), 300), bad)
		l.request(0x10, roce.RCSendOnly)
		l.request(0x10, roce.RCSendOnly, failing)
		l.request(0x12, roce.RCSendOnly, host(2, 1000))
	}
	for _, p := range l.req {
		if p.QPN == 0x12 {
			want = append(want, p.PSN)
		}
	}
	l.read(0x10, roce.RCReadRespOnly, remote(3, 200))
	l.resp[0].PSN = 77
	want = append(want[:1:1], append([]roce.PSN{77}, want[1:]...)...)
	psns, b := runRewound(t, setup{dmaCycles: 500, cycles: 3000}, l, rewinds{0x10: {300}})
	slices.Sort(psns)
	slices.Sort(want)
	require.Equal(t, want, psns)
	require.Empty(t, b.Fault.Got)
	require.Len(t, b.QPC.Seen, len(l.req)+1, "nobody is asked again")
}

// A generation is newer than another if it is less than 128 ahead.
func TestGenerationsWrap(t *testing.T) {
	for _, c := range []struct {
		stale, gen uint8
		leaves     bool
	}{{1, 0, false}, {0, 255, false}, {127, 255, false}, {5, 5, true}, {5, 6, true}, {250, 3, true}} {
		b := build(setup{})
		k := elaborate(t, b)
		b.QPC.Latency = func() uint64 { return 50 }
		b.Req.Push(port.TxPkt{QPN: 0x10, Opcode: roce.RCSendOnly, Gen: c.gen})
		require.NoError(t, k.Run(20))
		b.Stale.Push(port.Stale{QPN: 0x10, Gen: c.stale})
		require.NoError(t, k.Run(200))
		require.Equal(t, c.leaves, len(b.Eth.Got) > 0, "%+v", c)
	}
}

// A request that was asked for when the Stale had come is not looked at again, so the
// generation is qpc's affair.
func TestOnlySuspectsAreLookedUp(t *testing.T) {
	b := build(setup{})
	k := elaborate(t, b)
	b.Stale.Push(port.Stale{QPN: 0x10, Gen: 1})
	require.NoError(t, k.Run(20))
	b.Req.Push(port.TxPkt{QPN: 0x10, Opcode: roce.RCSendOnly})
	require.NoError(t, k.Run(100))
	require.Len(t, b.Eth.At, 1)
	require.Equal(t, uint64(21+1+9), b.Eth.At[0], "as without rewinds")
}

// A fault of a request names its generation.
func TestFaultHasGeneration(t *testing.T) {
	bad := host(0x5000, 150)
	bad.Key = badKey
	var l load
	l.request(0x10, roce.RCSendOnly, bad)
	l.gens(0, 9)
	r := run(t, setup{}, l)
	require.Equal(t, []port.SQFault{{
		QPN: 0x10, PSN: l.req[0].PSN, Gen: 9, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyUnknown,
	}}, r.Faults)
}

// A request that is asked for again, and answered as stale, makes no other answer out of
// date: those behind it are not asked for again.
func TestStaleAnswerKeepsTheEpoch(t *testing.T) {
	for _, c := range []struct {
		stale bool
		asked int
	}{{true, 2 + 1 + 5}, {false, 2 + 1 + 5 + 5}} {
		b := build(setup{})
		k := elaborate(t, b)
		rewound := false
		b.QPC.Latency = func() uint64 { return 60 }
		b.QPC.Answer = func(q port.TxHdrReq) port.TxHdr {
			h := qp(q.QPN)
			h.Drop = rewound && q.QPN == 0x12
			h.Stale = h.Drop && c.stale
			return h
		}
		bad := host(0x5000, 150)
		bad.Key = badKey
		b.Piece.Push(bad)
		b.Req.Push(port.TxPkt{QPN: 0x10, Opcode: roce.RCSendOnly, Len: 150, NumPieces: 1}, port.TxPkt{QPN: 0x12, Opcode: roce.RCSendOnly, Gen: 3})
		b.Fault.OnTake = func(port.SQFault) {
			rewound = true
		}
		require.NoError(t, k.Run(105))
		require.True(t, rewound)
		require.Len(t, b.QPC.Seen, 3, "0x12 was asked for again")
		require.Equal(t, port.TxHdrReq{QPN: 0x12, Gen: 3}, b.QPC.Seen[2])
		for range 5 {
			b.Req.Push(port.TxPkt{QPN: 0x14, Opcode: roce.RCSendOnly})
		}
		require.NoError(t, k.Run(1500))
		require.Len(t, join(t, b.Eth.Got, b.Eth.At), 5)
		require.Len(t, b.QPC.Seen, c.asked)
	}
}

// The answer of a duplicate that cannot be read is lost without a word, and the QP
// speaks on.
func TestDuplicateThatCannotBeRead(t *testing.T) {
	var l load
	for _, key := range []port.Key{badKey, badRead} {
		bad := remote(0x5000, 150)
		bad.Key = key
		l.read(0x20, roce.RCReadRespFirst, remote(0x1000, 256), bad)
		l.resp[len(l.resp)-1].Again = true
		l.read(0x20, roce.RCReadRespLast, remote(0x1000, 30))
		l.ack(0x20)
	}
	r := run(t, setup{}, l)
	compare(t, l, r)
	require.Len(t, r.Frames, 4)
	require.Empty(t, r.Refuse)
}

// What is sent again leaves a read and 50 cycles after the rewind, with 48 stale packets
// in front that leave at the rate of the line, or are to be read as it takes them.
func TestStaleInFront(t *testing.T) {
	const rewound, dma = 2500, 125
	for _, bytes := range []int{0, 64, 256, 1024, 4096} {
		for _, qps := range []int{1, 2} {
			slot := float64(max(60, 54+bytes+4)+24) / 50 // cycles of a frame on the line
			late := uint64(0)
			for phase := range uint64(9) {
				at := rewound + 10*phase
				b := build(setup{line: 100, dmaCycles: dma})
				k := elaborate(t, b)
				w, l, due := rewinds{}, load{}, []uint64{}
				for i := range qps {
					w[0x10+2*port.QPN(i)] = []uint64{at}
				}
				for i := 0; ; i++ {
					due = append(due, uint64(max(0, float64(min(bytes, dma))+slot*float64(i-48))))
					if due[i] >= at {
						due = due[:i]
						break
					}
					var pieces []port.TxPiece
					if bytes > 0 {
						pieces = append(pieces, host(port.VA(i*bytes+13), bytes))
					}
					l.request(0x10+2*port.QPN(i%qps), roce.RCSendMiddle, pieces...)
				}
				stale := len(l.req)
				for range 3 {
					l.request(0x10, roce.RCSendOnly, host(7, 64))
				}
				l.gens(stale, 1)
				for i := range l.req {
					l.req[i].AckReq = true
				}
				b.rewind(w)
				b.feed(l)
				b.Req.NotBefore = func(n int) uint64 {
					if n < stale {
						return due[n]
					}
					return at + 20
				}
				require.NoError(t, k.Run(at))
				require.GreaterOrEqual(t, stale-len(b.Left.Got), 48)
				require.NoError(t, k.Run(at+1000))
				require.Zero(t, b.Data.Pending())
				n := slices.IndexFunc(b.Left.Got, func(x port.Left) bool { return x.LastPSN == l.req[stale].LastPSN })
				late = max(late, b.Left.At[n]-at)
			}
			t.Logf("%d bytes, %d QPs: %d cycles after the rewind", bytes, qps, late)
			bound := uint64(dma + 50)
			if bytes > 1024 || qps > 1 { // the frame that was being sent may be long, and look-ups take turns
				bound += uint64(slot)
			}
			require.LessOrEqual(t, late, bound)
		}
	}
}
