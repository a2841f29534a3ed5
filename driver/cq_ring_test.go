package driver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/driver"
)

// Resizing at any moment, smaller and larger, several times with completions of
// older rings still to be polled: all come, in order, and what has Entries places
// holds as many.
func TestResize(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := connected(t, driver.Config{}, driver.QPConfig{})
		cq, err := p.dev.CreateCQ(rapid.IntRange(1, 40).Draw(rt, "entries"), driver.CQOptions{})
		require.NoError(rt, err)
		q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 128, SigAll: true})
		require.NoError(rt, err)
		require.NoError(rt, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
		var posted, done uint64
		wcs := make([]driver.WC, 64)
		for range 60 {
			for range rapid.IntRange(0, max(0, cq.Entries-int(posted-done))).Draw(rt, "post") {
				_, err := q.PostSend(nop(posted, false))
				require.NoError(rt, err)
				posted++
			}
			if rapid.Bool().Draw(rt, "settle") {
				p.m.settle()
			}
			if rapid.IntRange(0, 2).Draw(rt, "resize") == 0 {
				entries, was := rapid.IntRange(1, 60).Draw(rt, "entries"), cq.Entries
				if entries < int(posted-done) {
					p.m.settle() // what is not there yet would overrun it
				}
				switch err := cq.Resize(entries); {
				case err == nil:
					require.GreaterOrEqual(rt, cq.Entries, entries)
				default:
					require.ErrorIs(rt, err, driver.ErrInvalid)
					require.Less(rt, entries, int(posted-done))
					require.Equal(rt, was, cq.Entries)
				}
			}
			n, err := cq.Poll(wcs[:rapid.IntRange(0, 64).Draw(rt, "poll")])
			require.NoError(rt, err)
			for _, w := range wcs[:n] {
				require.Equal(rt, done, w.ID)
				done++
			}
		}
		p.m.settle()
		require.Len(rt, poll(t, cq), int(posted-done))
		require.False(rt, p.m.cqs[cq.Number()].dead)
		require.NoError(rt, p.dev.Close())
		require.Empty(rt, p.m.dma, "a ring was not given back")
	})
}

// Threads poll and wait while another resizes.
func TestResizeAmongThreads(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { resizeAmongThreads(t, seed) })
	}
}

func resizeAmongThreads(t *testing.T, seed uint64) {
	const open = 24 // no ring that is asked for has less room, nor much more
	p := connected(t, driver.Config{}, driver.QPConfig{})
	cq, err := p.dev.CreateCQ(100, driver.CQOptions{})
	require.NoError(t, err)
	q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: open, SigAll: true})
	require.NoError(t, err)
	require.NoError(t, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	p.m.room, p.m.shuffle = int(seed%3), rand.New(rand.NewPCG(seed, 96))
	const total = 400
	var got, resized uint64
	p.m.spawn(func(b *bus) {
		mine, q := cq.On(p.dev.On(b)), q.On(p.dev.On(b))
		wcs, rng := make([]driver.WC, 1), rand.New(rand.NewPCG(seed, 94))
		for posted := uint64(0); got < total; {
			if rng.IntN(30) == 0 {
				b.Spend(3_000_000) // the ring fills
			}
			for posted < total && posted-got < open {
				_, err := q.PostSend(nop(posted, true))
				require.NoError(t, err)
				posted++
			}
			n, err := mine.Wait(wcs, b.Now()+1_000_000)
			require.NoError(t, err)
			for _, w := range wcs[:n] {
				require.Equal(t, got, w.ID)
				got++
			}
		}
	})
	p.m.spawn(func(b *bus) {
		mine, rng := cq.On(p.dev.On(b)), rand.New(rand.NewPCG(seed, 95))
		for got < total {
			p.m.busy = true // with other commands, for a while
			p.m.after(rng.Int64N(40_000_000), func() {
				p.m.busy = false
				p.m.nextCommand()
			})
			require.NoError(t, mine.Resize(open+rng.IntN(2)*100))
			resized++
			b.Spend(rng.Int64N(3_000_000))
		}
	})
	require.True(t, p.m.run())
	require.Greater(t, resized, uint64(5))
	require.False(t, p.m.cqs[cq.Number()].dead)
}

func TestResizeRefused(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 64, SigAll: true})
	for _, n := range []int{-1, 0, 1<<15 + 1} {
		require.ErrorIs(t, p.cq.Resize(n), driver.ErrInvalid)
	}
	for i := range uint64(9) {
		_, err := p.a.PostSend(nop(i, true))
		require.NoError(t, err)
	}
	p.m.settle()
	rings := len(p.m.dma)
	err := p.cq.Resize(4)
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.ErrorContains(t, err, "9 completions are not polled")
	p.m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) { return abi.AdminBadState, 0 }
	require.ErrorIs(t, p.cq.Resize(100), driver.ErrInvalid)
	p.m.refuse = nil
	p.m.noMem = true
	require.ErrorIs(t, p.cq.Resize(100), driver.ErrNoMemory)
	p.m.noMem = false
	require.Len(t, p.m.dma, rings)
	require.Len(t, poll(t, p.cq), 9)
	require.NoError(t, p.cq.Resize(4))
	require.Len(t, p.m.dma, rings, "the old ring is given back, nothing waits in it")
	p.m.spawn(func(b *bus) { require.NoError(t, p.cq.On(p.dev.On(b)).Resize(8)) })
	p.m.spawn(func(b *bus) {
		mine := p.cq.On(p.dev.On(b))
		require.ErrorIs(t, mine.Resize(8), driver.ErrBusy)
	})
	require.True(t, p.m.run())
	require.NoError(t, p.a.Destroy())
	require.NoError(t, p.b.Destroy())
	require.NoError(t, p.cq.Destroy())
	require.ErrorIs(t, p.cq.Resize(8), driver.ErrInvalid)
}

// A QP that ends while its queue is resized leaves nothing in either ring.
func TestPurgeOfTwoRings(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 32, SigAll: true})
	post := func(q *driver.QP, ids ...uint64) {
		for _, id := range ids {
			_, err := q.PostSend(nop(id, true))
			require.NoError(t, err)
		}
		p.m.settle()
	}
	post(p.a, 1, 2)
	post(p.b, 11)
	require.NoError(t, p.cq.Resize(200))
	post(p.b, 12, 13)
	post(p.a, 3)
	require.NoError(t, p.a.Destroy())
	post(p.b, 14)
	require.Equal(t, []uint64{11, 12, 13, 14}, ids(poll(t, p.cq)))
}
