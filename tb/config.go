package tb

import (
	"time"

	"rnic/rtl"
	"rnic/tb/host"
)

// Config describes a bench. Zero values stand for the defaults.
type Config struct {
	Seed   uint64
	Strict bool   // random order of evaluation, nothing gated, every rule checked
	Order  uint64 // with Strict: seed of the order of evaluation
	Digest bool   // World.Digest covers all that ever happened

	NIC  rtl.Params  // of each host
	Host host.Params // of each host; Seed is set from Config.Seed

	// Insert, if set, may put modules of a test between the blocks of a NIC: it sees the
	// NIC of host 0 or 1 before its kernel is made, and returns a pointer to what it adds, or nil.
	Insert func(host int, nic *rtl.NIC) any

	LinkLatencyPs int64 // one way, at least 3 cycles; 300,000
	OOBLatencyPs  int64 // of out-of-band messages, at least LinkLatencyPs; 5,000,000
}

// PeriodPs is the clock period: 250 MHz. Period is the same as a duration.
const (
	PeriodPs = 4000
	Period   = PeriodPs / 1000 * time.Nanosecond
)

// Cycles is a time in clock cycles, rounded up.
func Cycles(d time.Duration) uint64 { return uint64((d + Period - 1) / Period) }

// Picoseconds is a time in ps.
func Picoseconds(d time.Duration) int64 { return d.Nanoseconds() * 1000 }

func (c *Config) defaults() {
	if c.LinkLatencyPs == 0 {
		c.LinkLatencyPs = 300_000
	}
	if c.OOBLatencyPs == 0 {
		c.OOBLatencyPs = 5_000_000
	}
	c.LinkLatencyPs = max(c.LinkLatencyPs, 3*PeriodPs)
	c.OOBLatencyPs = max(c.OOBLatencyPs, c.LinkLatencyPs)
	c.Host.PeriodPs = PeriodPs
}

// SetLink sets rate and latency of the wire.
func (c *Config) SetLink(gbps int, latencyPs int64) {
	c.NIC.Mac.RateNum, c.NIC.Mac.RateDen = uint32(gbps), 1
	c.LinkLatencyPs = latencyPs
}

// SetPCIe sets the one-way latency of PCIe: of register accesses, of posted
// writes, and of each half of a read.
func (c *Config) SetPCIe(latencyPs int64) {
	c.Host.MMIO, c.Host.Write = host.Constant(latencyPs), host.Constant(latencyPs)
	c.Host.Read = host.Constant(2 * latencyPs)
}
