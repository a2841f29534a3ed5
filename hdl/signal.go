package hdl

import (
	"fmt"
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// Role is what a signal is in the design.
type Role uint8

const (
	RoleReg      Role = iota // register of a module
	RoleLevel                // value of a Sig
	RoleValid                // at an In: there is a beat
	RoleTake                 // at an In: the beat was taken in the cycle
	RoleCount                // at an In: number of beats waiting
	RolePayload              // at an In: field of the oldest beat
	RoleReady                // at an Out: there is room
	RolePut                  // at an Out: a beat was put in the cycle
	RoleRAMAddr              // address of a RAM port's access
	RoleRAMRead              // the port read in the cycle
	RoleRAMWrite             // the port wrote in the cycle
)

// Past tells whether signals of a role say what happened during a cycle, known
// only at the edge that ends it, rather than state that an edge begins.
func (r Role) Past() bool {
	return r == RoleTake || r == RolePut || r >= RoleRAMAddr
}

// Signal is one thing that a waveform can show. Its value is Size bytes at Offset
// from Kernel.Base(Owner), little-endian unless Kind is Bytes.
type Signal struct {
	Path   string // Scope.Name
	Scope  string
	Name   string
	Type   string // Go type
	Kind   Kind
	Role   Role
	Width  int                   // bits
	Names  func(v uint64) string // of an Enum
	Enum   reflect.Type          // of an Enum: whose names these are
	Owner  int
	Offset uintptr
	Size   uintptr
}

// streamView is the handshake of a stream as memory, for observers.
type streamView struct {
	valid, ready, put, take bool
	count                   uint32
}

// ramView is the accesses of a RAM during a cycle, for observers.
type ramView [2]struct {
	addr        uint64
	read, write bool
}

// Owners are numbered: modules, then three a stream, then levels, then RAMs.
func (k *Kernel) streamOwner(i int) int { return len(k.mods) + 3*i }
func (k *Kernel) levelOwner(i int) int  { return k.streamOwner(len(k.streams)) + i }
func (k *Kernel) ramOwner(i int) int    { return k.levelOwner(len(k.sigs)) + i }

// Signals lists everything that can be traced, in the order of the hierarchy. The
// order depends on the design alone.
func (k *Kernel) Signals() []Signal {
	l := &lister{k: k}
	for _, f := range k.listing {
		f(l)
	}
	return l.signals
}

type lister struct {
	k       *Kernel
	signals []Signal
}

func (l *lister) add(scope, name string, s Signal) {
	s.Path = join(scope, name)
	cut := strings.LastIndexByte(s.Path, '.')
	s.Scope, s.Name = s.Path[:max(cut, 0)], s.Path[cut+1:]
	l.signals = append(l.signals, s)
}

// bit adds a bool at an offset of its owner.
func (l *lister) bit(scope, name string, role Role, owner int, off uintptr) {
	l.add(scope, name, Signal{Type: "bool", Kind: Bool, Role: role, Width: 1, Owner: owner, Offset: off, Size: 1})
}

// fields adds the leaves of a flat type.
func (l *lister) fields(scope string, lay *layout, role Role, owner int) {
	for i := range lay.leaves {
		f := &lay.leaves[i]
		s := Signal{Type: f.typ.String(), Kind: f.kind, Role: role, Width: f.width, Owner: owner, Offset: f.off, Size: f.size}
		if f.kind == Enum {
			s.Names, s.Enum = enumNames(f.typ), f.typ
		}
		l.add(scope, strings.TrimPrefix(f.name, "_"), s)
	}
}

func (l *lister) module(i int) {
	l.fields(l.k.mods[i].blk().path, l.k.lays[i], RoleReg, i)
}

func (l *lister) out(s *fifo) {
	o := l.k.streamOwner(s.info.idx)
	l.bit(s.info.srcPath, "ready", RoleReady, o, unsafe.Offsetof(streamView{}.ready))
	l.bit(s.info.srcPath, "put", RolePut, o+2, unsafe.Offsetof(streamView{}.put))
}

func (l *lister) in(s *fifo) {
	o, p := l.k.streamOwner(s.info.idx), s.info.inPath
	l.bit(p, "valid", RoleValid, o, unsafe.Offsetof(streamView{}.valid))
	l.bit(p, "take", RoleTake, o+2, unsafe.Offsetof(streamView{}.take))
	l.add(p, "count", Signal{Type: "uint32", Kind: Uint, Role: RoleCount, Width: bitsFor(s.info.depth), Owner: o, Offset: unsafe.Offsetof(streamView{}.count), Size: 4})
	scope := p + ".head"
	if n := len(s.info.lay.leaves); n == 1 && s.info.lay.leaves[0].name == "" {
		scope = p
		f := s.info.lay.leaves[0]
		f.name = "head"
		l.fields(scope, &layout{leaves: []leaf{f}}, RolePayload, o+1)
		return
	}
	l.fields(scope, s.info.lay, RolePayload, o+1)
}

func (l *lister) level(s *level) {
	l.fields(s.path, s.lay, RoleLevel, l.k.levelOwner(s.idx))
}

func (l *lister) ram(r *ram) {
	o := l.k.ramOwner(r.idx)
	for p := range r.ports {
		scope := fmt.Sprintf("%s.port_%d", r.path, p)
		at := unsafe.Sizeof(ramView{}) / 2 * uintptr(p)
		l.add(scope, "addr", Signal{Type: "int", Kind: Uint, Role: RoleRAMAddr, Width: bitsFor(r.depth - 1), Owner: o, Offset: at, Size: 8})
		l.bit(scope, "read", RoleRAMRead, o, at+8)
		l.bit(scope, "write", RoleRAMWrite, o, at+9)
	}
}

// bitsFor is the bits that hold 0..n, at least 1.
func bitsFor(n int) int {
	return max(1, bits.Len(uint(n)))
}

// enumNames returns the names of an enum's values; those that its String method
// does not know are numbers.
func enumNames(t reflect.Type) func(uint64) string {
	return func(v uint64) (name string) {
		defer func() {
			if recover() != nil {
				name = strconv.FormatUint(v, 10)
			}
		}()
		x := reflect.New(t).Elem()
		x.SetUint(v)
		return x.Interface().(fmt.Stringer).String()
	}
}

// Home is the Base of an owner, while an observer is set, if that is always the same;
// nil for the payload of a stream. It points to whole words of 8 bytes.
func (k *Kernel) Home(owner int) unsafe.Pointer {
	if i := owner - len(k.mods); i >= 0 && owner < k.levelOwner(0) && i%3 == 1 {
		return nil
	}
	return k.Base(owner)
}

// Base is where an owner's values are now; nil when they mean nothing, as the
// payload of an empty stream. Handshakes and RAM accesses are kept only while
// an observer is set.
func (k *Kernel) Base(owner int) unsafe.Pointer {
	if owner < len(k.mods) {
		return k.mods[owner].q
	}
	if owner < k.levelOwner(0) {
		i := owner - len(k.mods)
		s := k.streams[i/3]
		switch {
		case i%3 != 1:
			return unsafe.Pointer(&k.watch.streams[i/3])
		case s.n == 0:
			return nil
		}
		return unsafe.Add(s.base, s.rd)
	}
	if owner < k.ramOwner(0) {
		return k.sigs[owner-k.levelOwner(0)].rec.q
	}
	return unsafe.Pointer(&k.watch.rams[owner-k.ramOwner(0)])
}
