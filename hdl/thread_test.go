package hdl_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

func empty(t *testing.T) *hdl.Kernel {
	k, err := hdl.Elaborate("t", &struct{}{}, hdl.Options{})
	require.NoError(t, err)
	return k
}

func TestThreadsRunInOrderAndOnTime(t *testing.T) {
	k := empty(t)
	var log []string
	say := func(t *hdl.Thread, who string) { log = append(log, fmt.Sprint(who, t.Now())) }
	k.Go("a", func(t *hdl.Thread) {
		say(t, "a")
		t.Sleep(10)
		say(t, "a")
		t.WaitUntil(5) // past
		t.Sleep(0)
		k.Go("late", func(t *hdl.Thread) { say(t, "late") })
		t.WaitUntil(1_000_000)
		say(t, "a")
	})
	k.Go("b", func(t *hdl.Thread) {
		say(t, "b")
		t.Sleep(10)
		say(t, "b")
	})
	require.NoError(t, k.Run(2_000_000))
	require.Equal(t, []string{"a0", "b0", "a10", "b10", "late11", "a1000000"}, log)
	require.Less(t, k.Stats().Steps, uint64(4))
}

func TestEvents(t *testing.T) {
	k := empty(t)
	var ev, other hdl.Event
	var log []string
	k.Go("early", func(t *hdl.Thread) {
		log = append(log, fmt.Sprint("early ", t.Wait(&ev, 0), t.Now()))
		log = append(log, fmt.Sprint("early ", t.Wait(&ev, 50), t.Now()))
		log = append(log, fmt.Sprint("early ", t.Wait(&ev, 50), t.Now()))
		ev.Notify() // nobody waits any more
		t.Wait(&other, 1000)
		log = append(log, fmt.Sprint("early ", t.Now()))
	})
	k.Go("notifier", func(t *hdl.Thread) {
		t.Sleep(7)
		ev.Notify()
		t.Sleep(100)
		other.Notify()
	})
	k.Go("later", func(t *hdl.Thread) {
		log = append(log, fmt.Sprint("later ", t.Wait(&ev, 1000), t.Now()))
		t.Sleep(5000) // the timeout of the wait above is void
		log = append(log, fmt.Sprint("later ", t.Now()))
	})
	require.NoError(t, k.Run(10_000))
	require.Equal(t, []string{
		"early true 8", "later true 8", // whatever their place in the order
		"early false 50", "early false 50", "early 108", "later 5008",
	}, log)
}

func TestEventsLeaveNothingBehind(test *testing.T) {
	k := empty(test)
	var ev, other, third hdl.Event
	k.Go("waiter", func(t *hdl.Thread) {
		require.False(test, t.Wait(&ev, 50))
		require.False(test, t.Wait(&other, 100), "ev is waited for no more")
		require.True(test, t.Wait(&other, 5000))
		t.Wait(&third, 0) // the limit of 5000 is void
	})
	k.Go("notifier", func(t *hdl.Thread) {
		t.Sleep(60)
		ev.Notify()
		t.Sleep(60)
		other.Notify()
	})
	require.ErrorContains(test, k.Run(10_000), "t: deadlock at cycle 121:")
}

func TestThreadPanicIsAFault(t *testing.T) {
	k := empty(t)
	k.Go("bad", func(t *hdl.Thread) {
		t.Sleep(3)
		panic("lost")
	})
	cleaned := false
	k.Go("other", func(t *hdl.Thread) {
		defer func() { cleaned = true }()
		t.Sleep(100)
	})
	require.Regexp(t, `^t\.bad: cycle 3: lost at hdl/thread_test\.go:\d+$`, k.Run(10))
	require.True(t, cleaned, "the other thread was stopped")
}

func TestStopStopsThreads(t *testing.T) {
	k := empty(t)
	var log []string
	k.Go("main", func(t *hdl.Thread) {
		t.Sleep(5)
		k.Stop()
	})
	k.Go("other", func(t *hdl.Thread) {
		defer func() {
			t.Sleep(1) // does not come back
			log = append(log, "unreachable")
		}()
		defer func() { log = append(log, "deferred") }()
		t.Sleep(100)
		log = append(log, "unreachable")
	})
	require.NoError(t, k.Run(1000))
	require.Equal(t, uint64(5), k.Cycle())
	require.Equal(t, []string{"deferred"}, log)
	require.NoError(t, k.Run(1000))
	require.Equal(t, uint64(1000), k.Cycle())
}

func TestManyThreads(t *testing.T) {
	k := empty(t)
	sum := uint64(0)
	for i := range uint64(200) {
		k.Go(fmt.Sprint("t", i), func(t *hdl.Thread) {
			for range 10 {
				t.Sleep(i + 1)
			}
			sum += t.Now()
		})
	}
	require.NoError(t, k.Run(5000))
	require.Equal(t, uint64(10*200*201/2), sum)
}

// bell wakes another agent, and itself by time.
type bell struct {
	hdl.Behave
	Peer *bell
	Rang []uint64
}

func (b *bell) Tick() {
	b.Rang = append(b.Rang, b.Now())
	if b.Now() == 20 {
		b.Peer.Wake()
		b.WakeAt(40)
		b.WakeAt(30)
		b.WakeAt(40)
		b.WakeAt(3)
	}
}

func TestAgentsWake(t *testing.T) {
	top := &struct{ A, B, C bell }{}
	top.B.Peer = &top.A
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	k.Go("th", func(t *hdl.Thread) {
		top.B.WakeAt(20)
		t.Sleep(7)
		top.C.Wake()
	})
	require.NoError(t, k.Run(100))
	require.Equal(t, []uint64{0, 21}, top.A.Rang)
	require.Equal(t, []uint64{0, 20, 30, 40}, top.B.Rang)
	require.Equal(t, []uint64{0, 8}, top.C.Rang)
	require.Equal(t, "t.a", top.A.Path())
}
