package scenario

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"rnic/abi"
)

// states are those that modify can ask for.
var states = []abi.QPState{abi.QPRTS, abi.QPSQD, abi.QPErr}

func lower[T interface{ String() string }](l []T) (names []string) {
	for _, v := range l {
		names = append(names, strings.ToLower(v.String()))
	}
	return names
}

// given notes that a key of a step is there.
func given(name string, read func(r *reader, s *Step, n ast.Node)) func(*reader, *Step, ast.Node) {
	return func(r *reader, s *Step, n ast.Node) {
		s.has[name] = place(n)
		read(r, s, n)
	}
}

// maxMessage is the longest message, bytes.
const maxMessage = 1 << 31

var stepKeys = []key[Step]{
	{name: "name", form: "name", def: "none", doc: "by which after and expect know it", read: func(r *reader, s *Step, n ast.Node) { s.Name, _ = r.name(n) }},
	{name: "qp", form: "QP", must: true, doc: "whose queue it is for", read: func(r *reader, s *Step, n ast.Node) { s.QP = r.ref(n) }},
	{name: "op", form: strings.Join(opNames(), ", "), must: true, doc: "what is done", read: func(r *reader, s *Step, n ast.Node) { s.Op = r.word(n, "operation", opNames()) }},
	{name: "local", form: "list of segments", def: "none: 0 bytes", doc: "own memory that is sent, or that a receive, a READ or the old value of an atomic goes to", read: given("local", func(r *reader, s *Step, n ast.Node) {
		for _, e := range r.list(n) {
			var g Segment
			fill(r, e, "a segment", localKeys, &g)
			s.Local = append(s.Local, g)
		}
	})},
	{name: "inline", form: "mapping", doc: "data in the work request, instead of local", read: given("inline", func(r *reader, s *Step, n ast.Node) {
		s.Inline = &Inline{}
		fill(r, n, "inline data", inlineKeys, s.Inline)
	})},
	{name: "remote", form: "segment", doc: "the peer's memory of an RDMA operation or atomic", read: given("remote", func(r *reader, s *Step, n ast.Node) {
		s.Remote = &Segment{}
		fill(r, n, "a remote segment", remoteKeys, s.Remote)
	})},
	{name: "imm", form: "number of 32 bits", doc: "immediate data", read: given("imm", func(r *reader, s *Step, n ast.Node) { s.Imm = r.number(n, 0, 1<<32-1) })},
	{name: "invalidate", form: "memory region of the peer", doc: "whose key ends with it", read: given("invalidate", func(r *reader, s *Step, n ast.Node) { s.Inv = r.ref(n) })},
	{name: "compare", form: "number of 64 bits", doc: "compare_swap: what must be there", read: given("compare", func(r *reader, s *Step, n ast.Node) { s.Compare = r.number(n, 0, 1<<64-1) })},
	{name: "swap", form: "number of 64 bits", doc: "compare_swap: what takes its place", read: given("swap", func(r *reader, s *Step, n ast.Node) { s.Swap = r.number(n, 0, 1<<64-1) })},
	{name: "add", form: "number of 64 bits", doc: "fetch_add: what is added", read: given("add", func(r *reader, s *Step, n ast.Node) { s.Add = r.number(n, 0, 1<<64-1) })},
	{name: "state", form: strings.Join(lower(states), ", "), doc: "modify: the state that the QP is taken to", read: given("state", func(r *reader, s *Step, n ast.Node) {
		if i := r.word(n, "state", lower(states)); i >= 0 {
			s.State = states[i]
		}
	})},
	{name: "signaled", form: "bool", def: "true", doc: "it gives a completion; without, only if it fails", read: given("signaled", func(r *reader, s *Step, n ast.Node) { s.Unsignaled = !r.bool(n) })},
	{name: "solicited", form: "bool", def: "false", doc: "the receiver's completion is a solicited one", read: given("solicited", func(r *reader, s *Step, n ast.Node) { s.Solicited = r.bool(n) })},
	{name: "fence", form: "bool", def: "false", doc: "it waits until all READs and atomics before it are done", read: given("fence", func(r *reader, s *Step, n ast.Node) { s.Fence = r.bool(n) })},
	{name: "at", form: "time", def: "0s", doc: "not before this", read: func(r *reader, s *Step, n ast.Node) { s.At = r.time(n, 0, 100*time.Second) }},
	{name: "after", form: "step, or a list of them", doc: "not before these have completed; of the other host, 5 us later, as a message beside the wire takes", read: func(r *reader, s *Step, n ast.Node) { s.After = r.refs(n) }},
	{name: "after_completions", form: "mapping", doc: "not before a QP has had so many completions", read: func(r *reader, s *Step, n ast.Node) {
		s.AfterN = &Count{N: 1}
		fill(r, n, "after_completions", countKeys, s.AfterN)
	}},
}

var countKeys = []key[Count]{
	{name: "qp", form: "QP", must: true, doc: "whose completions, of both queues", read: func(r *reader, c *Count, n ast.Node) { c.QP = r.ref(n) }},
	{name: "count", form: "number, 1 to 100000", def: "1", doc: "how many", read: func(r *reader, c *Count, n ast.Node) { c.N = r.number(n, 1, 100_000) }},
}

var inlineKeys = append([]key[Inline]{
	{name: "size", form: "size, up to 64B", def: "that of its content", doc: "of the data", read: func(r *reader, c *Inline, n ast.Node) {
		c.Size, c.sized = r.size(n, 0, 64), true
	}},
}, contentKeys(func(c *Inline) *Content { return &c.Content })...)

// segmentMR and segmentOffset are keys of all segments.
var (
	segmentMR     = key[Segment]{name: "mr", form: "memory region", must: true, doc: "where it lies", read: func(r *reader, g *Segment, n ast.Node) { g.MR = r.ref(n) }}
	segmentOffset = key[Segment]{name: "offset", form: "size", def: "0B", doc: "from the start of the region", read: func(r *reader, g *Segment, n ast.Node) { g.Offset = r.size(n, 0, maxBytes) }}
	segmentSize   = key[Segment]{name: "size", form: "size", def: "the rest of the region", doc: "of the segment", read: func(r *reader, g *Segment, n ast.Node) {
		g.Size, g.sized = r.size(n, 0, maxMessage), true
	}}
)

// segmentKey is a key in place of the region's.
func segmentKey(name string) key[Segment] {
	return key[Segment]{name: name, form: "number of 32 bits", def: "that of the region", doc: "another key than the region's", read: func(r *reader, g *Segment, n ast.Node) {
		g.key, g.keyed = r.number(n, 0, 1<<32-1), true
	}}
}

var (
	localKeys  = []key[Segment]{segmentMR, segmentOffset, segmentSize, segmentKey("lkey")}
	remoteKeys = []key[Segment]{segmentMR, segmentOffset, segmentKey("rkey")}
	likeKeys   = []key[Segment]{segmentMR, segmentOffset, segmentSize}
)
