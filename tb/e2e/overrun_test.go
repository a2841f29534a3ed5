package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// pollAll takes completions until there are none, or an error.
func pollAll(d *e2e.Side, c *driver.CQ) (wcs []driver.WC, err error) {
	d.Do(func() {
		for {
			var wc [4]driver.WC
			var n int
			n, err = c.Poll(wc[:])
			wcs = append(wcs, wc[:n]...)
			if n == 0 || err != nil {
				return
			}
		}
	})
	return wcs, err
}

// TestSendQueueOverrun (B164): more completions than the queue holds. Those that
// are in it stay; the queue is dead, and whoever completes on it fails; the others
// do not notice.
func TestSendQueueOverrun(t *testing.T) {
	s := e2e.New(t, e2e.Options{Dirty: true})
	small := s.A.CQ(8)
	q1 := s.A.QP(driver.QPConfig{SendCQ: small, MaxSend: 32, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1})
	q2 := s.A.QP(driver.QPConfig{SendCQ: small, MaxSend: 32, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1})
	p1 := s.Join(q1, s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
	p2 := s.Join(q2, s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
	other := s.Pair()
	var wrs []driver.SendWR
	for i := range uint64(20) {
		wrs = append(wrs, driver.SendWR{ID: i, Op: abi.OpNop, Signaled: true})
	}
	p1.A.Recv(p1.A.Recvs(0, 10, 31, 32)...)
	p1.A.Send(wrs...)
	s.Sleep(5000)
	p1.A.DemandState(abi.QPErr)
	p2.A.DemandState(abi.QPRTS)
	events := s.A.Events()
	require.Equal(t, 2, len(events), "%v", events)
	require.Equal(t, abi.EventCQErr, events[0].Type)
	require.Equal(t, small.Number(), events[0].Number)
	require.Equal(t, abi.EventQPFatal, events[1].Type)
	require.Equal(t, p1.A.QP.Number(), events[1].Number)
	p1.A.Received(e2e.Flushed(31, 32)...) // on a queue that is well

	p2.A.Send(driver.SendWR{ID: 100, Op: abi.OpNop}) // needs no completion
	s.Sleep(2000)
	p2.A.DemandState(abi.QPRTS)
	p2.A.Send(driver.SendWR{ID: 101, Op: abi.OpNop, Signaled: true})
	s.Sleep(2000)
	p2.A.DemandState(abi.QPErr)
	events = s.A.Events()
	require.Equal(t, 1, len(events), "%v", events)
	require.Equal(t, abi.EventQPFatal, events[0].Type)
	require.Equal(t, p2.A.QP.Number(), events[0].Number)

	wcs, err := pollAll(s.A, small)
	require.ErrorIs(t, err, driver.ErrOverrun)
	require.GreaterOrEqual(t, len(wcs), 8)
	for i, w := range wcs {
		require.EqualValues(t, i, w.ID)
		require.Equal(t, abi.StatusSuccess, w.Status)
	}
	require.EqualValues(t, 20-len(wcs)+1, s.A.Faults()[abi.CQOverruns])
	exchange(t, other)
}

// TestReceiveQueueOverrun: the same at the responder. Its QP fails; the requester
// is not told, and runs into its timeout.
func TestReceiveQueueOverrun(t *testing.T) {
	o := quick
	o.Dirty = true
	s := e2e.New(t, o)
	small := s.B.CQ(4)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{
		RecvCQ: small, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 1, MaxRecvSGE: 1,
	}), timeout8)
	other := s.Pair()
	for i := range 12 {
		p.B.Recv(p.B.RecvWR(uint64(i), 100*i, 100))
		p.A.Send(p.A.SendWR(uint64(i), 100*i, 100))
	}
	sent := p.A.Await(p.A.SCQ, 12)
	wcs, err := pollAll(s.B, small)
	require.ErrorIs(t, err, driver.ErrOverrun)
	n := succeeded(t, sent, 0)
	require.GreaterOrEqual(t, n, 4)
	require.Less(t, n, 12)
	for i, w := range wcs {
		require.EqualValues(t, i, w.ID)
		require.Equal(t, abi.StatusSuccess, w.Status)
	}
	require.Equal(t, abi.StatusRetryExc, sent[n].Status)
	p.B.DemandState(abi.QPErr)
	events := s.B.Events()
	require.Equal(t, 2, len(events), "%v", events)
	require.Equal(t, abi.EventCQErr, events[0].Type)
	require.Equal(t, abi.EventQPFatal, events[1].Type)
	exchange(t, other)
}

// TestNearlyOverrun (B167, B171, B189): exactly as many completions as the queue holds,
// many times round the ring, fit.
func TestNearlyOverrun(t *testing.T) {
	for _, entries := range []int{1, 2, 3, 5, 8, 13} {
		s := e2e.New(t, e2e.Options{})
		cq := s.A.CQ(entries)
		require.GreaterOrEqual(t, cq.Entries, entries)
		q := s.A.QP(driver.QPConfig{SendCQ: cq, MaxSend: 64, MaxRecv: 1})
		p := s.Join(q, s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
		id := uint64(0)
		for range 12 {
			var wrs []driver.SendWR
			for range cq.Entries {
				wrs = append(wrs, driver.SendWR{ID: id, Op: abi.OpNop, Signaled: true})
				id++
			}
			p.A.Send(wrs...)
			s.Sleep(1500)
			wcs := s.A.Poll(cq)
			require.Equal(t, len(wrs), len(wcs))
			for i, w := range wcs {
				require.Equal(t, wrs[i].ID, w.ID)
			}
		}
		require.Empty(t, s.A.Events())
		s.Close()
	}
}

// TestQueueFull (B172, B189): posting to a full queue is refused until a completion
// was polled; unsignalled work requests give their places back with the next.
func TestQueueFull(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Join(s.A.QP(driver.QPConfig{MaxSend: 6, MaxRecv: 5, MaxSendSGE: 1, MaxRecvSGE: 1}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
	post := func(signaled bool) (err error) {
		s.A.Do(func() { _, err = p.A.QP.PostSend(driver.SendWR{Op: abi.OpNop, Signaled: signaled}) })
		return err
	}
	for range 10 {
		for i := range p.A.QP.MaxSend {
			require.NoError(t, post(i == p.A.QP.MaxSend-2))
		}
		require.ErrorIs(t, post(true), driver.ErrNoMemory)
		s.Sleep(2000)
		require.ErrorIs(t, post(true), driver.ErrNoMemory, "nothing was polled")
		p.A.Sent(e2e.OK(0)...)
		for range p.A.QP.MaxSend - 1 {
			require.NoError(t, post(false))
		}
		require.ErrorIs(t, post(false), driver.ErrNoMemory, "the last one gave no completion")
		p.A.Fail()
		for _, w := range p.A.Await(p.A.SCQ, 0) {
			require.Equal(t, abi.StatusWRFlush, w.Status)
		}
		p.A.Reset()
		p.B.Reset()
		p.A.Reconnect()
		p.B.Reconnect()
	}
	var err error
	s.A.Do(func() {
		for range p.A.QP.MaxRecv {
			if _, err = p.A.QP.PostRecv(driver.RecvWR{}); err != nil {
				return
			}
		}
	})
	require.NoError(t, err)
	s.A.Do(func() { _, err = p.A.QP.PostRecv(driver.RecvWR{}) })
	require.ErrorIs(t, err, driver.ErrNoMemory)
}
