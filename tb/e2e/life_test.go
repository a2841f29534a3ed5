package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/e2e"
)

// TestOneFails: eight pairs on one completion queue a host; one of them fails in
// the midst of traffic. The others do not notice.
func TestOneFails(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	const pairs, each, size = 8, 8, 3000
	cq := [2]*driver.CQ{s.A.CQ(512), s.B.CQ(512)}
	var ps []*e2e.Pair
	for range pairs {
		c := driver.QPConfig{MaxSend: 16, MaxRecv: 16, MaxSendSGE: 2, MaxRecvSGE: 2}
		ca, cb := c, c
		ca.SendCQ, ca.RecvCQ, cb.SendCQ, cb.RecvCQ = cq[0], cq[0], cq[1], cq[1]
		ps = append(ps, s.Join(s.A.QP(ca), s.B.QP(cb), driver.ConnectOptions{}))
	}
	s.A.Fill(0, 900_000, 1)
	for n, p := range ps {
		for i := range each {
			p.B.Recv(p.B.RecvWR(uint64(100*n+i), (n*each+i)*size, size))
		}
	}
	var err error
	s.A.Do(func() {
		for i := range each {
			for n, p := range ps {
				wr := p.A.SendWR(uint64(100*n+i), (n*each+i)*size, size)
				if n == 5 && i == 4 {
					wr.SGEs[0].LKey = 0
				}
				if _, e := p.A.QP.PostSend(wr); e != nil {
					err = e
				}
			}
		}
	})
	require.NoError(t, err)
	sent, received := s.A.Await(cq[0], pairs*each), s.B.Await(cq[1], pairs*each-4)
	next := map[uint32]int{}
	for _, w := range sent {
		n := index(t, ps, w.QPN)
		i := next[w.QPN]
		next[w.QPN]++
		require.EqualValues(t, 100*n+i, w.ID)
		want := abi.StatusSuccess
		if n == 5 && i >= 4 {
			want = abi.StatusWRFlush
		}
		if n == 5 && i == 4 {
			want = abi.StatusLocProt
		}
		require.Equal(t, want, w.Status, "QP %d, message %d", n, i)
	}
	clear(next)
	for _, w := range received {
		n := int(w.ID / 100)
		require.EqualValues(t, 100*n+next[w.QPN], w.ID)
		next[w.QPN]++
		require.Equal(t, abi.StatusSuccess, w.Status)
		at := (n*each + int(w.ID%100)) * size
		s.B.Demand(at, e2e.Bytes(900_000, 1)[at:at+size])
	}
	require.Equal(t, 4, next[ps[5].B.QP.Number()])
	for n, p := range ps {
		if n != 5 {
			exchangeOn(t, p, cq)
		}
	}
	ps[5].B.Fail()
	for _, w := range s.B.Await(cq[1], 4) {
		require.Equal(t, abi.StatusWRFlush, w.Status)
	}
}

// index is the pair of which A's QP has a number.
func index(t *testing.T, ps []*e2e.Pair, qpn uint32) int {
	t.Helper()
	for n, p := range ps {
		if p.A.QP.Number() == qpn {
			return n
		}
	}
	t.Fatalf("no pair with QP %d", qpn)
	return 0
}

// exchangeOn is exchange on queues that the pairs share.
func exchangeOn(t *testing.T, p *e2e.Pair, cq [2]*driver.CQ) {
	t.Helper()
	p.B.Recv(p.B.RecvWR(1, 1_000_000, 100))
	p.A.Send(p.A.SendWR(2, 0, 100))
	for _, w := range append(p.A.Await(cq[0], 1), p.B.Await(cq[1], 1)...) {
		require.Equal(t, abi.StatusSuccess, w.Status)
	}
}

// TestFlush (B063, B068, B071): ERR by request. Sends flush on their queue,
// receives on theirs, in post order; what is posted later comes behind.
func TestFlush(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: 20})
	lose := &tb.Strike{Name: "acknowledgements", Match: answersOf(roce.KindACK), Times: 100}
	s.A.SetFault(tb.Strikes(lose))
	p.A.Recv(p.A.Recvs(0, 100, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40)...)
	p.B.Recv(p.B.Recvs(0, 3000, 11, 12, 13)...)
	p.A.Send(p.A.SendWR(1, 0, 2000), p.A.SendWR(2, 0, 2000), driver.SendWR{ID: 3, Op: abi.OpNop}, p.A.SendWR(4, 0, 100))
	p.B.Received(e2e.OK(11, 12, 13)...)
	p.A.Fail()
	p.A.Recv(p.A.RecvWR(41, 0, 10))
	p.A.Send(p.A.SendWR(5, 0, 100), driver.SendWR{ID: 6, Op: abi.OpNop}) // the last one marks the end
	p.A.Sent(e2e.Flushed(1, 2, 3, 4, 5, 6)...)
	p.A.Received(e2e.Flushed(31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41)...)
	require.Positive(t, lose.Fired)
	require.Equal(t, e2e.Faults{abi.ReqCQEError: 6, abi.RespCQEError: 11}, s.A.Faults())
	for i := range uint64(40) { // round the rings
		p.A.Recv(p.A.RecvWR(i, 0, 10))
		p.A.Send(p.A.SendWR(i, 0, 10))
		p.A.Sent(e2e.Flushed(i)...)
		p.A.Received(e2e.Flushed(i)...)
	}
	again(t, s, p)
}

// TestPeerNotReady: the remote QP in RESET, INIT or ERR answers nothing, and keeps
// or flushes its receives. Then the requester's time is up.
func TestPeerNotReady(t *testing.T) {
	for _, state := range []abi.QPState{abi.QPReset, abi.QPInit, abi.QPErr} {
		s := e2e.New(t, quick)
		p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
		p.A.Connection = timeout8
		p.A.Reconnect()
		switch state {
		case abi.QPInit:
			s.B.Do(func() { require.NoError(t, p.B.QP.Init(0)) })
			p.B.Recv(p.B.RecvWR(11, 0, 100))
		case abi.QPErr:
			p.B.Reconnect()
			p.B.Recv(p.B.RecvWR(11, 0, 100))
			p.B.Fail()
			p.B.Received(e2e.Flushed(11)...)
		}
		p.A.Send(p.A.SendWR(1, 0, 100))
		p.A.Sent(e2e.All(abi.StatusRetryExc, 1)...)
		require.Equal(t, e2e.Faults{abi.RxDropBadState: 1}, s.B.Faults().Since(e2e.Faults{abi.RespCQEError: s.B.Faults()[abi.RespCQEError]}))
		require.Zero(t, len(s.B.Answers(0)))
		p.B.DemandState(state)
		s.Close()
	}
}

// TestReady: a message that finds the responder in RTR is taken, and tells it that
// communication is established.
func TestReady(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
	p.A.Reconnect()
	var err error
	s.B.Do(func() {
		if err = p.B.QP.Init(0); err == nil {
			remote := p.A.QP.Endpoint()
			err = p.B.QP.Modify(driver.QPAttr{
				State: abi.QPRTR, PathMTU: abi.MTU1024, DestQPN: remote.QPN, RQPSN: remote.PSN, MinRNRTimer: 12,
				AV: abi.AV{DMAC: remote.MAC, HopLimit: 64, DGID: remote.GID, SGIDIndex: 1, UDPSPort: 0xc000},
			}, e2e.RTRMask)
		}
	})
	require.NoError(t, err)
	p.B.Recv(p.B.Recvs(0, 100, 11, 12)...)
	p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100))
	p.A.Sent(e2e.OK(1, 2)...)
	p.B.Received(e2e.OK(11, 12)...)
	events := s.B.Events()
	require.Equal(t, 1, len(events))
	require.Equal(t, abi.EventCommEst, events[0].Type)
	require.Equal(t, p.B.QP.Number(), events[0].Number)
}

// TestReset (B008, B076): two QPs share completion queues and both have some
// unread; RESET of one leaves those of the other. In its next life the QP has new
// PSNs, its MSN begins again, and packets of the old life do no harm.
func TestReset(t *testing.T) {
	s := e2e.New(t, quick)
	cq := [2]*driver.CQ{s.A.CQ(256), s.B.CQ(256)}
	var ps [2]*e2e.Pair
	for i := range ps {
		c := driver.QPConfig{MaxSend: 16, MaxRecv: 16, MaxSendSGE: 1, MaxRecvSGE: 1}
		ca, cb := c, c
		ca.SendCQ, ca.RecvCQ, cb.SendCQ, cb.RecvCQ = cq[0], cq[0], cq[1], cq[1]
		ps[i] = s.Couple(s.A.QP(ca), s.B.QP(cb))
		sides := []*e2e.End{ps[i].A, ps[i].B}
		for k, e := range sides {
			require.NoError(t, e.ConnectBy(psns(k, 0x000005, 0xfffff0)))
		}
	}
	for i := range uint64(5) {
		for _, p := range ps {
			p.B.Recv(p.B.RecvWR(i, 0, 2000))
			p.A.Send(p.A.SendWR(i, 0, 1500))
			s.Sleep(1000)
		}
	}
	old := s.A.Requests(0)
	ps[0].A.Reset()
	ps[0].B.Reset()
	for _, side := range []*e2e.Side{s.A, s.B} {
		for i, w := range side.Await(cq[side.Index-1], 5) {
			require.EqualValues(t, i, w.ID)
			require.Equal(t, abi.StatusSuccess, w.Status)
		}
		side.DemandNone(cq[side.Index-1])
	}
	// The next life, far behind the old PSNs: these are all of the past.
	for k, e := range []*e2e.End{ps[0].A, ps[0].B} {
		require.NoError(t, e.ConnectBy(psns(k, 0x200000, 0x300000)))
	}
	from, faults := len(s.B.Seen), s.B.Faults()
	ps[0].B.Recv(ps[0].B.RecvWR(20, 0, 2000))
	var stale []roce.Packet
	for _, r := range old {
		if uint32(r.BTH.DestQP) == ps[0].B.QP.Number() {
			stale = append(stale, r)
		}
	}
	require.Equal(t, 10, len(stale))
	s.B.Arrive(stale...)
	for _, a := range s.B.Answers(from) {
		require.Equal(t, roce.ACKSyndrome(roce.NoCredits), a.AETH.Syndrome)
		require.Equal(t, roce.PSN(0x1fffff), a.BTH.PSN)
		require.Zero(t, a.AETH.MSN)
	}
	require.EqualValues(t, 10, s.B.Faults().Since(faults)[abi.DuplicateRequest])
	from = len(s.A.Seen)
	ps[0].A.Send(ps[0].A.SendWR(21, 0, 1500))
	require.EqualValues(t, 21, s.A.Await(cq[0], 1)[0].ID)
	require.EqualValues(t, 20, s.B.Await(cq[1], 1)[0].ID)
	require.Equal(t, roce.PSN(0x200000), s.A.Requests(from)[0].BTH.PSN)
	last := s.B.Answers(0)[len(s.B.Answers(0))-1]
	require.EqualValues(t, 1, last.AETH.MSN)
	require.Equal(t, roce.PSN(0x200001), last.BTH.PSN)
}

// psns sets the first PSNs of an end: a those of the first, b those of the second.
func psns(end int, a, b uint32) func(rtr, rts *driver.QPAttr) {
	return func(rtr, rts *driver.QPAttr) {
		rts.SQPSN, rtr.RQPSN = a, b
		if end == 1 {
			rts.SQPSN, rtr.RQPSN = b, a
		}
	}
}

// TestPSNWraps (B006): from 0xfffffe on; AckReq stays what it is.
func TestPSNWraps(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
	require.NoError(t, p.A.ConnectBy(psns(0, 0xfffffe, 0)))
	require.NoError(t, p.B.ConnectBy(psns(1, 0xfffffe, 0)))
	p.A.Fill(0, 7000, 1)
	p.B.Recv(p.B.RecvWR(11, 0, 7000))
	p.A.Send(p.A.SendWR(1, 0, 7000))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(11)...)
	p.B.Demand(0, e2e.Bytes(7000, 1))
	for i, r := range s.A.Requests(0) {
		require.Equal(t, roce.PSN(0xfffffe).Add(uint32(i)), r.BTH.PSN)
	}
	require.EqualValues(t, 5, p.A.Query().NextPSN)
	require.EqualValues(t, 5, p.B.Query().ExpectedPSN)
	exchange(t, p)
}

// TestTornDown (B008, B249): a QP goes to RESET, to ERR or away at any moment of a
// stream of messages, at either end. What completes is in order and true, nothing
// is left behind, and the other pair goes on.
func TestTornDown(t *testing.T) {
	how := []func(q *driver.QP) error{
		func(q *driver.QP) error { return q.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState) },
		func(q *driver.QP) error { return q.Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState) },
		(*driver.QP).Destroy,
	}
	for n := range 24 {
		s := e2e.New(t, quick)
		p, other := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8), s.Pair()
		p.A.Fill(0, 40_000, 1)
		p.B.Recv(p.B.Recvs(0, 5000, 10, 11, 12, 13, 14, 15, 16, 17)...)
		other.B.Recv(other.B.Recvs(100_000, 5000, 10, 11, 12, 13, 14, 15, 16, 17)...)
		var wrs []driver.SendWR
		for i := range 8 {
			wrs = append(wrs, p.A.SendWR(uint64(i), i*5000, 5000))
		}
		victim, receiver := p.A, false
		if n%2 == 1 {
			victim, receiver = p.B, true
		}
		var errs [2]error
		s.A.Do(func() {
			_, errs[0] = p.A.QP.PostSend(wrs...)
			_, errs[1] = other.A.QP.PostSend(wrs...)
		})
		require.Equal(t, [2]error{}, errs)
		victim.Do(func() {
			victim.Bus.Spend(int64(n) * 300_000)
			errs[0] = how[n/2%3](victim.QP)
		})
		require.NoError(t, errs[0])
		other.A.Sent(e2e.OK(0, 1, 2, 3, 4, 5, 6, 7)...)
		other.B.Received(e2e.OK(10, 11, 12, 13, 14, 15, 16, 17)...)
		other.B.Demand(100_000, e2e.Bytes(40_000, 1))
		s.Sleep(20_000) // the timeout of the other end
		sent, received := p.A.Poll(p.A.SCQ), p.B.Poll(p.B.RCQ)
		gone := n/2%3 != 1 // completions that were not polled went with the QP
		switch {
		case receiver && gone:
			require.Zero(t, len(received))
			require.Equal(t, 8, len(sent))
		case gone:
			require.Zero(t, len(sent))
		default:
			require.Equal(t, 8, len(sent), "run %d", n)
		}
		if receiver && !gone {
			require.Equal(t, 8, len(received))
		}
		done, arrived := succeeded(t, sent, 0), succeeded(t, received, 10)
		if !receiver || !gone {
			require.LessOrEqual(t, done, arrived, "run %d: acknowledged and not received", n)
			p.B.Demand(0, e2e.Bytes(40_000, 1)[:5000*arrived])
		}
		s.Close()
	}
}

// succeeded demands that completions are of consecutive work requests, in success
// up to one, and then, but for the first, flushed. It returns how many succeeded.
func succeeded(t *testing.T, wcs []driver.WC, first uint64) (n int) {
	t.Helper()
	for i, w := range wcs {
		require.Equal(t, first+uint64(i), w.ID)
		switch {
		case w.Status == abi.StatusSuccess:
			require.Equal(t, i, n, "success behind a failure: %+v", w)
			n++
		case i > n:
			require.Equal(t, abi.StatusWRFlush, w.Status)
		}
	}
	return n
}
