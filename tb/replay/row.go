package replay

import (
	"fmt"
	"strings"

	"rnic/roce"
)

// Role is the model's.
type Role string

const (
	AsResponder Role = "responder"
	AsRequester Role = "requester"
)

// Verdict on a row.
type Verdict string

const (
	Same  Verdict = "same"
	Legal Verdict = "legal"
	Wrong Verdict = "wrong"
)

// Row is a line of the comparison: what the model was given, or a packet that was
// captured, or that the model sent, or both.
type Row struct {
	Given      string   `json:"given,omitempty"`
	GivenFrame int      `json:"given_frame,omitempty"`
	Lost       string   `json:"lost,omitempty"` // why what is in Given did not arrive
	Captured   string   `json:"captured,omitempty"`
	Frame      int      `json:"frame,omitempty"` // that Captured is
	Model      string   `json:"model,omitempty"`
	Verdict    Verdict  `json:"verdict,omitempty"` // "" of what is given alone
	Why        string   `json:"why,omitempty"`     // what is wrong
	Legal      []string `json:"legal,omitempty"`   // names of the legal differences
}

// Result is what came of a conversation in one role.
type Result struct {
	Role   Role     `json:"role"`
	Rows   []Row    `json:"rows"`
	Same   int      `json:"same"`
	Legal  int      `json:"legal"`
	Wrong  int      `json:"wrong"`
	Faults []string `json:"faults,omitempty"` // wrong things other than packets; counted in Wrong
	Done   []string `json:"done,omitempty"`   // how the work requests ended
}

// finding is what differs about a packet.
type finding struct{ legal, wrong []string }

func (f *finding) row(r *Row) {
	r.Legal, r.Why, r.Verdict = f.legal, strings.Join(f.wrong, ", "), Same
	switch {
	case len(f.wrong) > 0:
		r.Verdict = Wrong
	case len(f.legal) > 0:
		r.Verdict = Legal
	}
}

// judges say what is to be said of a packet that both have, or only one of them.
type judges struct {
	both  func(event int, m *roce.Packet) finding
	model func(s *Sent) finding
	miss  func(event int) finding
	posts map[int]string // what was posted before an event
}

// table puts everything in order. match leads from events to what the model sent.
func (c *Conversation) table(role Role, sent []Sent, match map[int]int, j judges) *Result {
	res := &Result{Role: role}
	matched := map[int]bool{}
	for _, k := range match {
		matched[k] = true
	}
	next := 0
	extras := func(before int) {
		for ; next < len(sent) && !matched[next] && sent[next].After < before; next++ {
			r := Row{Model: text(&sent[next].Packet)}
			f := j.model(&sent[next])
			f.row(&r)
			res.Rows = append(res.Rows, r)
		}
	}
	for i := range c.Events {
		e := &c.Events[i]
		extras(i)
		if e.Answer != (role == AsResponder) {
			res.Rows = append(res.Rows, Row{Given: text(&e.Packet), GivenFrame: e.Frame, Lost: e.Lost})
			continue
		}
		if p := j.posts[i]; p != "" {
			res.Rows = append(res.Rows, Row{Given: p})
		}
		r := Row{Captured: text(&e.Packet), Frame: e.Frame}
		f := finding{}
		if k, ok := match[i]; ok {
			extras(len(c.Events) + 1)
			next = max(next, k+1)
			r.Model = text(&sent[k].Packet)
			f = j.both(i, &sent[k].Packet)
		} else {
			f = j.miss(i)
		}
		f.row(&r)
		res.Rows = append(res.Rows, r)
	}
	extras(len(c.Events) + 1)
	res.count()
	return res
}

// count counts the rows.
func (r *Result) count() {
	for i := range r.Rows {
		switch r.Rows[i].Verdict {
		case Same:
			r.Same++
		case Legal:
			r.Legal++
		case Wrong:
			r.Wrong++
		}
	}
}

// text is a packet in a few words, as "SEND_ONLY 001000 64 B A": A asks for an
// acknowledgement, cr is the credit code of one.
func text(p *roce.Packet) string {
	op := p.BTH.Opcode
	s := fmt.Sprintf("%s %06x", strings.TrimPrefix(op.String(), "RC_"), uint32(p.BTH.PSN))
	if op == roce.RCAck && p.AETH.Syndrome.Kind() != roce.KindACK {
		s = fmt.Sprintf("%s %06x", p.AETH.Syndrome, uint32(p.BTH.PSN))
	}
	switch {
	case op.HasAtomicAckETH():
		s += fmt.Sprintf(" %#x", p.AtomicAckETH.Orig)
	case op.IsReadRequest():
		s += fmt.Sprintf(" %d B", p.RETH.Length)
	case op != roce.RCAck && !op.IsAtomic():
		s += fmt.Sprintf(" %d B", len(p.Payload))
	}
	if op.HasAETH() {
		s += fmt.Sprintf(" msn %d", uint32(p.AETH.MSN))
		if p.AETH.Syndrome.Kind() == roce.KindACK {
			s += fmt.Sprintf(" cr %d", p.AETH.Syndrome.Value())
		}
	}
	if p.BTH.AckReq {
		s += " A"
	}
	return s
}
