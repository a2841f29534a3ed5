package tb

import (
	"encoding/binary"
	"fmt"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl"
	"rnic/rtl/port"
	"rnic/tb/host"
)

// node is the hierarchy of a host, as waves show it.
type node struct {
	NIC  *rtl.NIC
	RC   *host.RootComplex
	Wire wire
	OOB  OOB
	Test any // of Config.Insert
}

// Host is one side of the bench.
type Host struct {
	Index   int // from 1: its addresses are those of roce.HostMAC(Index)
	K       *hdl.Kernel
	NIC     *rtl.NIC
	Machine *host.Host
	OOB     *OOB
	node    *node
	live    []*hdl.Thread
	struck  []func(Frame, uint64, Verdict) // of OnFault
}

// Bench is two hosts and the wire between them.
type Bench struct {
	Config Config
	World  *hdl.World
	Hosts  [2]*Host
}

// New builds a bench.
func New(c Config) (*Bench, error) {
	c.defaults()
	b := &Bench{Config: c}
	var kernels [2]*hdl.Kernel
	for i := range b.Hosts {
		h, err := newHost(c, i)
		if err != nil {
			return nil, err
		}
		b.Hosts[i], kernels[i] = h, h.K
	}
	// A beat spends a cycle in each of the two stream hops at the wire's ends.
	latency := uint64(c.LinkLatencyPs/PeriodPs) - 2
	b.World = hdl.NewWorld(latency, kernels[:]...)
	for i, h := range b.Hosts {
		peer := b.Hosts[1-i]
		w := hdl.NewLink[port.EthBeat](b.World, h.K, peer.K, latency, int(4*latency)+16)
		h.node.Wire.out, peer.node.Wire.in = w, w
		w.Attach(&peer.node.Wire.Behave)
		o := hdl.NewLink[[]byte](b.World, h.K, peer.K, uint64(c.OOBLatencyPs/PeriodPs), 4096)
		h.node.OOB.out, peer.node.OOB.in = o, o
		o.Attach(&peer.node.OOB.Behave)
	}
	return b, nil
}

func newHost(c Config, i int) (*Host, error) {
	hp := c.Host
	hp.Seed = c.Seed*2 + uint64(i)
	m := host.New(hp)
	n := &node{NIC: rtl.New(c.NIC), RC: &m.RC}
	if c.Insert != nil {
		n.Test = c.Insert(i, n.NIC)
	}
	n.OOB.arrived.Name = "a message of the other host"
	hdl.Connect(n.NIC.PcieTx(), &n.RC.FromNIC, 2)
	hdl.Connect(&n.RC.ToNIC, n.NIC.PcieRx(), 2)
	hdl.Connect(n.NIC.EthTx(), &n.Wire.FromNIC, 2)
	hdl.Connect(&n.Wire.ToNIC, n.NIC.EthRx(), 2)
	k, err := hdl.Elaborate(fmt.Sprintf("host_%c", 'a'+i), n, hdl.Options{
		Seed: hp.Seed, Strict: c.Strict, Order: c.Order, Digest: c.Digest, PeriodPs: PeriodPs,
	})
	if err != nil {
		return nil, err
	}
	return &Host{Index: i + 1, K: k, NIC: n.NIC, Machine: m, OOB: &n.OOB, node: n}, nil
}

// Tap adds an observer of the host's port.
func (h *Host) Tap(t Tap) { h.node.Wire.taps = append(h.node.Wire.taps, t) }

// Go starts a thread on the host. Run ends when all threads have ended.
func (h *Host) Go(name string, fn func(t *hdl.Thread, bus *host.Bus)) {
	h.live = append(h.live, h.K.Go(name, func(t *hdl.Thread) { fn(t, h.Machine.NewBus(t)) }))
}

// Run runs until all threads of both hosts have ended, at most limit cycles.
func (b *Bench) Run(limit uint64) error { return b.World.Run(b.Done, limit) }

// Done tells whether all threads have ended.
func (b *Bench) Done() bool {
	for _, h := range b.Hosts {
		for _, t := range h.live {
			if !t.Done() {
				return false
			}
		}
	}
	return true
}

// Close ends the bench.
func (b *Bench) Close() { b.World.Close() }

// splitFCS takes the FCS off a frame and tells whether it was wrong.
func splitFCS(f []byte) (data []byte, bad bool) {
	if len(f) < 4 {
		return f, true
	}
	data = f[:len(f)-4]
	return data, roce.FCS(data) != binary.LittleEndian.Uint32(f[len(f)-4:])
}
