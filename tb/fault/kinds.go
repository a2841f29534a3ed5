package fault

import (
	"slices"
	"strings"

	"rnic/roce"
)

// Kinds is a set of kinds of packets.
type Kinds uint16

// kinds are their words and what is of that kind.
var kinds = []struct {
	word, doc string
	is        func(*roce.Packet) bool
}{
	{"request", "any request", func(p *roce.Packet) bool { return p.BTH.Opcode.IsRequest() }},
	{"answer", "any answer", func(p *roce.Packet) bool { return p.BTH.Opcode.IsResponse() }},
	{"send", "SENDs", func(p *roce.Packet) bool { return p.BTH.Opcode.IsSend() }},
	{"write", "WRITEs", func(p *roce.Packet) bool { return p.BTH.Opcode.IsWrite() }},
	{"read-request", "requests of READs", func(p *roce.Packet) bool { return p.BTH.Opcode.IsReadRequest() }},
	{"read-response", "their answers", func(p *roce.Packet) bool { return p.BTH.Opcode.IsReadResponse() }},
	{"atomic", "requests of atomics", func(p *roce.Packet) bool { return p.BTH.Opcode.IsAtomic() }},
	{"atomic-response", "their answers", func(p *roce.Packet) bool { return p.BTH.Opcode == roce.RCAtomicAck }},
	{"ack", "positive acknowledgements", acks(roce.KindACK)},
	{"nak", "NAKs but RNR NAKs", acks(roce.KindNAK)},
	{"rnr", "RNR NAKs", acks(roce.KindRNR)},
	{"cnp", "congestion notifications", func(p *roce.Packet) bool { return p.BTH.Opcode == roce.CNP }},
}

func acks(k roce.SyndromeKind) func(*roce.Packet) bool {
	return func(p *roce.Packet) bool { return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome.Kind() == k }
}

// kindOf is the kind of a word; 0: there is none.
func kindOf(word string) Kinds {
	for i := range kinds {
		if kinds[i].word == word {
			return 1 << i
		}
	}
	return 0
}

// words lists the kinds of a set.
func (k Kinds) words() (l []string) {
	for i := range kinds {
		if k>>i&1 != 0 {
			l = append(l, kinds[i].word)
		}
	}
	return l
}

// has tells whether a packet is of one of the kinds.
func (k Kinds) has(p *roce.Packet) bool {
	for i := range kinds {
		if k>>i&1 != 0 && kinds[i].is(p) {
			return true
		}
	}
	return false
}

// kindWords are all of them.
func kindWords() string { return strings.Join(Kinds(1<<len(kinds)-1).words(), ", ") }

// Places is a set of places that a packet can have in its message.
type Places uint8

var placeWords = []string{"first", "middle", "last", "only"}

func placeOf(word string) Places {
	if i := slices.Index(placeWords, word); i >= 0 {
		return 1 << i
	}
	return 0
}

func (s Places) words() (l []string) {
	for i, w := range placeWords {
		if s>>i&1 != 0 {
			l = append(l, w)
		}
	}
	return l
}

func (s Places) has(o roce.Opcode) bool {
	for i, is := range [...]bool{o.IsFirst(), o.IsMiddle(), o.IsLast(), o.IsOnly()} {
		if is && s>>i&1 != 0 {
			return true
		}
	}
	return false
}
