package dma

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

// readCount is what Read counts.
type readCount struct {
	Errors     uint64 // completions with an error status or poisoned, timeouts
	Unexpected uint64 // completions of no outstanding read
}

// tag is what is known of a read TLP that is under way.
type tag struct {
	Left  pcie.ByteCount // bytes to come
	Lower pcie.LowerAddr // of the next of them
	Base  uint8          // its first line, modulo those of a tag
	Lines uint8          // lines that have come
}

type readRegs struct {
	Ask  [port.ReadClients]cursor // requests being cut
	Turn uint8                    // client whose TLP was the last

	// A bit a tag.
	Busy    uint64 // from issue until its last line was read
	Open    uint64 // data is awaited
	Bad     uint64 // failed
	Late    uint64 // timed out, in quarantine
	Old     uint64 // Open was set at the last tick
	LateOld uint64 // Late was set at the last eighth tick
	Tick    uint8
	Tags    [MaxTags]tag
	LastTag uint8

	Taking bool     // within a completion that is accepted
	Take   pcie.Tag // its tag

	Get  [port.ReadClients]reader
	Beat fetch
	Pick uint8 // client whose beat was the last

	Count readCount
}

// Read executes the reads of all clients.
type Read struct {
	Req  [port.ReadClients]hdl.In[port.ReadReq]
	Data [port.ReadClients]hdl.Out[port.ReadBeat]
	TLP  hdl.Out[pcie.TLP]
	Line hdl.In[cplLine]

	// The TLPs of a client in order, from cut to deliver.
	Issued [port.ReadClients]hdl.Out[piece]
	Queue  [port.ReadClients]hdl.In[piece]

	// Bank is the reorder RAM, even lines and odd ones. Port 0 writes, 1 reads.
	Bank  [2]hdl.RAM[line]
	Count hdl.Sig[readCount]

	Params Params

	hdl.Regs[readRegs]
}

func (r *Read) init(p *Params) {
	r.Params = *p
	for b := range r.Bank {
		r.Bank[b].Init(p.Tags*r.lines()/2, hdl.NoChange)
	}
	for c := range r.Issued {
		hdl.Connect(&r.Issued[c], &r.Queue[c], max(2, p.Tags))
	}
}

// lines is the number of lines that a tag owns, a power of two from 2 on.
func (r *Read) lines() int { return r.Params.MaxReadRequest / port.BeatBytes }

// slot is the bank and address of line i of a tag, whose lines lie in the RAM as
// in host memory: two neighbours are in different banks.
func (r *Read) slot(tag, i int) (bank, addr int) {
	i &= r.lines() - 1
	return i & 1, tag*r.lines()/2 + i/2
}

// Eval runs the three stages, each on the present state, and the clock of the
// completion timeout.
func (r *Read) Eval() {
	r.deliver()
	r.fill()
	r.tick()
	r.cut()
	if r.Q.Count != r.Count.Get() {
		r.Count.Set(r.Q.Count)
	}
}
