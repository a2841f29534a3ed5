package hang_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/pcie"
	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/host"
)

// steps demands that the chain has these host.block in this order, perhaps with others
// between.
func steps(t *testing.T, h *hang.Hang, want ...string) {
	t.Helper()
	i := 0
	for _, s := range h.Chain {
		if i < len(want) && s.Host+"."+s.Block == want[i] {
			i++
		}
	}
	require.Equal(t, len(want), i, "%q is not where it must be in the chain", want[min(i, len(want)-1):])
}

// TestReadNeverCompleted: the host never completes the read of a payload.
func TestReadNeverCompleted(t *testing.T) {
	var c tb.Config
	c.NIC.Dma.Timeout = 1 << 40
	r := newRig(t, c, attr{timeout: 6, retries: 1})
	struck := uint64(0)
	m := r.ends[0].h.Machine
	m.RC.Params.Fault = func(read *pcie.TLP) (v host.Verdict) {
		if read.Bytes() >= 100 && read.Addr >= m.Mem.Size()/2 && struck == 0 {
			struck, v.Fault = r.ends[0].h.K.Cycle(), host.FaultNever
		}
		return v
	}
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 3000) })
	h := r.hangs()
	require.Equal(t, "WRITE", h.WR.Op)
	require.Equal(t, uint64(3000), h.WR.Bytes)
	require.Equal(t, int(r.ends[0].qp.Number()), h.WR.QP)
	require.Equal(t, uint16(0), h.WR.Index)
	require.Equal(t, r.ends[0].qp.Endpoint().PSN, uint32(h.WR.First))
	require.Equal(t, uint32(2), h.WR.Last.Diff(h.WR.First))
	steps(t, h, "host_a.nic.pkt_tx.buffer", "host_a.nic.dma.read", "host_a.rc")
	require.Equal(t, "nic.pkt_tx.buffer.data", portOf(h, "nic.pkt_tx.buffer"))
	require.Regexp(t, `read of tag \d+ since cycle \d+ and never completes it`, h.Root().Text)
	require.InDelta(t, struck, h.Root().Since, 100)
	require.Contains(t, h.Error(), "the read of pkt_tx under PCIe tag")
	require.InDelta(t, struck, h.Since, 1000)
}

// portOf is the port at which a block of the chain waits.
func portOf(h *hang.Hang, block string) string {
	for _, s := range h.Chain {
		if s.Block == block && s.Port != "" {
			return s.Port
		}
	}
	return ""
}

// TestAnswerLost: the answer, or the request, is lost and no timer runs.
func TestAnswerLost(t *testing.T) {
	for to, op := range []abi.WQEOp{abi.OpWrite, abi.OpWrite, abi.OpRead, abi.OpRead} {
		to %= 2
		r := newRig(t, tb.Config{}, attr{})
		r.ends[to].h.SetFault(tb.Lose)
		r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(op, 100) })
		h := r.hangs()
		steps(t, h, "host_a.nic.retrans", []string{"host_b.wire", "host_a.wire"}[to], "host_a.nic.retrans.clock")
		require.Contains(t, h.Root().Text, "the timer is OFF; the QP has timeout 0")
		require.Equal(t, h.WR.First, h.WR.Last)
		lost := h.Chain[len(h.Chain)-2]
		require.Contains(t, lost.Text, "lost by a fault")
		p := h.Packets[len(h.Packets)-1]
		require.Equal(t, lost.Since, p.Cycle)
		require.Equal(t, "lost", p.Fault)
		require.Equal(t, h.WR.First, p.PSN)
		require.Len(t, h.Packets, 2-to)
	}
}

// TestNobodyPolls: the program does not look at its completion.
func TestNobodyPolls(t *testing.T) {
	r := newRig(t, tb.Config{}, attr{})
	var other hdl.Event
	r.do(0, "app", func(th *hdl.Thread, e *end) error {
		if _, err := e.qp.PostSend(e.wr(abi.OpWrite, 100)); err != nil {
			return err
		}
		th.Wait(&other, 0)
		return nil
	})
	h := r.hangs()
	require.Nil(t, h.WR)
	steps(t, h, "host_a.app", "host_a.nic.cq_writer")
	require.Contains(t, h.Error(), "CQEs 0 to 0 are in memory")
	require.Contains(t, h.Error(), "thread host_a.app waits for an event since cycle")
}

// TestNothingToCome: a program polls, another waits for an interrupt, and nothing is under way.
func TestNothingToCome(t *testing.T) {
	r := newRig(t, tb.Config{}, attr{})
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.wait() })
	r.do(1, "poller", func(th *hdl.Thread, _ *end) error {
		for range 10 * limit {
			th.Sleep(8)
		}
		return nil
	})
	h := r.hangs()
	require.Nil(t, h.WR)
	require.Contains(t, h.Why, "a thread waits for an interrupt")
	require.Contains(t, h.Error(), "thread host_a.app waits for interrupt 1 since cycle")
	require.Less(t, h.Noticed, 3*uint64(limit)+100_000)
}

// TestHostTakesNothing: the host gives no credits for ever, and completes nothing.
func TestHostTakesNothing(t *testing.T) {
	var c tb.Config
	c.NIC.Dma.Timeout = 1 << 40
	r := newRig(t, c, attr{timeout: 4, retries: 2})
	m := r.ends[1].h.Machine
	m.RC.Params.WriteFault = func(*pcie.TLP) host.Verdict { return host.Verdict{Stop: 1 << 45} }
	r.do(0, "app", func(_ *hdl.Thread, e *end) error {
		w := e.wr(abi.OpWrite, 30_000)
		if _, err := e.qp.PostSend(w, w); err != nil {
			return err
		}
		return e.wait()
	})
	// Packets that find no room are lost, so that the retries come to an end.
	require.NoError(t, r.dog.Run(r.b.Done, 100_000_000))

	r = newRig(t, c, attr{})
	m = r.ends[0].h.Machine
	m.RC.Params.Fault = func(*pcie.TLP) host.Verdict { return host.Verdict{Stop: 1 << 45} }
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 30_000) })
	h := r.hangs()
	require.Equal(t, "host_a", h.Root().Host)
	require.Equal(t, "rc", h.Root().Block)
	require.Contains(t, h.Root().Text, "it stands still until cycle")
}
