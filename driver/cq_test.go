package driver_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/driver"
)

func TestCreateCQ(t *testing.T) {
	m, d := start(t, driver.Config{Vectors: 3})
	cq, err := d.CreateCQ(97, driver.CQOptions{Vector: 2})
	require.NoError(t, err)
	c := m.cqs[cq.Number()]
	require.EqualValues(t, 7, c.LogSize)
	require.EqualValues(t, 3, c.EQN)
	require.Equal(t, 97, cq.Entries, "128, less what may be consumed without a doorbell")
	for _, bad := range []struct{ entries, vector int }{{0, 0}, {-1, 0}, {1<<15 + 1, 0}, {1, 3}, {1, -1}} {
		_, err := d.CreateCQ(bad.entries, driver.CQOptions{Vector: bad.vector})
		require.ErrorIs(t, err, driver.ErrInvalid, "%+v", bad)
	}
	_, err = d.CreateCQ(1<<15, driver.CQOptions{})
	require.NoError(t, err)
	m.noMem = true
	_, err = d.CreateCQ(1, driver.CQOptions{})
	require.ErrorIs(t, err, driver.ErrNoMemory)
}

// With never more than Entries completions open, the device never finds the queue
// full, however they are polled; and doorbells are few.
func TestConsumerIndexIsLazyButNeverTooLate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 64, SigAll: true})
		cq, err := p.dev.CreateCQ(rapid.IntRange(1, 40).Draw(rt, "entries"), driver.CQOptions{})
		require.NoError(rt, err)
		q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 64, SigAll: true})
		require.NoError(rt, err)
		require.NoError(rt, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
		p.m.writes = nil
		var open, posted, done uint64
		wcs := make([]driver.WC, 64)
		for range 60 {
			n := rapid.IntRange(0, cq.Entries-int(open)).Draw(rt, "post")
			for range n {
				_, err := q.PostSend(nop(posted, false))
				require.NoError(rt, err)
				posted++
				open++
			}
			p.m.settle()
			n, err := cq.Poll(wcs[:rapid.IntRange(0, 64).Draw(rt, "poll")])
			require.NoError(rt, err)
			for _, w := range wcs[:n] {
				require.Equal(rt, done, w.ID)
				done++
				open--
			}
		}
		require.False(rt, p.m.cqs[cq.Number()].dead)
		bells := 0
		for _, w := range p.m.writes {
			if w.off%4096 == 0 {
				bells++
			}
		}
		lazy := 1 << p.m.cqs[cq.Number()].LogSize / 4
		require.LessOrEqual(rt, bells, int(done)/max(1, lazy)+1)
		require.NoError(rt, p.dev.Close())
	})
}

func TestOverrun(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{})
	cq, err := p.dev.CreateCQ(2, driver.CQOptions{Vector: 1})
	require.NoError(t, err)
	q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 64, SigAll: true})
	require.NoError(t, err)
	require.NoError(t, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	ring := 1 << p.m.cqs[cq.Number()].LogSize
	for i := range ring + 2 {
		_, err := q.PostSend(nop(uint64(i), false))
		require.NoError(t, err)
	}
	p.m.settle()
	wcs := make([]driver.WC, 16)
	n, err := cq.Wait(wcs, math.MaxInt64)
	require.NoError(t, err)
	require.Equal(t, ring, n)
	n, err = cq.Wait(wcs, math.MaxInt64)
	require.ErrorIs(t, err, driver.ErrOverrun)
	require.Zero(t, n)
	events, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, abi.EventCQErr, events[0].Type)
	require.Equal(t, cq.Number(), events[0].Number)
}

// A program that never waits learns of it too, and of asynchronous events in the
// order in which they happened, whatever their queues.
func TestOverrunPolled(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{})
	cq, err := p.dev.CreateCQ(2, driver.CQOptions{Vector: 1})
	require.NoError(t, err)
	q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 64, SigAll: true})
	require.NoError(t, err)
	require.NoError(t, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	for i := range 1<<p.m.cqs[cq.Number()].LogSize + 2 {
		_, err := q.PostSend(nop(uint64(i), false))
		require.NoError(t, err)
	}
	p.m.settle()
	p.m.event(0, abi.Event{Type: abi.EventQPFatal, Number: q.Number(), Timestamp: uint64(p.m.now/4000) + 1})
	p.m.settle()
	wcs := make([]driver.WC, 16)
	_, err = cq.Poll(wcs)
	require.NoError(t, err)
	n, err := cq.Poll(wcs)
	require.ErrorIs(t, err, driver.ErrOverrun)
	require.Zero(t, n)
	events, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, abi.EventCQErr, events[0].Type)
	require.Equal(t, abi.EventQPFatal, events[1].Type)
}

// Completions of a QP that is reset or destroyed vanish, those of others keep
// their order, wherever in the ring they lie.
func TestPurge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 128, MaxRecv: 64, SigAll: true})
		qps := []*driver.QP{p.a, p.b}
		var model []uint64
		id := uint64(0)
		for range 40 {
			switch rapid.IntRange(0, 9).Draw(rt, "do") {
			default:
				i := rapid.IntRange(0, 1).Draw(rt, "qp")
				for range min(rapid.IntRange(1, 20).Draw(rt, "n"), p.cq.Entries-len(model)) {
					id += 2
					_, err := qps[i].PostSend(nop(id+uint64(i), false))
					require.NoError(rt, err)
					model = append(model, id+uint64(i))
				}
				p.m.settle()
			case 6, 7:
				wcs := make([]driver.WC, rapid.IntRange(0, 10).Draw(rt, "poll"))
				n, err := p.cq.Poll(wcs)
				require.NoError(rt, err)
				require.Equal(rt, min(len(wcs), len(model)), n)
				require.True(rt, slices.Equal(model[:n], ids(wcs[:n])))
				model = model[n:]
			case 8, 9:
				i := rapid.IntRange(0, 1).Draw(rt, "qp")
				old := qps[i]
				if rapid.Bool().Draw(rt, "destroy") {
					require.NoError(rt, old.Destroy())
					var err error
					qps[i], err = p.pd.CreateQP(driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq, MaxSend: 128, SigAll: true})
					require.NoError(rt, err)
				} else {
					require.NoError(rt, old.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState))
				}
				require.NoError(rt, qps[i].Connect(qps[1-i].Endpoint(), driver.ConnectOptions{}))
				model = slices.DeleteFunc(model, func(id uint64) bool { return id%2 == uint64(i) })
			}
		}
		wcs := make([]driver.WC, 128)
		n, err := p.cq.Poll(wcs)
		require.NoError(rt, err)
		require.True(rt, slices.Equal(model, ids(wcs[:n])))
		require.NoError(rt, p.dev.Close())
	})
}

func TestResetForgets(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, SigAll: true})
	for range 3 {
		p.m.hold = true
		_, err := p.b.PostSend(nop(1, true), nop(2, true), nop(3, true))
		require.NoError(t, err)
		_, err = p.b.PostRecv(make([]driver.RecvWR, 4)...)
		require.NoError(t, err)
		require.NoError(t, p.b.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState))
		p.m.release()
		require.NoError(t, p.b.Connect(p.a.Endpoint(), driver.ConnectOptions{}))
		n, err := p.b.PostSend(nop(4, true), nop(5, true), nop(6, true), nop(7, true))
		require.NoError(t, err)
		require.Equal(t, 4, n, "the whole queue is free")
		p.m.settle()
		require.Equal(t, []uint64{4, 5, 6, 7}, ids(poll(t, p.cq)))
	}
}

func TestDoorbellsOfCQ(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 64, SigAll: true})
	_, err := p.a.PostSend(nop(1, true), nop(2, true))
	require.NoError(t, err)
	p.m.settle()
	require.Len(t, poll(t, p.cq), 2)
	require.Len(t, p.m.writes, 1, "two of 64 are not worth a doorbell")
	require.NoError(t, p.cq.Arm(true))
	p.m.settle()
	c := p.m.cqs[p.cq.Number()]
	require.True(t, c.armed && c.solicited)
	require.EqualValues(t, 2, c.ci, "arming tells what was consumed")
	require.Len(t, p.m.writes, 2)
	require.NoError(t, p.cq.Arm(false))
	require.NoError(t, p.cq.Arm(true))
	p.m.settle()
	require.True(t, c.armed && !c.solicited, "any stays any")
	_, err = p.a.PostSend(nop(3, true))
	require.NoError(t, err)
	p.m.settle()
	require.False(t, c.armed, "one event for one arming")
	require.Len(t, poll(t, p.cq), 1)
	require.NoError(t, p.cq.Arm(true))
	p.m.settle()
	require.True(t, c.armed && c.solicited)
}

// A thread arms while another is held up writing an older consumer index: the older
// never arrives behind the newer, and the queue ends up armed.
func TestArmBesideAHeldUpDoorbell(t *testing.T) {
	for seed := range uint64(10) {
		p := connected(t, driver.Config{}, driver.QPConfig{})
		cq, err := p.dev.CreateCQ(4, driver.CQOptions{})
		require.NoError(t, err)
		q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4, SigAll: true})
		require.NoError(t, err)
		require.NoError(t, q.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
		_, err = q.PostSend(nop(0, true), nop(1, true))
		require.NoError(t, err)
		p.m.settle()

		p.m.room, p.m.posted = 1, 1 // no room for 2 us
		p.m.after(2_000_000, func() { p.m.posted-- })
		p.m.shuffle = rand.New(rand.NewPCG(seed, 5))
		for i := range 2 {
			p.m.spawn(func(b *bus) {
				b.Spend(int64(1 + 100_000*i))
				n, err := cq.On(p.dev.On(b)).Poll(make([]driver.WC, 1))
				require.NoError(t, err)
				require.Equal(t, 1, n)
			})
		}
		p.m.spawn(func(b *bus) {
			b.Spend(500_000)
			require.NoError(t, cq.On(p.dev.On(b)).Arm(false))
		})
		require.True(t, p.m.run())
		p.m.settle()
		c := p.m.cqs[cq.Number()]
		require.EqualValues(t, 2, c.ci)
		require.True(t, c.armed)
	}
}
