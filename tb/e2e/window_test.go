package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestWindow (B002): no acknowledgement comes. 128 KiB go out, with consecutive
// PSNs and the last packet asking for an answer; then there is silence until one
// comes, and all of the rest after it.
func TestWindow(t *testing.T) {
	for mtu := abi.MTU256; mtu <= abi.MTU4096; mtu++ {
		s := e2e.New(t, e2e.Options{})
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{MTU: mtu})
		const size = 300_000
		p.A.Fill(0, size, 1)
		p.B.Recv(p.B.RecvWR(11, 0, 200_000), p.B.RecvWR(12, 200_000, 100_000))
		hold := &holdAnswers{}
		s.A.SetFault(hold.fault)
		p.A.Send(p.A.SendWR(1, 0, 200_000), p.A.SendWR(2, 200_000, 100_000))
		s.Sleep(50_000)
		window := 128 << 10 / int(mtu.Bytes())
		rs := s.A.Requests(0)
		require.Equal(t, window, len(rs), "MTU %v", mtu)
		for i, r := range rs {
			require.Equal(t, p.B.FirstPSN().Add(uint32(i)), r.BTH.PSN)
		}
		require.True(t, rs[window-1].BTH.AckReq)
		last := hold.frames[len(hold.frames)-1]
		a, err := roce.ParseFrame(last)
		require.NoError(t, err)
		require.Equal(t, rs[window-1].BTH.PSN, a.BTH.PSN)
		s.A.SetFault(nil)
		s.A.Inject(last)
		p.A.Sent(e2e.OK(1, 2)...)
		p.B.Received(e2e.OK(11, 12)...)
		p.B.Demand(0, e2e.Bytes(size, 1))
		s.Close()
	}
}
