package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// rnrs are the RNR NAKs that a side has sent.
func rnrs(d *e2e.Side) (as []roce.Packet) {
	for _, a := range d.Answers(0) {
		if a.AETH.Syndrome.Kind() == roce.KindRNR {
			as = append(as, a)
		}
	}
	return as
}

// awaitRNRs lets cycles pass until a side has sent n RNR NAKs, and no more.
func awaitRNRs(t *testing.T, s *e2e.Scene, d *e2e.Side, n int) {
	t.Helper()
	for range 100 * n {
		if len(rnrs(d)) >= n {
			break
		}
		s.Sleep(100)
	}
	require.Equal(t, n, len(rnrs(d)))
}

// rnrPair is a pair whose ends bear so many RNR NAKs in a row, with timer code 1: 20
// cycles.
func rnrPair(t *testing.T, retry uint8) (*e2e.Scene, *e2e.Pair) {
	s := e2e.New(t, quick)
	return s, s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: 12, RNRRetry: retry, MinRNRTimer: 1})
}

// TestRNRForEver (B043): an rnr_retry of 7 is none that is counted down: a thousand
// RNR NAKs, and the request comes again.
func TestRNRForEver(t *testing.T) {
	s, p := rnrPair(t, 7)
	p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100))
	for range 1000 {
		s.Sleep(1000)
		if len(s.B.Seen) > 6000 {
			break
		}
	}
	naks := rnrs(s.B)
	require.Greater(t, len(naks), 1000)
	for _, a := range naks {
		require.Equal(t, p.B.FirstPSN(), a.BTH.PSN)
		require.Equal(t, roce.RNRSyndrome(1), a.AETH.Syndrome)
	}
	p.A.DemandNone(p.A.SCQ)
	p.A.DemandState(abi.QPRTS)
	p.B.Recv(p.B.Recvs(0, 100, 11, 12)...)
	p.A.Sent(e2e.OK(1, 2)...)
	p.B.Received(e2e.OK(11, 12)...)
}

// TestRNRCounted (B043, B050, B056): with an rnr_retry of n the RNR NAK n+1 in a row
// is the end, for each n that counts.
func TestRNRCounted(t *testing.T) {
	for n := uint8(0); n < 7; n++ {
		s, p := rnrPair(t, n)
		p.A.Send(p.A.SendWR(1, 0, 2500), p.A.SendWR(2, 0, 100))
		p.A.Sent(append(e2e.All(abi.StatusRNRRetryExc, 1), e2e.Flushed(2)...)...)
		s.Sleep(10_000)
		require.Equal(t, int(n)+1, len(rnrs(s.B)))
		first := 0
		for _, r := range s.A.Requests(0) {
			if r.BTH.PSN == p.B.FirstPSN() {
				first++
			}
		}
		require.Equal(t, int(n)+1, first, "sent once, and again n times")
		p.A.DemandState(abi.QPErr)
		p.B.DemandState(abi.QPRTS)
		s.Close()
	}
}

// TestRNRReloaded (B043): an acknowledgement between has the count begin anew.
func TestRNRReloaded(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), // 5,000 cycles a wait
		driver.ConnectOptions{Timeout: 14, RNRRetry: 2, MinRNRTimer: 16})
	p.A.Send(p.A.SendWR(1, 0, 2000), p.A.SendWR(2, 0, 10), p.A.SendWR(3, 0, 10), p.A.SendWR(4, 0, 10))
	for i := range 3 {
		awaitRNRs(t, s, s.B, 2*(i+1))
		p.B.Recv(p.B.RecvWR(uint64(11+i), 0, 4096))
		p.A.Sent(e2e.OK(uint64(i + 1))...)
		p.B.Received(e2e.OK(uint64(11 + i))...)
	}
	p.A.Sent(e2e.All(abi.StatusRNRRetryExc, 4)...)
	require.Equal(t, 3*2+3, len(rnrs(s.B)))
}

// TestRNRThenReady (B048): the receive is posted after a hundred RNR NAKs. Each
// message arrives once, in order.
func TestRNRThenReady(t *testing.T) {
	s, p := rnrPair(t, 7)
	p.A.Fill(0, 9000, 5)
	p.A.Send(p.A.SendWR(1, 0, 3000), p.A.SendWR(2, 3000, 3000), p.A.SendWR(3, 6000, 3000))
	for range 1000 {
		if len(rnrs(s.B)) >= 100 {
			break
		}
		s.Sleep(100)
	}
	require.GreaterOrEqual(t, len(rnrs(s.B)), 100)
	p.B.Recv(p.B.Recvs(10_000, 3000, 11, 12, 13, 14)...)
	p.A.Sent(e2e.OK(1, 2, 3)...)
	p.B.Received(e2e.OK(11, 12, 13)...)
	p.B.Demand(10_000, e2e.Bytes(9000, 5))
	require.EqualValues(t, 3, p.B.Query().RQConsumer)
	p.B.Fail()
	p.B.Received(e2e.Flushed(14)...)
}

// TestRNRRetryIsTheRequesters (B052): of two ends with rnr_retry 7 and 0 the first
// bears RNR NAKs, the second does not.
func TestRNRRetryIsTheRequesters(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
	p.A.Connection = driver.ConnectOptions{Timeout: 12, RNRRetry: 7, MinRNRTimer: 1}
	p.B.Connection = driver.ConnectOptions{Timeout: 12, MinRNRTimer: 1}
	p.A.Reconnect()
	p.B.Reconnect()
	p.A.Send(p.A.SendWR(1, 0, 100))
	s.Sleep(10_000)
	require.Greater(t, len(rnrs(s.B)), 7)
	p.B.Recv(p.B.RecvWR(11, 0, 100))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(11)...)
	p.B.Send(p.B.SendWR(2, 0, 100))
	p.B.Sent(e2e.All(abi.StatusRNRRetryExc, 2)...)
	require.Equal(t, 1, len(rnrs(s.A)))
	p.B.DemandState(abi.QPErr)
	p.A.DemandState(abi.QPRTS)
}

// TestRNRStorm (B053): a receiver that posts a receive each 50 us, timer code 1. All
// arrives once, and the RNR NAKs are no more than one each 10 us.
func TestRNRStorm(t *testing.T) {
	const n, each, wait = 100, 12_500, 2500 // cycles
	s := e2e.New(t, e2e.Options{})
	c := driver.QPConfig{MaxSend: n, MaxRecv: n, MaxSendSGE: 1, MaxRecvSGE: 1}
	p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{RNRRetry: 7, MinRNRTimer: 1})
	p.A.Fill(0, n*1500, 6)
	var wrs []driver.SendWR
	var sent, received []uint64
	for i := range n {
		wrs = append(wrs, p.A.SendWR(uint64(i), 1500*i, 1500))
		sent, received = append(sent, uint64(i)), append(received, uint64(1000+i))
	}
	start := s.Bench.World.Now()
	p.A.Send(wrs...)
	for i, id := range received {
		s.Sleep(each)
		p.B.Recv(p.B.RecvWR(id, 1500*i, 1500))
	}
	p.A.Sent(e2e.OK(sent...)...)
	p.B.Received(e2e.OK(received...)...)
	p.B.Demand(0, e2e.Bytes(n*1500, 6))
	elapsed := s.Bench.World.Now() - start
	naks := uint64(len(rnrs(s.B)))
	require.GreaterOrEqual(t, naks, uint64(n))
	require.LessOrEqual(t, naks, uint64(elapsed)/wait)
	require.Equal(t, e2e.Faults{abi.RNRNakRetryErr: naks}, s.A.Faults())
	require.Zero(t, s.B.Faults()[abi.NaksSent])
}

// TestReceiverNotReady (B045, B047, B050, B056): no receive is posted, and the rnr_retry
// is 0. The answer comes at once, with the timer code of the responder, and is the end.
func TestReceiverNotReady(t *testing.T) {
	for _, timer := range []uint8{1, 12, 13, 31} {
		s := e2e.New(t, quick)
		o := timeout8
		o.MinRNRTimer = timer
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), o)
		p.A.Fill(0, 9000, 1)
		p.B.Recv(p.B.RecvWR(11, 0, 4096))
		p.A.Send(p.A.SendWR(1, 0, 2500), p.A.SendWR(2, 3000, 2500), p.A.SendWR(3, 6000, 2500))
		wcs := p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusRNRRetryExc, 2)...), e2e.Flushed(3)...)...)
		require.Equal(t, abi.VendorRNRNAK, wcs[1].VendorErr)
		p.B.Received(e2e.OK(11)...)

		answers := s.B.Answers(0)
		last := answers[len(answers)-1]
		require.Equal(t, roce.Syndrome(0x20|timer), last.AETH.Syndrome)
		require.Equal(t, p.B.FirstPSN().Add(3), last.BTH.PSN)
		require.EqualValues(t, 1, last.AETH.MSN)
		require.Less(t, sinceFirstRequest(s, &wcs[1]), uint64(1500))
		require.Equal(t, e2e.Faults{abi.RNRNakRetryErr: 1, abi.ReqCQEError: 2}, s.A.Faults())
		behind := uint64(len(s.A.Requests(0))) - 4
		require.Equal(t, e2e.Faults{
			abi.OutOfBuffer: 1, abi.RNRNaksSent: 1, abi.OutOfSequence: behind, abi.RxDropOther: behind,
		}, s.B.Faults())
		require.Equal(t, int(behind)+4, len(s.A.Requests(0)), "nothing is sent again")
		p.B.DemandState(abi.QPRTS)
		again(t, s, p)
		s.Close()
	}
}
