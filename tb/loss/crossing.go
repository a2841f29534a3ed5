package loss

import "rnic/roce"

// Kind says what became of a frame.
type Kind uint8

// Kinds of frames around a loss.
const (
	Sent   Kind = iota // in order
	Lost               // the one that is missing
	InVain             // beyond the gap
	NAK                // asks for the missing one
	Again              // sent again
	Answer             // any other answer
)

// String is the name in pictures.
func (k Kind) String() string {
	return [...]string{"sent", "lost", "sent in vain", "NAK", "sent again", "ACK"}[k]
}

// Crossing is a frame on its way over the cable.
type Crossing struct {
	Kind Kind
	PSN  roce.PSN
	Back bool   // from host b to host a
	From uint64 // cycle of the first bit at the sender's MAC
	To   uint64 // cycle of the last bit at the other MAC; 0: never
}

// around is how many packets before and after a repair are kept.
const around = 6

// crossings are the frames from shortly before the loss to shortly after the repair.
// Frames do not pass each other, and one is lost, so that the k-th that came is the k-th
// that was sent, but for that.
func crossings(a, b *trace, lost, again, nak int) (l []Crossing) {
	missing := a.frames[lost].pkt.BTH.PSN
	began, ends, seen := a.frames[max(0, lost-around)].first, a.frames[min(again+2*around, len(a.frames)-1)].first, false
	came := b.only(false)
	for i := range a.frames {
		f := &a.frames[i]
		if !f.tx {
			continue
		}
		c := Crossing{PSN: f.pkt.BTH.PSN, From: f.first}
		switch {
		case i == lost:
			c.Kind, seen = Lost, true
		case i >= again:
			c.Kind = Again
		case seen && c.PSN.After(missing):
			c.Kind = InVain
		}
		if i != lost && len(came) > 0 {
			c.To, came = came[0].last, came[1:]
		}
		if f.first >= began && f.first < ends {
			l = append(l, c)
		}
	}
	in := a.only(false)
	for i, f := range b.only(true) {
		if i < len(in) && f.first >= began && f.first < ends {
			c := Crossing{Kind: Answer, PSN: f.pkt.BTH.PSN, Back: true, From: f.first, To: in[i].last}
			if f.first == b.frames[nak].first {
				c.Kind = NAK
			}
			l = append(l, c)
		}
	}
	return l
}

// only are the frames one way.
func (t *trace) only(tx bool) (l []*frame) {
	for i := range t.frames {
		if f := &t.frames[i]; f.tx == tx {
			l = append(l, f)
		}
	}
	return l
}
