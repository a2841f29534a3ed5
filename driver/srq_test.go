package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// shared is pairs of RC QPs; the second ones have one SRQ.
type shared struct {
	*pair
	srq    *driver.SRQ
	from   []*driver.QP
	to     []*driver.QP
	cqs    []*driver.CQ // of to
	posted uint64       // receives, with ids from 1000 on
}

func sharing(t testing.TB, n int, attr driver.SRQAttr) *shared {
	s := &shared{pair: unconnected(t, driver.Config{}, driver.QPConfig{})}
	var err error
	s.srq, err = s.pd.CreateSRQ(attr)
	require.NoError(t, err)
	for range n {
		from, err := s.pd.CreateQP(driver.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, MaxSend: 8, MaxSendSGE: 1, MaxInline: 32})
		require.NoError(t, err)
		cq, err := s.dev.CreateCQ(32, driver.CQOptions{})
		require.NoError(t, err)
		to, err := s.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, SRQ: s.srq, MaxRecv: 9, MaxRecvSGE: 99})
		require.NoError(t, err)
		require.NoError(t, from.Connect(to.Endpoint(), driver.ConnectOptions{}))
		require.NoError(t, to.Connect(from.Endpoint(), driver.ConnectOptions{}))
		s.from, s.to, s.cqs = append(s.from, from), append(s.to, to), append(s.cqs, cq)
	}
	return s
}

// post posts receives, as many as there is room for, each with room of its own.
func (s *shared) post(t require.TestingT, n int) (posted int) {
	for range n {
		_, err := s.srq.PostRecv(driver.RecvWR{ID: 1000 + s.posted, SGEs: []driver.SGE{s.mr.SGE(int(s.posted%100)*32, 32)}})
		if err != nil {
			require.ErrorIs(t, err, driver.ErrNoMemory)
			return posted
		}
		s.posted++
		posted++
	}
	return posted
}

func (s *shared) send(t require.TestingT, i int, text string) {
	_, err := s.from[i].PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte(text), Signaled: true})
	require.NoError(t, err)
	s.m.settle()
}

func TestCreateSRQ(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	for _, c := range []struct{ ask, get, log int }{{0, 1, 1}, {1, 1, 1}, {2, 3, 2}, {7, 7, 3}, {8, 15, 4}, {1<<15 - 1, 1<<15 - 1, 15}} {
		s, err := p.pd.CreateSRQ(driver.SRQAttr{MaxRecv: c.ask, MaxSGE: 4, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, c.get, s.MaxRecv)
		f := p.m.srqs[s.Number()]
		require.EqualValues(t, c.log, f.LogSize)
		require.EqualValues(t, []uint8{7, 4}, []uint8{f.LogStride, f.MaxSGE})
		attr, err := s.Query()
		require.NoError(t, err)
		require.Equal(t, driver.SRQAttr{MaxRecv: c.get, MaxSGE: 4, Limit: 1}, attr)
		require.ErrorIs(t, p.pd.Destroy(), driver.ErrBusy)
		require.NoError(t, s.Destroy())
		require.ErrorIs(t, s.Destroy(), driver.ErrInvalid)
		_, err = s.Query()
		require.ErrorIs(t, err, driver.ErrInvalid)
		_, err = s.PostRecv(driver.RecvWR{})
		require.ErrorIs(t, err, driver.ErrInvalid)
		require.ErrorIs(t, s.Modify(driver.SRQAttr{}, abi.SRQLimit), driver.ErrInvalid)
	}
	for _, bad := range []driver.SRQAttr{{MaxRecv: -1}, {MaxRecv: 1 << 15}, {MaxSGE: -1}, {MaxSGE: 17}, {Limit: -1}, {MaxRecv: 3, Limit: 4}} {
		_, err := p.pd.CreateSRQ(bad)
		require.ErrorIs(t, err, driver.ErrInvalid, "%+v", bad)
	}
	dma := len(p.m.dma)
	p.m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) { return abi.AdminNoResource, 0 }
	_, err := p.pd.CreateSRQ(driver.SRQAttr{})
	require.ErrorIs(t, err, driver.ErrNoMemory)
	p.m.refuse, p.m.noMem = nil, true
	_, err = p.pd.CreateSRQ(driver.SRQAttr{})
	require.ErrorIs(t, err, driver.ErrNoMemory)
	p.m.noMem = false
	require.Len(t, p.m.dma, dma)
	for range 4 {
		_, err = p.pd.CreateSRQ(driver.SRQAttr{})
		require.NoError(t, err, "nothing is left of what failed")
	}
	_, err = p.pd.CreateSRQ(driver.SRQAttr{})
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.NoError(t, p.dev.Close())
	require.Empty(t, p.m.srqs)
	require.Empty(t, p.m.dma)
}

func TestQPWithSRQ(t *testing.T) {
	s, other := sharing(t, 1, driver.SRQAttr{MaxRecv: 3, MaxSGE: 1}), sharing(t, 0, driver.SRQAttr{})
	q := s.m.qps[s.to[0].Number()]
	require.Equal(t, abi.QPHasSRQ, q.Flags)
	require.Equal(t, s.srq.Number(), q.SRQN)
	require.Zero(t, s.to[0].MaxRecv)
	require.Zero(t, q.RQBase)
	_, err := s.to[0].PostRecv(driver.RecvWR{})
	require.ErrorIs(t, err, driver.ErrInvalid)
	commands := s.m.ci
	require.ErrorIs(t, s.srq.Destroy(), driver.ErrBusy)
	require.Equal(t, commands, s.m.ci, "the device is not asked")
	_, err = s.pd.CreateQP(driver.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, SRQ: other.srq})
	require.ErrorIs(t, err, driver.ErrInvalid)
	dead, err := s.pd.CreateSRQ(driver.SRQAttr{})
	require.NoError(t, err)
	require.NoError(t, dead.Destroy())
	_, err = s.pd.CreateQP(driver.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, SRQ: dead})
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.NoError(t, s.to[0].Destroy())
	require.NoError(t, s.srq.Destroy())
}

// A chain stops at the bad one; those before it are posted.
func TestPostToSRQ(t *testing.T) {
	s := sharing(t, 1, driver.SRQAttr{MaxRecv: 3, MaxSGE: 1})
	s.m.writes = nil
	n, err := s.srq.PostRecv(driver.RecvWR{ID: 1, SGEs: []driver.SGE{s.mr.SGE(0, 9)}}, driver.RecvWR{ID: 2, SGEs: make([]driver.SGE, 2)}, driver.RecvWR{ID: 3})
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.ErrorContains(t, err, "work request 1 (id 2)")
	require.Equal(t, 1, n)
	n, err = s.srq.PostRecv(driver.RecvWR{ID: 4}, driver.RecvWR{ID: 5}, driver.RecvWR{ID: 6})
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.Equal(t, 2, n)
	n, err = s.srq.PostRecv(driver.RecvWR{ID: 6})
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.Zero(t, n)
	require.Len(t, s.m.writes, 2, "a doorbell each, if anything was posted")
	s.m.settle()
	require.EqualValues(t, 3, s.m.srqs[s.srq.Number()].pi)
	s.send(t, 0, "x")
	_, err = s.srq.PostRecv(driver.RecvWR{ID: 6})
	require.ErrorIs(t, err, driver.ErrNoMemory, "not polled")
	require.Equal(t, []uint64{1}, ids(poll(t, s.cqs[0])))
	_, err = s.srq.PostRecv(driver.RecvWR{ID: 6})
	require.NoError(t, err)
}

// The PD of the queue is that of its elements, whatever that of the QP.
func TestPDOfSRQ(t *testing.T) {
	s := sharing(t, 0, driver.SRQAttr{MaxRecv: 3, MaxSGE: 1})
	pd, err := s.dev.AllocPD()
	require.NoError(t, err)
	to, err := pd.CreateQP(driver.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, SRQ: s.srq})
	require.NoError(t, err)
	from, err := s.pd.CreateQP(driver.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, MaxInline: 32})
	require.NoError(t, err)
	require.NoError(t, from.Connect(to.Endpoint(), driver.ConnectOptions{}))
	require.NoError(t, to.Connect(from.Endpoint(), driver.ConnectOptions{}))
	s.from = append(s.from, from)
	s.post(t, 1)
	s.send(t, 0, "to another domain")
	require.NoError(t, poll(t, s.cq)[0].Err())
}

func TestSRQEvents(t *testing.T) {
	s := sharing(t, 2, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1})
	s.post(t, 4)
	s.m.settle()
	require.NoError(t, s.srq.Modify(driver.SRQAttr{Limit: 3}, abi.SRQLimit))
	for _, bad := range []int{-1, 8} {
		require.ErrorIs(t, s.srq.Modify(driver.SRQAttr{Limit: bad}, abi.SRQLimit), driver.ErrInvalid)
	}
	s.send(t, 0, "a")
	attr, err := s.srq.Query()
	require.NoError(t, err)
	require.Equal(t, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1, Limit: 3}, attr)
	s.send(t, 1, "b")
	s.send(t, 1, "c")
	e, ok, err := s.dev.AsyncEvent(0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, abi.EventSRQLimitReached, e.Type)
	require.Equal(t, s.srq.Number(), e.Number)
	attr, err = s.srq.Query()
	require.NoError(t, err)
	require.Zero(t, attr.Limit)

	require.NoError(t, s.to[0].Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState))
	last, ok, err := s.dev.AsyncEvent(0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, driver.AsyncEvent{Type: abi.EventQPLastWQEReached, Number: s.to[0].Number()}, last)
	require.NoError(t, s.dev.AckAsync(last))

	s.m.event(0, abi.Event{Type: abi.EventSRQErr, Number: s.srq.Number()})
	for _, q := range s.to {
		require.NoError(t, q.Destroy())
	}
	var done int64
	s.m.spawn(func(b *bus) {
		require.NoError(t, s.srq.On(s.dev.On(b)).Destroy())
		done = b.Now()
	})
	s.m.spawn(func(b *bus) {
		b.Spend(50_000_000)
		require.Zero(t, done, "it waits for the acknowledgement")
		require.NoError(t, s.dev.On(b).AckAsync(e))
	})
	require.True(t, s.m.run())
	require.NotZero(t, done)
	events, err := s.dev.AsyncEvents()
	require.NoError(t, err)
	require.Empty(t, events, "nobody has taken SRQ_ERR, and the queue is no more")
	require.ErrorIs(t, s.dev.AckAsync(e), driver.ErrInvalid)
}

// A queue has its places back from a QP that is reset or destroyed: of completions that
// were not polled, and of the one that a message was going to. Each once.
func TestSRQAfterQPEnds(t *testing.T) {
	for _, destroy := range []bool{false, true} {
		s := sharing(t, 2, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1})
		require.Equal(t, 7, s.post(t, 99))
		for _, i := range []int{0, 1, 0} {
			s.send(t, i, "x")
		}
		s.m.begin(s.m.qps[s.to[0].Number()])
		if destroy {
			require.NoError(t, s.to[0].Destroy())
		} else {
			require.NoError(t, s.to[0].Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState))
		}
		require.Equal(t, 3, s.post(t, 99), "three are free, one waits to be polled")
		require.Empty(t, poll(t, s.cqs[0]))
		require.Equal(t, []uint64{1001}, ids(poll(t, s.cqs[1])))
		require.Equal(t, 1, s.post(t, 99))
		for i := range 7 {
			s.send(t, 1, "y")
			require.Equal(t, []uint64{1004 + uint64(i)}, ids(poll(t, s.cqs[1])), "in the order of posting")
		}
	}
}

// A slot that has no work request, in a CQE, is the device's fault.
func TestSenselessSlots(t *testing.T) {
	s := sharing(t, 1, driver.SRQAttr{MaxRecv: 3, MaxSGE: 1})
	s.post(t, 2)
	cqe := func(slot uint16) (int, error) {
		s.m.cqe(s.cqs[0].Number(), abi.CQE{QPN: s.to[0].Number(), Index: slot, Opcode: abi.WCRecv}, false)
		return s.cqs[0].Poll(make([]driver.WC, 1))
	}
	n, err := cqe(1)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	for _, slot := range []uint16{1, 2, 3, 4, 0xffff} {
		n, err := cqe(slot)
		require.ErrorIs(t, err, driver.ErrDevice, slot)
		require.ErrorContains(t, err, "no work request is in the slot of SRQ 0")
		require.Zero(t, n)
	}
	s.m.cqe(s.cqs[0].Number(), abi.CQE{QPN: s.to[0].Number(), Index: abi.NoSlot, Opcode: abi.WCRecv, Status: abi.StatusLocQPOp}, false)
	n, err = s.cqs[0].Poll(make([]driver.WC, 1))
	require.NoError(t, err, "of a queue that is dead")
	require.Equal(t, 1, n)
	s.m.cqe(s.cqs[0].Number(), abi.CQE{QPN: s.to[0].Number(), Index: 9, Opcode: abi.WCRecv}, false)
	s.m.cqe(s.cqs[0].Number(), abi.CQE{QPN: s.to[0].Number(), Index: 0, Opcode: abi.WCRecv}, false)
	require.ErrorIs(t, s.to[0].Destroy(), driver.ErrDevice)
	require.Equal(t, 3, s.post(t, 99), "all is free all the same")
	s.m.faults = nil
}
