package driver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestWait(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, SigAll: true})
	wcs := make([]driver.WC, 4)
	was := p.m.now
	n, err := p.cq.Wait(wcs, was+5_000_000)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, was+5_000_000+30_000, p.m.now, "waited to the end, then looked once more")
	n, err = p.cq.Wait(wcs, 0)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Len(t, p.m.writes, 1, "it was armed already")
	_, err = p.cq.Wait(nil, 0)
	require.ErrorIs(t, err, driver.ErrInvalid)

	for id := range uint64(20) { // more than the event queue would take if it were not emptied
		_, err := p.a.PostSend(nop(id, true))
		require.NoError(t, err)
		n, err := p.cq.Wait(wcs, math.MaxInt64)
		require.NoError(t, err)
		require.Equal(t, []uint64{id}, ids(wcs[:n]))
	}
}

// A program that never waits arms now and then: events pile up and are taken later.
func TestEventsThatNobodyWaitsFor(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, SigAll: true})
	for id := range uint64(200) {
		require.NoError(t, p.cq.Arm(false))
		_, err := p.a.PostSend(nop(id, true))
		require.NoError(t, err)
		p.m.settle()
		require.Equal(t, []uint64{id}, ids(poll(t, p.cq)))
	}
	_, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	_, err = p.a.PostSend(nop(1000, true))
	require.NoError(t, err)
	wcs := make([]driver.WC, 4)
	n, err := p.cq.Wait(wcs, math.MaxInt64)
	require.NoError(t, err)
	require.Equal(t, []uint64{1000}, ids(wcs[:n]))
}

// Many threads wait on CQs that share one vector, post in bursts, and let random
// times pass. Each gets its own completions, and nobody sleeps for ever.
func TestThreadsShareAVector(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := connected(t, driver.Config{Vectors: 2}, driver.QPConfig{})
			p.m.room, p.m.shuffle = []int{0, 1, 4}[seed%3], rand.New(rand.NewPCG(seed, 99))
			done := 0
			for n := range 8 {
				p.m.spawn(func(b *bus) {
					waiter(t, p, b, n, rand.New(rand.NewPCG(seed, uint64(n))))
					done++
				})
			}
			require.True(t, p.m.run(), "a thread sleeps for ever")
			require.Equal(t, 8, done)
		})
	}
}

func waiter(t *testing.T, p *pair, b *bus, n int, rng *rand.Rand) {
	d := p.dev.On(b)
	cq, err := d.CreateCQ(16, driver.CQOptions{Vector: n % 2})
	require.NoError(t, err)
	q, err := p.pd.On(d).CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 16})
	require.NoError(t, err)
	require.NoError(t, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	var posted, got uint64
	wcs := make([]driver.WC, 3)
	for got < 100 {
		for range rng.IntN(int(min(16-(posted-got), 100-posted)) + 1) {
			_, err := q.PostSend(nop(posted, true))
			require.NoError(t, err)
			posted++
		}
		switch rng.IntN(4) {
		case 0:
			b.Spend(1 + rng.Int64N(3_000_000))
		case 1:
			require.NoError(t, cq.Arm(rng.IntN(2) == 0))
		}
		if posted == got {
			continue
		}
		until := int64(math.MaxInt64)
		if rng.IntN(4) == 0 {
			until = b.Now() + rng.Int64N(2_000_000)
		}
		k, err := cq.Wait(wcs[:1+rng.IntN(3)], until)
		require.NoError(t, err)
		require.True(t, k > 0 || until <= b.Now())
		for _, w := range wcs[:k] {
			require.Equal(t, got, w.ID)
			require.Equal(t, q.Number(), w.QPN)
			got++
		}
	}
	require.NoError(t, q.Destroy())
	require.NoError(t, cq.Destroy())
}

// Two threads take the completions of one CQ: each completion goes to one of them.
func TestThreadsShareACQ(t *testing.T) {
	for seed := range uint64(10) {
		shareCQ(t, seed)
	}
}

func shareCQ(t *testing.T, seed uint64) {
	p := connected(t, driver.Config{}, driver.QPConfig{})
	shared, err := p.dev.CreateCQ(4, driver.CQOptions{})
	require.NoError(t, err)
	qp, err := p.pd.CreateQP(driver.QPConfig{SendCQ: shared, RecvCQ: shared, MaxSend: 8, SigAll: true})
	require.NoError(t, err)
	require.NoError(t, qp.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	p.m.room, p.m.shuffle = 1+int(seed%2), rand.New(rand.NewPCG(seed, 98))
	const total = 300
	got := map[uint64]int{}
	over := false
	for range 3 {
		p.m.spawn(func(b *bus) {
			cq := shared.On(p.dev.On(b))
			wcs := make([]driver.WC, 2)
			for !over {
				n, err := cq.Wait(wcs, b.Now()+1_000_000)
				require.NoError(t, err)
				for _, w := range wcs[:n] {
					got[w.ID]++
				}
			}
		})
	}
	p.m.spawn(func(b *bus) {
		q := qp.On(p.dev.On(b))
		for id := range uint64(total) {
			for int(id)-len(got) >= shared.Entries {
				b.Spend(100_000)
			}
			_, err := q.PostSend(nop(id, true))
			require.NoError(t, err)
		}
		for len(got) < total {
			b.Spend(1_000_000)
		}
		over = true
	})
	require.True(t, p.m.run())
	require.Len(t, got, total)
	for id, n := range got {
		require.Equal(t, 1, n, id)
	}
}

// Threads that post to one QP never announce an older index behind a newer one:
// the fake device would complain.
func TestThreadsShareAQP(t *testing.T) {
	for _, room := range []int{0, 1, 2} {
		p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 64, MaxRecv: 64, SigAll: true})
		p.m.room, p.m.shuffle = room, rand.New(rand.NewPCG(uint64(room), 97))
		for n := range uint64(4) {
			p.m.spawn(func(b *bus) {
				q := p.a.On(p.dev.On(b))
				for i := range uint64(10) {
					_, err := q.PostSend(nop(100*n+i, true))
					require.NoError(t, err)
					_, err = q.PostRecv(driver.RecvWR{})
					require.NoError(t, err)
				}
			})
		}
		require.True(t, p.m.run())
		p.m.settle()
		require.Len(t, poll(t, p.cq), 40)
		require.EqualValues(t, 40, p.m.qps[p.a.Number()].rqPI)
	}
}

func TestWaitAsync(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{})
	was := p.m.now
	events, err := p.dev.WaitAsync(was + 1_000_000)
	require.NoError(t, err)
	require.Empty(t, events)
	require.GreaterOrEqual(t, p.m.now, was+1_000_000)
	p.m.after(3_000_000, func() { p.m.event(0, abi.Event{Type: abi.EventPortErr, Number: 1}) })
	p.m.after(3_000_000, func() { p.m.event(0, abi.Event{Type: abi.EventPortActive, Number: 1}) })
	events, err = p.dev.WaitAsync(math.MaxInt64)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, "PORT_ERR 1 (syndrome 0)", events[0].String())
}

// Nobody asks for asynchronous events: they don't hold up the device as long as
// the program does anything, and what is kept is bounded.
func TestAsyncEventsPileUp(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, SigAll: true})
	wcs := make([]driver.WC, 1)
	eq := p.m.eqs[0]
	sent := 0
	for range 30 {
		for range 200 {
			require.Less(t, eq.pi-eq.ci, uint16(1)<<eq.LogSize)
			p.m.event(0, abi.Event{Type: abi.EventCommEst, Number: uint32(sent)})
			sent++
		}
		p.m.settle()
		n, err := p.cq.Poll(wcs)
		require.NoError(t, err)
		require.Zero(t, n)
		p.m.settle()
	}
	events, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Len(t, events, 4096)
	for i, e := range events {
		require.EqualValues(t, sent-4096+i, e.Number)
	}
	events, err = p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Empty(t, events)
}
