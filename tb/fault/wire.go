package fault

import (
	"rnic/roce"
	"rnic/tb"
)

// flow is the packets of one kind to one QP.
type flow struct {
	qp     roce.QPN
	answer bool
}

// judge is the tb.Fault of a host: the first strike that wants the frame has it.
func (h *half) judge(f tb.Frame) (v tb.Verdict) {
	ps := f.TimePs - h.start
	if !h.on {
		return v
	}
	p, err := roce.ParseFrame(f.Data)
	known := err == nil && !f.BadFCS
	if known {
		h.note(&p)
	}
	struck := false
	for _, s := range h.wire {
		if !s.open(ps) || !h.matches(s.spec, &p, known, f.Data) {
			continue
		}
		var t target
		if s.spec.Action == Corrupt {
			ok := false
			if t, ok = s.spec.Change.find(&p, known, f.Data, s.rng.IntN); !ok {
				continue
			}
		}
		if s.wants() && !struck {
			struck = true
			s.fired++
			v = s.spec.verdict(&p, f.Data, t)
			v.Name = s.spec.String()
		}
	}
	return v
}

// note remembers the first PSN of each flow.
func (h *half) note(p *roce.Packet) {
	k := flow{p.BTH.DestQP, !p.BTH.Opcode.IsRequest()}
	if _, ok := h.first[k]; !ok {
		h.first[k] = p.BTH.PSN
	}
}

// matches tells whether the spec means the frame. One that says nothing of packets
// means every frame.
func (h *half) matches(s *Spec, p *roce.Packet, known bool, data []byte) bool {
	if s.Action == Truncate && (s.Bytes >= len(data) || -s.Bytes >= len(data)) {
		return false
	}
	if s.Kinds == 0 && s.Except == 0 && s.Places == 0 && !s.QP.Set && !s.PSN.Set {
		return true
	}
	psn := s.PSN.N
	if s.PSN.Relative {
		psn = psn.Add(uint32(h.first[flow{p.BTH.DestQP, !p.BTH.Opcode.IsRequest()}]))
	}
	switch {
	case !known,
		s.Kinds != 0 && !s.Kinds.has(p),
		s.Except.has(p),
		s.Places != 0 && !s.Places.has(p.BTH.Opcode),
		s.QP.Set && p.BTH.DestQP != s.QP.N,
		s.PSN.Set && p.BTH.PSN != psn:
		return false
	}
	return true
}

// verdict is what becomes of a frame that is struck.
func (s *Spec) verdict(p *roce.Packet, data []byte, t target) tb.Verdict {
	switch s.Action {
	case Drop:
		return tb.Verdict{Drop: true}
	case Duplicate:
		return tb.Verdict{Again: []uint64{tb.Cycles(s.Wait)}}
	case Reorder:
		return tb.Verdict{Pass: s.Frames}
	case Corrupt:
		return tb.Verdict{Data: s.Change.apply(p, data, t)}
	case Truncate:
		n := s.Bytes
		if n < 0 {
			n += len(data)
		}
		return tb.Verdict{Data: data[:n]}
	case BadFCS:
		return tb.Verdict{BadFCS: true}
	}
	return tb.Verdict{Delay: tb.Cycles(s.Wait)}
}
