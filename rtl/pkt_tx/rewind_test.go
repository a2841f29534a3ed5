package pkttx_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/port"
)

// life is a generation of a QP.
type life struct {
	QPN port.QPN
	Gen uint8
}

// tale is a load of requests with times, while QPs are rewound.
type tale struct {
	load
	due     []uint64 // earliest cycle of each request
	rewinds rewinds
	order   map[life][]int // requests of each life, in order
}

// rewound draws a tale: services of QPs, which go on for a while with the old generation
// after a rewind.
func rewound(seed uint64, fault float64) *tale {
	rng := rand.New(rand.NewPCG(seed, 4))
	l := &tale{rewinds: rewinds{}, order: map[life][]int{}}
	var now uint64
	for len(l.req) < 300 {
		n := 0x10 + port.QPN(rng.Uint32N(5))
		gen := l.rewinds.gen(n, now)
		for range 1 + rng.Uint32N(8) {
			if rng.Uint32N(20) == 0 {
				other := 0x10 + port.QPN(rng.Uint32N(5))
				l.rewinds[other] = append(l.rewinds[other], now)
				for i := range rng.Uint32N(3) { // and again, at once
					l.rewinds[other] = append(l.rewinds[other], now+1+uint64(i)*7)
				}
				now += 20
			}
			size := int(rng.Uint32N(300))
			if rng.Uint32N(6) == 0 {
				size = int(rng.Uint32N(4097))
			}
			l.order[life{n, gen}] = append(l.order[life{n, gen}], len(l.req))
			l.request(n, roce.RCSendOnly, split(rng, size, fault)...)
			p := &l.req[len(l.req)-1]
			p.Gen, p.AckReq, p.LastPSN = gen, true, p.PSN
			l.due = append(l.due, now)
			now += rng.Uint64N(30)
		}
		switch n = 0x30 + n&3; rng.Uint32N(4) {
		case 0:
			l.ack(n)
		case 1:
			l.read(n, roce.RCReadRespOnly, remote(port.VA(rng.Uint32()), 1+rng.IntN(500)))
		case 2:
			bad := remote(0x5000, 1+rng.IntN(500))
			bad.Key = badRead
			l.read(n, roce.RCReadRespFirst, bad)
			l.resp[len(l.resp)-1].Again = true
		}
	}
	return l
}

// told is what came of a tale.
type told struct {
	Frames  []sent
	Faults  []port.SQFault
	FaultAt []uint64
	Refuse  []port.SQFault
	Left    []port.Left
	LeftAt  []uint64
}

func (l *tale) run(t *testing.T, s setup) told {
	return hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, told) {
		b := build(s)
		b.rewind(l.rewinds)
		k, err := hdl.Elaborate("bench", b, o)
		require.NoError(t, err)
		b.feed(l.load)
		b.Req.NotBefore = func(n int) uint64 { return l.due[n] }
		require.NoError(t, k.Run(60_000))
		require.Zero(t, b.Req.Pending()+b.Piece.Pending()+b.Resp.Pending()+b.RespPiece.Pending()+b.Data.Pending()+b.Stale.Pending())
		return k, told{join(t, b.Eth.Got, b.Eth.At), b.Fault.Got, b.Fault.At, b.Refuse.Got, b.Left.Got, b.Left.At}
	})
}

// check: of each generation of a QP what leaves is what was described first, without a
// hole; of the last one it is all, if no fault has ended the QP. After a rewind at
// most the frame that is being sent is old. It counts requests that died.
func (l *tale) check(t *testing.T, r told) (died int) {
	data := map[roce.PSN][]byte{}
	unread := map[roce.PSN]bool{}
	at, pieces := map[roce.PSN]int{}, l.piece
	for i, p := range l.req {
		b, ok := payload(pieces[:p.NumPieces])
		pieces = pieces[p.NumPieces:]
		data[p.PSN], unread[p.PSN], at[p.PSN] = b, !ok, i
	}
	left, gone := r.Left, map[life][]int{}
	for _, f := range r.Frames {
		p, err := roce.ParseFrame(f.Frame)
		require.NoError(t, err)
		n := port.QPN(p.BTH.DestQP) ^ 0x800001
		if n >= 0x30 {
			continue
		}
		i := at[p.BTH.PSN]
		require.Equal(t, data[p.BTH.PSN], append([]byte(nil), p.Payload[:l.req[i].Len]...))
		require.Equal(t, port.Left{QPN: n, LastPSN: l.req[i].LastPSN}, left[0])
		left = left[1:]
		life := life{n, l.req[i].Gen}
		gone[life] = append(gone[life], i)
	}
	require.Empty(t, left)
	faults, ends := map[life]roce.PSN{}, map[port.QPN]bool{}
	for i, f := range r.Faults {
		life := life{f.QPN, f.Gen}
		require.NotContains(t, faults, life)
		require.True(t, unread[f.PSN])
		faults[life] = f.PSN
		if f.Gen == l.rewinds.gen(f.QPN, r.FaultAt[i]) {
			ends[f.QPN] = true
		}
	}
	for n := port.QPN(0x10); n < 0x15; n++ {
		for g := range uint8(len(l.rewinds[n]) + 1) {
			life := life{n, g}
			order, went := l.order[life], gone[life]
			require.True(t, slices.Equal(order[:len(went)], went), "%+v: %v of %v", life, went, order)
			died += len(order) - len(went)
			psn, fault := faults[life]
			if fault {
				require.Equal(t, psn, l.req[order[len(went)]].PSN, "%+v", life)
			}
			if int(g) == len(l.rewinds[n]) {
				require.True(t, ends[n] || len(went) == len(order), "%+v: %d of %d", life, len(went), len(order))
			}
		}
		for g, rewind := range l.rewinds[n] {
			late := 0
			for i, x := range r.Left {
				p := slices.IndexFunc(l.req, func(p port.TxPkt) bool { return p.LastPSN == x.LastPSN && p.QPN == x.QPN })
				if x.QPN == n && int(l.req[p].Gen) <= g && r.LeftAt[i] > rewind+4 {
					late++
				}
			}
			require.LessOrEqual(t, late, 1, "QP %#x", n)
		}
	}
	return died
}

func TestRewinds(t *testing.T) {
	for seed := uint64(1); seed <= 16; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := setup{seed: seed}
			if seed%3 == 0 {
				s.params = pkttx.Params{PayloadBeats: 66, Packets: 2, Asked: 2}
			}
			if seed%2 == 0 {
				s.line = 25
			}
			l := rewound(seed, 0.02*float64(seed%2))
			r := l.run(t, s)
			require.Empty(t, r.Refuse)
			require.Positive(t, l.check(t, r))
		})
	}
}
