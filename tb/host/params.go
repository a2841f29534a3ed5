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

// Fault is how a read of the NIC goes wrong.
type Fault uint8

// Faults.
const (
	FaultNone   Fault = iota
	FaultUR           // unsupported request, perhaps after some data
	FaultCA           // completer abort, perhaps after some data
	FaultPoison       // one completion is poisoned
	FaultNever        // the rest of the data, or all of it, never comes
)

// Verdict is what shall happen to a read: Fault, and Delay more cycles.
type Verdict struct {
	Fault Fault
	Delay uint64
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
	// Fault, if set, is asked for each read TLP when it reaches memory.
	Fault func(read *pcie.TLP) Verdict
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
