package story

import (
	"fmt"
	"strings"

	"rnic/pcie"
	"rnic/tb/host"
)

// struckTLP is told of what a fault does to a read or a write of the NIC, whose first beat
// came in a cycle. Of many the first are kept.
func (s *side) struckTLP(cycle uint64, t *pcie.TLP, v host.Verdict) {
	if len(s.tlps) == s.r.limit {
		return
	}
	what := fmt.Sprintf("write of %d bytes to", t.Bytes())
	if t.Kind == pcie.MRd {
		what = fmt.Sprintf("read of %d bytes from", t.Bytes())
	}
	var l []string
	if f := v.Fault; f != host.FaultNone {
		l = append(l, fateOf(t.Kind == pcie.MRd, f))
	}
	if v.Delay > 0 {
		l = append(l, fmt.Sprintf("late by %d cycles", v.Delay))
	}
	if v.Stop > 0 {
		l = append(l, fmt.Sprintf("from then on the host takes nothing for %d cycles", v.Stop))
	}
	text := fmt.Sprintf("PCIe: a %s 0x%x: %s, by a fault", what, t.Start(), strings.Join(l, ", "))
	s.tlps = append(s.tlps, Event{at(cycle, s.name+".rc.from_nic.fire", "1"), text})
}

// fateOf is what a fault makes of a read, or of a write, which has no answer.
func fateOf(read bool, f host.Fault) string {
	switch {
	case !read && f == host.FaultNever:
		return "unharmed"
	case !read:
		return "its data is lost, and the NIC is not told"
	}
	return map[host.Fault]string{
		host.FaultUR: "answered as an unsupported request", host.FaultCA: "answered by completer abort",
		host.FaultPoison: "a completion is poisoned", host.FaultNever: "it is not answered",
	}[f]
}
