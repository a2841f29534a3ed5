package dma

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

// Params are the sizes. Zero values stand for the defaults.
type Params struct {
	MaxPayload     int     // bytes of a write TLP, a power of two, 128..4096; 0: 256
	MaxReadRequest int     // bytes of a read TLP, a power of two, 128..4096; 0: 512
	Tags           int     // reads outstanding, MinTags..MaxTags; 0: MaxTags
	Timeout        uint64  // cycles until a read is given up, at least 2; 0: 2,500,000 (10 ms)
	ID             pcie.ID // of the requester
}

// Limits of Params.Tags. A beat may need the last line of one TLP and the first of
// the next, so each client may hold one tag while it waits for a second: one more
// than there are clients always lets one of them go on.
const (
	MinTags = port.ReadClients + 1
	MaxTags = 64
)

// DMA is the block: its four parts, with their ports, wired up.
type DMA struct {
	Read  Read
	Write [port.WriteClients]Write
	Tx    Tx
	Rx    Rx
}

// New makes the block. The reorder RAM has Tags x MaxReadRequest bytes, the
// buffer of each write client two TLPs.
func New(p Params) *DMA {
	hdl.Default(&p.MaxPayload, 256)
	hdl.Default(&p.MaxReadRequest, 512)
	hdl.Default(&p.Tags, MaxTags)
	p.Tags = min(max(p.Tags, MinTags), MaxTags)
	hdl.Default(&p.Timeout, 2_500_000)
	d := &DMA{}
	d.Read.init(&p)
	d.Rx.Carry.Init(1, hdl.WriteFirst)
	for c := range d.Write {
		d.Write[c].Params = p
		d.Write[c].Carry.Init(1, hdl.WriteFirst)
		hdl.Connect(&d.Write[c].TLP, &d.Tx.Write[c], 2*p.MaxPayload/port.BeatBytes)
	}
	hdl.Connect(&d.Read.TLP, &d.Tx.Read, 2)
	hdl.Connect(&d.Rx.Line, &d.Read.Line, 2)
	hdl.Wire(&d.Read.Count, &d.Tx.Count)
	return d
}

// line is an aligned 64-byte piece of host memory.
type line [port.BeatBytes]byte
