package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestAttributes (B005, B006, B018, B019, B055): what the device does not do it says, and the QP stays
// where it was; what no device does is another error; with all else it works.
func TestAttributes(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
	p.B.Reconnect()
	for _, c := range []struct {
		name   string
		change func(rtr, rts *driver.QPAttr)
		want   error
		state  abi.QPState
	}{
		{"retry_cnt 1", func(_, rts *driver.QPAttr) { rts.RetryCnt = 1 }, nil, abi.QPRTS},
		{"retry_cnt 7", func(_, rts *driver.QPAttr) { rts.RetryCnt = 7 }, nil, abi.QPRTS},
		{"rnr_retry 1", func(_, rts *driver.QPAttr) { rts.RNRRetry = 1 }, nil, abi.QPRTS},
		{"rnr_retry 7", func(_, rts *driver.QPAttr) { rts.RNRRetry = 7 }, nil, abi.QPRTS},
		{"GID that there is not", func(rtr, _ *driver.QPAttr) { rtr.AV.SGIDIndex = 9 }, driver.ErrInvalid, abi.QPInit},
		{"retry_cnt 8", func(_, rts *driver.QPAttr) { rts.RetryCnt = 8 }, driver.ErrInvalid, abi.QPRTR},
		{"rnr_retry 8", func(_, rts *driver.QPAttr) { rts.RNRRetry = 8 }, driver.ErrInvalid, abi.QPRTR},
		{"timeout 32", func(_, rts *driver.QPAttr) { rts.Timeout = 32 }, driver.ErrInvalid, abi.QPRTR},
		{"min_rnr_timer 32", func(rtr, _ *driver.QPAttr) { rtr.MinRNRTimer = 32 }, driver.ErrInvalid, abi.QPInit},
		{"dest_qpn of 25 bits", func(rtr, _ *driver.QPAttr) { rtr.DestQPN = 0x1000005 }, driver.ErrInvalid, abi.QPInit},
		{"sq_psn of 25 bits", func(_, rts *driver.QPAttr) { rts.SQPSN = 0x1fffffe }, driver.ErrInvalid, abi.QPRTR},
		{"rq_psn of 25 bits", func(rtr, _ *driver.QPAttr) { rtr.RQPSN = 0x1fffffe }, driver.ErrInvalid, abi.QPInit},
		{"path_mtu 6", func(rtr, _ *driver.QPAttr) { rtr.PathMTU = 6 }, driver.ErrInvalid, abi.QPInit},
		{"path_mtu 0", func(rtr, _ *driver.QPAttr) { rtr.PathMTU = 0 }, driver.ErrInvalid, abi.QPInit},
		{"max_rd_atomic", func(_, rts *driver.QPAttr) { rts.MaxRdAtomic = 17 }, driver.ErrInvalid, abi.QPRTR},
		{"max_dest_rd_atomic", func(rtr, _ *driver.QPAttr) { rtr.MaxDestRdAtomic = 17 }, driver.ErrInvalid, abi.QPInit},
		{"no address", func(rtr, _ *driver.QPAttr) { rtr.AV.DGID = [16]byte{} }, driver.ErrInvalid, abi.QPInit},
		{"address of the other family", func(rtr, _ *driver.QPAttr) { rtr.AV.SGIDIndex = 0 }, driver.ErrInvalid, abi.QPInit},
		{"port of no entropy", func(rtr, _ *driver.QPAttr) { rtr.AV.UDPSPort = 4791 }, driver.ErrInvalid, abi.QPInit},
		{"0 of READs and atomics", func(rtr, rts *driver.QPAttr) { rtr.MaxDestRdAtomic, rts.MaxRdAtomic = 0, 0 }, nil, abi.QPRTS},
		{"3 of READs and atomics", func(rtr, rts *driver.QPAttr) { rtr.MaxDestRdAtomic, rts.MaxRdAtomic = 3, 3 }, nil, abi.QPRTS},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := p.A.ConnectBy(c.change)
			require.ErrorIs(t, err, c.want)
			p.A.DemandState(c.state)
			if c.want == nil {
				exchangePSN(t, p)
			}
			p.A.Reset()
			p.B.Reset()
			p.B.Reconnect()
		})
	}
	require.NoError(t, p.A.ConnectBy(func(rtr, rts *driver.QPAttr) { rtr.MaxDestRdAtomic, rts.MaxRdAtomic = 3, 3 }))
	m := p.A.Query()
	require.EqualValues(t, 3, m.MaxRdAtomic)
	require.EqualValues(t, 3, m.MaxDestRdAtomic)
}

// TestPortMTU (B085): no path takes more than the port.
func TestPortMTU(t *testing.T) {
	s := e2e.New(t, e2e.Options{Driver: driver.Config{MTU: abi.MTU512}})
	p := s.Couple(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}))
	for mtu := abi.MTU256; mtu <= abi.MTU4096; mtu++ {
		err := p.A.ConnectBy(func(rtr, _ *driver.QPAttr) { rtr.PathMTU = mtu })
		if mtu <= abi.MTU512 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, driver.ErrInvalid, "%v", mtu)
			p.A.DemandState(abi.QPInit)
		}
		p.A.Reset()
	}
}

// exchangePSN is exchange from A to B alone.
func exchangePSN(t *testing.T, p *e2e.Pair) {
	t.Helper()
	p.B.Recv(p.B.RecvWR(2, 0, 100))
	p.A.Send(p.A.SendWR(1, 0, 100))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(2)...)
}

// TestOperationsRefused (B066, B136): work requests that the driver does not post.
func TestOperationsRefused(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	post := func(wr driver.SendWR) (err error) {
		var n int
		s.A.Do(func() { n, err = p.A.QP.PostSend(p.A.SendWR(1, 0, 0), wr, p.A.SendWR(3, 0, 8)) })
		require.Equal(t, 1, n, "the one before is posted, the one behind is not")
		return err
	}
	one := []driver.SGE{s.A.MR.SGE(0, 8)}
	for i, c := range []struct {
		wr   driver.SendWR
		want error
	}{
		{driver.SendWR{Op: abi.OpRead, Inline: make([]byte, 8)}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpCompareSwap}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpFetchAdd, SGEs: append(one, one...)}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpFetchAdd, Inline: make([]byte, 8)}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpLocalInv, SGEs: one}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpBindMW}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpFastReg}, driver.ErrInvalid},
		{driver.SendWR{Op: 12}, driver.ErrInvalid},
		{driver.SendWR{Op: 255}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpSend, SGEs: make([]driver.SGE, 5)}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpSend, Inline: make([]byte, 65)}, driver.ErrInvalid},
		{driver.SendWR{Op: abi.OpSend, Inline: make([]byte, 1), SGEs: one}, driver.ErrInvalid},
	} {
		p.B.Recv(driver.RecvWR{ID: uint64(i)})
		require.ErrorIs(t, post(c.wr), c.want, "%v", c.wr.Op)
		p.A.Sent(e2e.OK(1)...)
		p.B.Received(e2e.OK(uint64(i))...)
	}
	for _, typ := range []abi.QPType{abi.QPTypeRaw + 1, 255} {
		var err error
		s.A.Do(func() {
			_, err = s.A.PD.CreateQP(driver.QPConfig{SendCQ: p.A.SCQ, RecvCQ: p.A.RCQ, Type: typ})
		})
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	exchange(t, p)
}

// TestForgedFatalAnswers (B041): a peer that sends NAKs. The one that holds the
// PSN fails as the NAK says, those before are done, those behind are flushed.
func TestForgedFatalAnswers(t *testing.T) {
	for _, c := range []struct {
		nak    roce.Syndrome
		status abi.WCStatus
		count  abi.Counter
	}{
		{roce.NAKSyndrome(roce.NAKSequence), abi.StatusRetryExc, abi.PacketSeqErr},
		{roce.NAKSyndrome(roce.NAKInvalidRequest), abi.StatusRemInvReq, abi.ReqRemoteInvalidRequest},
		{roce.NAKSyndrome(roce.NAKRemoteAccess), abi.StatusRemAccess, abi.ReqRemoteAccessErrors},
		{roce.NAKSyndrome(roce.NAKRemoteOperation), abi.StatusRemOp, abi.ReqRemoteOperational},
		{roce.RNRSyndrome(0), abi.StatusRNRRetryExc, abi.RNRNakRetryErr},
	} {
		s := e2e.New(t, quick)
		p := s.Pair()
		hold := &holdAnswers{}
		s.A.SetFault(hold.fault)
		post5(p)
		p.B.Received(e2e.OK(11, 12, 13, 14, 15)...)
		s.A.SetFault(nil)
		una := p.B.FirstPSN()
		s.A.Arrive(p.A.ForgeAck(c.nak, una.Add(7), 2)) // in the third message
		p.A.Sent(append(append(e2e.OK(1, 2), e2e.All(c.status, 3)...), e2e.Flushed(4, 5)...)...)
		require.Equal(t, e2e.Faults{c.count: 1, abi.ReqCQEError: 3}, s.A.Faults())
		p.A.DemandState(abi.QPErr)
		p.B.Fail()
		p.B.Received(e2e.Flushed(16, 17)...)
		again(t, s, p)
		s.Close()
	}
}
