package scenario

import (
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
)

// expected is a completion that is expected of a step.
type expected struct {
	*Completion
	step *Step
}

// completions judges those of each queue, in order.
func (r *run) completions(p *Report) {
	for i, q := range r.s.QPs {
		for _, recv := range []bool{false, true} {
			var want []expected
			for _, c := range r.s.Expect.Completions {
				for _, w := range c.steps {
					if w.qp == q && w.kind().recv == recv {
						want = append(want, expected{c, w})
					}
				}
			}
			s := r.sides[q.Host]
			var got []*driver.WC
			for k := range s.came {
				if wc := &s.came[k]; wc.QPN == s.qps[i].Number() && wc.Opcode.IsRecv() == recv {
					got = append(got, wc)
				}
			}
			r.queue(p, want, got)
		}
	}
}

// queue judges the completions of a queue.
func (r *run) queue(p *Report, want []expected, got []*driver.WC) {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			x := &want[i]
			p.add("completions", x.Line, x.step.label(), x.text(), "none", false)
		case i >= len(want):
			p.add("completions", 0, r.s.Work[got[i].ID].label(), "none", r.wc(got[i]), false)
		default:
			x := &want[i]
			p.add("completions", x.Line, x.step.label(), x.text(), r.wc(got[i]), r.matches(x, got[i]))
		}
	}
}

// label names a step.
func (w *Step) label() string {
	if w.Name != "" {
		return w.Name
	}
	return fmt.Sprintf("the %s of line %d", w.kind().name, w.Line)
}

// opcode is what a completion in success must be about.
func (x *expected) opcode() abi.WCOpcode {
	switch o := x.step.kind(); {
	case x.Opcode >= 0:
		return abi.WCOpcode(x.Opcode)
	case o.recv:
		return abi.WCRecv
	default:
		return o.wqe.WCOpcode()
	}
}

// matches tells whether a completion is the expected one.
func (r *run) matches(x *expected, wc *driver.WC) bool {
	if wc.ID != uint64(x.step.index) || wc.Status != x.Status || x.Vendor >= 0 && int(wc.VendorErr) != x.Vendor || !x.At.has(r.made(wc)) {
		return false
	}
	if wc.Status != abi.StatusSuccess {
		return true
	}
	inv := x.inv != nil && wc.Imm == uint32(r.sides[x.inv.Host].region(x.inv).mr.RKey)
	return wc.Opcode == x.opcode() && x.Bytes.has(uint64(wc.ByteLen)) &&
		(wc.Flags&abi.CQEWithImm != 0) == x.Imm.Set && (!x.Imm.Set || x.Imm.has(uint64(wc.Imm))) &&
		(wc.Flags&abi.CQEWithInv != 0) == inv
}

// made is when the NIC made a completion, ns since time 0.
func (r *run) made(wc *driver.WC) uint64 { return r.nsOf(int64(wc.Timestamp) * tb.PeriodPs) }

// text says what is expected.
func (x *expected) text() string {
	l := []string{strings.ToLower(x.Status.String())}
	if x.Status == abi.StatusSuccess {
		l = append(l, strings.ToLower(x.opcode().String()))
	}
	if x.Bytes.Set {
		l = append(l, fmt.Sprintf("%d bytes", x.Bytes.Lo))
	}
	if x.Imm.Set {
		l = append(l, fmt.Sprintf("imm %#x", x.Imm.Lo))
	}
	if x.inv != nil {
		l = append(l, x.inv.Name+" invalidated")
	}
	if x.Vendor >= 0 {
		l = append(l, strings.ToLower(abi.VendorErr(x.Vendor).String()))
	}
	if x.At.Set {
		l = append(l, "at "+x.At.text(nanoseconds))
	}
	return strings.Join(l, ", ")
}

// wc says what came.
func (r *run) wc(wc *driver.WC) string {
	l := []string{fmt.Sprintf("%s: %s", r.s.Work[wc.ID].label(), strings.ToLower(wc.Status.String()))}
	if wc.Status != abi.StatusSuccess {
		l = append(l, strings.ToLower(wc.VendorErr.String()))
	} else {
		l = append(l, strings.ToLower(wc.Opcode.String()), fmt.Sprintf("%d bytes", wc.ByteLen))
		if wc.Flags&abi.CQEWithImm != 0 {
			l = append(l, fmt.Sprintf("imm %#x", wc.Imm))
		}
		if wc.Flags&abi.CQEWithInv != 0 {
			l = append(l, fmt.Sprintf("key %#x invalidated", wc.Imm))
		}
	}
	return strings.Join(l, ", ") + fmt.Sprintf(", at %.3f us", float64(r.made(wc))/1000)
}
