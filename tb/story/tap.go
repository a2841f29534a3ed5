package story

import (
	"fmt"
	"unsafe"

	"rnic/hdl"
	"rnic/tb"
)

// tap keeps what a stream, a level or the registers of a block showed as of the last
// edge, so that a beat can be told of after the edge that took it.
type tap struct {
	h      *hub
	path   string // of the port, the level, or the block
	fields map[string]*hdl.Signal
	prefix string // of fields, behind path
	buf    []uint64
	size   uintptr
	owner  int // of what is kept
	valid  bool
	fresh  bool        // kept since it was looked at
	fire   *hdl.Signal // of a stream: it moved
	on     func(cycle uint64)
}

// enumTable is the widest enum, in bits, whose names are part of the waves' values.
const enumTable = 8

// hub observes a kernel for the taps of a side.
type hub struct {
	k       *hdl.Kernel
	signals map[string]hdl.Signal
	state   [][]*tap // by owner
	past    [][]*tap
	after   func(cycle uint64)
	err     error
}

func newHub(k *hdl.Kernel) *hub {
	h := &hub{k: k, signals: map[string]hdl.Signal{}}
	top := 0
	for _, s := range k.Signals() {
		if _, twice := h.signals[s.Path]; !twice {
			h.signals[s.Path] = s
		}
		top = max(top, s.Owner)
	}
	h.state, h.past = make([][]*tap, top+1), make([][]*tap, top+1)
	return h
}

// tap keeps the fields of one owner: those below a prefix, of which an example is given.
func (h *hub) tap(path, prefix string, fields ...string) *tap {
	t := &tap{h: h, path: h.k.Name() + "." + path, prefix: prefix, fields: map[string]*hdl.Signal{}}
	for i, f := range fields {
		s, ok := h.signals[t.path+prefix+f]
		if !ok {
			h.fail(t.path + prefix + f)
			return t
		}
		if i == 0 {
			t.owner = s.Owner
		}
		t.fields[f] = &s
		t.size = max(t.size, s.Offset+s.Size)
	}
	t.buf = make([]uint64, (t.size+7)/8)
	h.state[t.owner] = append(h.state[t.owner], t)
	return t
}

func (h *hub) fail(path string) {
	if h.err == nil {
		h.err = fmt.Errorf("story: no such signal: %s", path)
	}
}

// stream has on called for each beat that the In of a path takes, with the cycle in
// which it does; the tap then has the beat.
func (h *hub) stream(path string, on func(t *tap, cycle uint64), fields ...string) *tap {
	t := h.tap(path, ".head.", fields...)
	t.on = func(c uint64) { on(t, c) }
	h.moves(t, "take")
	return t
}

func (h *hub) moves(t *tap, way string) {
	s, ok := h.signals[t.path+"."+way]
	if !ok {
		h.fail(t.path + "." + way)
		return
	}
	t.fire = &s
	h.past[s.Owner] = append(h.past[s.Owner], t)
}

// start keeps what is there now, and observes.
func (h *hub) start() {
	for _, l := range h.state {
		for _, t := range l {
			t.keep()
		}
	}
	h.k.Observe(h)
}

func (t *tap) keep() {
	base := t.h.k.Base(t.owner)
	t.valid, t.fresh = base != nil, true
	if t.valid {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&t.buf[0])), t.size), unsafe.Slice((*byte)(base), t.size))
	}
}

// Edge is of hdl.Observer: first what happened in the cycle before, to what was there
// then; then what is there now.
func (h *hub) Edge(cycle uint64, ch *hdl.Changes) {
	h.happened(cycle-1, ch)
	for _, o := range ch.State {
		if int(o) < len(h.state) {
			for _, t := range h.state[o] {
				t.keep()
			}
		}
	}
	h.after(cycle)
}

// Jump is of hdl.Observer.
func (h *hub) Jump(from, to uint64, ch *hdl.Changes) { h.happened(from, ch) }

func (h *hub) happened(cycle uint64, ch *hdl.Changes) {
	for _, o := range ch.Past {
		if int(o) >= len(h.past) {
			continue
		}
		for _, t := range h.past[o] {
			if base := h.k.Base(int(o)); base != nil && *(*bool)(unsafe.Add(base, t.fire.Offset)) {
				t.on(cycle)
			}
		}
	}
}

func (t *tap) ptr(s *hdl.Signal) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(&t.buf[0]), s.Offset)
}

// u is a field as a number.
func (t *tap) u(field string) uint64 {
	s := t.fields[field]
	return load(t.ptr(s), s.Size)
}

func (t *tap) is(field string) bool { return t.u(field) != 0 }

// name is a field as text.
func (t *tap) name(field string) string {
	s := t.fields[field]
	return text(s, t.ptr(s))
}

// bytes is a field that is an array of bytes.
func (t *tap) bytes(field string) []byte {
	s := t.fields[field]
	return unsafe.Slice((*byte)(t.ptr(s)), s.Size)
}

// at is where a field can be seen in a cycle.
func (t *tap) at(cycle uint64, field string) At {
	path := t.path + t.prefix + field
	if s := t.fields[field]; s.Names != nil && s.Width > enumTable {
		path += "_name" // the waves have its names as text beside it
	}
	return at(cycle, path, t.name(field))
}

// fired is that the stream moved.
func (t *tap) fired(cycle uint64) At { return at(cycle, t.path+".fire", "1") }

func at(cycle uint64, signal, value string) At {
	return At{Ps: int64(cycle) * tb.PeriodPs, Cycle: cycle, Signal: signal, Value: value}
}
