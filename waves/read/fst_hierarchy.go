package read

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

var fstScopes = [...]string{
	"module", "task", "function", "begin", "fork", "generate", "struct", "union", "class", "interface", "package", "program",
	"vhdl_architecture", "vhdl_procedure", "vhdl_function", "vhdl_record", "vhdl_process", "vhdl_block", "vhdl_for_generate",
	"vhdl_if_generate", "vhdl_generate", "vhdl_package", "sv_array",
}

var fstTypes = [...]string{
	"event", "integer", "parameter", "real", "real_parameter", "reg", "supply0", "supply1", "time", "tri", "triand", "trior",
	"trireg", "tri0", "tri1", "wand", "wire", "wor", "port", "sparray", "realtime", "string", "bit", "logic", "int", "shortint",
	"longint", "byte", "enum", "shortreal",
}

// Records of the hierarchy that are no variable.
const (
	fstAttrBegin = 252
	fstAttrEnd   = 253
	fstScope     = 254
	fstUpscope   = 255
)

// What the geometry has for a width of none.
const (
	fstRealWidth = 0
	fstTextWidth = 0xffffffff
)

// widths reads the geometry; nil if there is none.
func (t *fst) widths() ([]uint32, error) {
	if t.geometry.size == 0 {
		return nil, nil
	}
	at := t.geometry.at
	data, err := t.bytes(at+9, t.geometry.size-8, "the widths")
	if err != nil {
		return nil, err
	}
	if len(data) < 16 {
		return nil, t.fail(at, "the widths in %d bytes", len(data))
	}
	size, n := binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:])
	if n > maxVars || size > 5*maxVars {
		return nil, t.fail(at, "%d variables: at most %d", n, maxVars)
	}
	b, err := inflate(data[16:], int64(size))
	if err != nil {
		return nil, t.fail(at, "the widths: zlib: %v", err)
	}
	if n > size {
		return nil, t.fail(at, "the widths of %d variables in %d bytes", n, size)
	}
	c := chars{b: b}
	w := make([]uint32, n)
	for i := range w {
		v := c.number()
		if c.short || v > fstTextWidth {
			return nil, t.fail(at, "the width of variable %d of %d", i+1, n)
		}
		w[i] = uint32(v)
	}
	return w, nil
}

// unpackHierarchy is the records.
func (t *fst) unpackHierarchy() ([]byte, error) {
	at := t.hier.at
	data, err := t.bytes(at+9, t.hier.size-8, "the hierarchy")
	if err != nil {
		return nil, err
	}
	if len(data) < 8 {
		return nil, t.fail(at, "the hierarchy in %d bytes", len(data))
	}
	size := int64(binary.BigEndian.Uint64(data))
	data = data[8:]
	packed := int64(len(data))
	if t.hier.kind == fstHierTwice {
		packed *= 255
	}
	if size > maxHierarchy || !plausible(size, packed) {
		return nil, t.fail(at, "a hierarchy of %d bytes, at most %d, in %d", size, maxHierarchy, len(data))
	}
	out := make([]byte, size)
	switch t.hier.kind {
	case fstHierGzip:
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			_, err = io.ReadFull(z, out)
		}
		if err != nil {
			return nil, t.fail(at, "the hierarchy: gzip: %v", err)
		}
		return out, nil
	case fstHierTwice:
		c := chars{b: data}
		n := c.number()
		if c.short || n > maxHierarchy || !plausible(int64(n), int64(len(data))) {
			return nil, t.fail(at, "a packed hierarchy of %d bytes in %d", n, len(data))
		}
		inner := make([]byte, n)
		if err := unlz4(inner, data[c.at:]); err != nil {
			return nil, t.fail(at, "the hierarchy: LZ4: %v", err)
		}
		data = inner
	}
	if err := unlz4(out, data); err != nil {
		return nil, t.fail(at, "the hierarchy: LZ4: %v", err)
	}
	return out, nil
}

// hierarchy reads scopes and variables.
func (t *fst) hierarchy(b *builder, widths []uint32) error {
	data, err := t.unpackHierarchy()
	if err != nil {
		return err
	}
	c := &chars{b: data}
	var enum *Enum // of the next variable
	for c.at < len(data) {
		at := c.at
		switch tag := c.byte(); {
		case tag == fstScope:
			kind, name := c.byte(), c.text()
			c.text() // component
			err = b.enter(nameOf(fstScopes[:], kind), name)
		case tag == fstUpscope:
			err = b.leave()
		case tag == fstAttrBegin:
			kind, sub, text := c.byte(), c.byte(), c.text()
			if n := int64(c.number()); kind == 0 && sub == 7 && !c.short {
				enum, err = b.attribute(text, n, enum)
			}
		case tag == fstAttrEnd:
		case int(tag) < len(fstTypes):
			err = b.fstVariable(c, tag, widths, enum)
			enum = nil
		default:
			err = fmt.Errorf("a record of kind %d", tag)
		}
		if c.short {
			err = fmt.Errorf("a record is cut")
		}
		if err != nil {
			return t.fail(t.hier.at, "the hierarchy: at %d of %d: %v", at, len(data), err)
		}
	}
	switch {
	case b.scope >= 0:
		return t.fail(t.hier.at, "the hierarchy ends within the scope %s", b.h.ScopePath(b.scope))
	case widths != nil && len(widths) != b.h.IDs:
		return t.fail(t.hier.at, "the hierarchy has %d values and %d widths", b.h.IDs, len(widths))
	}
	return nil
}

func nameOf(list []string, i byte) string {
	if int(i) < len(list) {
		return list[i]
	}
	return fmt.Sprintf("type %d", i)
}

// attribute takes a table of an enum, or which one the next variable has.
func (b *builder) attribute(text string, n int64, enum *Enum) (*Enum, error) {
	if text == "" {
		if b.enums[n] == nil {
			return nil, fmt.Errorf("enum %d has no table", n)
		}
		return b.enums[n], nil
	}
	e, err := table(strings.Fields(text))
	if err != nil {
		return nil, err
	}
	b.enums[n] = e
	return enum, nil
}

// fstVariable takes a variable, whose width is also in the geometry if there is one.
func (b *builder) fstVariable(c *chars, tag byte, widths []uint32, enum *Enum) error {
	c.byte() // direction
	name := c.text()
	width, alias := c.number(), c.number()
	if c.short {
		return nil // the caller tells
	}
	kind := fstTypes[tag]
	if kind == "port" {
		return fmt.Errorf("%s is a port: extended VCD is not read", quote([]byte(name)))
	}
	if alias > 0 {
		if alias > uint64(b.h.IDs) {
			return fmt.Errorf("%s is an alias of %d, of %d", quote([]byte(name)), alias, b.h.IDs)
		}
		return b.declare(kind, name, int32(alias-1), enum)
	}
	real := kind == "real" || kind == "realtime" || kind == "shortreal" || kind == "real_parameter"
	if widths != nil {
		if b.h.IDs >= len(widths) {
			return fmt.Errorf("more values than the %d widths", len(widths))
		}
		w := widths[b.h.IDs]
		if real != (w == fstRealWidth) || !real && (width == 0) != (w == fstTextWidth) || w != fstTextWidth && !real && uint64(w) != width {
			return fmt.Errorf("%s has %d bits here and %d among the widths", quote([]byte(name)), width, int32(w))
		}
	}
	if width > maxWidth {
		return fmt.Errorf("%s has %d bits: at most %d", quote([]byte(name)), width, maxWidth)
	}
	k := Bits
	switch {
	case real:
		k, width = Real, 8
	case width == 0:
		k = String
	case kind == "event" && width == 1:
		k = Event
	}
	id, err := b.value(k, int(width))
	if err != nil {
		return err
	}
	return b.declare(kind, name, id, enum)
}
