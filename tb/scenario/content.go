package scenario

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Content says what bytes there are.
type Content struct {
	Pos
	kind string // key that gave it; "": none did
	data []byte // of text, hex and u64
	word string // of a pattern
}

// patterns are the words of pattern.
var patterns = []string{"zero", "ones", "count", "random"}

// maxContent is the most bytes that text or hex may give.
const maxContent = 64 << 10

// contentKeys are the keys that give content, for a mapping that has some.
func contentKeys[T any](of func(*T) *Content) []key[T] {
	give := func(kind string, read func(r *reader, n ast.Node, c *Content)) func(*reader, *T, ast.Node) {
		return func(r *reader, v *T, n ast.Node) {
			c := of(v)
			if c.kind != "" {
				r.fail(place(n), "%s: there is %s already", kind, c.kind)
			}
			c.Pos, c.kind = place(n), kind
			read(r, n, c)
			if len(c.data) > maxContent {
				r.fail(place(n), "%d bytes: at most %d", len(c.data), maxContent)
			}
		}
	}
	return []key[T]{
		{name: "text", form: "text", doc: "content: the bytes of this text", read: give("text", func(r *reader, n ast.Node, c *Content) {
			s, _ := r.scalar(n, "text")
			c.data = []byte(s)
		})},
		{name: "hex", form: "hex digits", doc: "content: these bytes; blanks between them do not count", read: give("hex", func(r *reader, n ast.Node, c *Content) {
			s, ok := r.scalar(n, "hex digits")
			b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
			if ok && err != nil {
				r.fail(place(n), "%q: must be pairs of hex digits", s)
			}
			c.data = b
		})},
		{name: "u64", form: "number", doc: "content: 8 bytes, a number as the host's CPU stores it, for atomics", read: give("u64", func(r *reader, n ast.Node, c *Content) {
			c.data = binary.LittleEndian.AppendUint64(nil, r.number(n, 0, 1<<64-1))
		})},
		{name: "pattern", form: strings.Join(patterns, ", "), doc: "content: all bytes 0, all 0xff, 0 to 255 again and again, or bytes without a pattern", read: give("pattern", func(r *reader, n ast.Node, c *Content) {
			if i := r.word(n, "pattern", patterns); i >= 0 {
				c.word = patterns[i]
			}
		})},
	}
}

// len is how many bytes the content has by itself; -1: as many as wanted.
func (c *Content) len() int {
	if c.kind == "pattern" || c.kind == "" {
		return -1
	}
	return len(c.data)
}

// bytes are n bytes of it, zeros behind its end. What is random is so by the name.
func (c *Content) bytes(n int, name string) []byte {
	b := make([]byte, n)
	copy(b, c.data)
	switch c.word {
	case "ones":
		for i := range b {
			b[i] = 0xff
		}
	case "count":
		for i := range b {
			b[i] = byte(i)
		}
	case "random":
		h := fnv.New64a()
		_, _ = h.Write([]byte(name)) // never fails
		rng := rand.New(rand.NewPCG(h.Sum64(), 0))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
	}
	return b
}
