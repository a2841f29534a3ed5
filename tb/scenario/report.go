package scenario

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/hang"
)

// Report is what came of a run, and its JSON form.
type Report struct {
	Scenario string   `json:"scenario"` // file
	Pass     bool     `json:"pass"`
	Checks   []Check  `json:"checks"`
	Packets  []Passed `json:"packets"` // that left the NICs, in order
	Faults   []Struck `json:"faults"`
	SimNs    float64  `json:"sim_ns"` // from time 0 to the end
	Cycles   uint64   `json:"cycles"` // of the whole run
	Seed     uint64   `json:"seed"`
	Files    []string `json:"files"`
	WallS    float64  `json:"wall_s"`

	Digest uint64     `json:"-"` // of both kernels, with Options.Digest
	Hang   *hang.Hang `json:"-"` // why there was no end within the time limit, if a work request was open
}

// Check is one thing that was judged.
type Check struct {
	Group string `json:"group"` // as the keys of expect, or "always"
	Line  int    `json:"line,omitempty"`
	What  string `json:"what"`
	Want  string `json:"expected"`
	Got   string `json:"came"`
	Pass  bool   `json:"pass"`
}

// Passed is a packet that has left a NIC.
type Passed struct {
	Ns     float64 `json:"ns"` // since time 0
	Host   string  `json:"host"`
	QP     string  `json:"qp"`
	Packet string  `json:"packet"`
}

// Struck is what came of a fault at a host.
type Struck struct {
	Fault   string `json:"fault"`
	Host    string `json:"host"`
	Matched uint64 `json:"matched"`
	Struck  uint64 `json:"struck"`
}

// add adds a check.
func (p *Report) add(group string, line int, what, want, got string, pass bool) {
	p.Checks = append(p.Checks, Check{group, line, what, want, got, pass})
	p.Pass = p.Pass && pass
}

// Failed counts the checks that failed.
func (p *Report) Failed() (n int) {
	for i := range p.Checks {
		if !p.Checks[i].Pass {
			n++
		}
	}
	return n
}

// trace is how many packets a table shows.
const trace = 100

// Table writes the report for people: each check, and of a failed run the packets.
func (p *Report) Table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	group := ""
	for i := range p.Checks {
		c := &p.Checks[i]
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(w, "%s\n", group)
		}
		if c.Pass {
			fmt.Fprintf(w, "  PASS\t%s\t%s\n", c.What, c.Got)
			continue
		}
		where := ""
		if c.Line > 0 {
			where = fmt.Sprintf(" (line %d)", c.Line)
		}
		fmt.Fprintf(w, "  FAIL\t%s%s\texpected %s\n\t\tcame     %s\n", c.What, where, c.Want, strings.ReplaceAll(c.Got, "\n", "\n\t\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !p.Pass {
		fmt.Fprint(w, "\npackets, as they left the NICs\n")
		for i := range p.Packets[:min(trace, len(p.Packets))] {
			x := &p.Packets[i]
			fmt.Fprintf(w, "  %.3f us\t%s\t%s\t%s\n", x.Ns/1000, x.Host, x.QP, x.Packet)
		}
		if n := len(p.Packets) - trace; n > 0 {
			fmt.Fprintf(w, "  and %d more\n", n)
		}
	}
	verdict := "PASS"
	if !p.Pass {
		verdict = fmt.Sprintf("FAIL, %d of %d checks", p.Failed(), len(p.Checks))
	}
	fmt.Fprintf(w, "\nsimulated time\t%.3f us\n", p.SimNs/1000)
	fmt.Fprintf(w, "packets\t%d\n", len(p.Packets))
	for _, f := range p.Files {
		fmt.Fprintf(w, "wrote\t%s\n", f)
	}
	fmt.Fprintf(w, "%s\t%s\n", p.Scenario, verdict)
	return w.Flush()
}

// ns is a time since time 0.
func (r *run) ns(ps int64) float64 { return float64(ps-int64(r.start)*tb.PeriodPs) / 1000 }

// nsOf is ns in whole nanoseconds, 0 for what was before.
func (r *run) nsOf(ps int64) uint64 { return uint64(max(0, ps-int64(r.start)*tb.PeriodPs) / 1000) }

// describe names a packet.
func (r *run) describe(x *sent) string {
	if x.bad != nil {
		return x.bad.Error()
	}
	q := r.sender(x)
	l := []string{strings.ToLower(strings.TrimPrefix(x.BTH.Opcode.String(), "RC_")), fmt.Sprintf("psn %d", x.BTH.PSN)}
	if q != nil {
		l = append(l, fmt.Sprintf("(+%d)", x.BTH.PSN.Diff(first(q, x))))
	}
	if x.BTH.Opcode.HasAETH() {
		l = append(l, strings.ToLower(x.AETH.Syndrome.String()), fmt.Sprintf("msn %d", x.AETH.MSN))
	}
	if x.BTH.Opcode.HasRETH() {
		l = append(l, fmt.Sprintf("length %d", x.RETH.Length))
	}
	if x.BTH.Opcode.HasImm() {
		l = append(l, fmt.Sprintf("imm %#x", uint32(x.Imm.Imm)))
	}
	if x.payload > 0 {
		l = append(l, fmt.Sprintf("%d bytes", x.payload))
	}
	if x.BTH.AckReq {
		l = append(l, "ack_req")
	}
	return strings.Join(l, " ")
}

// sender is the QP that has sent a packet; nil: none of the file.
func (r *run) sender(x *sent) *QP {
	other := r.sides[1-x.host]
	for i, q := range other.qps {
		if q != nil && q.Number() == uint32(x.BTH.DestQP) {
			return r.s.QPs[i].peer
		}
	}
	return nil
}

// first is the first PSN of the requester of a packet that q has sent.
func first(q *QP, x *sent) roce.PSN {
	if x.BTH.Opcode.IsRequest() {
		return roce.PSN(q.PSN)
	}
	return roce.PSN(q.peer.PSN)
}
