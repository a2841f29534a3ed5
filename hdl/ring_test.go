package hdl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

type psn uint32

func (psn) Width() int { return 24 }

type fsm uint8

func (fsm) Width() int       { return 1 }
func (f fsm) String() string { return [...]string{"RUN", "STALL"}[f] }

type token struct {
	QPN uint32
	PSN psn
	VA  uint64
	Len uint32
	Op  uint8
}

type stageRegs struct {
	State   fsm
	Started bool
	QPN     uint32
	PSN     psn
	MSN     psn
	VA      uint64
	Remain  uint32
	Credits uint32
	Sent    uint64
	CRC     uint32
}

// stage passes tokens round a ring, changing them, with a stall now and then.
type stage struct {
	In    hdl.In[token]
	Out   hdl.Out[token]
	Start bool
	hdl.Regs[stageRegs]
}

func (m *stage) Eval() {
	q, d := &m.Q, &m.D
	switch q.State {
	case 0:
		if m.Start && !q.Started {
			d.Started = true
			m.Out.Put(token{Len: 64})
			return
		}
		if m.In.Valid() && m.Out.Ready() {
			b := m.In.Take()
			d.QPN, d.PSN = b.QPN, (b.PSN+1)&0xffffff
			d.VA = b.VA + uint64(b.Len)
			d.CRC = (q.CRC ^ uint32(b.PSN)) * 2654435761
			d.Sent = q.Sent + 1
			o := m.Out.Next()
			o.QPN, o.PSN, o.VA, o.Len, o.Op = b.QPN, d.PSN, d.VA, b.Len, b.Op
			if q.Sent&0xff == 0xff {
				d.State = 1
			}
		}
	case 1:
		d.Credits = q.Credits + 1
		d.State = 0
	}
}

type ring struct{ S [50]stage }

func newRing(tb testing.TB, tokens int, o hdl.Options) (*ring, *hdl.Kernel) {
	r := &ring{}
	for i := range r.S {
		hdl.Connect(&r.S[i].Out, &r.S[(i+1)%50].In, 2)
		r.S[i].Start = i*tokens/50 != (i-1)*tokens/50 || i == 0
	}
	k, err := hdl.Elaborate("ring", r, o)
	require.NoError(tb, err)
	return r, k
}

func TestStepAllocatesNothing(t *testing.T) {
	for _, strict := range []bool{false, true} {
		_, k := newRing(t, 50, hdl.Options{Strict: strict, Digest: strict})
		for range 100 {
			k.Step()
		}
		require.Zero(t, testing.AllocsPerRun(1000, k.Step))
	}
}

func TestRingOrderAndGating(t *testing.T) {
	for _, tokens := range []int{1, 7, 50} {
		_, fast := newRing(t, tokens, hdl.Options{Digest: true})
		require.NoError(t, fast.Run(5000))
		for order := range uint64(4) {
			_, k := newRing(t, tokens, hdl.Options{Digest: true, Strict: true, Order: order})
			require.NoError(t, k.Run(5000))
			require.Equal(t, fast.Digest(), k.Digest())
		}
	}
}
