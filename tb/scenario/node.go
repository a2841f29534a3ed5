package scenario

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFile is the longest file, bytes: far beyond what a person writes.
const maxFile = 1 << 20

// reader reads a file and gathers what is wrong with it.
type reader struct {
	file string
	errs Errors
}

func (r *reader) fail(p Pos, format string, args ...any) {
	r.errs = append(r.errs, &Error{r.file, p, fmt.Sprintf(format, args...)})
}

// at is the place of a token.
func at(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{1, 1}
	}
	return Pos{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// place is where a node begins.
func place(n ast.Node) Pos {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return place(n.Values[0].Key)
		}
		return at(n.Start)
	case *ast.MappingValueNode:
		return place(n.Key)
	}
	return at(n.GetToken())
}

// parse makes the tree of a file. The parser may panic on what is no YAML.
func (r *reader) parse(data []byte) (root ast.Node) {
	defer func() {
		if v := recover(); v != nil {
			root = nil
			r.fail(Pos{1, 1}, "no YAML: %v", v)
		}
	}()
	if len(data) > maxFile {
		r.fail(Pos{1, 1}, "a file of %d bytes; at most %d", len(data), maxFile)
		return nil
	}
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		var s *yaml.SyntaxError
		if errors.As(err, &s) {
			r.fail(at(s.Token), "no YAML: %s", s.Message)
		} else {
			r.fail(Pos{1, 1}, "no YAML: %v", err)
		}
		return nil
	}
	switch {
	case len(f.Docs) == 0 || f.Docs[0].Body == nil:
		r.fail(Pos{1, 1}, "an empty file")
		return nil
	case len(f.Docs) > 1:
		r.fail(at(f.Docs[1].Start), "a second document: a file has one scenario")
		return nil
	}
	return f.Docs[0].Body
}

// pairs are the keys and values of a mapping, each key once.
func (r *reader) pairs(n ast.Node, what string) (l []*ast.MappingValueNode, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	r.mismatch(n, what)
	return nil, false
}

// list are the elements of a list; a single element may stand for a list of one.
func (r *reader) list(n ast.Node) []ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	return []ast.Node{n}
}

// mismatch tells that a node is not what it must be.
func (r *reader) mismatch(n ast.Node, want string) {
	got := "this"
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		got = "a mapping"
	case *ast.SequenceNode:
		got = "a list"
	case *ast.NullNode:
		got = "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		r.fail(place(n), "anchors, aliases and tags are no part of the language")
		return
	default:
		if s, _, ok := text(n); ok {
			got = fmt.Sprintf("%q", s)
		}
	}
	r.fail(place(n), "%s: must be %s", got, want)
}

// text is the text of a scalar as it was written, without quotes, and whether it had
// some.
func text(n ast.Node) (s string, quoted, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		t := n.GetToken().Type
		return n.Value, t == token.SingleQuoteType || t == token.DoubleQuoteType, true
	case *ast.LiteralNode:
		return n.Value.Value, true, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, false, true
	}
	return "", false, false
}

// scalar is text, or a complaint.
func (r *reader) scalar(n ast.Node, want string) (string, bool) {
	s, _, ok := text(n)
	if !ok {
		r.mismatch(n, want)
	}
	return s, ok
}
