package replay

import (
	"fmt"
	"slices"

	"rnic/roce"
)

// compareAnswers sets the model's answers beside the captured ones.
func (c *Conversation) compareAnswers(m *model, plans map[int]plan) *Result {
	base := c.baseMSN()
	if base != 0 {
		c.note("the connection began before the capture: MSNs count from %d", uint32(base))
	}
	var events []int
	for i := range c.Events {
		if c.Events[i].Answer {
			events = append(events, i)
		}
	}
	match := align(events, m.sent, func(e int, s *Sent) bool {
		a, b := &c.Events[e].Packet, &s.Packet
		return a.BTH.Opcode == b.BTH.Opcode && a.BTH.PSN == b.BTH.PSN && c.Events[e].Frame > c.Events[s.After].Frame
	})
	poked := map[roce.PSN]bool{}
	for i, p := range plans {
		if len(p.pokes) > 0 {
			for k := range c.psns(&c.Events[i].Packet) {
				poked[c.Events[i].BTH.PSN.Add(k)] = true
			}
		}
	}
	a := answers{c, m.sent, c.index()}
	return c.table(AsResponder, m.sent, match, judges{
		both: func(e int, p *roce.Packet) (f finding) {
			got, want := *p, c.Events[e].Packet
			want.AETH.MSN = sub(want.AETH.MSN, base)
			f = sameAnswer(&got, &want, c.first[want.BTH.PSN], a.repeated(e))
			if poked[want.BTH.PSN] && want.BTH.Opcode != roce.RCAck {
				f.legal = append(f.legal, legal(AsResponder, dMemory))
			}
			return f
		},
		model: a.extra, miss: a.missing,
	})
}

// repeated tells whether an event answers what was answered before.
func (a *answers) repeated(event int) bool {
	e := &a.c.Events[event]
	return slices.ContainsFunc(a.index.answers[e.BTH.PSN], func(i int) bool {
		return i < event && !isNAK(&a.c.Events[i].Packet) && a.c.Events[i].BTH.Opcode == e.BTH.Opcode
	})
}

// sameAnswer compares two answers with the same opcode and PSN, to a request as it was
// sent first, if that is known, and perhaps again.
func sameAnswer(got, want *roce.Packet, request *Event, again bool) (f finding) {
	op := want.BTH.Opcode
	if op.HasAETH() {
		g, w := got.AETH.Syndrome, want.AETH.Syndrome
		code, fatal := fatalNAK(want)
		mine, refused := fatalNAK(got)
		switch {
		case g == w:
		case g.Kind() == roce.KindACK && w.Kind() == roce.KindACK:
			f.legal = append(f.legal, legal(AsResponder, dCredits))
		case g.Kind() == roce.KindRNR && w.Kind() == roce.KindRNR:
			f.legal = append(f.legal, legal(AsResponder, dTimer))
		case fatal && refused && mine == roce.NAKInvalidRequest && code == roce.NAKRemoteOperation && request != nil && request.BTH.Opcode.IsSend():
			f.legal = append(f.legal, legal(AsResponder, dLong))
		default:
			f.wrong = append(f.wrong, fmt.Sprintf("%v, not %v", g, w))
		}
		switch d := want.AETH.MSN.Diff(got.AETH.MSN); {
		case d == 0:
		case again && d < window:
			f.legal = append(f.legal, legal(AsResponder, dMSN))
		default:
			f.wrong = append(f.wrong, fmt.Sprintf("MSN %d, not %d", uint32(got.AETH.MSN), uint32(want.AETH.MSN)))
		}
	}
	if op.HasAtomicAckETH() && got.AtomicAckETH != want.AtomicAckETH {
		f.wrong = append(f.wrong, "another original value")
	}
	f.data(got.Payload, want.Payload)
	return f
}

// data compares payloads.
func (f *finding) data(got, want []byte) {
	if len(got) != len(want) {
		f.wrong = append(f.wrong, fmt.Sprintf("%d bytes, not %d", len(got), len(want)))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			f.wrong = append(f.wrong, fmt.Sprintf("data differs from byte %d on", i))
			return
		}
	}
}

// answers judges what the model answered.
type answers struct {
	c     *Conversation
	sent  []Sent
	index *index
}

// extra judges an answer that only the model has.
func (a *answers) extra(s *Sent) (f finding) {
	later := false
	for i := s.After + 1; i < len(a.c.Events); i++ {
		e := &a.c.Events[i]
		if !e.Answer {
			continue
		}
		later = true
		if positive(&s.Packet) && !e.BTH.PSN.Before(s.BTH.PSN) {
			f.legal = []string{legal(AsResponder, dMerged)}
			return f
		}
	}
	for i := s.After + 1; i < len(a.c.Events); i++ {
		if e := &a.c.Events[i]; !e.Answer && s.BTH.PSN.Within(e.BTH.PSN, a.c.psns(&e.Packet)) {
			f.legal = []string{legal(AsResponder, dUnseen)}
			return f
		}
	}
	if later {
		f.wrong = []string{"the capture has no such answer"}
	} else {
		f.legal = []string{legal(AsResponder, dEnd)}
	}
	return f
}

// missing judges an answer that only the capture has.
func (a *answers) missing(event int) (f finding) {
	e := &a.c.Events[event]
	if positive(&e.Packet) && slices.ContainsFunc(a.sent, func(s Sent) bool { return !s.BTH.PSN.Before(e.BTH.PSN) }) {
		f.legal = []string{legal(AsResponder, dSplit)}
		return f
	}
	if !isNAK(&e.Packet) && a.repeated(event) {
		f.legal = []string{legal(AsResponder, dDoubled)}
		return f
	}
	if sequenceNAK(&e.Packet) {
		for i := event - 1; i >= 0; i-- {
			if b := &a.c.Events[i]; b.Answer && isRNR(&b.Packet) {
				f.legal = []string{legal(AsResponder, dBehind)}
				return f
			} else if b.Answer {
				break
			}
		}
	}
	f.wrong = []string{"the model does not answer"}
	return f
}

func positive(p *roce.Packet) bool {
	return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome.Kind() == roce.KindACK
}

// lookahead is how far align looks for the next packet that both have.
const lookahead = 1024

// align pairs events with what the model sent, both in order: where they part, by the
// nearest packets that agree again.
func align(events []int, sent []Sent, same func(event int, s *Sent) bool) map[int]int {
	match := map[int]int{}
	i, k := 0, 0
	for i < len(events) && k < len(sent) {
		if same(events[i], &sent[k]) {
			match[events[i]] = k
			i, k = i+1, k+1
			continue
		}
		d := 1
		for ; d < lookahead; d++ {
			if k+d < len(sent) && same(events[i], &sent[k+d]) {
				k += d
				break
			}
			if i+d < len(events) && same(events[i+d], &sent[k]) {
				i += d
				break
			}
		}
		if d == lookahead {
			i, k = i+1, k+1
		}
	}
	return match
}
