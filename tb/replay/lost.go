package replay

import (
	"fmt"
	"slices"
	"strconv"

	"rnic/roce"
)

// lose decides which packets did not arrive: those of the list of frames, or without
// a list what the other packets tell.
func (c *Conversation) lose(frames map[int]bool) {
	if frames != nil {
		for i := range c.Events {
			if frames[c.Events[i].Frame] {
				c.Events[i].Lost = "as --lost says"
			}
		}
		return
	}
	if c.Transport != roce.RC { // nothing tells
		return
	}
	x := c.index()
	c.requestsLost(x)
	for i := range c.Events {
		if e := &c.Events[i]; e.Answer {
			e.Lost = c.answerLost(i, x)
		}
	}
}

// index finds events: by PSN, and those that are a request sent again or a NAK.
type index struct {
	requests, answers map[roce.PSN][]int
	again             []int
	last              int          // answer
	answered          map[int]bool // READs and atomics that were answered, each time for itself
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
	c.pairAnswers(x)
	return x
}

// pairAnswers finds the READ or atomic of each answer. A responder answers in the order
// in which requests come; so from the end each answer belongs to the last request that
// fits and is not behind one that was answered later.
func (c *Conversation) pairAnswers(x *index) {
	x.answered = map[int]bool{}
	bound := len(c.Events)
	for k := len(c.Events) - 1; k >= 0; k-- {
		a := &c.Events[k]
		if !a.Answer || !a.BTH.Opcode.IsReadResponse() && a.BTH.Opcode != roce.RCAtomicAck {
			continue
		}
		bound = min(bound, k)
		for i := bound; i >= 0 && i > bound-window; i-- {
			e := &c.Events[i]
			if op := e.BTH.Opcode; !e.Answer && (op.IsReadRequest() || op.IsAtomic()) && a.BTH.PSN.Within(e.BTH.PSN, c.psns(&e.Packet)) {
				bound, x.answered[i] = i, true
				break
			}
		}
	}
}

// requestsLost goes through the requests as the responder does. One that is new did not
// arrive when its PSN is asked for by a NAK, or when it wants an answer and none comes
// before it is sent again. One behind a gap did not arrive when no NAK says that.
func (c *Conversation) requestsLost(x *index) {
	expected := c.First
	told := false // the gap at expected has been told, or there was no receive
	for i := range c.Events {
		e := &c.Events[i]
		if e.Answer {
			told = told || e.BTH.PSN == expected && (isRNR(&e.Packet) || sequenceNAK(&e.Packet))
			continue
		}
		switch p := e.BTH.PSN; {
		case p.Before(expected):
			e.Lost = c.repeatLost(i, x)
		case p == expected:
			if e.Lost = c.newLost(i, x); e.Lost != "" {
				continue
			}
			if _, rnr := c.rejected(i); !rnr {
				expected, told = p.Add(c.psns(&e.Packet)), false
			}
		case !told && !c.gapTold(i, expected, x):
			e.Lost = fmt.Sprintf("no NAK tells that PSN %06x is missing", uint32(expected))
		}
	}
}

// newLost judges the request that is expected.
func (c *Conversation) newLost(i int, x *index) string {
	e := &c.Events[i]
	if x.answered[i] {
		return ""
	}
	p, again := e.BTH.PSN, x.next(x.requests[e.BTH.PSN], i, len(c.Events))
	for k := i + 1; k < min(again, x.last+1); k++ {
		f := &c.Events[k]
		if f.Answer && !f.BTH.PSN.Before(p) && (f.BTH.PSN != p || !sequenceNAK(&f.Packet)) {
			return ""
		}
	}
	for _, k := range x.answers[p] {
		if k > i && k < again {
			return "its PSN is asked for by the NAK of frame " + strconv.Itoa(c.Events[k].Frame)
		}
	}
	switch op := e.BTH.Opcode; {
	case !e.BTH.AckReq && (op.IsSend() || op.IsWrite()): // nothing tells
		return ""
	case (op.IsSend() || op.IsWrite()) && c.eachAnswered(p, x): // sent again before the answer came
		return ""
	case c.laterAnswered(i, again, x):
		return ""
	case again < len(c.Events):
		return "no answer before it is sent again in frame " + strconv.Itoa(c.Events[again].Frame)
	}
	return "no answer in the capture"
}

// eachAnswered tells whether there are as many answers to the request of a PSN as it
// was sent.
func (c *Conversation) eachAnswered(psn roce.PSN, x *index) bool {
	copies := x.requests[psn]
	n := 0
	for _, k := range x.answers[psn.Add(c.psns(&c.Events[copies[0]].Packet)-1)] {
		if !sequenceNAK(&c.Events[k].Packet) {
			n++
		}
	}
	return n >= len(copies)
}

// laterAnswered tells whether a request between event i and again, where it is sent
// once more, was answered: it cannot have been before the one of event i arrived.
func (c *Conversation) laterAnswered(i, again int, x *index) bool {
	for k := i + 1; k < min(again, i+window); k++ {
		e := &c.Events[k]
		p := e.BTH.PSN
		if e.Answer || !p.After(c.Events[i].BTH.PSN) {
			continue
		}
		if x.answered[k] || len(x.requests[p]) > 1 && x.requests[p][0] == k && c.eachAnswered(p, x) {
			return true
		}
	}
	return false
}

// window is how many packets behind a request others may tell of it.
const window = 1024

// repeatLost judges a READ or atomic that is asked again: it did not arrive when no
// answer to it comes before it is asked once more.
func (c *Conversation) repeatLost(i int, x *index) string {
	e := &c.Events[i]
	if op := e.BTH.Opcode; !op.IsReadRequest() && !op.IsAtomic() {
		return ""
	}
	if x.answered[i] {
		return ""
	}
	return "no answer to it in the capture"
}

// gapTold tells whether a NAK for a PSN comes before an answer that has it behind it.
func (c *Conversation) gapTold(i int, missing roce.PSN, x *index) bool {
	k := x.next(x.answers[missing], i, len(c.Events))
	return k < len(c.Events) && sequenceNAK(&c.Events[k].Packet)
}

// next is the first of a list behind i, or end.
func (x *index) next(list []int, i, end int) int {
	if k, _ := slices.BinarySearch(list, i+1); k < len(list) {
		return list[k]
	}
	return end
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
