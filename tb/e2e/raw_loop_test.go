package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestRawLoop: frames to the own address come back to the raw queue of the same port, of all
// lengths and with a tag, beside those for others, and none is seen on the wire; RoCE
// packets turn round beside them. What nobody takes is counted.
func TestRawLoop(t *testing.T) {
	p := frames(t, quick)
	s := p.A.Scene()
	s.A.Loops, s.B.Loops = true, true
	for i, n := range []int{0, 1, 45, 46, 47, 50, 51, 113, 114, 1500, 4078} {
		for _, tags := range [][]byte{nil, {0x81, 0, 0xe0, 77}, {0x81, 0, 0, 5, 0x81, 0, 0, 6}} {
			plain := ethernet(hostA, hostA, 0x88b5, n-len(tags)*(n/4078), uint64(i))
			f := append(append(append([]byte(nil), plain[:12]...), tags...), plain[12:]...)
			p.A.Recv(p.A.RecvWR(11, 8192, 4096))
			sendFrame(t, p.A, f)
			p.A.Sent(e2e.OK(1)...)
			wc := p.A.Received(e2e.OK(11)...)[0]
			want := f
			if tags != nil {
				want = append(append([]byte(nil), f[:12]...), f[16:]...)
				require.Equal(t, abi.CQEVLAN, wc.Flags)
				require.EqualValues(t, uint16(tags[2])<<8|uint16(tags[3]), wc.Imm)
			}
			want = append(append([]byte(nil), want...), make([]byte, max(0, 60-len(f)))...)
			require.EqualValues(t, len(want), wc.ByteLen)
			p.A.Demand(8192, want)
		}
	}
	require.Empty(t, s.A.Seen)
	require.Empty(t, s.A.Faults())

	// Beside messages at home and frames for others.
	home := s.Join(s.A.QP(driver.QPConfig{}), s.A.QP(driver.QPConfig{}), driver.ConnectOptions{})
	own, other := ethernet(hostA, hostA, 0x88b5, 600, 1), ethernet(hostB, hostA, 0x88b5, 700, 2)
	_, err := s.A.Buf.WriteAt(own, 0)
	require.NoError(t, err)
	_, err = s.A.Buf.WriteAt(other, 1024)
	require.NoError(t, err)
	s.A.Fill(100_000, 20_000, 3)
	home.B.Recv(home.B.RecvWR(21, 200_000, 20_000))
	home.A.Send(home.A.SendWR(2, 100_000, 20_000))
	p.A.Recv(p.A.Recvs(10_000, 1000, 0, 1, 2, 3)...)
	p.B.Recv(p.B.Recvs(10_000, 1000, 0, 1, 2, 3)...)
	for i := range uint64(4) {
		p.A.Send(p.A.SendWR(2*i, 0, len(own)), p.A.SendWR(2*i+1, 1024, len(other)))
	}
	p.A.Sent(e2e.OK(0, 1, 2, 3, 4, 5, 6, 7)...)
	home.A.Sent(e2e.OK(2)...)
	home.B.Received(e2e.OK(21)...)
	p.A.Received(e2e.OK(0, 1, 2, 3)...)
	p.B.Received(e2e.OK(0, 1, 2, 3)...)
	s.A.Demand(200_000, e2e.Bytes(20_000, 3))
	for i := range 4 {
		p.A.Demand(10_000+1000*i, own)
		p.B.Demand(10_000+1000*i, other)
	}
	require.Len(t, s.A.Seen, 4)

	// What nobody takes.
	lost := func(want e2e.Faults) {
		t.Helper()
		before := s.A.Faults()
		sendFrame(t, p.A, own)
		p.A.Sent(e2e.OK(1)...)
		s.Sleep(2000)
		require.Equal(t, want, s.A.Faults().Since(before))
	}
	lost(e2e.Faults{abi.OutOfBuffer: 1, abi.RxDropOther: 1})
	p.A.Recv(p.A.RecvWR(12, 8192, 100))
	lost(e2e.Faults{abi.RespLocalLengthError: 1})
	s.A.Must(func() error { return s.A.Dev.SetRawQP(nil) })
	lost(e2e.Faults{abi.RxDropNotRoCE: 1})
	s.A.Must(func() error { return s.A.Dev.SetRawQP(p.A.QP) })
	own = ethernet(hostA, hostA, 0x88b5, 86, 1)
	sendFrame(t, p.A, own)
	p.A.Sent(e2e.OK(1)...)
	p.A.Received(e2e.OK(12)...)
	p.A.Demand(8192, own)
}
