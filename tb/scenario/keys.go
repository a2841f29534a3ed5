package scenario

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// key is a key of a mapping that is read into a T.
type key[T any] struct {
	name string
	form string // what it takes, as the reference says it
	def  string // its default; "": none
	doc  string
	must bool
	read func(r *reader, v *T, n ast.Node)
}

// fill reads a mapping.
func fill[T any](r *reader, n ast.Node, what string, keys []key[T], v *T) {
	l, ok := r.pairs(n, "a mapping with "+what)
	if !ok {
		return
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].name
	}
	seen := map[string]bool{}
	for _, p := range l {
		name, _, ok := text(p.Key)
		i := slices.Index(names, name)
		switch {
		case !ok:
			r.mismatch(p.Key, "a key")
		case seen[name]:
			r.fail(place(p.Key), "%s: there is one already", name)
		case i < 0:
			r.fail(place(p.Key), "unknown key %q in %s: %s", name, what, oneOf(name, names))
		default:
			keys[i].read(r, v, p.Value)
		}
		seen[name] = true
	}
	for i := range keys {
		if keys[i].must && !seen[names[i]] {
			r.fail(place(n), "%s without %q", what, names[i])
		}
	}
}

// named reads a mapping of names to things, in the order of the file.
func named(r *reader, n ast.Node, what string, read func(name string, p Pos, n ast.Node)) {
	l, ok := r.pairs(n, "a mapping of names to "+what)
	if !ok {
		return
	}
	seen := map[string]bool{}
	for _, p := range l {
		name, ok := r.name(p.Key)
		switch {
		case !ok:
		case seen[name]:
			r.fail(place(p.Key), "%s: there is one already", name)
		default:
			seen[name] = true
			read(name, place(p.Key), p.Value)
		}
	}
}
