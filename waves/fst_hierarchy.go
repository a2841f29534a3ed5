package waves

import "encoding/binary"

// Codes of FST: types of scopes and variables, and what records of the hierarchy
// begin with.
const (
	fstModule   = 0
	fstStruct   = 6
	fstReg      = 5
	fstWire     = 16
	fstString   = 21
	fstAttr     = 252
	fstScope    = 254
	fstUpscope  = 255
	fstMisc     = 0
	fstEnum     = 7
	fstImplicit = 0 // direction
)

// hierarchy is the scopes and variables of an FST.
type hierarchy struct {
	b       []byte
	scopes  int
	profile Profile
	tables  tables
}

func newHierarchy(root *node, p Profile) *hierarchy {
	h := &hierarchy{profile: p, tables: newTables()}
	for _, k := range root.kids {
		h.scope(k)
	}
	return h
}

func (h *hierarchy) name(s string) { h.b = append(append(h.b, s...), 0) }

func (h *hierarchy) number(v int) { h.b = binary.AppendUvarint(h.b, uint64(v)) }

func (h *hierarchy) scope(n *node) {
	h.scopes++
	kind := byte(fstModule)
	if n.structure(h.profile) {
		kind = fstStruct
	}
	h.b = append(h.b, fstScope, kind)
	h.name(n.ident)
	h.name("") // component
	for _, v := range n.vars {
		h.variable(v)
	}
	for _, k := range n.kids {
		h.scope(k)
	}
	h.b = append(h.b, fstUpscope)
}

func (h *hierarchy) variable(v *Var) {
	kind, width := byte(fstWire), v.Width
	switch {
	case v.text():
		kind, width = fstString, 0
	case v.held():
		kind = fstReg
	}
	text, n, first := h.tables.of(v)
	if first {
		h.enum(text, n)
	}
	if n > 0 {
		h.enum("", n)
	}
	h.b = append(h.b, kind, fstImplicit)
	h.name(v.declared())
	h.number(width)
	h.number(0) // no alias: the handle is the next one
}

// enum states a table of an enum, or says which the next variable has.
func (h *hierarchy) enum(text string, n int) {
	h.b = append(h.b, fstAttr, fstMisc, fstEnum)
	h.name(text)
	h.number(n)
}

// geometry is the widths of variables, by handle.
func geometry(vars []*Var) (b []byte) {
	for _, v := range vars {
		width := uint64(v.Width)
		if v.text() {
			width = 0xffffffff
		}
		b = binary.AppendUvarint(b, width)
	}
	return b
}

// fstHead is the first block of an FST, rewritten whenever the rest has grown.
type fstHead struct {
	start, end             int64 // ps
	scopes, vars, sections int
}

const fstHeadSize = 330

func (h *fstHead) bytes() []byte {
	b := fstBlock(nil, fstHeader, fstHeadSize-1)
	b = binary.BigEndian.AppendUint64(b, uint64(h.start))
	b = binary.BigEndian.AppendUint64(b, uint64(h.end))
	b = binary.LittleEndian.AppendUint64(b, 0x4005bf0a8b145769) // e, which tells the order of bytes of real numbers
	b = binary.BigEndian.AppendUint64(b, sectionSize)           // memory used by the writer
	for _, n := range []int{h.scopes, h.vars, h.vars, h.sections} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	const picoseconds = 0x100 - 12
	b = append(b, picoseconds)
	b = append(append(b, "rnic"...), make([]byte, 128-len("rnic"))...)
	b = append(append(b, "simulated time"...), make([]byte, 119-len("simulated time"))...)
	b = append(b, 0)                           // kind of file: Verilog
	return binary.BigEndian.AppendUint64(b, 0) // time zero
}

// Blocks of FST.
const (
	fstHeader   = 0
	fstGeometry = 3
	fstTree     = 4 // gzip
	fstSection  = 8 // LZ4 and aliases
	fstSkip     = 255
)

// fstBlock begins a block: what it is, and its length from the length on.
func fstBlock(b []byte, kind byte, size int) []byte {
	return binary.BigEndian.AppendUint64(append(b, kind), uint64(size))
}
