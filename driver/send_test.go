package driver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestSendAndReceive(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxSendSGE: 4, MaxRecvSGE: 2, MaxInline: 64})
	write(t, p.buf, 0, "hello, ")
	write(t, p.buf, 4000, "world over")
	write(t, p.buf, 4990, " pages")
	n, err := p.b.PostRecv(
		driver.RecvWR{ID: 100, SGEs: []driver.SGE{p.mr.SGE(8000, 5), p.mr.SGE(8100, 100)}},
		driver.RecvWR{ID: 101, SGEs: []driver.SGE{p.mr.SGE(9000, 64)}},
		driver.RecvWR{ID: 102},
	)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	long := "a message of sixty-four bytes that lies in the work request itself."[:64]
	n, err = p.a.PostSend(
		driver.SendWR{ID: 1, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{
			p.mr.SGE(0, 7), p.mr.SGE(4000, 10), {}, p.mr.SGE(4990, 6),
		}},
		driver.SendWR{ID: 2, Op: abi.OpSendImm, Imm: 0x12345678, Inline: []byte(long)},
		driver.SendWR{ID: 3, Op: abi.OpSend, Signaled: true},
	)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	p.m.settle()
	require.Equal(t, "hello", read(t, p.buf, 8000, 5))
	require.Equal(t, ", world over pages", read(t, p.buf, 8100, 18))
	require.Equal(t, long, read(t, p.buf, 9000, 64))

	wcs := poll(t, p.cq)
	require.Equal(t, []uint64{100, 1, 101, 102, 3}, ids(wcs))
	for i := range wcs {
		require.NoError(t, wcs[i].Err())
		require.NotZero(t, wcs[i].Timestamp)
		wcs[i].Timestamp = 0
	}
	a, b := p.a.Number(), p.b.Number()
	require.Equal(t, driver.WC{ID: 100, Opcode: abi.WCRecv, ByteLen: 23, QPN: b, SrcQPN: a, QP: p.b}, wcs[0])
	require.Equal(t, driver.WC{ID: 1, Opcode: abi.WCSend, ByteLen: 23, QPN: a, QP: p.a}, wcs[1])
	require.Equal(t, driver.WC{
		ID: 101, Opcode: abi.WCRecv, ByteLen: 64, Imm: 0x12345678, Flags: abi.CQEWithImm, QPN: b, SrcQPN: a, QP: p.b,
	}, wcs[2])
	require.Zero(t, p.m.reads, "no register is read in the data path")
}

func TestInlineIsCopiedAtOnce(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1, MaxInline: 32})
	_, err := p.b.PostRecv(driver.RecvWR{SGEs: []driver.SGE{p.mr.SGE(0, 100)}}, driver.RecvWR{})
	require.NoError(t, err)
	data := []byte("before")
	_, err = p.a.PostSend(driver.SendWR{Op: abi.OpSend, Inline: data}, driver.SendWR{Op: abi.OpSend, Inline: []byte{}})
	require.NoError(t, err)
	copy(data, "behind")
	p.m.settle()
	require.Equal(t, "before", read(t, p.buf, 0, 6))
	require.Len(t, poll(t, p.cq), 2)
}

func TestErrorsEndTheConnection(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1})
	_, err := p.b.PostRecv(driver.RecvWR{ID: 10, SGEs: []driver.SGE{p.mr.SGE(0, 3)}}, driver.RecvWR{ID: 11})
	require.NoError(t, err)
	long := []driver.SGE{p.mr.SGE(100, 4)}
	_, err = p.a.PostSend(
		driver.SendWR{ID: 1, Op: abi.OpNop}, driver.SendWR{ID: 2, Op: abi.OpSend, SGEs: long},
		driver.SendWR{ID: 3, Op: abi.OpSend}, driver.SendWR{ID: 4, Op: abi.OpSend, Signaled: true},
	)
	require.NoError(t, err)
	p.m.settle()
	wcs := poll(t, p.cq)
	require.Equal(t, []uint64{10, 11, 2, 3, 4}, ids(wcs))
	var status []abi.WCStatus
	for i := range wcs {
		status = append(status, wcs[i].Status)
		require.Error(t, wcs[i].Err())
	}
	require.Equal(t, []abi.WCStatus{
		abi.StatusLocLen, abi.StatusWRFlush, abi.StatusRemInvReq, abi.StatusWRFlush, abi.StatusWRFlush,
	}, status)
	require.EqualError(t, wcs[4].Err(), fmt.Sprintf("work request 4 of QP %d: WR_FLUSH_ERR (FLUSH)", p.a.Number()))

	events, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, abi.EventQPReqErr, events[0].Type)
	require.Equal(t, p.b.Number(), events[0].Number)
	require.Equal(t, "QP_REQ_ERR 3 (syndrome 17)", events[0].String())

	// Work requests posted later flush too, though the driver's view is RTS.
	require.Equal(t, abi.QPRTS, p.a.State())
	_, err = p.a.PostSend(nop(5, false))
	require.NoError(t, err)
	_, err = p.b.PostRecv(driver.RecvWR{ID: 12})
	require.NoError(t, err)
	p.m.settle()
	require.ElementsMatch(t, []uint64{5, 12}, ids(poll(t, p.cq)))
}

func TestPostStates(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, MaxRecv: 8})
	send := func(q *driver.QP) error { _, err := q.PostSend(nop(1, true)); return err }
	recv := func(q *driver.QP) error { _, err := q.PostRecv(driver.RecvWR{}); return err }
	require.ErrorIs(t, send(p.a), driver.ErrInvalid)
	require.ErrorIs(t, recv(p.a), driver.ErrInvalid)
	require.NoError(t, p.a.Init(0))
	require.ErrorIs(t, send(p.a), driver.ErrInvalid)
	require.NoError(t, recv(p.a))
	required, _, _ := abi.Transition(abi.QPTypeRC, abi.QPInit, abi.QPRTR)
	require.NoError(t, p.a.Modify(driver.QPAttr{
		State: abi.QPRTR, PathMTU: abi.MTU256, AV: abi.AV{UDPSPort: 0xc000},
	}, required|abi.AttrState))
	require.ErrorIs(t, send(p.a), driver.ErrInvalid)
	require.NoError(t, recv(p.a))
	required, _, _ = abi.Transition(abi.QPTypeRC, abi.QPRTR, abi.QPRTS)
	require.NoError(t, p.a.Modify(driver.QPAttr{State: abi.QPRTS}, required|abi.AttrState))
	require.NoError(t, send(p.a))
	for _, s := range []abi.QPState{abi.QPSQD, abi.QPErr} {
		require.NoError(t, p.a.Modify(driver.QPAttr{State: s}, abi.AttrState))
		require.NoError(t, send(p.a), s)
		require.NoError(t, recv(p.a), s)
	}
	require.NoError(t, p.a.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState))
	require.ErrorIs(t, send(p.a), driver.ErrInvalid)
	require.ErrorIs(t, recv(p.a), driver.ErrInvalid)
}

func TestPostErrors(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxSendSGE: 2, MaxRecvSGE: 1, MaxInline: 20})
	p.dev.Attr.WQEOps &^= 1<<abi.OpLocalInv | 1<<abi.OpBindMW
	for name, c := range map[string]struct {
		wr   driver.SendWR
		want error
	}{
		"SGEs":            {driver.SendWR{Op: abi.OpSend, SGEs: make([]driver.SGE, 3)}, driver.ErrInvalid},
		"inline":          {driver.SendWR{Op: abi.OpSend, Inline: make([]byte, 21)}, driver.ErrInvalid},
		"both":            {driver.SendWR{Op: abi.OpSend, Inline: make([]byte, 1), SGEs: make([]driver.SGE, 1)}, driver.ErrInvalid},
		"no operation":    {driver.SendWR{Op: 200}, driver.ErrInvalid},
		"not done, LOCAL": {driver.SendWR{Op: abi.OpLocalInv}, driver.ErrNotSupported},
		"not done, bind":  {driver.SendWR{Op: abi.OpBindMW}, driver.ErrNotSupported},
	} {
		c.wr.ID = 77
		n, err := p.a.PostSend(nop(1, true), c.wr, nop(2, true))
		require.ErrorIs(t, err, c.want, name)
		require.ErrorContains(t, err, "work request 1 (id 77)", name)
		require.Equal(t, 1, n, "the one before it is posted")
		p.m.settle()
		require.Equal(t, []uint64{1}, ids(poll(t, p.cq)), name)
	}
	n, err := p.b.PostRecv(driver.RecvWR{}, driver.RecvWR{SGEs: make([]driver.SGE, 2)})
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.Equal(t, 1, n)
	p.m.writes = nil
	n, err = p.a.PostSend()
	require.NoError(t, err)
	require.Zero(t, n)
	require.Empty(t, p.m.writes)
}

func TestFullQueues(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 2, MaxSendSGE: 4})
	require.Equal(t, []int{4, 2}, []int{p.a.MaxSend, p.a.MaxRecv})
	p.m.hold = true
	wrs := make([]driver.SendWR, 5)
	for i := range wrs {
		wrs[i] = nop(uint64(i), i == 2 || i == 4)
	}
	n, err := p.a.PostSend(wrs...)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.Equal(t, 4, n)
	_, err = p.a.PostSend(nop(9, true))
	require.ErrorIs(t, err, driver.ErrNoMemory)
	p.m.release()
	p.m.settle()
	_, err = p.a.PostSend(nop(9, true))
	require.ErrorIs(t, err, driver.ErrNoMemory, "nothing was polled")
	require.Equal(t, []uint64{2}, ids(poll(t, p.cq)))
	n, err = p.a.PostSend(nop(10, false), nop(11, false), nop(12, true), nop(13, true))
	require.ErrorIs(t, err, driver.ErrNoMemory, "number 3 still has its place")
	require.Equal(t, 3, n)
	p.m.settle()
	require.Equal(t, []uint64{12}, ids(poll(t, p.cq)))

	n, err = p.b.PostRecv(make([]driver.RecvWR, 3)...)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.Equal(t, 2, n)
}

// Rings wrap, WQEs of two units over the end, and indices run beyond 16 bits.
func TestIndicesWrap(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 3, MaxRecv: 4, MaxInline: 64, MaxRecvSGE: 1})
	id := uint64(0)
	for round := 0; p.m.qps[p.a.Number()].exec < 0xff00 || round < 1000; round++ {
		inline := []byte("a long one that takes two units of the queue"[:33+round%10])
		_, err := p.b.PostRecv(driver.RecvWR{ID: 1, SGEs: []driver.SGE{p.mr.SGE(0, 64)}}, driver.RecvWR{ID: 2})
		require.NoError(t, err)
		_, err = p.a.PostSend(driver.SendWR{ID: id, Op: abi.OpSend, Inline: inline},
			driver.SendWR{ID: id + 1, Op: abi.OpSend, Signaled: true})
		require.NoError(t, err)
		p.m.settle()
		require.Equal(t, []uint64{1, 2, id + 1}, ids(poll(t, p.cq)))
		require.Equal(t, string(inline), read(t, p.buf, 0, len(inline)))
		id += 2
	}
	for p.m.qps[p.a.Number()].exec >= 0xff00 {
		_, err := p.a.PostSend(nop(id, true))
		require.NoError(t, err)
		p.m.settle()
		require.Equal(t, []uint64{id}, ids(poll(t, p.cq)))
	}
}

// One work request of one unit takes the place of its doorbell; anything else is
// announced by one doorbell a call.
func TestPushOrDoorbell(t *testing.T) {
	for _, push := range []bool{true, false} {
		p := connected(t, driver.Config{NoPush: !push}, driver.QPConfig{MaxSend: 16, MaxRecv: 16, MaxRecvSGE: 1, MaxInline: 64})
		one := mmio{abi.DoorbellAddr(0), 8}
		if push {
			one = mmio{abi.PushAddr(0), 64}
		}
		many := mmio{abi.DoorbellAddr(0), 8}
		_, err := p.a.PostSend(nop(1, true))
		require.NoError(t, err)
		_, err = p.a.PostSend(nop(2, true), nop(3, true), nop(4, true))
		require.NoError(t, err)
		_, err = p.a.PostSend(driver.SendWR{ID: 5, Op: abi.OpSend, Inline: make([]byte, 33)})
		require.NoError(t, err)
		_, err = p.b.PostRecv(driver.RecvWR{SGEs: []driver.SGE{p.mr.SGE(0, 64)}}, driver.RecvWR{})
		require.NoError(t, err)
		require.Equal(t, []mmio{one, many, many, many}, p.m.writes)
		p.m.settle()
		require.Equal(t, push, p.m.pushed == 1)
		require.Len(t, poll(t, p.cq), 5)
	}
}

func TestNoPushWithoutCapability(t *testing.T) {
	m := newMachine()
	m.reg[abi.RegCaps/4] &^= 1
	d, err := driver.Open(m.bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
	require.NoError(t, err)
	pd, _ := d.AllocPD()
	cq, _ := d.CreateCQ(4, driver.CQOptions{})
	q, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	require.NoError(t, q.Connect(driver.Endpoint{MAC: mac2, GID: addr16("10.0.0.2")}, driver.ConnectOptions{}))
	m.writes = nil
	_, err = q.PostSend(nop(1, true))
	require.NoError(t, err)
	require.Equal(t, []mmio{{abi.DoorbellAddr(0), 8}}, m.writes)
	require.Empty(t, m.faults)
}

func TestWorkTakesTime(t *testing.T) {
	p := connected(t, driver.Config{PostCost: 70_000, PollCost: 20_000}, driver.QPConfig{MaxSend: 8, MaxRecv: 8})
	spent := func(fn func()) int64 { was := p.m.now; fn(); return p.m.now - was }
	require.EqualValues(t, 210_000, spent(func() { _, _ = p.a.PostSend(nop(1, true), nop(2, true), nop(3, true)) }))
	require.EqualValues(t, 140_000, spent(func() { _, _ = p.b.PostRecv(driver.RecvWR{}, driver.RecvWR{}) }))
	require.EqualValues(t, 20_000, spent(func() { _, _ = p.cq.Poll(make([]driver.WC, 4)) }))
	require.Zero(t, spent(func() { require.NoError(t, p.cq.Arm(false)) }))
	p.m.settle()
	require.Zero(t, spent(func() { _, _ = p.cq.Poll(make([]driver.WC, 3)) }))
}

// Threads have doorbell pages and time of their own.
func TestThreadsHavePages(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{})
	d := p.dev.On(p.m.bus())
	cq, err := d.CreateCQ(8, driver.CQOptions{})
	require.NoError(t, err)
	q, err := p.pd.On(d).CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4})
	require.NoError(t, err)
	require.NoError(t, q.Connect(q.Endpoint(), driver.ConnectOptions{}))
	p.m.writes = nil
	_, err = q.PostSend(nop(1, true))
	require.NoError(t, err)
	_, err = q.On(p.dev).PostSend(nop(2, true))
	require.NoError(t, err)
	require.NoError(t, cq.On(p.dev).Arm(false))
	require.Equal(t, []mmio{{abi.PushAddr(1), 64}, {abi.PushAddr(1), 64}, {abi.DoorbellAddr(1), 8}}, p.m.writes,
		"an object stays with the page that it was made with")
	p.m.settle()
	require.Equal(t, []uint64{1, 2}, ids(poll(t, cq)))
	for range 255 {
		d = d.On(p.m.bus())
	}
	cq, err = d.CreateCQ(8, driver.CQOptions{})
	require.NoError(t, err, "pages are used again")
	p.m.writes = nil
	require.NoError(t, cq.Arm(false))
	require.Equal(t, abi.DoorbellAddr(0), p.m.writes[0].off)
}
