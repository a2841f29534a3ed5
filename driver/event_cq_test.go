package driver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/driver"
)

// completes has a queue complete one work request.
func completes(t *testing.T, p *pair, id uint64) {
	_, err := p.a.PostSend(nop(id, true))
	require.NoError(t, err)
	p.m.settle()
}

func TestCQEvent(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 16, SigAll: true})
	next := func() *driver.CQ {
		c, err := p.dev.CQEvent(0, p.m.now+1_000_000)
		require.NoError(t, err)
		return c
	}
	require.Nil(t, next())
	completes(t, p, 1)
	require.Nil(t, next(), "not armed")
	require.NoError(t, p.cq.Arm(false))
	c := next()
	require.Equal(t, p.cq.Number(), c.Number())
	require.Nil(t, next(), "one event for one arm")
	require.Len(t, poll(t, c), 1)
	for id := range uint64(2) { // not taken: the second is the same event
		require.NoError(t, p.cq.Arm(false))
		completes(t, p, id)
		require.Len(t, poll(t, p.cq), 1)
	}
	_, err := p.dev.AsyncEvents() // reads the event queues
	require.NoError(t, err)
	require.NotNil(t, next())
	require.Nil(t, next())
	require.ErrorIs(t, c.Ack(3), driver.ErrInvalid)
	require.ErrorIs(t, c.Ack(-1), driver.ErrInvalid)
	require.NoError(t, c.Ack(2))
	require.ErrorIs(t, c.Ack(1), driver.ErrInvalid)
	require.NoError(t, c.Ack(0))
	for _, v := range []int{-1, 4} {
		_, err = p.dev.CQEvent(v, 0)
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	// Another vector's events are not this one's.
	other, err := p.dev.CreateCQ(4, driver.CQOptions{Vector: 1})
	require.NoError(t, err)
	q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: other, RecvCQ: other, MaxSend: 4, SigAll: true})
	require.NoError(t, err)
	require.NoError(t, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	require.NoError(t, other.Arm(false))
	_, err = q.PostSend(nop(1, true))
	require.NoError(t, err)
	require.Nil(t, next())
	c, err = p.dev.CQEvent(1, math.MaxInt64)
	require.NoError(t, err)
	require.Equal(t, other.Number(), c.Number())
}

// Destroy waits until the last of n events is acknowledged.
func TestDestroyAwaitsAcks(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 16, SigAll: true})
	for id := range uint64(3) {
		require.NoError(t, p.cq.Arm(false))
		completes(t, p, id)
		c, err := p.dev.CQEvent(0, math.MaxInt64)
		require.NoError(t, err)
		require.NotNil(t, c)
		require.Len(t, poll(t, p.cq), 1)
	}
	require.NoError(t, p.a.Destroy())
	require.NoError(t, p.b.Destroy())
	var acked, destroyed int64
	p.m.spawn(func(b *bus) {
		require.NoError(t, p.cq.On(p.dev.On(b)).Destroy())
		destroyed = b.Now()
	})
	p.m.spawn(func(b *bus) {
		mine := p.cq.On(p.dev.On(b))
		b.Spend(50_000_000)
		require.NoError(t, mine.Ack(1))
		b.Spend(50_000_000)
		require.Zero(t, destroyed)
		require.Zero(t, p.m.cqs[p.cq.Number()], "the device knows it no more")
		require.NoError(t, mine.Ack(2))
		acked = b.Now()
	})
	require.True(t, p.m.run())
	require.GreaterOrEqual(t, destroyed, acked)
	require.Less(t, destroyed, acked+2_000_000)
	// Nothing of it is left to be taken, and its number is good again.
	c, err := p.dev.CQEvent(0, p.m.now+1_000_000)
	require.NoError(t, err)
	require.Nil(t, c)
	// Close waits for nobody.
	q := connectAgain(t, p)
	require.NoError(t, p.cq.Arm(false))
	_, err = q.PostSend(nop(1, true))
	require.NoError(t, err)
	c, err = p.dev.CQEvent(0, math.MaxInt64)
	require.NoError(t, err)
	require.NotNil(t, c)
	require.NoError(t, p.dev.Close())
}

// connectAgain makes a queue and a QP anew, connected to itself.
func connectAgain(t *testing.T, p *pair) *driver.QP {
	var err error
	p.cq, err = p.dev.CreateCQ(8, driver.CQOptions{})
	require.NoError(t, err)
	q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq, MaxSend: 4, SigAll: true})
	require.NoError(t, err)
	require.NoError(t, q.Connect(q.Endpoint(), driver.ConnectOptions{}))
	return q
}

// A completion that comes at the very end of a wait is found.
func TestWaitLooksOnceMore(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 16, SigAll: true})
	wcs := make([]driver.WC, 4)
	_, err := p.cq.Wait(wcs, p.m.now) // armed from here on
	require.NoError(t, err)
	found := 0
	for at := int64(0); at <= 3_000_000; at += 50_000 {
		_, err := p.a.PostSend(nop(uint64(at), true))
		require.NoError(t, err)
		until := p.m.now + at
		n, err := p.cq.Wait(wcs, until)
		require.NoError(t, err)
		require.LessOrEqual(t, p.m.now, max(until, 0)+100_000)
		if n == 0 {
			p.m.settle()
			require.Len(t, poll(t, p.cq), 1)
		}
		found += n
	}
	require.Greater(t, found, 20)
}

// One poll of many completions announces them once, one of none nothing.
func TestOneDoorbellABatch(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 64, SigAll: true})
	for id := range uint64(60) {
		_, err := p.a.PostSend(nop(id, true))
		require.NoError(t, err)
	}
	p.m.settle()
	p.m.writes = nil
	wcs := make([]driver.WC, 60)
	n, err := p.cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 60, n)
	require.Len(t, p.m.writes, 1)
	n, err = p.cq.Poll(wcs)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Len(t, p.m.writes, 1)
}
