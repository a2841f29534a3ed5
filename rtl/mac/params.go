package mac

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Params are the choices of a MAC. Zero fields take their default.
type Params struct {
	// RateNum/RateDen is the link rate in bits per nanosecond, so in Gb/s; 100/1.
	RateNum, RateDen uint32
	PeriodPs         uint32 // of the clock; 4000
	// MaxFrame is the longest frame taken from the wire, bytes with FCS; 4216: an
	// MTU of 4096 with the longest headers, and a VLAN tag.
	MaxFrame uint16
}

func (p *Params) defaults() {
	hdl.Default(&p.RateNum, 100)
	hdl.Default(&p.RateDen, 1)
	hdl.Default(&p.PeriodPs, 4000)
	hdl.Default(&p.MaxFrame, 4216)
}

// pace is the link rate in integers: what a cycle carries and what a byte costs,
// in the same unit, the largest that both are multiples of.
func (p *Params) pace() (cycle, byteCost int64) {
	cycle = int64(p.RateNum) * int64(p.PeriodPs)
	byteCost = 8 * 1000 * int64(p.RateDen)
	g := gcd(cycle, byteCost)
	return cycle / g, byteCost / g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// MAC is both directions of the port.
type MAC struct {
	Transmit Transmit
	Receive  Receive
	Loop     Loop
}

// TxIn takes frames for the wire.
func (m *MAC) TxIn() *hdl.In[port.EthBeat] { return &m.Transmit.TxIn }

// RxOut has frames from the wire.
func (m *MAC) RxOut() *hdl.Out[port.EthBeat] { return &m.Receive.RxOut }

// New makes a MAC.
func New(p Params) *MAC {
	p.defaults()
	m := &MAC{}
	m.Transmit.cycle, m.Transmit.byteCost = p.pace()
	m.Receive.maxFrame = p.MaxFrame
	m.Receive.hold.Init(1, hdl.WriteFirst)
	longest := (int(p.MaxFrame) + beatBytes - 1) / beatBytes
	m.Receive.late.Init(longest, hdl.WriteFirst)
	m.Loop.maxFrame = p.MaxFrame - roce.FCSSize
	m.Loop.store.Init(2*longest, hdl.ReadFirst)
	hdl.Connect(&m.Transmit.loop, &m.Loop.in, 2)
	hdl.Connect(&m.Loop.out, &m.Receive.loop, 2)
	hdl.Wire(&m.Loop.own, &m.Transmit.own)
	return m
}

const (
	beatBytes = port.BeatBytes
	minFrame  = 64 // with FCS (IEEE 802.3, clause 4.2.3)
	gapBytes  = 20 // interpacket gap of 12, preamble and start delimiter of 8
)

// after is the place behind one of a ring, which need not be a power of two long.
func after(at uint16, depth int) uint16 {
	if int(at)+1 == depth {
		return 0
	}
	return at + 1
}
