package hdl

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// Elaborate walks the design below top, a pointer to a struct, once. It names
// every module, agent and port after its Go fields and checks the design; the
// error lists all that is wrong, each with its full path.
func Elaborate(name string, top any, o Options) (*Kernel, error) {
	if o.PeriodPs == 0 {
		o.PeriodPs = 4000
	}
	e := &elab{
		k:       &Kernel{name: name, opt: o},
		seen:    map[place]bool{},
		paths:   map[string]bool{},
		layouts: map[reflect.Type]*layout{},
		holds:   map[reflect.Type]bool{},
	}
	v := reflect.ValueOf(top)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s: the top must be a pointer to a struct, not %T", name, top)
	}
	e.walk(name, v.Elem(), nil)
	e.check()
	if len(e.errs) > 0 {
		return nil, errors.Join(e.errs...)
	}
	e.finish()
	return e.k, nil
}

type elab struct {
	k       *Kernel
	errs    []error
	seen    map[place]bool
	paths   map[string]bool
	layouts map[reflect.Type]*layout
	holds   map[reflect.Type]bool // whether a type contains anything to elaborate
	outs    []outPort
	ins     []*fifo
	taps    []*tap
}

// place is a value in memory: a struct and its first field share an address.
type place struct {
	at  unsafe.Pointer
	typ reflect.Type
}

type outPort struct {
	s    *fifo
	path string
}

// part is what a block is made of: ports, levels and RAMs.
type part interface {
	bind(e *elab, path string, own *block)
}

var (
	moduleType = reflect.TypeFor[Module]()
	agentType  = reflect.TypeFor[Agent]()
	partType   = reflect.TypeFor[part]()
	threadPkg  = reflect.TypeFor[Thread]().PkgPath()
)

// list adds to what Signals lists.
func (e *elab) list(f func(*lister)) { e.k.listing = append(e.k.listing, f) }

func (e *elab) errorf(path, format string, args ...any) {
	e.errs = append(e.errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// walk elaborates one value. own is the module or agent that it is part of.
func (e *elab) walk(path string, v reflect.Value, own *block) {
	if !e.interesting(v.Type(), nil) {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		// Blocks hold their parts by value; a pointer of theirs is a reference.
		if own == nil && !v.IsNil() {
			if v = v.Elem(); v.Kind() == reflect.Pointer {
				e.walk(path, v, own)
			} else if v.CanAddr() {
				e.walk(path, v, own)
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			e.walk(path+"_"+strconv.Itoa(i), v.Index(i), own)
		}
	case reflect.Struct:
		e.walkStruct(path, v, own)
	}
}

func (e *elab) walkStruct(path string, v reflect.Value, own *block) {
	p := unsafe.Pointer(v.UnsafeAddr())
	if at := (place{p, v.Type()}); e.seen[at] {
		return
	} else {
		e.seen[at] = true
	}
	addr := reflect.NewAt(v.Type(), p).Interface()
	switch x := addr.(type) {
	case Module:
		own = e.module(path, x, v.Type(), own)
	case Agent:
		own = e.agent(path, x, v.Type(), own)
	case part:
		if own == nil {
			e.errorf(path, "a port, level or RAM belongs to a module or an agent")
			return
		}
		e.name(path)
		x.bind(e, path, own)
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type.PkgPath() == threadPkg && (strings.HasPrefix(f.Name, "Regs") || f.Name == "Behave") && f.Anonymous {
			if own == nil {
				e.errorf(path, "%s embeds hdl.%s but its pointer lacks the method %s()", v.Type(), f.Name, map[bool]string{true: "Tick", false: "Eval"}[f.Name == "Behave"])
			}
			continue
		}
		sub := path
		if !f.Anonymous {
			sub = join(path, snake(f.Name))
		}
		e.walk(sub, v.Field(i), own)
	}
}

func (e *elab) name(path string) {
	if e.paths[path] {
		e.errorf(path, "two things have this name")
	}
	e.paths[path] = true
}

func (e *elab) module(path string, m Module, t reflect.Type, own *block) *block {
	blk, q, d := m.state()
	if blk == own {
		return own
	}
	if blk.k != nil {
		e.errorf(path, "the module was elaborated before, as %s", blk.path)
		return blk
	}
	e.name(path)
	*blk = block{k: e.k, path: path, idx: int32(len(e.k.mods))}
	f, _ := t.FieldByName("Q")
	rec := modrec{mod: m, q: q, d: d}
	if l := e.layout(path, f.Type); l != nil {
		rec.bytes, rec.mask = l.words*8, unsafe.Pointer(unsafe.SliceData(l.mask))
		e.k.lays = append(e.k.lays, l)
	}
	i := len(e.k.mods)
	e.list(func(l *lister) { l.module(i) })
	e.k.mods = append(e.k.mods, rec)
	e.k.blocks = append(e.k.blocks, blk)
	return blk
}

func (e *elab) agent(path string, a Agent, t reflect.Type, own *block) *block {
	blk := &a.behave().blk
	if blk == own {
		return own
	}
	if blk.k != nil {
		e.errorf(path, "the agent was elaborated before, as %s", blk.path)
		return blk
	}
	if pkg := t.PkgPath(); strings.Contains(pkg+"/", "/rtl/") && !strings.HasSuffix(pkg, "_test") {
		e.errorf(path, "%s is an agent: behaviour has no place in rtl", t)
	}
	e.name(path)
	*blk = block{k: e.k, path: path, idx: -1}
	e.k.agents = append(e.k.agents, a)
	return blk
}

// layout takes a flat type apart; nil and an error recorded if it is not flat.
func (e *elab) layout(path string, t reflect.Type) *layout {
	if l, ok := e.layouts[t]; ok {
		return l
	}
	l, err := newLayout(t)
	if err != nil {
		e.errorf(path, "%s: %v", t, err)
		return nil
	}
	e.layouts[t] = l
	return l
}

// interesting tells whether values of a type may contain blocks or parts.
func (e *elab) interesting(t reflect.Type, busy []reflect.Type) bool {
	if r, ok := e.holds[t]; ok {
		return r
	}
	for _, b := range busy {
		if b == t {
			return false
		}
	}
	busy = append(busy, t)
	r := false
	switch t.Kind() {
	case reflect.Interface:
		r = true
	case reflect.Pointer, reflect.Array, reflect.Slice:
		r = e.interesting(t.Elem(), busy)
	case reflect.Struct:
		p := reflect.PointerTo(t)
		r = p.Implements(moduleType) || p.Implements(agentType) || p.Implements(partType)
		for i := 0; i < t.NumField() && !r; i++ {
			f := t.Field(i)
			r = f.Anonymous && f.Type.PkgPath() == threadPkg || e.interesting(f.Type, busy)
		}
	}
	if r || len(busy) == 1 {
		e.holds[t] = r
	}
	return r
}
