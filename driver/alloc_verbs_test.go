package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// TestNoAllocationUDAndSRQ: a datagram sent, and one received by an SRQ, allocate
// nothing.
func TestNoAllocationUDAndSRQ(t *testing.T) {
	p := datagrams(t)
	h := p.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")})
	srq, err := p.pd.CreateSRQ(driver.SRQAttr{MaxRecv: 3, MaxSGE: 2})
	require.NoError(t, err)
	r, err := p.pd.CreateQP(driver.QPConfig{Type: abi.QPTypeUD, SendCQ: p.cq, RecvCQ: p.cq, SRQ: srq})
	require.NoError(t, err)
	q := &quiet{bus: p.m.bus(), mem: map[uint64][]byte{}}
	dev := p.dev.On(q)
	qp, cq, shared := p.a.On(dev), p.cq.On(dev), srq.On(dev)
	sges, data, wcs := []driver.SGE{p.mr.SGE(0, 10), p.mr.SGE(100, 10)}, make([]byte, 50), make([]driver.WC, 4)
	var sq, rq, cqes uint16
	round := func() {
		_, err1 := qp.PostSend(driver.SendWR{ID: 1, Op: abi.OpSend, Inline: data, Signaled: true, AH: h, RemoteQPN: 9})
		_, err2 := shared.PostRecv(driver.RecvWR{ID: 4, SGEs: sges})
		q.complete(p, cqes, abi.CQE{QPN: qp.Number(), Index: sq, Opcode: abi.WCSend})
		q.complete(p, cqes+1, abi.CQE{QPN: r.Number(), Index: rq % 4, Opcode: abi.WCRecv, Flags: abi.CQEGRH})
		sq, rq, cqes = sq+2, rq+1, cqes+2
		n, err3 := cq.Poll(wcs)
		if err1 != nil || err2 != nil || err3 != nil || n != 2 {
			t.Fatal(err1, err2, err3, n)
		}
	}
	for range 200 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(300, round))
}
