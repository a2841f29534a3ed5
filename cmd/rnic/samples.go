package main

import (
	"fmt"
	"slices"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/host"
	"rnic/tb/latency"
)

// sample is latencies of many messages, one at a time.
type sample struct {
	name, profile string
	op            abi.WQEOp
	mode          latency.Mode
	size, count   int
	cycles        []uint64 // in ascending order
}

// samples are what the bench draws; of the sweep also all profiles, and all sizes.
func (c *benchCmd) samples() []sample {
	s := []sample{
		{name: "jitter", profile: c.PcieProfile, op: abi.OpSend, mode: latency.Fetched, size: 8, count: 500},
		{name: "jitter", profile: c.PcieProfile, op: abi.OpRead, mode: latency.Pushed, size: 8, count: 500},
	}
	if !c.Sweep {
		return s
	}
	for _, p := range host.Profiles {
		s = append(s, sample{name: "distribution", profile: p.Name, op: abi.OpRead, mode: latency.Pushed, size: 8, count: 3000})
	}
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead} {
		for n := 2; n <= 1<<20; n *= 4 {
			s = append(s, sample{name: "latency by size", profile: "xeon-e5", op: op, mode: latency.Fetched, size: n, count: max(20, min(1000, 1<<21/n))})
		}
	}
	return s
}

// draw measures a sample.
func (s *sample) draw(c tb.Config, roundTrip int64) error {
	p, err := host.ProfileOf(s.profile)
	if err != nil {
		return err
	}
	c.Host.Read = p.Read(roundTrip)
	if s.cycles, err = latency.Sample(c, s.op, s.mode, s.size, s.count); err != nil {
		return fmt.Errorf("%s, %v of %d bytes, profile %s: %w", s.name, s.op, s.size, s.profile, err)
	}
	slices.Sort(s.cycles)
	return nil
}

// quantile is the least latency that so many of 1,000 messages do not exceed, ns.
func (s *sample) quantile(perMille int) float64 {
	i := (len(s.cycles)*perMille + 999) / 1000
	return ns(s.cycles[max(0, i-1)])
}

// row is the sample as a result.
func (s *sample) row() row {
	return row{
		Name: fmt.Sprintf("%s, %s", s.name, s.mode), Op: s.op.String(), Size: s.size, QPs: 1, MTU: 1024, Profile: s.profile,
		LatencyNs: s.quantile(500), P99Ns: s.quantile(990), P999Ns: s.quantile(999),
	}
}
