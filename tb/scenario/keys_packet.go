package scenario

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"rnic/roce"
)

// Packet is packets that leave a NIC.
type Packet struct {
	Pos
	From     int // host; -1: either
	QP       Ref
	qp       *QP
	Kind     int // in kinds; -1: any
	Place    int // in places; -1: any
	PSN      PSN
	Syndrome string
	Payload  Range
	MSN      Range
	Imm      Range
	AckReq   Range
	Count    Range
	At, Wait Range
}

// kind is a kind of packets.
type kind struct {
	name, doc string
	is        func(*roce.Packet) bool
}

var kinds = []kind{
	{"request", "any request", func(p *roce.Packet) bool { return p.BTH.Opcode.IsRequest() }},
	{"answer", "any answer", func(p *roce.Packet) bool { return p.BTH.Opcode.IsResponse() }},
	{"send", "SENDs", func(p *roce.Packet) bool { return p.BTH.Opcode.IsSend() }},
	{"write", "WRITEs", func(p *roce.Packet) bool { return p.BTH.Opcode.IsWrite() }},
	{"read_request", "requests of READs", func(p *roce.Packet) bool { return p.BTH.Opcode.IsReadRequest() }},
	{"read_response", "their answers", func(p *roce.Packet) bool { return p.BTH.Opcode.IsReadResponse() }},
	{"atomic", "requests of atomics", func(p *roce.Packet) bool { return p.BTH.Opcode.IsAtomic() }},
	{"atomic_response", "their answers", func(p *roce.Packet) bool { return p.BTH.Opcode == roce.RCAtomicAck }},
	{"ack", "positive acknowledgements", is(roce.KindACK)},
	{"nak", "NAKs but RNR NAKs", is(roce.KindNAK)},
	{"rnr", "RNR NAKs", is(roce.KindRNR)},
}

func is(k roce.SyndromeKind) func(*roce.Packet) bool {
	return func(p *roce.Packet) bool { return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome.Kind() == k }
}

func kindNames() (l []string) {
	for i := range kinds {
		l = append(l, kinds[i].name)
	}
	return l
}

var places = []string{"first", "middle", "last", "only"}

// placeOf is the place of a packet in its message.
func placeOf(o roce.Opcode) int {
	for i, is := range [...]bool{o.IsFirst(), o.IsMiddle(), o.IsLast(), o.IsOnly()} {
		if is {
			return i
		}
	}
	return -1
}

// syndromes are the names of those that answers can have.
func syndromes() (l []string) {
	for s := range 128 {
		if s := roce.Syndrome(s); s.Valid() {
			l = append(l, strings.ToLower(s.String()))
		}
	}
	return l
}

func (r *reader) packets(n ast.Node, keys []key[Packet]) (l []*Packet) {
	for _, e := range r.list(n) {
		p := &Packet{Pos: place(e), From: -1, Kind: -1, Place: -1, Count: exactly(1)}
		fill(r, e, "a packet", keys, p)
		l = append(l, p)
	}
	return l
}

var whichKeys = []key[Packet]{
	{name: "from", form: "a, b", def: "either", doc: "the host whose NIC sends it", read: func(r *reader, p *Packet, n ast.Node) { p.From = r.word(n, "host", hostNames) }},
	{name: "qp", form: "QP", def: "any", doc: "that sends it", read: func(r *reader, p *Packet, n ast.Node) { p.QP = r.ref(n) }},
	{name: "kind", form: strings.Join(kindNames(), ", "), def: "any", doc: "what it is", read: func(r *reader, p *Packet, n ast.Node) { p.Kind = r.word(n, "kind of packet", kindNames()) }},
	{name: "place", form: strings.Join(places, ", "), def: "any", doc: "its place in the message", read: func(r *reader, p *Packet, n ast.Node) { p.Place = r.word(n, "place", places) }},
	{name: "psn", form: "number, or +N", def: "any", doc: "PSN; +N is N behind the first of the requester, of answers too", read: func(r *reader, p *Packet, n ast.Node) { p.PSN = r.psn(n) }},
	{name: "syndrome", form: "ack_0 to ack_31, rnr_0 to rnr_31, nak_sequence, nak_invalid_request, nak_remote_access, nak_remote_operation", def: "any", doc: "of an answer", read: func(r *reader, p *Packet, n ast.Node) {
		if i := r.word(n, "syndrome", syndromes()); i >= 0 {
			p.Syndrome = syndromes()[i]
		}
	}},
	{name: "msn", form: "number", def: "any", doc: "messages that the answer tells of", read: func(r *reader, p *Packet, n ast.Node) { p.MSN = exactly(r.number(n, 0, 1<<24-1)) }},
	{name: "payload", form: "size", def: "any", doc: "bytes of its payload", read: func(r *reader, p *Packet, n ast.Node) { p.Payload = exactly(r.size(n, 0, 4096)) }},
	{name: "imm", form: "number of 32 bits", def: "any", doc: "its immediate data", read: func(r *reader, p *Packet, n ast.Node) { p.Imm = exactly(r.number(n, 0, 1<<32-1)) }},
	{name: "ack_req", form: "bool", def: "any", doc: "it asks for an acknowledgement", read: func(r *reader, p *Packet, n ast.Node) {
		p.AckReq = exactly(0)
		if r.bool(n) {
			p.AckReq = exactly(1)
		}
	}},
	{name: "at", form: "range of times", def: "any", doc: "when its last bit leaves", read: func(r *reader, p *Packet, n ast.Node) { p.At = r.times(n) }},
}

var (
	packetKeys = append(whichKeys[:len(whichKeys):len(whichKeys)], key[Packet]{
		name: "count", form: "number or range", def: "1", doc: "how many there are", read: func(r *reader, p *Packet, n ast.Node) { p.Count = r.counts(n) },
	})
	orderKeys = append(whichKeys[:len(whichKeys):len(whichKeys)], key[Packet]{
		name: "wait", form: "range of times", def: "any", doc: "how long after the one before it", read: func(r *reader, p *Packet, n ast.Node) { p.Wait = r.times(n) },
	})
)

// String says which packets are meant, in the words of the file.
func (p *Packet) String() string {
	var l []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			l = append(l, fmt.Sprintf(format, args...))
		}
	}
	add(p.From >= 0, "%s:", hostNames[max(0, p.From)])
	add(p.QP.Name != "", "%s:", p.QP.Name)
	add(p.Kind >= 0, "%s", kinds[max(0, p.Kind)].name)
	add(p.Kind < 0, "packet")
	add(p.Place >= 0, "%s", places[max(0, p.Place)])
	add(p.PSN.Set, "psn %s", p.PSN)
	add(p.Syndrome != "", "%s", p.Syndrome)
	add(p.MSN.Set, "msn %d", p.MSN.Lo)
	add(p.Payload.Set, "of %d bytes", p.Payload.Lo)
	add(p.Imm.Set, "imm %#x", p.Imm.Lo)
	add(p.AckReq.Set, "ack_req %t", p.AckReq.Lo == 1)
	add(p.At.Set, "at %s", p.At.text(nanoseconds))
	add(p.Wait.Set, "%s later", p.Wait.text(nanoseconds))
	return strings.Join(l, " ")
}
