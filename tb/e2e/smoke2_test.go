package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestLoopback: two QPs of one NIC.
func TestLoopback(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.A.QP(driver.QPConfig{}), driver.ConnectOptions{})
	s.A.Fill(0, 5000, 1)
	p.B.Recv(p.B.RecvWR(11, 8192, 5000))
	p.A.Send(p.A.SendWR(1, 0, 5000))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(11)...)
	s.A.Demand(8192, e2e.Bytes(5000, 1))
	require.Empty(t, s.A.Seen)
}

// TestVLAN: tagged frames.
func TestVLAN(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		s := e2e.New(t, quick)
		c := driver.QPConfig{MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, IPv6: v6}
		p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{VLANValid: true, VLAN: 3<<13 | 77})
		s.A.Fill(0, 5000, 1)
		p.B.Recv(p.B.RecvWR(11, 8192, 5000))
		p.A.Send(p.A.SendWR(1, 0, 5000))
		p.A.Sent(e2e.OK(1)...)
		p.B.Received(e2e.OK(11)...)
		s.B.Demand(8192, e2e.Bytes(5000, 1))
		for _, f := range s.A.Seen {
			require.True(t, f.Tagged)
		}
	}
}

// TestWindow: a window of type 2 is bound, used, invalidated by the peer.
func TestWindow2(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Pair()
	var w *driver.MW
	var mr *driver.MR
	var err error
	s.B.Do(func() {
		mr, err = s.B.PD.RegMR(s.B.Buf, abi.AccessLocalWrite|abi.AccessRemoteWrite|abi.AccessRemoteRead|abi.AccessMWBind)
		if err == nil {
			w, err = s.B.PD.AllocMW(abi.KeyWindow2)
		}
	})
	require.NoError(t, err)
	key := w.RKey + 1
	p.B.Send(driver.SendWR{ID: 5, Op: abi.OpBindMW, Signaled: true, Bind: &driver.Bind{MW: w, MR: mr, RKey: key, Addr: mr.Addr + 4096, Length: 8192, Access: abi.AccessRemoteWrite}})
	p.B.Sent(e2e.OK(5)...)
	s.A.Fill(0, 5000, 1)
	wr := p.A.SendWR(1, 0, 5000)
	wr.Op, wr.RemoteAddr, wr.RKey = abi.OpWrite, mr.Addr+4096, key
	p.A.Send(wr)
	p.A.Sent(e2e.OK(1)...)
	s.B.Demand(4096, e2e.Bytes(5000, 1))
	p.B.Recv(p.B.RecvWR(11, 0, 100))
	inv := p.A.SendWR(2, 0, 100)
	inv.Op, inv.Imm = abi.OpSendInv, uint32(key)
	p.A.Send(inv)
	p.A.Sent(e2e.OK(2)...)
	p.B.Received(e2e.OK(11)...)
	p.A.Send(wr)
	p.A.Sent(e2e.All(abi.StatusRemAccess, 1)...)
}
