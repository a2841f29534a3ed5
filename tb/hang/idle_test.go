package hang_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl"
	"rnic/rtl/port"
	"rnic/tb"
	"rnic/tb/hang"
)

// TestLostInterrupt: the message of an interrupt is lost. Nobody has work, so that there is
// no root; the events that the driver has not taken are told.
func TestLostInterrupt(t *testing.T) {
	var plug *hang.Plug[port.MsixRes]
	start := func(lose uint32) *rig {
		var c tb.Config
		c.Insert = func(h int, nic *rtl.NIC) any {
			if h == 1 {
				return nil
			}
			plug = (&hang.Plug[port.MsixRes]{Lose: lose}).Between(&nic.CSR.MsixRes, &nic.CQWriter.MsixRes, 2)
			return plug
		}
		return newRig(t, c, attr{})
	}
	start(0)
	r := start(plug.Q.Passed + 1) // the first behind the set-up
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 100) })
	h := r.hangs()
	require.True(t, h.Loose)
	require.Equal(t, hang.Step{}, h.Root())
	require.NotContains(t, h.Error(), "the root")
	require.Regexp(t, `host_a.nic.cq_writer: event queue 1: events (\d+) to \d+ are in memory, and the driver, which waits for interrupt 1, has not taken them`, h.Error())
}
