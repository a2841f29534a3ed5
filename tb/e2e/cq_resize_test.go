package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestResizeUnderTraffic: a queue is made larger and smaller again and again while
// messages arrive as fast as they can. Each is told once, in order.
func TestResizeUnderTraffic(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	const depth, total = 64, 3000
	a := s.A.QP(driver.QPConfig{SendCQ: s.A.CQ(depth), MaxSend: depth, MaxRecv: 1, MaxSendSGE: 1})
	b := s.B.QP(driver.QPConfig{RecvCQ: s.B.CQ(depth), MaxSend: 1, MaxRecv: depth, MaxRecvSGE: 1})
	p := s.Join(a, b, driver.ConnectOptions{RNRRetry: 7})
	var resized, posted, sent, got int
	var err error
	rng := rand.New(rand.NewPCG(1, 2))
	// step posts and polls one end, and resizes its queue now and then.
	step := func(q *driver.QP, cq *driver.CQ, d *e2e.Side, posted, done *int, post func(id uint64) error) {
		wcs := make([]driver.WC, 8)
		for *done < total && err == nil {
			for *posted < total && *posted-*done < depth && err == nil {
				if err = post(uint64(*posted)); err == nil {
					*posted++
				}
			}
			if err == nil && rng.IntN(20) == 0 {
				err = cq.Resize(depth + rng.IntN(400))
				resized++
			}
			var n int
			if err == nil {
				n, err = cq.Poll(wcs[:1+rng.IntN(8)])
			}
			for _, w := range wcs[:n] {
				if w.ID != uint64(*done) || w.Status != abi.StatusSuccess {
					err = fmt.Errorf("work request %d: %s, expected %d", w.ID, w.Status, *done)
					return
				}
				*done++
			}
		}
	}
	var recvs int
	s.B.Do(func() {
		for ; recvs < depth && err == nil; recvs++ {
			_, err = p.B.QP.PostRecv(driver.RecvWR{ID: uint64(recvs)})
		}
	})
	require.NoError(t, err)
	s.Both(func() {
		step(p.A.QP, p.A.SCQ, s.A, &posted, &sent, func(id uint64) error {
			_, err := p.A.QP.PostSend(driver.SendWR{ID: id, Op: abi.OpSend, Signaled: true})
			return err
		})
	}, func() {
		step(p.B.QP, p.B.RCQ, s.B, &recvs, &got, func(id uint64) error {
			_, err := p.B.QP.PostRecv(driver.RecvWR{ID: id})
			return err
		})
	})
	require.NoError(t, err)
	require.Equal(t, total, sent)
	require.Equal(t, total, got)
	require.Greater(t, resized, 50)
	require.Empty(t, s.A.Events())
	require.Empty(t, s.B.Events())
}

// TestResizeKeeps (B167): completions that were not polled are still there after two more
// rings; a ring that is too small for them is refused, and nothing changes.
func TestResizeKeeps(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	send := func(ids ...uint64) {
		for _, id := range ids {
			p.A.Send(driver.SendWR{ID: id, Op: abi.OpNop, Signaled: true})
		}
		s.Sleep(1000)
	}
	resize := func(n int) (err error) {
		s.A.Do(func() { err = p.A.SCQ.Resize(n) })
		return err
	}
	for round := range 30 { // the indices come to all passes of all sizes
		send(1, 2, 3, 4, 5)
		require.ErrorIs(t, resize(2), driver.ErrInvalid)
		require.NoError(t, resize(5+round))
		send(6, 7)
		require.NoError(t, resize(100))
		send(8)
		require.ErrorIs(t, resize(4), driver.ErrInvalid, "all count, wherever they are")
		p.A.Sent(e2e.OK(1, 2, 3, 4, 5, 6, 7, 8)...)
		require.NoError(t, resize(1))
		send(9)
		p.A.Sent(e2e.OK(9)...)
		require.NoError(t, resize(64))
	}
	require.Empty(t, s.A.Events())
}

// TestResizedOverrun (B164): a queue that was made smaller overruns at its new size; one
// that is dead is not resized.
func TestResizedOverrun(t *testing.T) {
	s := e2e.New(t, e2e.Options{Dirty: true})
	p := s.Pair()
	var err error
	s.A.Do(func() { err = p.A.SCQ.Resize(4) })
	require.NoError(t, err)
	for i := range uint64(12) {
		p.A.Send(driver.SendWR{ID: i, Op: abi.OpNop, Signaled: true})
	}
	s.Sleep(5000)
	wcs, err := pollAll(s.A, p.A.SCQ)
	require.ErrorIs(t, err, driver.ErrOverrun)
	require.GreaterOrEqual(t, len(wcs), 4)
	require.LessOrEqual(t, len(wcs), 8)
	for i, w := range wcs {
		require.EqualValues(t, i, w.ID)
	}
	s.A.Do(func() { err = p.A.SCQ.Resize(100) })
	require.ErrorIs(t, err, driver.ErrInvalid)
	p.A.DemandState(abi.QPErr)
	require.Equal(t, 2, len(s.A.Events()))
}
