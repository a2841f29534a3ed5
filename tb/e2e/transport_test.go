package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestUC: a SEND and a WRITE of three packets over UC.
func TestUC(t *testing.T) {
	s := e2e.New(t, quick)
	c := driver.QPConfig{Type: abi.QPTypeUC, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}
	p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{})
	s.A.Fill(0, 3000, 1)
	p.B.Recv(p.B.RecvWR(11, 4096, 3000))
	p.A.Send(p.A.SendWR(1, 0, 3000))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(11)...)
	s.B.Demand(4096, e2e.Bytes(3000, 1))
	s.Close()
}

// TestUD: a datagram, with its IP header before it.
func TestUD(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		s := e2e.New(t, quick)
		c := driver.QPConfig{Type: abi.QPTypeUD, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64, IPv6: v6}
		a, b := s.A.QP(c), s.B.QP(c)
		var ah *driver.AH
		var err error
		s.A.Do(func() {
			err = a.QP.Start(0x1234)
			if err == nil {
				to := b.QP.Endpoint()
				ah, err = s.A.PD.CreateAH(driver.AHAttr{MAC: to.MAC, DGID: to.GID})
			}
		})
		require.NoError(t, err)
		s.B.Do(func() { err = b.QP.Start(0x1234) })
		require.NoError(t, err)
		s.A.Fill(0, 1000, 1)
		b.Recv(b.RecvWR(11, 4096, 1040))
		wr := a.SendWR(1, 0, 1000)
		wr.AH, wr.RemoteQPN, wr.RemoteQKey = ah, b.QP.Number(), 0x1234
		a.Send(wr)
		a.Sent(e2e.OK(1)...)
		wc := b.Received(e2e.OK(11)...)
		require.EqualValues(t, 1040, wc[0].ByteLen)
		require.Equal(t, a.QP.Number(), wc[0].SrcQPN)
		s.B.Demand(4096+40, e2e.Bytes(1000, 1))
		s.Close()
	}
}
