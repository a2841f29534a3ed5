package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// quiet is a Bus for the data path that allocates nothing and whose device does
// nothing: completions are written by the test.
type quiet struct {
	*bus
	mem map[uint64][]byte // by page
}

func (q *quiet) page(addr uint64) []byte {
	p := q.mem[addr/4096]
	if p == nil {
		p = make([]byte, 4096)
		q.mem[addr/4096] = p
	}
	return p[addr%4096:]
}

func (q *quiet) Write(uint32, []byte) error           { return nil }
func (q *quiet) Spend(int64)                          {}
func (q *quiet) WriteMem(addr uint64, b []byte) error { copy(q.page(addr), b); return nil }
func (q *quiet) ReadMem(addr uint64, b []byte) error  { copy(b, q.page(addr)); return nil }

// complete writes CQE n of the pair's queue.
func (q *quiet) complete(p *pair, n uint16, e abi.CQE) {
	c := p.m.cqs[p.cq.Number()]
	e.Phase = abi.RingPhase(n, c.LogSize)
	abi.CQELayout.Encode(&e, q.page(c.Base+uint64(abi.RingSlot(n, c.LogSize))*abi.CQESize))
}

// TestNoAllocation: a message sent, received and polled allocates nothing.
func TestNoAllocation(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, MaxRecv: 8, MaxSendSGE: 4, MaxRecvSGE: 2, MaxInline: 64})
	q := &quiet{bus: p.m.bus(), mem: map[uint64][]byte{}}
	dev := p.dev.On(q)
	qp, cq := p.a.On(dev), p.cq.On(dev)
	sges := []driver.SGE{p.mr.SGE(0, 10), p.mr.SGE(100, 10), p.mr.SGE(200, 10)}
	data := make([]byte, 50)
	wcs := make([]driver.WC, 4)
	var sq, rq, cqes uint16
	round := func() {
		_, err1 := qp.PostSend(
			driver.SendWR{ID: 1, Op: abi.OpSend, SGEs: sges},
			driver.SendWR{ID: 2, Op: abi.OpSend, Inline: data},
			driver.SendWR{ID: 3, Op: abi.OpNop, Signaled: true},
		)
		_, err2 := qp.PostRecv(driver.RecvWR{ID: 4, SGEs: sges[:2]})
		_, err3 := qp.PostSend(driver.SendWR{ID: 5, Op: abi.OpNop, Signaled: true})
		q.complete(p, cqes, abi.CQE{QPN: qp.Number(), Index: sq + 4, Opcode: abi.WCNop})
		q.complete(p, cqes+1, abi.CQE{QPN: qp.Number(), Index: rq, Opcode: abi.WCRecv, ByteLen: 20})
		q.complete(p, cqes+2, abi.CQE{QPN: qp.Number(), Index: sq + 5, Opcode: abi.WCNop})
		sq, rq, cqes = sq+6, rq+1, cqes+3
		err4 := cq.Arm(false)
		n, err5 := cq.Poll(wcs)
		m, err6 := cq.Poll(wcs)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil || err6 != nil || n != 3 || m != 0 {
			t.Fatal(err1, err2, err3, err4, err5, err6, n, m)
		}
	}
	for range 200 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(300, round))
}

func BenchmarkPostAndPoll(b *testing.B) {
	p := connected(b, driver.Config{}, driver.QPConfig{MaxSend: 64, MaxSendSGE: 1})
	q := &quiet{bus: p.m.bus(), mem: map[uint64][]byte{}}
	dev := p.dev.On(q)
	qp, cq := p.a.On(dev), p.cq.On(dev)
	sges := []driver.SGE{p.mr.SGE(0, 64)}
	wcs := make([]driver.WC, 4)
	b.ReportAllocs()
	for i := range b.N {
		_, _ = qp.PostSend(driver.SendWR{ID: 1, Op: abi.OpSend, SGEs: sges, Signaled: true})
		q.complete(p, uint16(i), abi.CQE{QPN: qp.Number(), Index: uint16(i), Opcode: abi.WCSend})
		if n, err := cq.Poll(wcs); n != 1 {
			b.Fatal(n, err)
		}
	}
}
