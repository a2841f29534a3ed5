package read

import "fmt"

// builder collects the declarations of a file.
type builder struct {
	h     Header
	scope int32
	kinds []Kind // by ID
	width []int32
	bits  int // of all values
	enums map[int64]*Enum
}

func newBuilder(format string) *builder {
	return &builder{h: Header{Format: format}, scope: -1, enums: map[int64]*Enum{}}
}

func (b *builder) enter(kind, name string) error {
	s := Scope{Name: name, Type: kind, Parent: b.scope}
	if b.scope >= 0 {
		s.depth = b.h.Scopes[b.scope].depth + 1
	}
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes: at most %d", len(name), maxName)
	case s.depth >= maxDepth:
		return fmt.Errorf("scopes are more than %d deep", maxDepth)
	case len(b.h.Scopes) >= maxScopes:
		return fmt.Errorf("more than %d scopes", maxScopes)
	}
	b.h.Scopes = append(b.h.Scopes, s)
	b.scope = int32(len(b.h.Scopes) - 1)
	return nil
}

func (b *builder) leave() error {
	if b.scope < 0 {
		return fmt.Errorf("the end of a scope that has not begun")
	}
	b.scope = b.h.Scopes[b.scope].Parent
	return nil
}

// value makes a new ID.
func (b *builder) value(k Kind, width int) (int32, error) {
	room := 0
	switch k {
	case Bits, Event:
		room = width
	case Real:
		room = 8
	}
	switch {
	case len(b.kinds) >= maxVars:
		return 0, fmt.Errorf("more than %d variables", maxVars)
	case room > maxWidth:
		return 0, fmt.Errorf("a variable of %d bits: at most %d", width, maxWidth)
	case b.bits+room > maxBits:
		return 0, fmt.Errorf("variables of more than %d bits together", maxBits)
	}
	b.bits += room
	b.kinds = append(b.kinds, k)
	b.width = append(b.width, int32(room))
	b.h.IDs = len(b.kinds)
	return int32(len(b.kinds) - 1), nil
}

// declare adds a variable of an ID.
func (b *builder) declare(kind, name string, id int32, e *Enum) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes: at most %d", len(name), maxName)
	case len(b.h.Vars) >= maxVars:
		return fmt.Errorf("more than %d variables", maxVars)
	}
	v := Var{Type: kind, ID: id, Kind: b.kinds[id], Scope: b.scope, Enum: e}
	if v.Kind == Bits || v.Kind == Event {
		v.Width = b.width[id]
	}
	v.Name, v.Range = parts(name, int(b.width[id]))
	b.h.Vars = append(b.h.Vars, v)
	return nil
}
