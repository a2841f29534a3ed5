package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// arm arms a queue.
func arm(t *testing.T, d *e2e.Side, c *driver.CQ, solicited bool) {
	t.Helper()
	var err error
	d.Do(func() { err = c.Arm(solicited) })
	require.NoError(t, err)
	d.Do(func() { d.Bus.Spend(2_000_000) })
}

// events is the number of events that the device has written.
func events(d *e2e.Side) int { return int(d.Counters()[abi.EventsWritten]) }

// TestArm (B177, B180, B181): one event for the next completion beyond what the
// consumer has taken; at once if it is there already; none without arming again.
func TestArm(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	nop := func(id uint64) {
		p.A.Send(driver.SendWR{ID: id, Op: abi.OpNop, Signaled: true})
		s.Sleep(500)
	}
	n := events(s.A)
	grows := func(by int, why string) {
		t.Helper()
		require.Equal(t, n+by, events(s.A), why)
		n += by
	}
	nop(1)
	grows(0, "not armed")
	require.Equal(t, 1, len(s.A.Poll(p.A.SCQ)))
	arm(t, s.A, p.A.SCQ, false)
	grows(0, "all was taken")
	nop(2)
	grows(1, "armed")
	nop(3)
	grows(0, "one event only")
	arm(t, s.A, p.A.SCQ, false)
	grows(1, "two wait already")
	require.Equal(t, 2, len(s.A.Poll(p.A.SCQ)))
	nop(4)
	grows(0, "the event came before")
	arm(t, s.A, p.A.SCQ, false)
	arm(t, s.A, p.A.SCQ, false)
	grows(2, "one each time, as it waits")
	require.Equal(t, 1, len(s.A.Poll(p.A.SCQ)))
	arm(t, s.A, p.A.SCQ, false)
	arm(t, s.A, p.A.SCQ, true) // stays armed for any
	nop(5)
	grows(1, "solicited does not weaken")
	require.Equal(t, 1, len(s.A.Poll(p.A.SCQ)))

	// Solicited only.
	p.B.Recv(p.B.Recvs(0, 10, 1, 2, 3, 4, 5)...)
	n = events(s.B)
	arm(t, s.B, p.B.RCQ, true)
	send := func(solicited bool) {
		p.A.Send(driver.SendWR{ID: 9, Op: abi.OpSend, Signaled: true, Solicited: solicited})
		p.A.Sent(e2e.OK(9)...)
		s.Sleep(500)
	}
	send(false)
	require.Equal(t, n, events(s.B))
	send(true)
	require.Equal(t, n+1, events(s.B))
	arm(t, s.B, p.B.RCQ, true)
	require.Equal(t, n+2, events(s.B), "the solicited one was not taken")
	p.B.Received(e2e.OK(1, 2)...)
	arm(t, s.B, p.B.RCQ, true)
	send(false)
	require.Equal(t, n+2, events(s.B))
	p.B.Fail()
	s.Sleep(500)
	require.Equal(t, n+3, events(s.B), "an error is as good")
	p.B.Received(append(e2e.OK(3), e2e.Flushed(4, 5)...)...)
}

// TestLostWakeUp (B181, B188): a completion at every moment between the last poll,
// the arming and the wait. None is slept through.
func TestLostWakeUp(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	var err error
	late := 0
	s.A.Do(func() {
		for d := int64(0); d < 300 && err == nil; d++ {
			var wcs [4]driver.WC
			if _, err = p.A.QP.PostSend(driver.SendWR{ID: uint64(d), Op: abi.OpNop, Signaled: true}); err != nil {
				return
			}
			s.A.Bus.Spend(d * 4000)
			var n int
			from := s.A.Bus.Now()
			if n, err = p.A.SCQ.Wait(wcs[:], from+50_000_000); n != 1 || wcs[0].ID != uint64(d) || s.A.Bus.Now() > from+5_000_000 {
				late++
			}
		}
	})
	require.NoError(t, err)
	require.Zero(t, late)
}

// TestSQDrain (B081): SQD lets what was begun finish and starts nothing; the event
// tells; the receive side works on; RTS goes on where it stopped.
func TestSQDrain(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Pair()
	modify := func(state abi.QPState, mask abi.QPAttr) (err error) {
		s.A.Do(func() { err = p.A.QP.Modify(driver.QPAttr{State: state, SQDAsyncNotify: true}, abi.AttrState|mask) })
		return err
	}
	p.A.Fill(0, 200_000, 1)
	p.B.Recv(p.B.Recvs(0, 100_000, 11, 12, 13)...)
	p.B.Recv(p.B.RecvWR(14, 400_000, 100))
	hold := &holdAnswers{}
	s.A.SetFault(hold.fault)
	p.A.Send(p.A.SendWR(1, 0, 100_000), p.A.SendWR(2, 100_000, 100_000))
	s.Sleep(600)
	require.NoError(t, modify(abi.QPSQD, abi.AttrSQDAsyncNotify))
	p.A.Send(p.A.SendWR(3, 0, 100))
	s.Sleep(6000)
	require.Empty(t, s.A.Events())
	require.True(t, p.A.Query().SQDraining)
	require.ErrorIs(t, modify(abi.QPRTS, 0), driver.ErrInvalid)
	p.A.DemandState(abi.QPSQD)
	for i := 0; len(s.A.Events()) == 0; i++ {
		require.Less(t, i, 100, "never drained")
		for _, f := range hold.frames {
			s.A.SetFault(nil)
			s.A.Inject(f)
		}
		hold.frames = nil
		s.A.SetFault(hold.fault)
		s.Sleep(2000)
	}
	s.A.SetFault(nil)
	require.False(t, p.A.Query().SQDraining)
	wcs := s.A.Poll(p.A.SCQ)
	begun := succeeded(t, wcs, 1)
	require.Equal(t, len(wcs), begun)
	require.Less(t, begun, 3)
	sent := len(s.A.Requests(0))
	p.A.Recv(p.A.RecvWR(21, 500_000, 100))
	p.B.Send(p.B.SendWR(5, 0, 100))
	p.A.Received(e2e.OK(21)...)
	p.B.Sent(e2e.OK(5)...)
	s.Sleep(5000)
	require.Equal(t, sent, len(s.A.Requests(0)), "something began in SQD")
	require.NoError(t, modify(abi.QPRTS, 0))
	ids := []uint64{1, 2, 3}
	p.A.Sent(e2e.OK(ids[begun:]...)...)
	p.B.Received(e2e.OK(11, 12, 13)...)
	p.B.Demand(0, e2e.Bytes(200_000, 1))
	require.Empty(t, s.A.Events(), "one event a drain")
	p.A.Send(p.A.SendWR(6, 0, 100))
	p.A.Sent(e2e.OK(6)...)
	p.B.Received(e2e.OK(14)...)
}

// TestManyQueues (B185): a thousand queues made and destroyed, and events still come.
func TestManyQueues(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	var err error
	s.A.Do(func() {
		for i := 0; i < 1000 && err == nil; i++ {
			var c *driver.CQ
			if c, err = s.A.Dev.CreateCQ(1+i%40, driver.CQOptions{Vector: i % 4}); err != nil {
				return
			}
			if err = c.Arm(false); err != nil {
				return
			}
			err = c.Destroy()
		}
	})
	require.NoError(t, err)
	exchange(t, p)
}

// TestEventsPileUp: more asynchronous events than an event queue holds, of which
// the program wants to know nothing. QPs go on failing as they should.
func TestEventsPileUp(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	a := s.A.QP(driver.QPConfig{})
	cq := s.B.CQ(1000)
	const count = 300
	var packets []roce.Packet
	var last *e2e.End
	for range count {
		b := s.B.QP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 1, MaxRecv: 2})
		s.Couple(a, b)
		var err error
		s.B.Do(func() {
			if err = b.QP.Init(0); err != nil {
				return
			}
			remote := a.QP.Endpoint()
			err = b.QP.Modify(driver.QPAttr{
				State: abi.QPRTR, PathMTU: abi.MTU1024, DestQPN: remote.QPN, RQPSN: 5,
				AV: abi.AV{DMAC: remote.MAC, HopLimit: 64, DGID: remote.GID, SGIDIndex: 1, UDPSPort: 0xc000},
			}, e2e.RTRMask)
			if err == nil {
				_, err = b.QP.PostRecv(driver.RecvWR{ID: 1}, driver.RecvWR{ID: 2})
			}
		})
		require.NoError(t, err)
		p := b.Forge(roce.RCSendOnly, 5, nil)
		p.BTH.AckReq = false
		packets, last = append(packets, p), b
	}
	require.Equal(t, count, len(packets))
	s.B.Arrive(packets...)
	s.B.Arrive(last.Forge(roce.RCSendMiddle, 6, nil)) // a fault, behind 300 events
	var ok, flushed int
	s.B.Do(func() {
		for range 400 {
			var wcs [16]driver.WC
			n, _ := cq.Poll(wcs[:])
			for _, w := range wcs[:n] {
				if w.Status == abi.StatusSuccess {
					ok++
				} else {
					flushed++
				}
			}
		}
	})
	require.Equal(t, count, ok)
	require.Equal(t, 1, flushed)
	events := s.B.Events()
	require.Equal(t, count+1, len(events))
	require.Equal(t, abi.EventQPReqErr, events[count].Type)
}
