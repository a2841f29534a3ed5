package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

const sharers = 1000

// share makes QPs that all complete on one queue, in RTS.
func share(t *testing.T, s *e2e.Scene, cq *driver.CQ) []*driver.QP {
	var qps []*driver.QP
	for range sharers {
		e := s.A.QP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 2, MaxRecv: 1})
		qps = append(qps, e.QP)
	}
	peer := s.B.QP(driver.QPConfig{}).QP.Endpoint()
	var err error
	s.A.Do(func() {
		for i := 0; i < sharers && err == nil; i++ {
			err = qps[i].Connect(peer, driver.ConnectOptions{})
		}
	})
	require.NoError(t, err)
	return qps
}

// post has each QP complete something.
func post(t *testing.T, s *e2e.Scene, qps []*driver.QP, id uint64) {
	var err error
	s.A.Do(func() {
		for i := 0; i < len(qps) && err == nil; i++ {
			_, err = qps[i].PostSend(driver.SendWR{ID: id, Op: abi.OpNop, Signaled: true})
		}
	})
	require.NoError(t, err)
	s.Sleep(1000)
}

// TestSharedByAThousand: each of 1,000 QPs finds its completions in the one queue that
// they share, also when one of them ends.
func TestSharedByAThousand(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	cq := s.A.CQ(2 * sharers)
	qps := share(t, s, cq)
	post(t, s, qps, 0)
	post(t, s, qps, 1)
	var err error
	s.A.Do(func() { err = qps[7].Destroy() })
	require.NoError(t, err)
	next := map[*driver.QP]uint64{}
	for _, w := range s.A.Poll(cq) {
		require.Equal(t, abi.StatusSuccess, w.Status)
		require.Equal(t, w.QP.Number(), w.QPN)
		require.Equal(t, next[w.QP], w.ID)
		next[w.QP]++
	}
	require.Len(t, next, sharers-1)
	for q, n := range next {
		require.EqualValues(t, 2, n, "QP %d", q.Number())
	}
	require.NotContains(t, next, qps[7])
}

// TestSharedOverrun (B164): what fits into the queue stays, each QP that then has a completion
// for it fails and is told of, and nobody else.
func TestSharedOverrun(t *testing.T) {
	s := e2e.New(t, e2e.Options{Dirty: true})
	cq := s.A.CQ(300)
	qps := share(t, s, cq)
	post(t, s, qps, 0)
	fatal := map[uint32]bool{}
	var events []driver.AsyncEvent
	for n := -1; n != len(events); s.Sleep(2000) { // more than the event queue holds
		n = len(events)
		events = append(events, s.A.Events()...)
	}
	for i, e := range events {
		if i == 0 {
			require.Equal(t, abi.EventCQErr, e.Type)
			require.Equal(t, cq.Number(), e.Number)
			continue
		}
		require.Equal(t, abi.EventQPFatal, e.Type)
		require.False(t, fatal[e.Number], "QP %d twice", e.Number)
		fatal[e.Number] = true
	}
	wcs, err := pollAll(s.A, cq)
	require.ErrorIs(t, err, driver.ErrOverrun)
	require.GreaterOrEqual(t, len(wcs), 300)
	require.Len(t, fatal, sharers-len(wcs))
	for _, w := range wcs {
		require.Equal(t, abi.StatusSuccess, w.Status)
		require.False(t, fatal[w.QPN], "QP %d completed, and failed", w.QPN)
	}
	for _, i := range []int{0, 1, 299, 511, 512, 513, 998, 999} {
		var m abi.QPMailbox
		s.A.Do(func() { m, err = qps[i].Query() })
		require.NoError(t, err)
		require.Equal(t, fatal[qps[i].Number()], m.State == abi.QPErr, "QP %d is in %s", qps[i].Number(), m.State)
	}
}
