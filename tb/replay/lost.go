package replay

import (
	"slices"
	"strconv"

	"rnic/roce"
)

// lose decides which packets did not arrive: those of the list of frames, or without
// a list what the other packets tell.
//
// A request did not arrive when a sequence NAK asks for it, or when it wants an
// answer and nothing that was sent before it was sent again can be one. An answer did
// not arrive, or not in time, when what it acknowledges is sent again without cause.
func (c *Conversation) lose(frames map[int]bool) {
	x := c.index()
	for i := range c.Events {
		e := &c.Events[i]
		switch {
		case frames != nil:
			if frames[e.Frame] {
				e.Lost = "as --lost says"
			}
		case e.Answer:
			e.Lost = c.answerLost(i, x)
		default:
			e.Lost = c.requestLost(i, x)
		}
	}
}

// index finds events: by PSN, and those that are a request sent again or a NAK.
type index struct {
	requests, answers map[roce.PSN][]int
	again             []int
	last              int // answer
}

func (c *Conversation) index() *index {
	x := &index{requests: map[roce.PSN][]int{}, answers: map[roce.PSN][]int{}}
	next := c.First
	for i := range c.Events {
		e := &c.Events[i]
		p := e.BTH.PSN
		switch {
		case e.Answer:
			x.answers[p], x.last = append(x.answers[p], i), i
			if isNAK(&e.Packet) {
				x.again = append(x.again, i)
			}
		default:
			x.requests[p] = append(x.requests[p], i)
			if p.Before(next) {
				x.again = append(x.again, i)
			} else {
				next = p.Add(c.psns(&e.Packet))
			}
		}
	}
	return x
}

func (c *Conversation) requestLost(i int, x *index) string {
	e := &c.Events[i]
	p := e.BTH.PSN
	end := len(c.Events)
	for _, k := range x.requests[p] {
		if k > i {
			end = k
			break
		}
	}
	for _, k := range x.answers[p] {
		if k > i && k < end && sequenceNAK(&c.Events[k].Packet) {
			return "its PSN is asked for by the NAK of frame " + strconv.Itoa(c.Events[k].Frame)
		}
	}
	if op := e.BTH.Opcode; !e.BTH.AckReq && (op.IsSend() || op.IsWrite()) {
		return "" // nothing tells
	}
	for k := i + 1; k < min(end, x.last+1); k++ {
		f := &c.Events[k]
		if f.Answer && (isNAK(&f.Packet) || !f.BTH.PSN.Before(p)) {
			return "" // a NAK before it: it came, but behind what the NAK is about
		}
	}
	exact := 0
	for _, k := range x.answers[p.Add(c.psns(&e.Packet)-1)] {
		if !sequenceNAK(&c.Events[k].Packet) {
			exact++
		}
	}
	switch {
	case exact >= len(x.requests[p]): // sent again before the answer came
		return ""
	case end < len(c.Events):
		return "no answer before it is sent again in frame " + strconv.Itoa(c.Events[end].Frame)
	}
	return "no answer in the capture"
}

func (c *Conversation) answerLost(i int, x *index) string {
	a := &c.Events[i]
	if isNAK(&a.Packet) {
		return ""
	}
	from, _ := slices.BinarySearch(x.again, i)
	for _, k := range x.again[from:] {
		f := &c.Events[k]
		switch {
		case f.Answer:
			return "" // the NAK is the cause of what is sent again behind it
		case f.BTH.Opcode.IsReadRequest() || f.BTH.Opcode.IsAtomic():
			if f.BTH.PSN == a.BTH.PSN {
				return "what it answers is asked again in frame " + strconv.Itoa(f.Frame)
			}
		case !f.BTH.PSN.After(a.BTH.PSN) && !c.behindRead(k, a.BTH.PSN):
			return "what it acknowledges is sent again in frame " + strconv.Itoa(f.Frame)
		}
	}
	return ""
}

// behindRead tells whether event k was sent again because a READ or atomic before it
// was.
func (c *Conversation) behindRead(k int, acked roce.PSN) bool {
	for k--; k >= 0; k-- {
		f := &c.Events[k]
		if f.Answer {
			return false
		}
		if op := f.BTH.Opcode; (op.IsReadRequest() || op.IsAtomic()) && f.BTH.PSN.Before(acked) {
			return true
		}
	}
	return false
}

func isNAK(p *roce.Packet) bool {
	if p.BTH.Opcode != roce.RCAck {
		return false
	}
	k := p.AETH.Syndrome.Kind()
	return k == roce.KindRNR || k == roce.KindNAK
}

func isRNR(p *roce.Packet) bool {
	return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome.Kind() == roce.KindRNR
}

func sequenceNAK(p *roce.Packet) bool {
	return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome == roce.NAKSyndrome(roce.NAKSequence)
}

// fatalNAK tells whether the responder gave up, and on what ground.
func fatalNAK(p *roce.Packet) (roce.NAKCode, bool) {
	s := p.AETH.Syndrome
	return roce.NAKCode(s.Value()), p.BTH.Opcode == roce.RCAck && s.Kind() == roce.KindNAK && !sequenceNAK(p)
}
