package dma

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

// Sources of TLPs, in round robin: the write clients come first.
const (
	txRead = port.WriteClients + iota
	txMmio
)

type txRegs struct {
	Busy  bool // within a TLP of source Last
	Last  uint8
	Count port.DmaStats // but for ReadErrors
}

// Tx is the posted queue's entrance: it merges whole TLPs into one stream.
type Tx struct {
	Write   [port.WriteClients]hdl.In[writeBeat]
	Read    hdl.In[pcie.TLP]
	MmioCpl hdl.In[pcie.Beat] // completions of MMIO reads, from csr
	Count   hdl.Tap[readCount]

	Pcie  hdl.Out[pcie.Beat]
	Done  [port.WriteClients]hdl.Out[port.WriteDone]
	Stats hdl.Sig[port.DmaStats]

	hdl.Regs[txRegs]
}

// Eval sends one beat.
func (t *Tx) Eval() {
	if t.Pcie.Ready() {
		if t.Q.Busy {
			t.send(int(t.Q.Last))
		} else if s := hdl.RoundRobin(t.ready(), int(t.Q.Last)); s >= 0 {
			t.send(s)
		}
	}
	s := t.Q.Count
	s.ReadErrors = t.Count.Get().Errors
	if s != t.Stats.Get() {
		t.Stats.Set(s)
	}
}

// ready has a bit for each source with a whole TLP, and with room for its
// WriteDone.
func (t *Tx) ready() (set uint64) {
	for c := range t.Write {
		in := &t.Write[c]
		if !in.Valid() {
			continue
		}
		b := in.Head()
		beats := (b.Hdr.Bytes() + port.BeatBytes - 1) / port.BeatBytes
		if in.Len() >= beats && (!b.Notify || t.Done[c].Ready()) {
			set |= 1 << c
		}
	}
	if t.Read.Valid() {
		set |= 1 << txRead
	}
	if t.MmioCpl.Valid() {
		set |= 1 << txMmio
	}
	return set
}

// send moves a beat of source s.
func (t *Tx) send(s int) {
	d := &t.D
	d.Last = uint8(s)
	switch s {
	case txRead:
		b := t.Pcie.Next()
		*b = pcie.Beat{Hdr: *t.Read.Take(), First: true, Last: true}
		d.Count.Reads++
		d.Count.ReadBytes += uint64(b.Hdr.Bytes())
		d.Busy = false
	case txMmio:
		if !t.MmioCpl.Valid() {
			return
		}
		b := t.MmioCpl.Take()
		t.Pcie.Put(*b)
		d.Busy = !b.Last
	default:
		b := t.Write[s].Take()
		t.Pcie.Put(b.Beat)
		if b.First {
			d.Count.Writes++
			d.Count.WriteBytes += uint64(b.Hdr.Bytes())
		}
		if b.Last && b.Notify {
			t.Done[s].Put(port.WriteDone{})
		}
		d.Busy = !b.Last
	}
}
