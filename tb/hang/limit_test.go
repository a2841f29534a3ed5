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

// TestNoticed: with a program that polls for ever nothing sleeps, and a hang is noticed
// when the retries would have been over, not earlier and not much later.
func TestNoticed(t *testing.T) {
	const unit = 1024
	for _, c := range []struct {
		name string
		attr attr
		all  uint64 // what the retries take, cycles
		why  string
	}{
		{"no timer", attr{}, 0, "its retries take"},
		{"retries", attr{timeout: 7, retries: 3}, 4 * unit << 7, "a timer takes"},
		{"RNR for ever", attr{timeout: 9, retries: 7, rnr: 7, timer: 1}, 4 * unit << 9, "a timer takes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k tb.Config
			k.Insert = func(h int, n *rtl.NIC) any { // no packet leaves, so no timer runs
				if h == 1 {
					return nil
				}
				return (&hang.Plug[port.EthBeat]{Stop: 3}).Between(&n.PktTx.Seal.Eth, &n.Mac.Transmit.TxIn, 2)
			}
			r := newRig(t, k, c.attr)
			r.poller()
			r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 100*10) })
			h := r.hangs()
			require.Nil(t, h.Err)
			require.Contains(t, h.Why, c.why)
			late := h.Noticed - h.Since - c.all
			require.GreaterOrEqual(t, late, uint64(2*limit), "limit and completion timeout of dma")
			require.Less(t, late, uint64(2*limit+10_000))
			require.Equal(t, "test", h.Root().Block)
		})
	}
}

// TestPatience: the bench may keep something back, but not for ever.
func TestPatience(t *testing.T) {
	r := newRig(t, tb.Config{}, attr{})
	r.poller()
	r.ends[0].h.SetFault(func(tb.Frame) tb.Verdict { return tb.Verdict{Delay: 100 * limit} })
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 100) })
	h := r.hangs()
	require.Contains(t, h.Error(), "late by 20000000 cycles by a fault")
	require.Contains(t, h.Root().Text, "nothing is sent again")
}
