package pkttx

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

const (
	beatBytes = port.BeatBytes

	// MptDepth is how deep MptRes is to be connected: the most lookups that are
	// under way or wait to be used.
	MptDepth = 8

	// ResponseBurst is the most frames of the fast lane in a row while the other
	// one is ready.
	ResponseBurst = 4

	minBeats = 66 // payload beats of the longest packet
)

// Params are the choices of a transmitter. Zero fields take their default.
type Params struct {
	LogQP        uint   // log2 of the QPs; 10
	PayloadBeats uint16 // beats of the payload buffer; 512, which is 32 KiB; at least 66
	Packets      int    // packets between their lookup in mpt and their frame, at most 100; 64
	Asked        int    // packets that wait for qpc, or for Translate or Send, at most 100; 16
	PcieBytes    int    // bytes a cycle that PCIe brings, headers of completions included; 63
}

func (p *Params) defaults() {
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.PayloadBeats, 512)
	p.PayloadBeats = max(p.PayloadBeats, minBeats)
	hdl.Default(&p.Packets, 64)
	p.Packets = min(max(p.Packets, 2), maxWaiting)
	hdl.Default(&p.PcieBytes, 63)
	hdl.Default(&p.Asked, 16)
	p.Asked = min(max(p.Asked, 2), maxWaiting)
}

// RespFaultDepth is how deep RespFault is to be connected: each QP may have one,
// and those of QPs that are being reset are taken before the QP's next life.
func (p Params) RespFaultDepth() int {
	p.defaults()
	return 1<<p.LogQP + 2
}

// TX is the block.
type TX struct {
	Ask       Ask
	Translate Translate
	Load      Load
	Buffer    Buffer
	Send      Send
	Seal      Seal
}

// maxWaiting is the most of Packets and of Asked: so few that the epoch does not come
// round while a packet waits.
const maxWaiting = 100

// New makes a transmitter.
func New(p Params) *TX {
	p.defaults()
	t := &TX{}
	hdl.Connect(&t.Ask.pendOut, &t.Ask.pendIn, p.Asked)
	hdl.Connect(&t.Ask.payload, &t.Translate.in, p.Asked)
	hdl.Connect(&t.Ask.fast, &t.Send.fast, p.Asked)
	hdl.Connect(&t.Ask.answer, &t.Send.answer, 2)
	hdl.Connect(&t.Translate.out, &t.Send.payload, p.Packets)
	hdl.Connect(&t.Translate.ops, &t.Load.ops, MptDepth)
	hdl.Connect(&t.Load.land, &t.Buffer.land, p.Packets)
	hdl.Connect(&t.Buffer.fullOut, &t.Buffer.fullIn, p.Packets)
	hdl.Connect(&t.Buffer.chunks, &t.Send.chunks, 4)
	hdl.Connect(&t.Send.again, &t.Ask.again, 2)
	hdl.Connect(&t.Send.old, &t.Load.old, 2)
	hdl.Connect(&t.Send.out, &t.Seal.in, 2)
	hdl.Wire(&t.Send.epoch, &t.Ask.epoch)
	hdl.Wire(&t.Send.stales, &t.Ask.stales)
	hdl.Wire(&t.Send.gone, &t.Ask.gone)
	hdl.Wire(&t.Send.taken, &t.Buffer.taken)
	hdl.Wire(&t.Buffer.released, &t.Load.released)
	t.Load.beats = p.PayloadBeats
	t.Load.rate = uint32(p.PcieBytes)
	t.Buffer.beats = p.PayloadBeats
	t.Buffer.payload.Init(int(p.PayloadBeats), hdl.WriteFirst)
	t.Ask.Last.Init(1<<p.LogQP, hdl.WriteFirst)
	t.Send.Mute.Init(1<<p.LogQP, hdl.WriteFirst)
	t.Send.fence.Gens.Init(1<<p.LogQP, hdl.WriteFirst)
	t.Load.fence.Gens.Init(1<<p.LogQP, hdl.WriteFirst)
	return t
}
