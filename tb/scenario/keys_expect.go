package scenario

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"rnic/abi"
)

// Expect is what must come of a run.
type Expect struct {
	Completions []*Completion
	Memory      []*Memory
	Events      []*Event
	Packets     []*Packet
	Order       []*Packet
	Counters    [2]map[abi.Counter]Counted
	States      []*State
}

// Completion is one that is expected of each of its steps.
type Completion struct {
	Pos
	WR     []Ref
	steps  []*Step
	Status abi.WCStatus
	Opcode int // -1: that of the operation
	Bytes  Range
	Imm    Range
	Vendor int // -1: any
	Inv    Ref
	inv    *MR
	At     Range
}

// Memory is bytes that a region must have.
type Memory struct {
	Pos
	Segment
	Content Content
	Like    *Segment
}

// Event is an asynchronous event.
type Event struct {
	Pos
	Type  abi.EventType
	QP    Ref
	qp    *QP
	Count Range
}

// Counted is what a counter must be.
type Counted struct {
	Pos
	Range
}

// State is what a QP must be in.
type State struct {
	Pos
	QP    Ref
	qp    *QP
	State abi.QPState
}

// enum are the values of a type that has the names of verbs.
func enum[T interface {
	~uint8
	String() string
}](most T, odd string) (values []T) {
	for v := T(0); v <= most; v++ {
		if s := v.String(); !strings.Contains(s, odd) {
			values = append(values, v)
		}
	}
	return values
}

var (
	statuses   = enum(abi.StatusGeneral, "(")
	vendors    = enum(abi.VendorAtomicAlign, "(")
	opcodes    = []abi.WCOpcode{abi.WCSend, abi.WCWrite, abi.WCRead, abi.WCCompareSwap, abi.WCFetchAdd, abi.WCNop, abi.WCRecv, abi.WCRecvWithImm}
	eventTypes = []abi.EventType{
		abi.EventCQErr, abi.EventQPFatal, abi.EventQPReqErr, abi.EventQPAccessErr, abi.EventCommEst, abi.EventSQDrained,
		abi.EventDeviceFatal, abi.EventQPLastWQEReached,
	}
	allStates = enum(abi.QPErr, "(")
)

var expectKeys = []key[Expect]{
	{name: "completions", form: "list of mappings", doc: "each completion that comes, those of one queue in their order: any other is a failure", read: func(r *reader, x *Expect, n ast.Node) {
		for _, e := range r.list(n) {
			c := &Completion{Pos: place(e), Opcode: -1, Vendor: -1}
			fill(r, e, "a completion", completionKeys, c)
			x.Completions = append(x.Completions, c)
		}
	}},
	{name: "memory", form: "list of mappings", doc: "bytes at the end", read: func(r *reader, x *Expect, n ast.Node) {
		for _, e := range r.list(n) {
			m := &Memory{Pos: place(e)}
			fill(r, e, "memory", memoryKeys, m)
			x.Memory = append(x.Memory, m)
		}
	}},
	{name: "events", form: "list of mappings", doc: "asynchronous events: any other is a failure", read: func(r *reader, x *Expect, n ast.Node) {
		for _, e := range r.list(n) {
			v := &Event{Pos: place(e), Count: exactly(1)}
			fill(r, e, "an event", eventKeys, v)
			x.Events = append(x.Events, v)
		}
	}},
	{name: "packets", form: "list of packets", doc: "how many packets of a kind leave a NIC", read: func(r *reader, x *Expect, n ast.Node) { x.Packets = r.packets(n, packetKeys) }},
	{name: "order", form: "list of packets", doc: "packets that leave the NICs in this order; others may be between them", read: func(r *reader, x *Expect, n ast.Node) { x.Order = r.packets(n, orderKeys) }},
	{name: "counters", form: "a, b: counters: number or range", doc: "counters of the NICs at the end. Those of errors (†) that are not named must be 0", read: func(r *reader, x *Expect, n ast.Node) {
		named(r, n, "hosts", func(name string, p Pos, n ast.Node) {
			for i, h := range hostNames {
				if name == h {
					x.Counters[i] = map[abi.Counter]Counted{}
					r.counters(x.Counters[i], n)
					return
				}
			}
			r.fail(p, "%q is no host: must be a or b", name)
		})
	}},
	{name: "states", form: "QPs: " + strings.Join(lower(allStates), ", "), def: "rts", doc: "states of QPs at the end", read: func(r *reader, x *Expect, n ast.Node) {
		named(r, n, "states", func(name string, p Pos, n ast.Node) {
			if i := r.word(n, "state", lower(allStates)); i >= 0 {
				x.States = append(x.States, &State{p, Ref{p, name}, nil, allStates[i]})
			}
		})
	}},
}

func (r *reader) counters(m map[abi.Counter]Counted, n ast.Node) {
	named(r, n, "numbers", func(name string, p Pos, n ast.Node) {
		for _, c := range abi.Counters() {
			if c.String() == name {
				m[c] = Counted{p, r.counts(n)}
				return
			}
		}
		r.fail(p, "unknown counter %q: %s", name, oneOf(name, lower(abi.Counters())))
	})
}

var completionKeys = []key[Completion]{
	{name: "wr", form: "step, or a list of them", must: true, doc: "whose completion it is; of a list, all are alike, in this order", read: func(r *reader, c *Completion, n ast.Node) { c.WR = r.refs(n) }},
	{name: "status", form: strings.Join(lower(statuses), ", "), def: "success", doc: "how it ended", read: func(r *reader, c *Completion, n ast.Node) {
		if i := r.word(n, "status", lower(statuses)); i >= 0 {
			c.Status = statuses[i]
		}
	}},
	{name: "opcode", form: strings.Join(lower(opcodes), ", "), def: "that of the operation", doc: "what it is about; judged of success", read: func(r *reader, c *Completion, n ast.Node) {
		if i := r.word(n, "opcode", lower(opcodes)); i >= 0 {
			c.Opcode = int(opcodes[i])
		}
	}},
	{name: "byte_len", form: "size", def: "any", doc: "bytes received, read or fetched", read: func(r *reader, c *Completion, n ast.Node) { c.Bytes = exactly(r.size(n, 0, maxMessage)) }},
	{name: "imm", form: "number of 32 bits", def: "none", doc: "immediate data that came; a completion that is not said to have some must have none", read: func(r *reader, c *Completion, n ast.Node) { c.Imm = exactly(r.number(n, 0, 1<<32-1)) }},
	{name: "invalidated", form: "memory region", def: "none", doc: "whose key the message has ended; judged as imm is", read: func(r *reader, c *Completion, n ast.Node) { c.Inv = r.ref(n) }},
	{name: "vendor", form: strings.Join(lower(vendors), ", "), def: "any", doc: "where and why it failed", read: func(r *reader, c *Completion, n ast.Node) {
		if i := r.word(n, "vendor error", lower(vendors)); i >= 0 {
			c.Vendor = int(vendors[i])
		}
	}},
	{name: "at", form: "range of times", def: "any", doc: "when the NIC makes it", read: func(r *reader, c *Completion, n ast.Node) { c.At = r.times(n) }},
}

var memoryKeys = append([]key[Memory]{
	{name: "mr", form: "memory region", must: true, doc: "where", read: func(r *reader, m *Memory, n ast.Node) { m.MR = r.ref(n) }},
	{name: "offset", form: "size", def: "0B", doc: "from the start of the region", read: func(r *reader, m *Memory, n ast.Node) { m.Offset = r.size(n, 0, maxBytes) }},
	{name: "size", form: "size", def: "that of the content or of like, or the rest of the region", doc: "how many bytes", read: func(r *reader, m *Memory, n ast.Node) {
		m.Size, m.sized = r.size(n, 0, maxMessage), true
	}},
	{name: "like", form: "segment: mr, offset, size", doc: "content: what this memory had at time 0", read: func(r *reader, m *Memory, n ast.Node) {
		m.Like = &Segment{}
		fill(r, n, "a segment", likeKeys, m.Like)
	}},
}, contentKeys(func(m *Memory) *Content { return &m.Content })...)

var eventKeys = []key[Event]{
	{name: "type", form: strings.Join(lower(eventTypes), ", "), must: true, doc: "what happened", read: func(r *reader, v *Event, n ast.Node) {
		if i := r.word(n, "event", lower(eventTypes)); i >= 0 {
			v.Type = eventTypes[i]
		}
	}},
	{name: "qp", form: "QP", must: true, doc: "to which", read: func(r *reader, v *Event, n ast.Node) { v.QP = r.ref(n) }},
	{name: "count", form: "number or range", def: "1", doc: "how often", read: func(r *reader, v *Event, n ast.Node) { v.Count = r.counts(n) }},
}
