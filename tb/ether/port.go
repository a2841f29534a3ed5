package ether

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/tb"
)

// bytesPerCycle is what the wire carries, at 100 Gb/s; gap the bytes of preamble
// and gap of a frame.
const (
	bytesPerCycle = 100_000 * tb.PeriodPs / 8_000_000
	gap           = 20
)

// never is a cycle that no run reaches: 12 days of simulated time.
const never = 1 << 48

// Port is the end of the wire inside the simulation. Frames from outside arrive in
// their order, at the pace of the wire.
type Port struct {
	hdl.Behave
	FromNIC hdl.In[port.EthBeat]
	ToNIC   hdl.Out[port.EthBeat]

	taps   []tb.Tap
	tx     []byte   // of the NIC, being assembled
	began  [2]int64 // ps of the first beats: of what comes in, of tx
	rx     []byte   // to the NIC, FCS included
	at     int      // bytes of rx that have arrived
	queue  [][]byte
	silent uint64   // cycle at which the next frame may begin
	out    [][]byte // have left, without FCS
	armed  bool
}

// arrive has a frame, without FCS, come from outside. A sender pads what is too
// short for Ethernet; virtual machines leave that out.
func (p *Port) arrive(frame []byte) {
	f := append([]byte(nil), frame...)
	for len(f) < roce.MinFrame {
		f = append(f, 0)
	}
	p.queue = append(p.queue, binary.LittleEndian.AppendUint32(f, roce.FCS(f)))
	p.WakeAt(p.Now() + 1)
}

// Tick moves at most one beat each way.
func (p *Port) Tick() {
	if !p.armed {
		p.armed = true
		p.WakeAt(never) // waiting for the world outside is no deadlock
	}
	if p.FromNIC.Valid() {
		b := p.FromNIC.Take()
		if len(p.tx) == 0 {
			p.began[1] = int64(p.Now()) * tb.PeriodPs
		}
		p.tx = append(p.tx, b.Data[:b.Len]...)
		if b.Last {
			p.sent(b.Bad)
		}
	}
	p.receive()
}

// sent ends a frame of the NIC.
func (p *Port) sent(bad bool) {
	n := max(0, len(p.tx)-4)
	data := p.tx[:n:n]
	bad = bad || n == 0 || roce.FCS(data) != binary.LittleEndian.Uint32(p.tx[n:])
	p.tx = nil
	p.show(data, true, bad)
	if !bad {
		p.out = append(p.out, data)
	}
}

// receive gives the NIC the next beat.
func (p *Port) receive() {
	now := p.Now()
	if p.rx == nil && len(p.queue) > 0 && now >= p.silent {
		p.rx, p.at, p.queue = p.queue[0], 0, p.queue[1:]
		p.silent = now + uint64(len(p.rx)+gap)/bytesPerCycle + 1
	}
	if p.rx != nil {
		if !p.ToNIC.Ready() {
			p.Fail("the MAC does not keep up with the wire")
		}
		if p.at == 0 {
			p.began[0] = int64(now) * tb.PeriodPs
		}
		var b port.EthBeat
		b.Len = uint8(copy(b.Data[:], p.rx[p.at:]))
		p.at += int(b.Len)
		b.Last = p.at == len(p.rx)
		p.ToNIC.Put(b)
		if b.Last {
			p.show(p.rx[:len(p.rx)-4], false, false)
			p.rx = nil
		}
	}
	switch {
	case p.rx != nil:
		p.WakeAt(now + 1)
	case len(p.queue) > 0:
		p.WakeAt(max(now+1, p.silent))
	}
}

func (p *Port) show(data []byte, tx, bad bool) {
	began := p.began[0]
	if tx {
		began = p.began[1]
	}
	for _, t := range p.taps {
		t(tb.Frame{TimePs: int64(p.Now()) * tb.PeriodPs, BeganPs: began, Tx: tx, BadFCS: bad, Data: data})
	}
}
