package hang_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/rtl"
	"rnic/rtl/port"
	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/host"
)

// TestStopped: one block takes nothing any more. The chain goes to it from wherever the
// work request is.
func TestStopped(t *testing.T) {
	for name, c := range map[string]struct {
		host   int
		op     abi.WQEOp
		insert func(*rtl.NIC) any
		chain  []string // the root is always the plug
		port   string   // that the root takes nothing from
	}{
		"keys of payload": {0, abi.OpWrite, func(n *rtl.NIC) any {
			return (&hang.Plug[port.MptReq]{Stop: 3}).Between(&n.PktTx.Translate.Mpt, &n.MPT.Tx, 2)
		}, []string{"host_a.nic.retrans", "host_a.nic.pkt_tx.translate"}, "test.in"},
		"frames": {0, abi.OpWrite, func(n *rtl.NIC) any {
			return (&hang.Plug[port.EthBeat]{Stop: 20}).Between(&n.PktTx.Seal.Eth, &n.Mac.Transmit.TxIn, 2)
		}, []string{"host_a.nic.retrans", "host_a.nic.pkt_tx.send", "host_a.nic.pkt_tx.seal"}, "test.in"},
		"packets": {0, abi.OpWrite, func(n *rtl.NIC) any {
			return (&hang.Plug[port.TxPkt]{Stop: 1}).Between(&n.WQESched.Exec.Pkt, &n.PktTx.Ask.Req, 4)
		}, []string{"host_a.nic.wqe_sched.exec"}, "test.in"},
		"payload to memory": {1, abi.OpWrite, func(n *rtl.NIC) any {
			return (&hang.Plug[port.WriteReq]{Stop: 2}).Between(&n.Scatter.Mover.Write, &n.Dma.Write[port.WriteRx].Req, 2)
		}, []string{"host_a.nic.retrans", "host_a.wire", "host_b.nic.qpc", "host_b.nic.scatter.mover"}, "test.in"},
		"answers": {1, abi.OpRead, func(n *rtl.NIC) any {
			return (&hang.Plug[port.Job]{Stop: 1}).Between(&n.AckGen.Reply.Resp, &n.Responder.Jobs, 4)
		}, []string{"host_a.wire", "host_b.nic.qpc"}, ""},
		"completions": {0, abi.OpWrite, func(n *rtl.NIC) any {
			return (&hang.Plug[port.CQEReq]{Stop: 1}).Between(&n.Retrans.CQE, &n.CQWriter.Send, 4)
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var k tb.Config
			k.Insert = func(h int, n *rtl.NIC) any {
				if h == c.host {
					return c.insert(n)
				}
				return nil
			}
			run := func() *hang.Hang {
				r := newRig(t, k, attr{})
				r.do(0, "app", func(_ *hdl.Thread, e *end) error {
					for range 16 {
						if _, err := e.qp.PostSend(e.wr(c.op, 5000)); err != nil {
							return err
						}
					}
					for range 16 {
						if err := e.wait(); err != nil {
							return err
						}
					}
					return nil
				})
				return r.hangs()
			}
			h := run()
			steps(t, h, append(c.chain, []string{"host_a", "host_b"}[c.host]+".test")...)
			require.Equal(t, "test", h.Root().Block)
			if c.port != "" {
				require.Equal(t, c.port, h.Root().Port)
				require.Regexp(t, "^held, (full|unmoved)$", h.Root().State)
			}
			require.Equal(t, h.Error(), run().Error())
		})
	}
}

// TestLostActivate: qpc's word that a QP has work gets lost.
func TestLostActivate(t *testing.T) {
	var c tb.Config
	c.Insert = func(h int, n *rtl.NIC) any {
		if h == 1 {
			return nil
		}
		return (&hang.Plug[port.Activate]{Lose: 1}).Between(&n.QPC.Activate, &n.WQESched.Pick.Activate, 8)
	}
	r := newRig(t, c, attr{noPush: true, timeout: 4})
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 100) })
	h := r.hangs()
	require.Equal(t, "nic.wqe_sched.pick", h.Root().Block)
	require.Contains(t, h.Root().Text, "it does not know that the QP has work")
	require.False(t, h.WR.Begun)
	require.Equal(t, uint16(0), h.WR.Index)
	require.Equal(t, uint64(100), h.WR.Bytes)
	require.Empty(t, h.Packets)
}

// TestLostMarker: the marker of a fence is lost on its way back to mpt. The LOCAL_INV waits
// for it, and says so, whichever side it is of.
func TestLostMarker(t *testing.T) {
	for name, c := range map[string]struct {
		insert func(*rtl.NIC) any
		chain  []string
	}{
		"reads": {func(n *rtl.NIC) any {
			return (&hang.Plug[port.Fence]{Lose: 1}).Between(&n.PktTx.Buffer.Fenced, &n.MPT.TxFenced, 2)
		}, []string{"nic.wqe_sched.exec.mem_res", "nic.mpt.tx_fenced"}},
		"writes": {func(n *rtl.NIC) any {
			return (&hang.Plug[port.Fence]{Lose: 1}).Between(&n.Scatter.Finish.Fenced, &n.MPT.RxFenced, 2)
		}, []string{"nic.wqe_sched.exec.mem_res", "nic.mpt.rx_fenced"}},
	} {
		t.Run(name, func(t *testing.T) {
			var k tb.Config
			k.Insert = func(h int, n *rtl.NIC) any {
				if h == 1 {
					return nil
				}
				return c.insert(n)
			}
			r := newRig(t, k, attr{})
			r.do(0, "app", func(_ *hdl.Thread, e *end) error {
				if _, err := e.qp.PostSend(driver.SendWR{Op: abi.OpLocalInv, Imm: uint32(e.mr.LKey), Signaled: true}); err != nil {
					return err
				}
				_, err := e.cq.Wait(make([]driver.WC, 1), math.MaxInt64)
				return err
			})
			h := r.hangs()
			var chain []string
			for _, s := range h.Chain {
				chain = append(chain, s.Port)
			}
			require.Subset(t, chain, c.chain)
		})
	}
}

// hub is a module that hands on only what has room on both sides: two of them in a ring
// that is full wait for each other.
type hub struct {
	In  hdl.In[uint32]
	Out hdl.Out[uint32]
	hdl.Regs[struct{ Put uint32 }]
}

func (m *hub) Eval() {
	if m.Q.Put < 4 && m.Out.Ready() {
		m.Out.Put(m.Q.Put)
		m.D.Put++
	}
}

type ring struct {
	A, B   hub
	Window hang.Plug[port.MptReq]
}

// TestRing: blocks that wait for each other are a circle.
func TestRing(t *testing.T) {
	var c tb.Config
	c.Insert = func(h int, n *rtl.NIC) any {
		r := &ring{}
		hdl.Connect(&r.A.Out, &r.B.In, 2)
		hdl.Connect(&r.B.Out, &r.A.In, 2)
		r.Window.Between(&n.PktTx.Translate.Mpt, &n.MPT.Tx, 2)
		return r
	}
	r := newRig(t, c, attr{})
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.wait() })
	h := r.hangs()
	require.Contains(t, h.Root().Text, "the circle is closed")
	steps(t, h, "host_a.test.b", "host_a.test.a", "host_a.test.b")
}

// TestSlow: what is slow is no hang.
func TestSlow(t *testing.T) {
	receive := func(r *rig, after uint64) {
		r.do(1, "receiver", func(th *hdl.Thread, e *end) error {
			th.Sleep(after)
			return e.receive()
		})
	}
	send := func(r *rig) {
		r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpSend, 100) })
	}
	t.Run("RNR for long", func(t *testing.T) {
		r := newRig(t, tb.Config{}, attr{timeout: 10, retries: 7, rnr: 7, timer: 12})
		send(r)
		receive(r, 50*limit)
		r.finishes()
	})
	t.Run("RNR timer of 655 ms", func(t *testing.T) {
		r := newRig(t, tb.Config{}, attr{rnr: 7, timer: 0})
		send(r)
		receive(r, 500*limit)
		r.finishes()
	})
	t.Run("RNR timer of 655 ms, others move", func(t *testing.T) {
		r := newRig(t, tb.Config{}, attr{rnr: 2, timer: 0})
		send(r)
		receive(r, 15*limit)
		r.do(1, "poller", func(th *hdl.Thread, _ *end) error {
			for range 50 * limit / 100 {
				th.Sleep(100)
			}
			return nil
		})
		r.finishes()
	})
	t.Run("retries", func(t *testing.T) {
		r := newRig(t, tb.Config{}, attr{timeout: 12, retries: 7})
		n := 0
		r.ends[1].h.SetFault(func(tb.Frame) tb.Verdict {
			n++
			return tb.Verdict{Drop: n < 8}
		})
		r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 100) })
		r.finishes()
		require.Equal(t, 8, n)
	})
	t.Run("a host that stands still", func(t *testing.T) {
		for n := range 2 {
			r := newRig(t, tb.Config{}, attr{})
			stopped := false
			stop := func() (v host.Verdict) {
				if !stopped {
					stopped, v.Stop = true, 5*limit
				}
				return v
			}
			r.stop(n, stop)
			r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpRead, 20_000) })
			r.finishes()
			require.True(t, stopped)
		}
	})
	t.Run("a frame that is late", func(t *testing.T) {
		r := newRig(t, tb.Config{}, attr{})
		r.ends[0].h.SetFault(func(tb.Frame) tb.Verdict { return tb.Verdict{Delay: 8 * limit} })
		r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpWrite, 100) })
		r.finishes()
	})
}

// TestNoReceive: with RNR retries for ever the limit of the run ends it, and the root is
// the host that posts no receive.
func TestNoReceive(t *testing.T) {
	r := newRig(t, tb.Config{}, attr{timeout: 10, retries: 7, rnr: 7, timer: 12})
	r.do(0, "app", func(_ *hdl.Thread, e *end) error { return e.post(abi.OpSend, 100) })
	err := r.dog.Run(r.b.Done, 20*limit)
	require.ErrorIs(t, err, hdl.ErrLimit)
	var h *hang.Hang
	require.ErrorAs(t, err, &h)
	t.Log(h)
	require.Equal(t, "host_b", h.Root().Host)
	require.Contains(t, h.Root().Text, "has no receive work request for PSN")
	require.Contains(t, h.Error(), "RC_ACK RNR")
}
