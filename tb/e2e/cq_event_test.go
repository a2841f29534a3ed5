package e2e_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// TestVectors: each of all vectors tells of the queues that were made for it, and of
// no other.
func TestVectors(t *testing.T) {
	const vectors = 15
	s := e2e.New(t, e2e.Options{Driver: driver.Config{Vectors: vectors}})
	var ends []*e2e.End
	for range vectors { // their queues get the vectors in turn
		e := s.A.QP(driver.QPConfig{SendCQ: s.A.CQ(8), RecvCQ: nil, MaxSend: 4, MaxRecv: 1})
		ends = append(ends, e)
	}
	b := s.B.QP(driver.QPConfig{})
	for _, e := range ends {
		s.Join(e, b, driver.ConnectOptions{})
		b.Reset()
	}
	for i, e := range ends {
		vector := 2 * i % vectors // a send queue and a receive queue each
		for _, o := range ends {
			arm(t, s.A, o.SCQ, false)
		}
		e.Send(driver.SendWR{ID: 1, Op: abi.OpNop, Signaled: true})
		s.Sleep(1000)
		for v := range vectors {
			var c *driver.CQ
			var err error
			s.A.Do(func() { c, err = s.A.Dev.CQEvent(v, s.A.Bus.Now()+2_000_000) })
			require.NoError(t, err)
			if v != vector {
				require.Nil(t, c, "vector %d for CQ %d of vector %d", v, e.SCQ.Number(), vector)
				continue
			}
			require.NotNil(t, c)
			require.Equal(t, e.SCQ.Number(), c.Number())
			require.NoError(t, c.Ack(1))
		}
		e.Sent(e2e.OK(1)...)
	}
}

// sleeper receives messages in answer to events only.
func sleeper(d *e2e.Side, p *e2e.End, total, depth int) (got, wakeUps int, err error) {
	var wcs [16]driver.WC
	poll := func() {
		for err == nil {
			var n int
			if n, err = p.RCQ.Poll(wcs[:]); n == 0 || err != nil {
				return
			}
			for i := range n {
				if wcs[i].ID != uint64(got) {
					return
				}
				if got++; got+depth <= total {
					_, err = p.QP.PostRecv(driver.RecvWR{ID: uint64(got + depth - 1)})
				}
			}
		}
	}
	err = p.RCQ.Arm(false)
	for poll(); got < total && err == nil; {
		var c *driver.CQ
		if c, err = d.Dev.CQEvent(0, d.Bus.Now()+100_000_000_000); c == nil || err != nil {
			return got, wakeUps, err
		}
		wakeUps++
		if err = c.Ack(1); err == nil {
			err = c.Arm(false)
		}
		poll()
	}
	return got, wakeUps, err
}

// TestModerationOverTheNIC (B181): 10,000 messages at random distances, which a program that
// only reacts to events receives. With moderation it sees them all as well, and is
// woken far less.
func TestModerationOverTheNIC(t *testing.T) {
	const depth = 128
	run := func(total int, m driver.Moderation) int {
		s := e2e.New(t, e2e.Options{})
		b := s.B.QP(driver.QPConfig{RecvCQ: s.B.CQ(2 * depth), MaxSend: 1, MaxRecv: depth, MaxRecvSGE: 1})
		p := s.Join(s.A.QP(driver.QPConfig{SendCQ: s.A.CQ(64), MaxSend: 32, MaxRecv: 1}), b, driver.ConnectOptions{RNRRetry: 7})
		for i := range depth {
			p.B.Recv(driver.RecvWR{ID: uint64(i)})
		}
		var errA, errB error
		s.B.Do(func() { errB = p.B.RCQ.Moderate(m) })
		require.NoError(t, errB)
		rng := rand.New(rand.NewPCG(7, 7))
		var got, wakeUps int
		s.Both(func() {
			var wcs [16]driver.WC
			open := 0
			for i := 0; i < total && errA == nil; i++ {
				for open == 32 && errA == nil {
					var n int
					n, errA = p.A.SCQ.Wait(wcs[:], 1<<62)
					open -= n
				}
				_, errA = p.A.QP.PostSend(driver.SendWR{Op: abi.OpSend, Signaled: true})
				open++
				s.A.Bus.Spend(rng.Int64N(1<<rng.IntN(11)) * tb.PeriodPs)
			}
			for open > 0 && errA == nil {
				var n int
				n, errA = p.A.SCQ.Wait(wcs[:], 1<<62)
				open -= n
			}
		}, func() { got, wakeUps, errB = sleeper(s.B, p.B, total, depth) })
		require.NoError(t, errA)
		require.NoError(t, errB)
		require.Equal(t, total, got)
		require.GreaterOrEqual(t, events(s.B), wakeUps)
		return wakeUps
	}
	with := run(10_000, driver.Moderation{Count: 16, Period: 12})
	without := run(1000, driver.Moderation{})
	require.Less(t, with, 10_000/8)
	require.Greater(t, without, 1000/4)
}

// TestTimestamps: the time in a completion is that of the device's clock when it was
// made: behind the frame that it tells of, before the program can see it, and never
// less than that of the completion before.
func TestTimestamps(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	cycles := func(d *e2e.Side) (c uint64) {
		var err error
		d.Do(func() { c, err = d.Dev.Cycles() })
		require.NoError(t, err)
		return c
	}
	last := map[*e2e.Side]uint64{}
	for i := range 20 {
		ids := []uint64{1, 2, 3}[:1+i%3]
		p.B.Recv(p.B.Recvs(0, 1000, ids...)...)
		before, frames := cycles(s.A), len(s.B.Seen)
		for _, id := range ids {
			p.A.Send(p.A.SendWR(id, 0, 100*i%1000))
		}
		received, sent := p.B.Received(e2e.OK(ids...)...), p.A.Sent(e2e.OK(ids...)...)
		after := cycles(s.A)
		for _, x := range []struct {
			d   *e2e.Side
			wcs []driver.WC
		}{{s.A, sent}, {s.B, received}} {
			for _, w := range x.wcs {
				require.Greater(t, w.Timestamp, before)
				require.Less(t, w.Timestamp, after)
				require.Greater(t, w.Timestamp, last[x.d])
				last[x.d] = w.Timestamp
			}
		}
		var arrived []int64
		for _, f := range s.B.Seen[frames:] {
			if !f.Tx && f.Err == nil && f.BTH.Opcode.IsRequest() {
				arrived = append(arrived, f.Ps)
			}
		}
		require.Len(t, arrived, len(ids))
		for k, w := range received {
			made := int64(w.Timestamp) * tb.PeriodPs
			require.Greater(t, made, arrived[k])
			require.Less(t, made, arrived[k]+300*tb.PeriodPs)
		}
	}
}

// TestEventsAwaitAcks (B184): a QP and a CQ are not destroyed before the last of their
// events is acknowledged, several at once.
func TestEventsAwaitAcks(t *testing.T) {
	s := e2e.New(t, e2e.Options{Dirty: true})
	d := s.A.Dev
	var cq *driver.CQ
	var err error
	s.A.Do(func() { cq, err = d.CreateCQ(16, driver.CQOptions{}) })
	require.NoError(t, err)
	p := s.Join(s.A.QP(driver.QPConfig{SendCQ: cq}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
	taken := 0
	for range 3 {
		arm(t, s.A, cq, false)
		p.A.Send(driver.SendWR{ID: 1, Op: abi.OpNop, Signaled: true})
		s.A.Do(func() {
			var c *driver.CQ
			if c, err = d.CQEvent(0, s.A.Bus.Now()+100_000_000); c != nil {
				taken++
			}
		})
		require.NoError(t, err)
		p.A.Sent(e2e.OK(1)...)
	}
	require.Equal(t, 3, taken)
	s.A.Do(func() {
		err = p.A.QP.Modify(driver.QPAttr{State: abi.QPSQD, SQDAsyncNotify: true}, abi.AttrState|abi.AttrSQDAsyncNotify)
	})
	require.NoError(t, err)
	var drained driver.AsyncEvent
	s.A.Do(func() { drained, _, err = d.AsyncEvent(s.A.Bus.Now() + 100_000_000) })
	require.NoError(t, err)
	require.Equal(t, abi.EventSQDrained, drained.Type)

	const pause = 100_000_000 // ps
	var acked, ended []int64
	var errs []error
	s.A.Go("acknowledger", func(_ *hdl.Thread, b *host.Bus) {
		mine := d.On(b)
		for _, ack := range []func() error{
			func() error { return mine.AckAsync(drained) },
			func() error { return cq.On(mine).Ack(1) },
			func() error { return cq.On(mine).Ack(2) },
		} {
			b.Spend(pause)
			acked, errs = append(acked, b.Now()), append(errs, ack())
		}
	})
	s.A.Do(func() {
		errs = append(errs, p.A.QP.Destroy())
		ended = append(ended, s.A.Bus.Now())
		errs = append(errs, cq.Destroy())
		ended = append(ended, s.A.Bus.Now())
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, acked, 3)
	require.GreaterOrEqual(t, ended[0], acked[0])
	require.Less(t, ended[0], acked[1])
	require.GreaterOrEqual(t, ended[1], acked[2])
	require.Less(t, ended[1], acked[2]+pause)
}
