package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// sges are scatter or gather lists that the device must refuse when it uses them.
type sges struct {
	name   string
	list   func(d *e2e.Side) []driver.SGE
	vendor abi.VendorErr
}

// region registers a piece of the side's buffer, or fails the test.
func region(t *testing.T, d *e2e.Side, pd *driver.PD, off, n int, a abi.AccessFlags) (m *driver.MR) {
	t.Helper()
	var err error
	d.Do(func() { m, err = pd.RegMRRange(d.Buf, off, n, a) })
	require.NoError(t, err)
	return m
}

func otherPD(t *testing.T, d *e2e.Side) *driver.PD {
	t.Helper()
	pd, err := d.Dev.AllocPD()
	require.NoError(t, err)
	return pd
}

// badKeys are lists that both queues refuse.
func badKeys(t *testing.T) []sges {
	one := func(addr uint64, n uint32, k abi.Key) []driver.SGE {
		return []driver.SGE{{Addr: addr, Length: n, LKey: k}}
	}
	return []sges{
		{"key of no region", func(d *e2e.Side) []driver.SGE { return one(d.Buf.Addr, 1000, 0x77700) }, abi.VendorLKeyUnknown},
		{"key beyond the table", func(d *e2e.Side) []driver.SGE { return one(d.Buf.Addr, 1000, 0xffffff00) }, abi.VendorLKeyUnknown},
		{"other low byte", func(d *e2e.Side) []driver.SGE { return one(d.Buf.Addr, 1000, d.MR.LKey^0x80) }, abi.VendorLKeyUnknown},
		{"another domain's region", func(d *e2e.Side) []driver.SGE {
			m := region(t, d, otherPD(t, d), 0, 4096, abi.AccessLocalWrite)
			return []driver.SGE{m.SGE(0, 1000)}
		}, abi.VendorLKeyPD},
		{"deregistered", func(d *e2e.Side) []driver.SGE {
			m := region(t, d, d.PD, 0, 4096, abi.AccessLocalWrite)
			d.Do(func() { require.NoError(t, m.Dereg()) })
			return []driver.SGE{m.SGE(0, 4096)}
		}, abi.VendorLKeyUnknown},
		{"one byte too far", func(d *e2e.Side) []driver.SGE {
			m := region(t, d, d.PD, 100, 999, abi.AccessLocalWrite)
			return []driver.SGE{m.SGE(0, 1000)}
		}, abi.VendorLKeyBounds},
		{"one byte too early", func(d *e2e.Side) []driver.SGE {
			m := region(t, d, d.PD, 100, 4000, abi.AccessLocalWrite)
			return []driver.SGE{m.SGE(-1, 1000)}
		}, abi.VendorLKeyBounds},
		{"round the end of addresses", func(d *e2e.Side) []driver.SGE { return one(^uint64(0)-0x3ff, 0x400, d.MR.LKey) }, abi.VendorLKeyBounds},
		{"second element", func(d *e2e.Side) []driver.SGE {
			return []driver.SGE{d.MR.SGE(0, 10), {Addr: d.Buf.Addr, Length: 990, LKey: 0x77700}}
		}, abi.VendorLKeyUnknown},
	}
}

// TestBadSendKey (B062, B072, B147, and B139 for local keys): a gather list that may not be
// read. What was posted before is done first; of the packet nothing leaves; the
// peer notices nothing.
func TestBadSendKey(t *testing.T) {
	for _, signaled := range []bool{true, false} {
		for _, c := range badKeys(t) {
			t.Run(c.name, func(t *testing.T) {
				s := e2e.New(t, e2e.Options{})
				p := s.Pair()
				p.A.Fill(0, 4096, 1)
				p.B.Recv(p.B.Recvs(0, 8192, 11, 12, 13)...)
				bad := p.A.SendWR(2, 0, 0)
				bad.SGEs, bad.Signaled = c.list(s.A), signaled
				p.A.Send(p.A.SendWR(1, 0, 4096), bad, p.A.SendWR(3, 0, 100))
				wcs := p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusLocProt, 2)...), e2e.Flushed(3)...)...)
				require.Equal(t, c.vendor, wcs[1].VendorErr)
				p.B.Received(e2e.OK(11)...)
				require.Equal(t, 4, len(s.A.Requests(0)), "the packets of the first message, no more")
				p.A.DemandState(abi.QPErr)
				p.B.DemandState(abi.QPRTS)
				require.Equal(t, e2e.Faults{abi.ReqCQEError: 2}, s.A.Faults())
				require.Empty(t, s.B.Faults())
				// What is posted from now on is flushed, in both queues.
				p.A.Send(p.A.SendWR(4, 0, 8), p.A.SendWR(5, 0, 8))
				p.A.Recv(p.A.RecvWR(21, 0, 8))
				p.A.Sent(e2e.Flushed(4, 5)...)
				p.A.Received(e2e.Flushed(21)...)
				p.B.Fail()
				p.B.Received(e2e.Flushed(12, 13)...)
				again(t, s, p)
			})
		}
	}
}

// TestSendKeyBadMidway: the first packets of the message are good and have left.
// The peer keeps the rest of its receive, and flushes it when it is told to.
func TestSendKeyBadMidway(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	m := region(t, s.A, s.A.PD, 0, 3000, 0)
	p.B.Recv(p.B.Recvs(0, 8192, 11, 12)...)
	wr := driver.SendWR{ID: 1, Op: abi.OpSend, SGEs: []driver.SGE{m.SGE(0, 5000)}}
	p.A.Send(wr, p.A.SendWR(2, 0, 10))
	wcs := p.A.Sent(append(e2e.All(abi.StatusLocProt, 1), e2e.Flushed(2)...)...)
	require.Equal(t, abi.VendorLKeyBounds, wcs[0].VendorErr)
	require.Equal(t, 2, len(s.A.Requests(0)), "first and middle; the next packet reaches over the end")
	p.B.DemandState(abi.QPRTS)
	p.B.DemandNone(p.B.RCQ)
	p.B.Fail()
	p.B.Received(e2e.Flushed(11, 12)...)
	again(t, s, p)
}

// TestBadReceiveKey: a scatter list that may not be written. Both QPs fail, and
// no byte is written.
func TestBadReceiveKey(t *testing.T) {
	cases := append(badKeys(t), sges{"no local write", func(d *e2e.Side) []driver.SGE {
		m := region(t, d, d.PD, 0, 4096, 0)
		return []driver.SGE{m.SGE(0, 1000)}
	}, abi.VendorLKeyAccess})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := e2e.New(t, e2e.Options{})
			p := s.Pair()
			p.A.Fill(0, 4096, 1)
			p.B.Fill(0, 16384, 2)
			bad := driver.RecvWR{ID: 12, SGEs: c.list(s.B)}
			p.B.Recv(p.B.RecvWR(11, 8192, 4096), bad, p.B.RecvWR(13, 12288, 4096))
			p.A.Send(p.A.SendWR(1, 0, 4000), p.A.SendWR(2, 0, 1000), p.A.SendWR(3, 0, 4000))
			wcs := p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusRemOp, 2)...), e2e.Flushed(3)...)...)
			require.Equal(t, abi.VendorNAKOperational, wcs[1].VendorErr)
			wcs = p.B.Received(append(append(e2e.OK(11), e2e.All(abi.StatusLocProt, 12)...), e2e.Flushed(13)...)...)
			require.Equal(t, c.vendor, wcs[1].VendorErr)
			p.A.DemandState(abi.QPErr)
			p.B.DemandState(abi.QPErr)
			p.B.Demand(8192, e2e.Bytes(4096, 1)[:4000])
			p.B.Demand(8192+4000, e2e.Bytes(16384, 2)[8192+4000:])
			p.B.Demand(0, e2e.Bytes(16384, 2)[:8192])
			require.Empty(t, s.B.Events(), "the completion tells")
			f := s.B.Faults()
			require.EqualValues(t, 1, f[abi.RespLocalProtectionErrors])
			require.EqualValues(t, 1, f[abi.NaksSent])
			require.EqualValues(t, 2, f[abi.RespCQEError])
			require.Equal(t, e2e.Faults{abi.ReqRemoteOperational: 1, abi.ReqCQEError: 2}, s.A.Faults())
			last := s.B.Answers(0)[len(s.B.Answers(0))-1]
			require.Equal(t, roce.NAKSyndrome(roce.NAKRemoteOperation), last.AETH.Syndrome)
			require.EqualValues(t, 1, last.AETH.MSN)
			require.Equal(t, abi.StatusRemOp, p.A.Query().LastStatus)
			again(t, s, p)
		})
	}
}

// TestReceiveReachesTooFar: the element reaches past its region, the message does
// not. Only what is written is checked.
func TestReceiveReachesTooFar(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	m := region(t, s.B, s.B.PD, 0, 3000, abi.AccessLocalWrite)
	p.A.Fill(0, 3000, 1)
	p.B.Recv(
		driver.RecvWR{ID: 11, SGEs: []driver.SGE{m.SGE(0, 5000)}},
		driver.RecvWR{ID: 12, SGEs: []driver.SGE{m.SGE(0, 1000), {Addr: 5, Length: 1 << 31, LKey: 0x5555}}},
	)
	p.A.Send(p.A.SendWR(1, 0, 3000), p.A.SendWR(2, 0, 1000))
	p.A.Sent(e2e.OK(1, 2)...)
	p.B.Received(e2e.OK(11, 12)...)
	p.B.Demand(1000, e2e.Bytes(3000, 1)[1000:])
}

// TestMessageTooLong: longer than the receive that it takes, in the first packet
// or in a later one. Both QPs fail; nothing is written behind the receive.
func TestMessageTooLong(t *testing.T) {
	for _, c := range []struct{ room, size, first int }{{0, 1, 0}, {999, 1000, 0}, {1500, 3000, 1}, {2047, 2048, 1}, {5000, 5001, 4}} {
		s := e2e.New(t, e2e.Options{})
		p := s.Pair()
		p.A.Fill(0, 8192, 1)
		p.B.Fill(0, 8192, 2)
		p.B.Recv(p.B.RecvWR(11, 0, c.room), p.B.RecvWR(12, 100_000, 8192))
		p.A.Send(p.A.SendWR(1, 0, c.size), p.A.SendWR(2, 0, 10))
		wcs := p.A.Sent(append(e2e.All(abi.StatusRemInvReq, 1), e2e.Flushed(2)...)...)
		require.Equal(t, abi.VendorNAKInvalid, wcs[0].VendorErr)
		wcs = p.B.Received(append(e2e.All(abi.StatusLocLen, 11), e2e.Flushed(12)...)...)
		require.Equal(t, abi.VendorRecvTooLong, wcs[0].VendorErr)
		p.A.DemandState(abi.QPErr)
		p.B.DemandState(abi.QPErr)
		p.B.Demand(c.room, e2e.Bytes(8192, 2)[c.room:])
		answers := s.B.Answers(0)
		nak := answers[len(answers)-1]
		require.Equal(t, roce.NAKSyndrome(roce.NAKInvalidRequest), nak.AETH.Syndrome)
		require.Equal(t, p.B.FirstPSN().Add(uint32(c.first)), nak.BTH.PSN, "%+v", c)
		require.EqualValues(t, 0, nak.AETH.MSN)
		f := s.B.Faults()
		require.EqualValues(t, 1, f[abi.RespLocalLengthError])
		require.EqualValues(t, 1, f[abi.RespRemoteInvalidRequest])
		require.EqualValues(t, 1, f[abi.NaksSent])
		require.Equal(t, e2e.Faults{abi.ReqRemoteInvalidRequest: 1, abi.ReqCQEError: 2}, s.A.Faults())
		require.Empty(t, s.B.Events())
		again(t, s, p)
		s.Close()
	}
}

// TestUnsignalledError (B066, B172): a work request that asked for no completion
// gets one when it fails, and those before it stay silent.
func TestUnsignalledError(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	p.B.Recv(p.B.Recvs(0, 100, 11, 12)...)
	var wrs []driver.SendWR
	for i := range uint64(5) {
		wr := p.A.SendWR(i+1, 0, 64)
		wr.Signaled = false
		wrs = append(wrs, wr)
	}
	p.A.Send(wrs...)
	p.A.Sent(append(e2e.All(abi.StatusRNRRetryExc, 3), e2e.Flushed(4, 5)...)...)
	p.B.Received(e2e.OK(11, 12)...)
}

// TestZeroLength (B003, B100, B102, B130): no bytes in all the ways to say it; each
// takes a PSN and a receive, and touches nothing.
func TestZeroLength(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	p.B.Fill(0, 4096, 2)
	bad := driver.SGE{Addr: 12345, Length: 0, LKey: 0xdead}
	kinds := []driver.SendWR{
		{Op: abi.OpSend, Signaled: true},
		{Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{s.A.MR.SGE(0, 0)}},
		{Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{bad}},
		{Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{bad, bad, bad, bad}},
		{Op: abi.OpSend, Signaled: true, Inline: []byte{}},
		{Op: abi.OpSendImm, Signaled: true, Imm: 0x11223344},
	}
	receives := [][]driver.SGE{nil, {s.B.MR.SGE(0, 100)}, {bad}, {bad, bad, bad, bad}, {s.B.MR.SGE(0, 0)}, {bad, s.B.MR.SGE(0, 10)}}
	for i := range kinds {
		kinds[i].ID = uint64(i)
		p.B.Recv(driver.RecvWR{ID: uint64(10 + i), SGEs: receives[i]})
	}
	p.A.Send(kinds...)
	p.A.Sent(e2e.OK(0, 1, 2, 3, 4, 5)...)
	wcs := p.B.Received(e2e.OK(10, 11, 12, 13, 14, 15)...)
	for i, w := range wcs {
		require.Zero(t, w.ByteLen, "%d", i)
	}
	require.Equal(t, abi.CQEWithImm, wcs[5].Flags)
	require.EqualValues(t, 0x11223344, wcs[5].Imm)
	p.B.Demand(0, e2e.Bytes(4096, 2))
	for i, r := range s.A.Requests(0) {
		require.Equal(t, p.B.FirstPSN().Add(uint32(i)), r.BTH.PSN)
		require.Empty(t, r.Payload)
	}
	exchange(t, p)
}

// TestEmptyElements (B129, B130): elements of no bytes between others, and lengths
// of one byte, at both ends.
func TestEmptyElements(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	p.A.Fill(0, 4096, 1)
	bad := driver.SGE{Addr: 12345, LKey: 0xdead}
	a, b := s.A.MR, s.B.MR
	p.B.Recv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{bad, b.SGE(0, 50), bad, b.SGE(1000, 60)}})
	p.B.Recv(driver.RecvWR{ID: 12, SGEs: []driver.SGE{b.SGE(2000, 1), b.SGE(2100, 1), b.SGE(2200, 1), b.SGE(2300, 2000)}})
	p.A.Send(
		driver.SendWR{ID: 1, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{a.SGE(0, 1), bad, a.SGE(100, 100), a.SGE(300, 3)}},
		driver.SendWR{ID: 2, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{bad, a.SGE(1000, 1500), bad, bad}},
	)
	p.A.Sent(e2e.OK(1, 2)...)
	wcs := p.B.Received(e2e.OK(11, 12)...)
	require.EqualValues(t, 104, wcs[0].ByteLen)
	d := e2e.Bytes(4096, 1)
	want := append(append([]byte{d[0]}, d[100:200]...), d[300:303]...)
	require.Equal(t, want, append(p.B.Read(0, 50), p.B.Read(1000, 54)...))
	d = d[1000:2500]
	got := append(append(append(p.B.Read(2000, 1), p.B.Read(2100, 1)...), p.B.Read(2200, 1)...), p.B.Read(2300, 1497)...)
	require.Equal(t, d, got)
}
