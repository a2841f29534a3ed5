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

// requestAt matches the request with a PSN, answersOf the acknowledgements of a
// kind.
func requestAt(psn roce.PSN) func(*roce.Packet) bool {
	return func(p *roce.Packet) bool { return p.BTH.Opcode.IsRequest() && p.BTH.PSN == psn }
}

func answersOf(k roce.SyndromeKind) func(*roce.Packet) bool {
	return func(p *roce.Packet) bool { return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome.Kind() == k }
}

// holdAnswers is a fault that keeps acknowledgements for later.
type holdAnswers struct{ frames [][]byte }

func (h *holdAnswers) fault(f tb.Frame) tb.Verdict {
	p, err := roce.ParseFrame(f.Data)
	if err != nil || p.BTH.Opcode != roce.RCAck {
		return tb.Verdict{}
	}
	h.frames = append(h.frames, append([]byte(nil), f.Data...))
	return tb.Verdict{Drop: true}
}

// quick are the options of tests in which timers expire: time runs 128 times
// faster for them.
var quick = e2e.Options{Driver: driver.Config{TimeUnit: 8}}

// timeout 8 is 2,048 cycles then, several round trips.
var timeout8 = driver.ConnectOptions{Timeout: 8}

// post5 has A send five messages of 2,500 bytes, three packets, to as many
// receives and two more.
func post5(p *e2e.Pair) {
	p.A.Fill(0, 5*2500, 1)
	p.B.Recv(p.B.Recvs(0, 4096, 11, 12, 13, 14, 15, 16, 17)...)
	var wrs []driver.SendWR
	for i := range 5 {
		wrs = append(wrs, p.A.SendWR(uint64(i+1), 2500*i, 2500))
	}
	p.A.Send(wrs...)
}

// TestRequestLost (B024, B025, B041, B056): a packet in the middle is lost, and the
// retry_cnt is 0. Those before it are acknowledged, its message fails, the rest is
// flushed, and the gap is told once.
func TestRequestLost(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	lost := p.B.FirstPSN().Add(4) // the middle of the second message
	drop := &tb.Strike{Name: "second message, middle", Match: requestAt(lost)}
	s.B.SetFault(tb.Strikes(drop))
	post5(p)
	p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusRetryExc, 2)...), e2e.Flushed(3, 4, 5)...)...)
	require.NoError(t, tb.Missed(drop))
	p.B.Received(e2e.OK(11)...)
	p.B.Demand(0, e2e.Bytes(5*2500, 1)[:2500])

	var naks []roce.Packet
	for _, a := range s.B.Answers(0) {
		if a.AETH.Syndrome.Kind() == roce.KindNAK {
			naks = append(naks, a)
		}
	}
	require.Equal(t, 1, len(naks))
	require.Equal(t, roce.NAKSyndrome(roce.NAKSequence), naks[0].AETH.Syndrome)
	require.Equal(t, lost, naks[0].BTH.PSN)
	require.EqualValues(t, 1, naks[0].AETH.MSN)
	require.Equal(t, e2e.Faults{abi.PacketSeqErr: 1, abi.ReqCQEError: 4}, s.A.Faults())
	behind := uint64(len(s.A.Requests(0))) - 5 // arrived behind the gap
	require.Equal(t, e2e.Faults{abi.OutOfSequence: behind, abi.RxDropOther: behind - 1, abi.NaksSent: 1}, s.B.Faults())

	p.A.DemandState(abi.QPErr)
	p.B.DemandState(abi.QPRTS)
	require.Equal(t, abi.StatusRetryExc, p.A.Query().LastStatus)
	require.Equal(t, abi.VendorNAKSequence, p.A.Query().LastVendor)

	// The peer's receives are still there, the one begun before the rest; and both
	// ends can start again.
	p.B.Fail()
	p.B.Received(e2e.Flushed(12, 13, 14, 15, 16, 17)...)
	again(t, s, p)
}

// again resets both ends, connects them anew and sends something each way.
func again(t *testing.T, s *e2e.Scene, p *e2e.Pair) {
	t.Helper()
	s.A.SetFault(nil)
	s.B.SetFault(nil)
	p.A.Reset()
	p.B.Reset()
	p.A.Reconnect()
	p.B.Reconnect()
	exchange(t, p)
}

// exchange sends a message each way, which must arrive.
func exchange(t *testing.T, p *e2e.Pair) {
	t.Helper()
	for _, e := range [][2]*e2e.End{{p.A, p.B}, {p.B, p.A}} {
		from, to := e[0], e[1]
		from.Fill(900_000, 3000, 99)
		to.Recv(to.RecvWR(901, 910_000, 3000))
		from.Send(from.SendWR(900, 900_000, 3000))
		from.Sent(e2e.OK(900)...)
		to.Received(e2e.OK(901)...)
		to.Demand(910_000, e2e.Bytes(3000, 99))
	}
}

// TestCorrupted (B105): a frame with a bit turned over is as good as lost, whoever
// finds it: the MAC by the FCS, or, when a switch has made that right again, the NIC
// by the ICRC.
func TestCorrupted(t *testing.T) {
	flip := func(at int) tb.Fault {
		return func(f tb.Frame) tb.Verdict {
			d := append([]byte(nil), f.Data...)
			d[at] ^= 0x10
			return tb.Verdict{Data: d}
		}
	}
	for _, c := range []struct {
		name string
		do   tb.Fault
		want abi.Counter
	}{
		{"FCS", func(tb.Frame) tb.Verdict { return tb.Verdict{BadFCS: true} }, abi.RxDropBadFCS},
		{"payload", flip(200), abi.RxDropBadICRC},
		{"pad", flip(14 + 20 + 8 + 12 + 1023), abi.RxDropBadICRC},
		{"PSN", flip(14 + 20 + 8 + 11), abi.RxDropBadICRC},
	} {
		s := e2e.New(t, quick)
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
		spoil := &tb.Strike{Name: c.name, Match: requestAt(p.B.FirstPSN()), Do: c.do}
		s.B.SetFault(tb.Strikes(spoil))
		p.B.Recv(p.B.RecvWR(11, 0, 4096), p.B.RecvWR(12, 0, 4096))
		p.A.Send(p.A.SendWR(1, 0, 1023), p.A.SendWR(2, 0, 1023))
		p.A.Sent(append(e2e.All(abi.StatusRetryExc, 1), e2e.Flushed(2)...)...)
		require.NoError(t, tb.Missed(spoil))
		require.Equal(t, e2e.Faults{c.want: 1, abi.OutOfSequence: 1, abi.NaksSent: 1}, s.B.Faults())
		p.B.Fail()
		p.B.Received(e2e.Flushed(11, 12)...)
		again(t, s, p)
		s.Close()
	}
}

// TestAnswerLost (B030, B056, B061): nothing comes back, and the retry_cnt is 0. The
// oldest message fails when its time is up, not before, and not much later.
func TestAnswerLost(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	drop := &tb.Strike{Name: "all acknowledgements", Match: answersOf(roce.KindACK), Times: 100}
	s.A.SetFault(tb.Strikes(drop))
	post5(p)
	wcs := p.A.Sent(append(e2e.All(abi.StatusRetryExc, 1), e2e.Flushed(2, 3, 4, 5)...)...)
	require.Equal(t, abi.VendorTimeout, wcs[0].VendorErr)
	p.B.Received(e2e.OK(11, 12, 13, 14, 15)...)

	answers := len(s.B.Answers(0))
	require.Positive(t, answers)
	require.Equal(t, answers, drop.Fired)
	waited := sinceFirstRequest(s, &wcs[0])
	require.Greater(t, waited, uint64(8<<8))
	require.Less(t, waited, uint64(2*8<<8))
	require.Equal(t, e2e.Faults{abi.LocalAckTimeoutErr: 1, abi.ReqCQEError: 5}, s.A.Faults())
	require.Empty(t, s.B.Faults())
	require.Equal(t, 15, len(s.A.Requests(0)), "nothing is sent again")
	p.B.DemandState(abi.QPRTS)
	p.B.Fail()
	p.B.Received(e2e.Flushed(16, 17)...)
	again(t, s, p)
}

// TestTimeouts (B054): a timeout n ends between T = 4.096 us * 2^n and 4 T after the
// packet; one less is half of it.
func TestTimeouts(t *testing.T) {
	s := e2e.New(t, quick)
	hold := &holdAnswers{}
	s.A.SetFault(hold.fault)
	const most = 20
	for n := uint8(1); n <= most; n++ {
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{Timeout: n})
		from := len(s.A.Seen)
		p.B.Recv(p.B.RecvWR(2, 0, 100))
		p.A.Send(p.A.SendWR(1, 0, 100))
		wc := p.A.Sent(e2e.All(abi.StatusRetryExc, 1)...)[0]
		p.B.Received(e2e.OK(2)...)
		for _, f := range s.A.Seen[from:] {
			if f.Tx {
				waited := wc.Timestamp - uint64(f.Ps/tb.PeriodPs)
				require.GreaterOrEqual(t, waited, uint64(8)<<n)
				require.LessOrEqual(t, waited, uint64(8)<<n+uint64(1)<<n+300)
			}
		}
	}
	require.Equal(t, most, len(hold.frames))
}

// TestDeepQueue (B197): a hundred messages in flight, and the first one is lost, with
// a retry_cnt of 0.
func TestDeepQueue(t *testing.T) {
	s := e2e.New(t, quick)
	c := driver.QPConfig{MaxSend: 100, MaxRecv: 100, MaxSendSGE: 1, MaxRecvSGE: 1}
	p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{MTU: abi.MTU256, Timeout: 8})
	drop := &tb.Strike{Name: "first packet", Match: requestAt(p.B.FirstPSN())}
	nak := &tb.Strike{Name: "NAK", Match: answersOf(roce.KindNAK)}
	s.B.SetFault(tb.Strikes(drop))
	s.A.SetFault(tb.Strikes(nak))
	var wrs []driver.SendWR
	var recvs []driver.RecvWR
	var ids []uint64
	for i := range uint64(100) {
		wrs = append(wrs, p.A.SendWR(i, 0, 600))
		recvs = append(recvs, p.B.RecvWR(i, 0, 600))
		ids = append(ids, i)
	}
	p.B.Recv(recvs...)
	p.A.Send(wrs...)
	p.A.Sent(append(e2e.All(abi.StatusRetryExc, 0), e2e.Flushed(ids[1:]...)...)...)
	require.NoError(t, tb.Missed(drop, nak))
	require.Equal(t, 300, len(s.A.Requests(0)))
	p.B.Fail()
	p.B.Received(e2e.Flushed(ids...)...)
	again(t, s, p)
}

// sinceFirstRequest is the time from A's first request packet to a completion, in
// cycles.
func sinceFirstRequest(s *e2e.Scene, wc *driver.WC) uint64 {
	for _, f := range s.A.Seen {
		if f.Tx && f.BTH.Opcode.IsRequest() {
			return wc.Timestamp - uint64(f.Ps/tb.PeriodPs)
		}
	}
	return 0
}

// TestLastPacketLost: no packet follows that would show the gap. With a retry the packet
// comes again, without it its message has failed.
func TestLastPacketLost(t *testing.T) {
	r := e2e.New(t, quick)
	q := r.Join(r.A.QP(driver.QPConfig{}), r.B.QP(driver.QPConfig{}), again7)
	once := &tb.Strike{Name: "last packet", Match: requestAt(q.B.FirstPSN().Add(14))}
	r.B.SetFault(tb.Strikes(once))
	post5(q)
	q.A.Sent(e2e.OK(1, 2, 3, 4, 5)...)
	require.NoError(t, tb.Missed(once))
	q.B.Received(e2e.OK(11, 12, 13, 14, 15)...)
	require.Equal(t, e2e.Faults{abi.LocalAckTimeoutErr: 1}, r.A.Faults())
	require.Empty(t, naks(r.B))
	q.B.Fail()
	q.B.Received(e2e.Flushed(16, 17)...)

	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	drop := &tb.Strike{Name: "last packet", Match: requestAt(p.B.FirstPSN().Add(14))}
	s.B.SetFault(tb.Strikes(drop))
	post5(p)
	p.A.Sent(append(e2e.OK(1, 2, 3, 4), e2e.All(abi.StatusRetryExc, 5)...)...)
	require.NoError(t, tb.Missed(drop))
	p.B.Received(e2e.OK(11, 12, 13, 14)...)
	require.Equal(t, e2e.Faults{abi.LocalAckTimeoutErr: 1, abi.ReqCQEError: 1}, s.A.Faults())
	require.Empty(t, s.B.Faults())
	p.B.Fail()
	p.B.Received(e2e.Flushed(15, 16, 17)...)
	again(t, s, p)
}

// TestLaterAnswerCovers: an acknowledgement that is lost is made good by the next.
func TestLaterAnswerCovers(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	drop := &tb.Strike{Name: "first acknowledgement", Match: answersOf(roce.KindACK)}
	s.A.SetFault(tb.Strikes(drop))
	post5(p)
	p.A.Sent(e2e.OK(1, 2, 3, 4, 5)...)
	require.NoError(t, tb.Missed(drop))
	p.B.Received(e2e.OK(11, 12, 13, 14, 15)...)
	require.Empty(t, s.A.Faults())
	p.B.Fail()
	p.B.Received(e2e.Flushed(16, 17)...)
}

// TestNakLost: without the NAK only the timer tells.
func TestNakLost(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	drop := &tb.Strike{Name: "first packet", Match: requestAt(p.B.FirstPSN())}
	nak := &tb.Strike{Name: "NAK", Match: answersOf(roce.KindNAK)}
	s.B.SetFault(tb.Strikes(drop))
	s.A.SetFault(tb.Strikes(nak))
	post5(p)
	wcs := p.A.Sent(append(e2e.All(abi.StatusRetryExc, 1), e2e.Flushed(2, 3, 4, 5)...)...)
	require.NoError(t, tb.Missed(drop, nak))
	require.Equal(t, abi.VendorTimeout, wcs[0].VendorErr)
	p.B.Fail()
	p.B.Received(e2e.Flushed(11, 12, 13, 14, 15, 16, 17)...)
	again(t, s, p)
}

// TestNakRepeated (B015): with a retry_cnt of 0 copies of a NAK fail one work request,
// not several.
func TestNakRepeated(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	drop := &tb.Strike{Name: "second message", Match: requestAt(p.B.FirstPSN().Add(3))}
	copies := &tb.Strike{Name: "NAK", Match: answersOf(roce.KindNAK), Do: func(f tb.Frame) tb.Verdict {
		d := append([]byte(nil), f.Data...)
		return tb.Verdict{After: [][]byte{d, d, d, d}}
	}}
	s.B.SetFault(tb.Strikes(drop))
	s.A.SetFault(tb.Strikes(copies))
	post5(p)
	p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusRetryExc, 2)...), e2e.Flushed(3, 4, 5)...)...)
	require.NoError(t, tb.Missed(drop, copies))
	p.B.Received(e2e.OK(11)...)
	s.Sleep(10_000)
	f := s.A.Faults()
	require.EqualValues(t, 1, f[abi.PacketSeqErr])
	require.EqualValues(t, 4, f[abi.ReqCQEError])
	require.EqualValues(t, 4, f[abi.RxDropOther]+f[abi.RxDropBadState])
	p.B.Fail()
	p.B.Received(e2e.Flushed(12, 13, 14, 15, 16, 17)...)
}

// TestNoTimeout (B055): timeout 0 waits for ever; ERR by request flushes.
func TestNoTimeout(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
	require.NoError(t, p.A.ConnectBy(func(_, rts *driver.QPAttr) { rts.Timeout = 0 }))
	p.B.Reconnect()
	drop := &tb.Strike{Name: "acknowledgement", Match: answersOf(roce.KindACK)}
	s.A.SetFault(tb.Strikes(drop))
	p.B.Recv(p.B.RecvWR(11, 0, 100))
	p.A.Send(p.A.SendWR(1, 0, 100))
	p.B.Received(e2e.OK(11)...)
	s.Sleep(10_000_000)
	require.NoError(t, tb.Missed(drop))
	p.A.DemandNone(p.A.SCQ)
	require.Empty(t, s.A.Faults())
	p.A.Fail()
	p.A.Sent(e2e.Flushed(1)...)
}

// TestIdle (B030): when all is acknowledged no timer runs and nothing is sent.
func TestIdle(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
	exchange(t, p)
	sent := len(s.A.Seen)
	s.Sleep(100 * 2048)
	require.Equal(t, sent, len(s.A.Seen))
	require.Empty(t, s.A.Faults())
	exchange(t, p)
}
