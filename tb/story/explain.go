package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Statement is a line of an explanation, with where it can be looked up; At.Signal is
// empty where it adds up others.
type Statement struct {
	Text string `json:"text"`
	At
}

// Explanation answers a question about a run.
type Explanation struct {
	Of         string      `json:"of"`
	Statements []Statement `json:"statements"`
}

func (e *Explanation) say(a At, format string, args ...any) {
	e.Statements = append(e.Statements, Statement{fmt.Sprintf(format, args...), a})
}

// order sorts what has a time.
func (e *Explanation) order() {
	slices.SortStableFunc(e.Statements, func(a, b Statement) int { return cmp.Compare(a.Ps, b.Ps) })
}

func (p *Packet) at() At { return At{p.Ps, p.Cycle, p.Signal, p.Value} }

// ExplainWR tells the way of a work request.
func (s *Story) ExplainWR(id int) (*Explanation, error) {
	w := s.WR(id)
	if w == nil {
		return nil, fmt.Errorf("no WR %d%s", id, s.known(len(s.WRs), s.Forgotten.WRs, "work requests"))
	}
	e := &Explanation{Of: w.Label() + ": " + cmp.Or(w.Status, "it has not ended")}
	if w.Vendor != "" && w.Vendor != "NONE" {
		e.Of += ", " + w.Vendor
	}
	before := int64(-1)
	for _, x := range w.Stages {
		took := ""
		if before >= 0 {
			took = fmt.Sprintf(", %s later", plural(int((x.Ps-before)/s.ClockPs), "cycle"))
		}
		before = x.Ps
		e.say(x.At, "%s%s", x.Name, took)
	}
	starved := s.starved(w)
	for _, x := range w.Waits {
		why := reason(x.For)
		if x.For == ForCredits && starved(x.FromPs) {
			why = "credits: the peer has no receive posted"
		}
		e.say(x.At, "waited %s for %s, from cycle %d to %d", plural(int((x.ToPs-x.FromPs)/s.ClockPs), "cycle"), why, x.FromPs/s.ClockPs, x.ToPs/s.ClockPs)
	}
	news := 0
	for _, id := range w.Packets {
		p := s.Packet(id)
		switch {
		case p == nil:
		case p.Cause == New && p.Fate == Delivered:
			news++
		default:
			e.say(p.at(), "%s", s.sentence(p))
		}
	}
	own := w.set()
	for _, p := range s.Packets {
		if (p.Cause == NAK || p.Cause == RNRNAK || lost(p)) && p.WR != w.ID && own[p.Because] {
			e.say(p.at(), "it is answered by %s", s.sentence(p))
		}
	}
	s.saySilence(e, w, s.EndPs+1)
	e.order()
	if news > 0 {
		were := "were"
		if news == 1 {
			were = "was"
		}
		e.say(At{}, "%s of it %s sent once and delivered", plural(news, "packet"), were)
	}
	if w.Tries > 1 {
		e.say(At{}, "one of its packets was sent %d times", w.Tries)
	}
	if w.open() && len(w.Stages) > 0 {
		e.Statements = append(e.Statements, s.unended(w))
		for _, l := range s.chain(w.Host, w.QPN) {
			e.say(At{}, "%s", l)
		}
	}
	return e, nil
}

// set is the packets of a work request.
func (w *WR) set() map[int]bool {
	m := make(map[int]bool, len(w.Packets))
	for _, id := range w.Packets {
		m[id] = true
	}
	return m
}

// reason is what a wait is for, in words.
func reason(what string) string {
	switch what {
	case ForWindow:
		return "room in the window: so many packets are not acknowledged"
	case ForCredits:
		return "credits: the last ACK that came gives no more"
	case ForFence:
		return "its fence: a READ or atomic before it is not over"
	case ForReadDepth:
		return "read depth: so many READs and atomics are not over"
	case ForRetryTimer:
		return "the retry timer"
	case ForRNRTimer:
		return "the RNR timer that the peer named"
	case ForAck:
		return "an acknowledgement"
	case ForPCIe:
		return "reads of host memory over PCIe"
	case ForWire:
		return "the line, which others had"
	case ForEntry:
		return "an entry of the outstanding table"
	}
	return what
}

// known says which IDs there are.
func (s *Story) known(n int, forgotten uint64, what string) string {
	text := fmt.Sprintf(": the story has %d %s, of even IDs at %s and odd ones at the other host", n, what, s.Hosts[0])
	if forgotten > 0 {
		text += fmt.Sprintf("; the oldest %d were not kept", forgotten)
	}
	return text
}

// sentence is a packet, its cause and its fate.
func (s *Story) sentence(p *Packet) string {
	text := p.Label() + ": " + p.Cause
	if b := s.Packet(p.Because); b != nil {
		text += " because of " + b.Label()
	} else if p.Because >= 0 {
		text += fmt.Sprintf(" because of packet %d, which was not kept", p.Because)
	}
	return text + "; " + p.Fate
}

// ExplainPacket tells who caused a packet, back to the first cause, and its fate.
func (s *Story) ExplainPacket(id int) (*Explanation, error) {
	p := s.Packet(id)
	if p == nil {
		return nil, fmt.Errorf("no packet %d%s", id, s.known(len(s.Packets), s.Forgotten.Packets, "packets"))
	}
	e := &Explanation{Of: p.Label() + " from " + p.Host + ": " + p.Cause + "; " + p.Fate}
	if w := s.WR(p.WR); w != nil && len(w.Stages) > 0 {
		e.say(w.Stages[0].At, "it belongs to %s, %s", w.Label(), w.Stages[0].Name)
	}
	chain, seen, left := []*Packet{}, map[int]bool{}, s.left()
	for ; p != nil && !seen[p.ID]; p = s.Packet(p.Because) {
		seen[p.ID] = true
		chain = append(chain, p)
	}
	said := map[Event]bool{} // of what two packets have in common, the one that was first has it
	for _, p := range slices.Backward(chain) {
		for _, x := range p.Why {
			if !said[x] {
				e.say(x.At, "packet %d: %s", p.ID, x.Text)
			}
			said[x] = true
		}
		e.say(p.at(), "%s leaves %s: %s", p.Label(), p.Host, p.Cause)
		g, what := s.gap(p), "what the NAK misses is"
		if g == nil {
			g, what = s.silent(p), "what the timer waits for ends with"
		}
		if g != nil {
			e.say(g.at(), "%s %s; %s", what, g.Label(), g.Fate)
			for _, x := range g.Why {
				if x.Ps > g.Ps && !said[x] {
					e.say(x.At, "packet %d: %s", g.ID, x.Text)
					said[x] = true
				}
			}
		} else if text := s.missing(p, left); text != "" {
			e.say(p.at(), "%s", text)
		} else if w := s.WR(p.WR); w != nil && p.Cause == AfterTimeout {
			s.saySilence(e, w, p.Ps)
		}
	}
	e.order()
	e.Statements = slices.Compact(e.Statements)
	return e, nil
}

// gap is the packet whose loss a sequence NAK tells of: the last one of the PSN before it.
func (s *Story) gap(nak *Packet) (g *Packet) {
	if !isSequenceNAK(nak) {
		return nil
	}
	because := s.Packet(nak.Because)
	for _, p := range s.Packets {
		if p.Ps >= nak.Ps || because == nil {
			break
		}
		if p.Host == because.Host && p.QPN == because.QPN && p.DestQPN == because.DestQPN && p.PSN == nak.PSN && p.Fate != Delivered {
			g = p
		}
	}
	return g
}

// lost tells whether a packet did not do what it was sent for.
func lost(p *Packet) bool {
	return p.Fate == DroppedOnWire || p.Fate == Corrupted || strings.HasPrefix(p.Fate, Dropped) || strings.HasPrefix(p.Fate, Refused)
}

// silent is the packet whose loss a timer tells of: the last one before it of its work
// request, or that answers one of those.
func (s *Story) silent(again *Packet) (g *Packet) {
	w := s.WR(again.WR)
	if again.Cause != AfterTimeout || w == nil {
		return nil
	}
	own := w.set()
	for _, p := range s.Packets {
		if p.Ps >= again.Ps {
			break
		}
		if lost(p) && (p.WR == w.ID || own[p.Because]) {
			g = p
		}
	}
	return g
}

// ExplainQP tells the story of a QP.
func (s *Story) ExplainQP(host string, qpn uint32) (*Explanation, error) {
	q := s.QP(host, qpn)
	if q == nil {
		return nil, fmt.Errorf("no QP %s:%d: the story has %s", host, qpn, s.qpNames())
	}
	e := &Explanation{Of: fmt.Sprintf("%s QP %d, %s, connected to QP %d", q.Host, q.QPN, q.Transport, q.Peer)}
	for _, x := range q.Events {
		e.say(x.At, "%s", x.Text)
	}
	causes, fates := map[string]int{}, map[string]int{}
	for _, p := range s.Packets {
		if p.Host != host || p.QPN != qpn {
			continue
		}
		causes[p.Cause]++
		fates[p.Fate]++
		if strings.HasPrefix(p.Cause, "retry") && causes[p.Cause] == 1 || p.Fate == DroppedOnWire || p.Fate == Corrupted {
			e.say(p.at(), "%s", s.sentence(p))
		}
	}
	for _, w := range s.WRs {
		if w.Host == host && w.QPN == qpn && w.Status != "" && w.Status != "SUCCESS" && len(w.Stages) > 0 {
			if x := (Statement{w.failed(), s.failedAt(w)}); !slices.Contains(e.Statements, x) {
				e.Statements = append(e.Statements, x)
			}
		}
	}
	e.order()
	for i, w := range s.stuck(host, qpn) {
		if i == longest {
			break
		}
		x := s.unended(w)
		e.say(x.At, "%s has not ended: %s", w.Label(), x.Text)
	}
	for _, l := range s.chain(host, qpn) {
		e.say(At{}, "%s", l)
	}
	e.say(At{}, "it sent: %s", counts(causes))
	e.say(At{}, "what became of that: %s", counts(fates))
	return e, nil
}

func (s *Story) qpNames() string {
	text := ""
	for i, q := range s.QPs {
		if i == 16 {
			return text + fmt.Sprintf(" and %d others", len(s.QPs)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s:%d", q.Host, q.QPN)
	}
	return cmp.Or(text, "none")
}

// counts lists what there is most of first.
func counts(m map[string]int) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	text := ""
	for i, k := range keys {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", m[k], k)
	}
	return cmp.Or(text, "nothing")
}
