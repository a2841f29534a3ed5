package fault

import (
	"rnic/pcie"
	"rnic/tb"
	"rnic/tb/host"
)

// tlp judges a read or a write of the NIC: the first strike that wants it has it.
func (h *half) tlp(t *pcie.TLP) (v host.Verdict) {
	if !h.on {
		return v
	}
	ps := int64(h.host.K.Cycle())*tb.PeriodPs - h.start
	struck := false
	for _, s := range h.pcie {
		if s.open(ps) && s.spec.means(t) && s.wants() && !struck {
			struck = true
			s.fired++
			v = s.spec.fate()
		}
	}
	return v
}

// means tells whether the spec means a TLP.
func (s *Spec) means(t *pcie.TLP) bool {
	if s.Read != s.Write && s.Read != (t.Kind == pcie.MRd) {
		return false
	}
	first := t.Start()
	last := first + uint64(max(1, t.Bytes())) - 1
	return (!s.Addr.Set || first <= s.Addr.Hi && last >= s.Addr.Lo) && (!s.Tag.Set || t.Kind == pcie.MRd && t.Tag == s.Tag.N)
}

// fate is what becomes of a TLP that is struck.
func (s *Spec) fate() host.Verdict {
	switch s.Action {
	case Delay:
		return host.Verdict{Delay: tb.Cycles(s.Wait)}
	case Stop:
		return host.Verdict{Stop: tb.Cycles(s.Wait)}
	}
	return host.Verdict{Fault: [...]host.Fault{
		UR: host.FaultUR, CA: host.FaultCA, Poison: host.FaultPoison, Never: host.FaultNever,
	}[s.Action]}
}
