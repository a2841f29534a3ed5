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

// offsets are the PSNs of the requests that A has sent, counted from the first.
func offsets(s *e2e.Scene, p *e2e.Pair) (l []int) {
	for _, r := range s.A.Requests(0) {
		l = append(l, int(r.BTH.PSN.Diff(p.B.FirstPSN())))
	}
	return l
}

// naks are the acknowledgements of a side that are NAKs.
func naks(d *e2e.Side) (l []roce.Packet) {
	for _, a := range d.Answers(0) {
		if a.AETH.Syndrome.Kind() == roce.KindNAK {
			l = append(l, a)
		}
	}
	return l
}

// TestSilentPeer (B056, B061): nothing comes back, ever. With a retry_cnt of n all is
// sent 1+n times, the same PSNs each time, a timeout apart. Then the oldest message has
// failed, and the rest is flushed.
func TestSilentPeer(t *testing.T) {
	const T = 8 << 8 // cycles
	for n := uint8(0); n <= 7; n++ {
		s := e2e.New(t, quick)
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: 8, RetryCnt: n})
		s.B.SetFault(tb.Lose)
		p.A.Send(p.A.SendWR(1, 0, 2500), p.A.SendWR(2, 0, 100), p.A.SendWR(3, 0, 100))
		wcs := p.A.Sent(append(e2e.All(abi.StatusRetryExc, 1), e2e.Flushed(2, 3)...)...)
		require.Equal(t, abi.VendorTimeout, wcs[0].VendorErr)
		var want []int
		for range n + 1 {
			want = append(want, 0, 1, 2, 3, 4)
		}
		require.Equal(t, want, offsets(s, p))
		demandSame(t, s)
		waited := sinceFirstRequest(s, &wcs[0])
		require.Greater(t, waited, uint64(n+1)*T)
		require.Less(t, waited, uint64(n+1)*(T+T/8+600))
		require.Equal(t, e2e.Faults{abi.LocalAckTimeoutErr: uint64(n) + 1, abi.ReqCQEError: 3}, s.A.Faults())
		again(t, s, p)
		s.Close()
	}
}

// TestSentAgain (B024, B025): PSN 2 of ten packets is lost, and PSN 6 when it is sent
// again. Each gap is told once, by the PSN that is missing; what is before it has been
// acknowledged and is never sent again.
func TestSentAgain(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: 12, RetryCnt: 7})
	first, second := p.B.FirstPSN().Add(2), p.B.FirstPSN().Add(6)
	one := &tb.Strike{Name: "PSN 2", Match: requestAt(first)}
	two := &tb.Strike{Name: "PSN 6, sent again", Match: requestAt(second), Skip: 1}
	s.B.SetFault(tb.Strikes(one, two))
	p.A.Fill(0, 10_000, 3)
	p.B.Recv(p.B.Recvs(0, 2048, 11, 12, 13, 14, 15)...)
	var wrs []driver.SendWR
	for i := range 5 {
		wrs = append(wrs, p.A.SendWR(uint64(i), 2000*i, 2000))
	}
	p.A.Send(wrs...)
	p.A.Sent(e2e.OK(0, 1, 2, 3, 4)...)
	require.NoError(t, tb.Missed(one, two))
	p.B.Received(e2e.OK(11, 12, 13, 14, 15)...)
	for i := range 5 {
		p.B.Demand(2048*i, e2e.Bytes(10_000, 3)[2000*i:2000*i+2000])
	}
	told := naks(s.B)
	require.Equal(t, 2, len(told))
	for i, psn := range []roce.PSN{first, second} {
		require.Equal(t, roce.NAKSyndrome(roce.NAKSequence), told[i].AETH.Syndrome)
		require.Equal(t, psn, told[i].BTH.PSN)
		require.EqualValues(t, []int{1, 3}[i], told[i].AETH.MSN)
	}
	times := map[int]int{}
	for _, n := range offsets(s, p) {
		times[n]++
	}
	require.Equal(t, 1, times[0])
	require.Equal(t, 1, times[1])
	require.Equal(t, 2, times[2])
	require.Equal(t, 3, times[6])
	require.Equal(t, e2e.Faults{abi.PacketSeqErr: 2}, s.A.Faults())
	demandSame(t, s)
}

// TestOneBurst (B015): one of 32 packets is lost, and the NAK comes five times: one
// rewind, and no more than one retry is taken.
func TestOneBurst(t *testing.T) {
	s := e2e.New(t, quick)
	c := driver.QPConfig{MaxSend: 32, MaxRecv: 32, MaxSendSGE: 1, MaxRecvSGE: 1}
	p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{Timeout: 12, RetryCnt: 1})
	drop := &tb.Strike{Name: "PSN 9", Match: requestAt(p.B.FirstPSN().Add(9))}
	copies := &tb.Strike{Name: "NAK", Match: answersOf(roce.KindNAK), Do: func(f tb.Frame) tb.Verdict {
		d := append([]byte(nil), f.Data...)
		return tb.Verdict{After: [][]byte{d, d, d, d}}
	}}
	s.B.SetFault(tb.Strikes(drop))
	s.A.SetFault(tb.Strikes(copies))
	var wrs []driver.SendWR
	var sent, received []uint64
	for i := range uint64(32) {
		wrs = append(wrs, p.A.SendWR(i, 0, 1000))
		sent, received = append(sent, i), append(received, 100+i)
	}
	p.B.Recv(p.B.Recvs(0, 1000, received...)...)
	p.A.Send(wrs...)
	p.A.Sent(e2e.OK(sent...)...)
	p.B.Received(e2e.OK(received...)...)
	require.NoError(t, tb.Missed(drop, copies))
	back := 0
	l := offsets(s, p)
	for i := range l[1:] {
		if l[i+1] != l[i]+1 {
			require.Equal(t, 9, l[i+1])
			back++
		}
	}
	require.Equal(t, 1, back)
	require.Equal(t, e2e.Faults{abi.PacketSeqErr: 1, abi.RxDropOther: 4}, s.A.Faults())
}

// TestLastAnswerLost (B023): the acknowledgement of a SEND is lost. All of the SEND
// comes again and is acknowledged again, as before; it is received once.
func TestLastAnswerLost(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: 12, RetryCnt: 1})
	drop := &tb.Strike{Name: "acknowledgement", Match: answersOf(roce.KindACK)}
	s.A.SetFault(tb.Strikes(drop))
	p.B.Recv(p.B.Recvs(0, 3000, 11, 12)...)
	p.A.Send(p.A.SendWR(1, 10_000, 3000))
	p.B.Received(e2e.OK(11)...)
	p.B.Fill(0, 6000, 4) // the owner has it, nobody writes there again
	p.A.Sent(e2e.OK(1)...)
	require.NoError(t, tb.Missed(drop))
	require.Equal(t, []int{0, 1, 2, 0, 1, 2}, offsets(s, p))
	p.B.Demand(0, e2e.Bytes(6000, 4))
	as := s.B.Answers(0)
	require.Equal(t, 2, len(as))
	for _, a := range as {
		require.Equal(t, roce.ACKSyndrome(31), a.AETH.Syndrome)
		require.Equal(t, p.B.FirstPSN().Add(2), a.BTH.PSN)
		require.EqualValues(t, 1, a.AETH.MSN)
	}
	require.Equal(t, e2e.Faults{abi.LocalAckTimeoutErr: 1}, s.A.Faults())
	p.B.Fail()
	p.B.Received(e2e.Flushed(12)...)
}

// TestEmptyThenOne (B003): a SEND of no bytes takes a PSN. The one behind it is lost,
// and comes again with its own.
func TestEmptyThenOne(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), again7)
	drop := &tb.Strike{Name: "second", Match: requestAt(p.B.FirstPSN().Add(1))}
	s.B.SetFault(tb.Strikes(drop))
	p.B.Recv(p.B.Recvs(0, 10, 11, 12)...)
	p.A.Send(p.A.SendWR(1, 0, 0), p.A.SendWR(2, 0, 1))
	p.A.Sent(e2e.OK(1, 2)...)
	require.NoError(t, tb.Missed(drop))
	p.B.Received(e2e.OK(11, 12)...)
	require.Equal(t, []int{0, 1, 1}, offsets(s, p))
	require.Empty(t, naks(s.B))
}

// TestTimerRestarts (B030): an acknowledgement of a part has the timer begin anew, and
// that of all stops it.
func TestTimerRestarts(t *testing.T) {
	const T = 8 << 10 // cycles
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: 10, RetryCnt: 1})
	hold := &holdAnswers{}
	s.A.SetFault(hold.fault)
	p.B.Recv(p.B.Recvs(0, 100, 11, 12)...)
	p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100))
	p.B.Received(e2e.OK(11, 12)...)
	s.Sleep(T / 2)
	s.A.SetFault(nil)
	at := s.Bench.World.Now()
	s.A.Inject(e2e.Pad(ackOf(p, 0)))
	p.A.Sent(e2e.OK(1)...)
	p.A.Sent(e2e.OK(2)...)
	require.Equal(t, []int{0, 1, 1}, offsets(s, p))
	var last int64
	for _, f := range s.A.Seen {
		if f.Tx {
			last = f.Ps / tb.PeriodPs
		}
	}
	require.GreaterOrEqual(t, last-int64(at), int64(T))
	sent := len(s.A.Seen)
	s.Sleep(20 * T)
	require.Equal(t, sent, len(s.A.Seen))
	require.Equal(t, e2e.Faults{abi.LocalAckTimeoutErr: 1}, s.A.Faults())
}

// ackOf is an acknowledgement of the n-th packet of A, from 0, which is message n.
func ackOf(p *e2e.Pair, n uint32) []byte {
	a := p.A.ForgeAck(roce.ACKSyndrome(31), p.B.FirstPSN().Add(n), roce.MSN(n+1))
	return a.Append(nil)
}

// TestRNRWaits (B045): a responder says how long to wait, and the requester does: code 0
// is the longest, not none.
func TestRNRWaits(t *testing.T) {
	for _, c := range []struct {
		code uint8
		us   float64
	}{{0, 655_360}, {1, 10}, {12, 640}, {13, 960}, {31, 491_520}} {
		s := e2e.New(t, quick)
		a, b := s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{})
		p := s.Couple(a, b)
		require.NoError(t, p.A.ConnectBy(func(_, rts *driver.QPAttr) { rts.RNRRetry = 1 }))
		require.NoError(t, p.B.ConnectBy(func(rtr, _ *driver.QPAttr) { rtr.MinRNRTimer = c.code }))
		p.A.Send(p.A.SendWR(1, 0, 10))
		p.A.Sent(e2e.All(abi.StatusRNRRetryExc, 1)...)
		var told, sent int64
		for _, f := range s.A.Seen {
			switch {
			case f.Tx:
				sent = f.Ps / tb.PeriodPs
			case told == 0:
				told = f.Ps / tb.PeriodPs
				require.Equal(t, roce.Syndrome(0x20|c.code), f.AETH.Syndrome)
			}
		}
		wait := int64(c.us / 4.096 * 8)
		require.GreaterOrEqual(t, sent-told, wait)
		require.LessOrEqual(t, sent-told, wait+wait/8+300)
		s.Close()
	}
}
