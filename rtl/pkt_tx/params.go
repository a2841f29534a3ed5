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

	// ResponseBurst is the most responses in a row while a request is ready.
	ResponseBurst = 4

	minBeats = 66 // payload beats of the longest packet
)

// Params are the choices of a transmitter. Zero fields take their default.
type Params struct {
	PayloadBeats uint16 // beats of the payload buffer; 512, which is 32 KiB; at least 66
	Packets      int    // requests between their lookup in mpt and their frame, at most 100; 64
	Asked        int    // packets that wait for qpc, or for Translate or Send, at most 100; 16
}

func (p *Params) defaults() {
	if p.PayloadBeats == 0 {
		p.PayloadBeats = 512
	}
	p.PayloadBeats = max(p.PayloadBeats, minBeats)
	if p.Packets == 0 {
		p.Packets = 64
	}
	p.Packets = min(max(p.Packets, 2), maxWaiting)
	if p.Asked == 0 {
		p.Asked = 16
	}
	p.Asked = min(max(p.Asked, 2), maxWaiting)
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
	hdl.Connect(&t.Ask.request, &t.Translate.in, p.Asked)
	hdl.Connect(&t.Ask.response, &t.Send.response, p.Asked)
	hdl.Connect(&t.Ask.answer, &t.Send.answer, 2)
	hdl.Connect(&t.Translate.out, &t.Send.request, p.Packets)
	hdl.Connect(&t.Translate.ops, &t.Load.ops, MptDepth)
	hdl.Connect(&t.Load.land, &t.Buffer.land, p.Packets)
	hdl.Connect(&t.Buffer.fullOut, &t.Buffer.fullIn, p.Packets)
	hdl.Connect(&t.Buffer.chunks, &t.Send.chunks, 4)
	hdl.Connect(&t.Send.again, &t.Ask.again, 2)
	hdl.Connect(&t.Send.out, &t.Seal.in, 2)
	hdl.Wire(&t.Send.epoch, &t.Ask.epoch)
	hdl.Wire(&t.Buffer.released, &t.Load.released)
	t.Load.beats = p.PayloadBeats
	t.Buffer.beats = p.PayloadBeats
	t.Buffer.payload.Init(int(p.PayloadBeats), hdl.WriteFirst)
	return t
}
