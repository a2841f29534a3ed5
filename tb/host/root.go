package host

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"rnic/hdl"
	"rnic/pcie"
)

// RootComplex is the host's end of the PCIe link.
type RootComplex struct {
	hdl.Behave
	FromNIC hdl.In[pcie.Beat]
	ToNIC   hdl.Out[pcie.Beat]

	Params Params
	Mem    *Memory
	Stats  Stats
	// OnWrite, if set, sees each write of the NIC right after it landed, MSI-X
	// messages too.
	OnWrite func(cycle uint64, addr uint64, data []byte)
	// OnFault, if set, sees each read and write of the NIC that a Fault strikes, with the
	// cycle in which its first beat came.
	OnFault func(cycle uint64, t *pcie.TLP, v Verdict)

	rng     *rand.Rand
	vectors []vector
	mmioLat int64
	free    []*packet // to use again

	stopped uint64 // until then the host takes and completes nothing, cycle

	up        link
	receiving *packet
	landing   queue[*packet] // in order of due
	tags      [256]bool      // reads of the NIC that are not answered in full
	asked     [256]OpenRead  // by tag, the last one
	open      int            // of them set

	down    link
	sending *packet
	posted  queue[*packet] // MMIO requests, in order of due
	reads   []*packet      // of the NIC, by due: when their first completion may leave
	ready   []*packet      // of them, those that are due
	inject  queue[*packet]

	mmio [mmioTags]mmioRead
	room hdl.Event // space among posted, or a tag of mmio
}

// Stats count what crossed the link.
type Stats struct {
	UpTLPs, UpBytes     uint64 // of the NIC, bytes as on the link
	DownTLPs, DownBytes uint64
	Reads, Writes       uint64 // of the NIC
	Messages            uint64 // MSI-X
	Stray               uint64 // writes outside memory, a message of no vector, or a fault: lost
	MaxReads            int    // most reads outstanding
}

// packet is a TLP on its way.
type packet struct {
	hdr  pcie.TLP
	data []byte
	at   uint64 // cycle in which it was made, or taken
	came uint64 // of the NIC: cycle of its first beat
	due  uint64 // cycle in which it gets where it goes
	sent int    // bytes that went on

	verdict Fault       // a read's or a write's
	status  pcie.Status // of its failure
}

func (r *RootComplex) init(p Params, m *Memory) {
	p.defaults()
	r.Params, r.Mem = p, m
	h := fnv.New64a()
	h.Write([]byte("root_complex"))
	r.rng = rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	r.up.rate, r.down.rate = uint64(p.LinkBytes), uint64(p.LinkBytes)
	r.vectors = make([]vector, p.Vectors)
	for v := range r.vectors {
		r.vectors[v].fired.Name = fmt.Sprintf("interrupt %d", v)
	}
	r.room.Name = "room for a register access"
	r.mmioLat = p.MMIO(r.rng)
}

// cycles rounds a duration up.
func (r *RootComplex) cycles(ps int64) uint64 {
	return uint64((ps + r.Params.PeriodPs - 1) / r.Params.PeriodPs)
}

// Tick moves both links and lets land what is due.
func (r *RootComplex) Tick() {
	now := r.Now()
	r.receive(now)
	r.land(now)
	r.transmit(now)
	r.alarm(now)
}

// alarm asks to be woken for what is known to come.
func (r *RootComplex) alarm(now uint64) {
	if r.FromNIC.Valid() {
		r.WakeAt(max(now+1, r.up.next(), r.stopped))
	}
	if p := r.landing.head(); p != nil {
		r.WakeAt((*p).due)
	}
	if !r.ToNIC.Ready() {
		return // its commit wakes
	}
	at := ^uint64(0)
	if p := r.posted.head(); p != nil {
		at = (*p).due
	}
	if len(r.reads) > 0 {
		at = min(at, max(r.reads[0].due, r.stopped))
	}
	if len(r.ready) > 0 {
		at = min(at, max(now+1, r.stopped))
	}
	if r.sending != nil || r.inject.len() > 0 {
		at = now + 1
	}
	if at != ^uint64(0) {
		r.WakeAt(max(now+1, r.down.next(), at))
	}
}

// stop has the host stand still for so many cycles.
func (r *RootComplex) stop(cycles uint64) {
	if cycles > 0 {
		r.stopped = max(r.stopped, r.Now()+cycles)
	}
}

// packet is an empty one, perhaps a used one.
func (r *RootComplex) packet(h pcie.TLP) *packet {
	p := &packet{}
	if n := len(r.free); n > 0 {
		p, r.free = r.free[n-1], r.free[:n-1]
	}
	*p = packet{hdr: h, data: p.data[:0], at: r.Now()}
	return p
}

func (r *RootComplex) done(p *packet) { r.free = append(r.free, p) }

// Outstanding tells what has not come to an end: for the end of a test.
func (r *RootComplex) Outstanding() error {
	n := r.landing.len() + r.posted.len() + r.inject.len() + r.open
	if n > 0 || r.receiving != nil || r.sending != nil {
		return fmt.Errorf("root complex: %d TLPs or reads outstanding", n)
	}
	return nil
}
