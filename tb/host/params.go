package host

import (
	"math/rand/v2"

	"rnic/hdl"
	"rnic/pcie"
	"rnic/tb/agent"
)

// Addresses of the bus beside memory. The message window lies where a PC has it,
// and takes its bytes from memory.
const (
	MSIBase = 0xFEE0_0000      // MSI-X messages; the word written is the vector
	MSISize = 0x10_0000        // bytes
	BARBase = 0x0100_0000_0000 // BAR 0 of the NIC, beyond memory
)

// Latency draws a duration in picoseconds.
type Latency func(*rand.Rand) int64

// Constant is always ps.
func Constant(ps int64) Latency { return func(*rand.Rand) int64 { return ps } }

// Uniform lies between lo and hi, both included.
func Uniform(lo, hi int64) Latency {
	return func(r *rand.Rand) int64 { return lo + r.Int64N(hi-lo+1) }
}

// Split is how completions are cut.
type Split uint8

// Ways to cut completions.
const (
	SplitMax    Split = iota // as long as MaxPayload allows
	SplitRCB                 // at every multiple of 64 bytes
	SplitRandom              // any multiple of 64 bytes up to MaxPayload, by seed
)

// Fault is how a read or a write of the NIC goes wrong. A write has no answer: with
// UR, CA and Poison its data is lost, and the NIC is not told.
type Fault uint8

// Faults.
const (
	FaultNone   Fault = iota
	FaultUR           // unsupported request, perhaps after some data
	FaultCA           // completer abort, perhaps after some data
	FaultPoison       // one completion is poisoned
	FaultNever        // the rest of the data, or all of it, never comes; a write takes no harm
)

// Verdict is what shall happen to a read or a write: Fault, and Delay more cycles. A
// write that comes late holds up all that is behind it. For Stop cycles from now on
// the host takes nothing from the NIC, as if it gave no credits, and sends no
// completions; what the CPU writes still goes.
type Verdict struct {
	Fault Fault
	Delay uint64
	Stop  uint64
}

// Params describe the machine. Zero values stand for the defaults.
type Params struct {
	Seed           uint64
	PeriodPs       int64 // clock; 4,000
	LinkBytes      int   // a cycle, each way; 63 (Gen3 x16)
	MaxPayload     int   // bytes of a completion, and the most of a write of the NIC; 256
	MaxReadRequest int   // the most that the NIC may ask for; 512
	Vectors        int   // interrupt vectors; 64

	MMIO  Latency // CPU to NIC, and the answer back, one way; 250 ns, constant in a run
	Write Latency // NIC to memory; 250 ns
	Read  Latency // NIC's read to the start of its completion at the NIC; 500 ns

	Split   Split
	Shuffle bool // completions of all reads that are ready mix, by seed; else oldest read first

	// Up and Down hold back the two links.
	Up, Down agent.Throttle
	// Fault, if set, is asked for each read TLP when it reaches memory, and WriteFault
	// for each write TLP, MSI-X messages too, when the link has delivered it.
	Fault      func(read *pcie.TLP) Verdict
	WriteFault func(write *pcie.TLP) Verdict
	// MMIOTimeout is how long a CPU waits for the answer to a read; 50 us.
	MMIOTimeout int64
}

func (p *Params) defaults() {
	hdl.Default(&p.PeriodPs, 4000)
	hdl.Default(&p.LinkBytes, 63)
	hdl.Default(&p.MaxPayload, 256)
	hdl.Default(&p.MaxReadRequest, 512)
	hdl.Default(&p.Vectors, 64)
	hdl.Default(&p.MMIOTimeout, 50_000_000)
	for _, l := range []*Latency{&p.MMIO, &p.Write} {
		if *l == nil {
			*l = Constant(250_000)
		}
	}
	if p.Read == nil {
		p.Read = Constant(500_000)
	}
}
