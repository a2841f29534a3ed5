package driver_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// FuzzCompletions writes any bytes where CQEs, events and admin completions are
// expected: what makes no sense is an error, never a panic, and work requests
// complete at most once.
func FuzzCompletions(f *testing.F) {
	good := abi.CQE{Index: 1, Opcode: abi.WCNop, QPN: 2, Phase: true}
	b := make([]byte, abi.CQESize)
	abi.CQELayout.Encode(&good, b)
	f.Add(b, b, b, uint8(0))
	for _, change := range []func(e *abi.CQE){
		func(e *abi.CQE) { e.Index = 9 }, func(e *abi.CQE) { e.QPN = 1 << 20 }, func(e *abi.CQE) { e.QPN = 50 },
		func(e *abi.CQE) { e.Status = 99 }, func(e *abi.CQE) { e.Opcode = abi.WCRecv }, func(e *abi.CQE) { e.Opcode = 77 },
		func(e *abi.CQE) { e.Status = abi.StatusRetryExc }, func(e *abi.CQE) { e.Index = 0 }, func(e *abi.CQE) { e.Index = 2 },
		func(e *abi.CQE) { e.Phase = false },
	} {
		e := good
		change(&e)
		bad := make([]byte, abi.CQESize)
		abi.CQELayout.Encode(&e, bad)
		f.Add(bad, b, bad, uint8(1))
	}
	f.Fuzz(func(t *testing.T, x, y, z []byte, where uint8) {
		p := connected(t, driver.Config{AdminTimeout: 3_000_000}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxInline: 64})
		p.m.hold = true
		_, err := p.a.PostSend(nop(1, false), nop(2, true), nop(3, true))
		require.NoError(t, err)
		_, err = p.a.PostRecv(driver.RecvWR{ID: 4}, driver.RecvWR{ID: 5})
		require.NoError(t, err)
		c := p.m.cqs[p.cq.Number()]
		base, size := c.Base, uint64(abi.CQESize)
		switch where % 3 {
		case 1:
			base, size = p.m.eqs[uint32(c.EQN)].Base, abi.EventSize
		case 2:
			base = uint64(p.m.reg[abi.RegAdminCQBaseLo/4]) + uint64(p.m.ci)*abi.AdminCompletionSize
			size = abi.AdminCompletionSize
			p.m.mute = true
		}
		for i, b := range [][]byte{x, y, z} {
			p.m.write(base+uint64(i)*size, b[:min(len(b), int(size))])
		}
		seen := map[uint64]bool{}
		wcs := make([]driver.WC, 2)
		for range 8 {
			n, err := p.cq.Wait(wcs, p.m.now+1000)
			if err != nil && where%3 == 0 {
				require.ErrorIs(t, err, driver.ErrDevice)
			}
			for _, w := range wcs[:n] {
				require.True(t, w.ID >= 1 && w.ID <= 5 && !seen[w.ID], "%+v", w)
				seen[w.ID] = true
			}
		}
		_, _ = p.dev.AsyncEvents()
		if where%3 == 2 {
			_ = p.a.Destroy()
		}
		p.m.faults = nil // consumer indices of queues that the device did not write
	})
}

// Each kind of CQE that can't be is an error that says so, and the next CQE is read.
func TestSenselessCompletions(t *testing.T) {
	for name, c := range map[string]struct {
		e    abi.CQE
		want string
	}{
		"unknown QP":       {abi.CQE{QPN: 40, Opcode: abi.WCNop}, "no such QP"},
		"number too large": {abi.CQE{QPN: 1<<24 - 1, Opcode: abi.WCNop}, "no such QP"},
		"index beyond":     {abi.CQE{QPN: 2, Index: 5, Opcode: abi.WCNop}, "indices 0 to 5 are posted"},
		"index before":     {abi.CQE{QPN: 2, Index: 0xffff, Opcode: abi.WCNop}, "indices 0 to 5 are posted"},
		"inside a WQE":     {abi.CQE{QPN: 2, Index: 4, Opcode: abi.WCSend}, "no work request begins there"},
		"skips signalled":  {abi.CQE{QPN: 2, Index: 2, Opcode: abi.WCNop}, "an earlier work request had no CQE"},
		"opcode":           {abi.CQE{QPN: 2, Index: 1, Opcode: abi.WCSend}, "posted was NOP, signalled: true"},
		"not signalled":    {abi.CQE{QPN: 2, Index: 0, Opcode: abi.WCNop}, "posted was NOP, signalled: false"},
		"status":           {abi.CQE{QPN: 2, Index: 1, Opcode: abi.WCNop, Status: 3}, "no such status"},
		"receive":          {abi.CQE{QPN: 2, Index: 0, Opcode: abi.WCRecv}, "indices 0 to 0 are posted"},
		"other CQ":         {abi.CQE{QPN: 4, Index: 0, Opcode: abi.WCNop}, "does not complete here"},
	} {
		t.Run(name, func(t *testing.T) {
			p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, MaxInline: 64})
			cq, err := p.dev.CreateCQ(4, driver.CQOptions{})
			require.NoError(t, err)
			_, err = p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq})
			require.NoError(t, err)
			p.m.hold = true
			_, err = p.a.PostSend(nop(1, false), nop(2, true), nop(3, true), driver.SendWR{ID: 4, Op: abi.OpSend, Inline: make([]byte, 40)})
			require.NoError(t, err)
			_, err = p.b.PostSend(nop(99, true))
			require.NoError(t, err)
			p.m.cqe(p.cq.Number(), c.e, false)
			p.m.cqe(p.cq.Number(), abi.CQE{QPN: 3, Index: 0, Opcode: abi.WCNop}, false)
			wcs := make([]driver.WC, 4)
			n, err := p.cq.Poll(wcs)
			require.ErrorIs(t, err, driver.ErrDevice)
			require.ErrorContains(t, err, c.want)
			require.Zero(t, n)
			n, err = p.cq.Poll(wcs)
			require.NoError(t, err)
			require.Equal(t, []uint64{99}, ids(wcs[:n]))
		})
	}
}

// A CQE of an older pass, or one that is only partly there, is not read.
func TestPhase(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8})
	p.m.hold = true
	_, err := p.a.PostSend(nop(1, true))
	require.NoError(t, err)
	e := abi.CQE{QPN: 2, Opcode: abi.WCNop, Phase: true}
	var b [abi.CQESize]byte
	abi.CQELayout.Encode(&e, b[:])
	base := p.m.cqs[p.cq.Number()].Base
	for n := range b { // the device writes ascending: the phase comes last
		require.Empty(t, poll(t, p.cq), "%d bytes", n)
		p.m.write(base, b[:n+1])
	}
	require.Equal(t, []uint64{1}, ids(poll(t, p.cq)))
	p.m.cqs[p.cq.Number()].pi++ // the device has written it
	p.m.qps[p.a.Number()].exec++
	require.NoError(t, p.cq.Arm(false))
	p.m.settle()

	rng := rand.New(rand.NewPCG(1, 2))
	p.m.release()
	for id := range uint64(1000) { // several passes
		_, err := p.a.PostSend(nop(id, true))
		require.NoError(t, err)
		if rng.IntN(3) == 0 {
			require.NotContains(t, ids(poll(t, p.cq)), id)
		}
		p.m.settle()
		got := ids(poll(t, p.cq))
		require.Equal(t, id, got[len(got)-1])
	}
}
