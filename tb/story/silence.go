package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rnic/roce"
)

// noAnswer begins the text of an event of a packet that its peer owes an answer.
const noAnswer = "it asks for an answer, and none to it leaves "

// longSilence is how long before the end of the run a packet must have come, ps, for its
// answer to be missing: more than any answer takes that is under way.
const longSilence = 2500 * periodPs

// answers are the answers that came for a QP's requests, in order of time.
type answersTo map[qpKey][]*Packet

type qpKey struct {
	host string // that has sent them
	qpn  uint32 // to which they went
}

// silences tells packets that came and asked for an answer, and for which the timer of
// their work request ended, or the run, without one: it is at the other host that it was
// lost, before the wire.
func (t *Story) silences() {
	answers, receives := answersTo{}, map[int]*WR{}
	for _, p := range t.Packets {
		if p.isAnswer() {
			k := qpKey{p.Host, p.DestQPN}
			answers[k] = append(answers[k], p)
		}
	}
	for _, w := range t.WRs {
		if w.Queue != "sq" {
			for _, id := range w.Packets {
				receives[id] = w
			}
		}
	}
	for _, w := range t.WRs {
		if w.Queue != "sq" || w.Transport != "RC" {
			continue
		}
		for _, x := range w.Waits {
			if x.For == ForRetryTimer {
				t.silenceOf(w, x.ToPs, answers, receives)
			}
		}
		if w.Status == "" {
			t.silenceOf(w, t.EndPs-longSilence, answers, receives)
		}
	}
}

// silenceOf looks for the last packet of a work request that came before a time.
func (t *Story) silenceOf(w *WR, upto int64, answers answersTo, receives map[int]*WR) {
	var asks *Packet
	for _, id := range w.Packets {
		p := t.Packet(id)
		if p != nil && p.Host == w.Host && p.ArrivePs >= 0 && p.ArrivePs < upto && (p.Fate == Delivered || p.Fate == DuplicateOfOne) && p.expects() {
			asks = p
		}
	}
	if asks == nil || asks.silent() != nil {
		return
	}
	peer := t.other(w.Host)
	l := answers[qpKey{peer, w.QPN}]
	if t.Forgotten.Packets > 0 && (len(l) == 0 || l[0].Ps > asks.ArrivePs) {
		return // one that came before those that are kept may have been it
	}
	first, _ := slices.BinarySearchFunc(l, asks.ArrivePs, func(p *Packet, ps int64) int { return cmp.Compare(p.Ps, ps) })
	for _, p := range l[first:] {
		if p.Ps >= upto {
			break
		}
		if !roce.PSN(p.PSN).Before(roce.PSN(asks.PSN)) {
			return
		}
	}
	at := asks.at()
	if n := len(asks.Why); n > 0 {
		at = asks.Why[n-1].At
	}
	text := fmt.Sprintf(noAnswer+"%s up to cycle %d", peer, upto/t.ClockPs)
	if r := receives[asks.ID]; r != nil && r.at(CQEWritten) == nil {
		text += fmt.Sprintf("; WR %d, the receive that it went to, has no CQE", r.ID)
	}
	asks.Why = append(asks.Why, Event{at, text})
}

// silent is the event of a packet that nobody has answered, if there is one.
func (p *Packet) silent() *Event {
	for i := range p.Why {
		if strings.HasPrefix(p.Why[i].Text, noAnswer) {
			return &p.Why[i]
		}
	}
	return nil
}

// expects tells whether a request is to be answered for its own sake.
func (p *Packet) expects() bool {
	return p.AckReq || slices.Contains([]string{"RC_READ_REQ", "RC_CMP_SWAP", "RC_FETCH_ADD"}, p.Opcode)
}

func (p *Packet) isAnswer() bool {
	return strings.HasSuffix(p.Opcode, "_ACK") || strings.Contains(p.Opcode, "_READ_RESP_")
}

// saySilence says which packets of a work request nobody has answered, of those that left
// before a time.
func (s *Story) saySilence(e *Explanation, w *WR, before int64) {
	for _, id := range w.Packets {
		if p := s.Packet(id); p != nil && p.Ps < before {
			if x := p.silent(); x != nil {
				e.say(x.At, "packet %d: %s", p.ID, x.Text)
			}
		}
	}
}

// other is the host at the other end.
func (s *Story) other(host string) string {
	for _, h := range s.Hosts {
		if h != host {
			return h
		}
	}
	return ""
}
