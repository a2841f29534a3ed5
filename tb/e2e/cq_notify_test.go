package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
)

// TestArmAtEveryCycleOfACompletion (B177, B180, B181): the driver arms so that its
// doorbell comes at each cycle within 64 of a completion, for any and for solicited,
// with one message and with trains of them. If the completion is beyond what was
// polled, there is one event for it and never a second; if not, there is none.
func TestArmAtEveryCycleOfACompletion(t *testing.T) {
	for _, burst := range []int{1, 2, 6} {
		for _, solicited := range []bool{false, true} {
			t.Run(fmt.Sprintf("burst %d solicited %t", burst, solicited), func(t *testing.T) {
				newArmer(t, abi.QPTypeRC, false, burst, solicited).sweep()
			})
		}
	}
	for _, c := range qpTypes[1:] {
		for _, solicited := range []bool{false, true} {
			if c.typ == abi.QPTypeRaw && solicited {
				continue // a frame has no mark for it
			}
			t.Run(fmt.Sprintf("%s, solicited %t", typeName(c.typ, c.srq), solicited), func(t *testing.T) {
				newArmer(t, c.typ, c.srq, 2, solicited).sweep()
			})
		}
	}
}

// armer sends bursts of messages from A to B, of which the last is solicited, and
// arms B's queue around the arrival of the last.
type armer struct {
	t         *testing.T
	s         *e2e.Scene
	p         *talk
	srq       *driver.SRQ
	burst     int
	solicited bool
	next      uint64
}

func newArmer(t *testing.T, typ abi.QPType, srq bool, burst int, solicited bool) *armer {
	s := e2e.New(t, e2e.Options{})
	a := &armer{t: t, s: s, burst: burst, solicited: solicited}
	cb := driver.QPConfig{RecvCQ: s.B.CQ(64), MaxRecv: 16, MaxRecvSGE: 1, MaxSend: 1}
	if srq {
		a.srq = s.B.SRQ(driver.SRQAttr{MaxRecv: 16, MaxSGE: 1})
		cb.SRQ = a.srq
	}
	a.p = newTalk(t, s, typ, driver.QPConfig{}, cb)
	return a
}

// recv posts receives.
func (a *armer) recv(wrs ...driver.RecvWR) {
	a.t.Helper()
	if a.srq == nil {
		a.p.B.Recv(wrs...)
		return
	}
	a.s.B.Must(func() error {
		_, err := a.srq.PostRecv(wrs...)
		return err
	})
}

const tail = 3000 // cycles from a burst's post until all is over

// once sends a burst and arms a number of cycles after it is posted. It returns the
// cycle of the last completion, those polled before the arm, and the events.
func (a *armer) once(delay int64) (cqe uint64, polled, events int) {
	a.t.Helper()
	d, q := a.s.B, a.p.B.RCQ
	var errA, errB error
	var wrs []driver.SendWR
	var recvs []driver.RecvWR
	for i := range a.burst {
		wr := a.p.send(a.next, 0, 14)
		wr.Solicited = i == a.burst-1
		wrs = append(wrs, wr)
		recvs = append(recvs, a.p.B.RecvWR(a.next, slot(0), 100))
		a.next++
	}
	a.recv(recvs...)
	var wcs [16]driver.WC
	a.s.Both(func() {
		_, errA = a.p.A.QP.PostSend(wrs...)
	}, func() {
		d.Bus.Spend(delay * tb.PeriodPs)
		if polled, errB = q.Poll(wcs[:]); errB == nil {
			errB = q.Arm(a.solicited)
		}
		d.Bus.Spend(tail * tb.PeriodPs)
	})
	require.NoError(a.t, errA)
	require.NoError(a.t, errB)
	n := polled
	var err error
	d.Do(func() {
		for err == nil { // what the driver is told
			var c *driver.CQ
			if c, err = d.Dev.CQEvent(0, d.Bus.Now()); c == nil || err != nil {
				break
			}
			events++
			err = c.Ack(1)
		}
		var k int
		if err == nil {
			k, err = q.Poll(wcs[n:])
			n += k
		}
	})
	require.NoError(a.t, err)
	require.Equal(a.t, a.burst, n)
	a.s.A.Await(a.p.A.SCQ, a.burst)
	return wcs[n-1].Timestamp, polled, events
}

// sweep finds when a doorbell arrives and a completion is made, and then has them
// meet at all offsets.
func (a *armer) sweep() {
	t := a.t
	var before, first uint64
	cycles := func() (c uint64) {
		var err error
		a.s.B.Do(func() { c, err = a.s.B.Dev.Cycles() })
		require.NoError(t, err)
		return c
	}
	before = cycles()
	first, _, _ = a.once(5000)
	about := int64(first - before)
	require.Less(t, about, int64(2500))
	a.once(0) // it was armed still
	// The completion and the doorbell need 62 cycles each to the other side. So what
	// is armed unseen arrives from 64 cycles before the completion is made, or
	// earlier, to 124 behind it.
	met := map[bool]int{}
	written := events(a.s.B)
	for delay := about - 600; delay <= about+150; delay++ {
		_, polled, got := a.once(delay)
		want := 1
		if polled == a.burst {
			want = 0
		}
		require.Equal(t, want, got, "delay %d, %d polled", delay, polled)
		now := events(a.s.B)
		require.Equal(t, got, now-written, "delay %d: events that the device has written", delay)
		written = now
		met[polled == a.burst]++
		if want == 0 { // it is armed still: the next burst has its event
			_, _, got = a.once(0)
			require.Equal(t, 1, got)
			written = events(a.s.B)
		}
	}
	require.Greater(t, met[false], 200)
	require.Greater(t, met[true], 64)
}
