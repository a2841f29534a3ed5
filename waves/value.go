package waves

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"

	"rnic/hdl"
)

// octet is each byte in binary digits, the first in the low byte.
var octet [256]uint64

func init() {
	for v := range octet {
		for i := range 8 {
			octet[v] |= uint64('0'+byte(v>>(7-i)&1)) << (8 * i)
		}
	}
}

// shown is a variable and what the file says that it is. An enum's text goes along
// with its number. It is as large as a line of the cache: there are thousands.
type shown struct {
	last uint64
	mask uint64
	code code
	text *texts
	rare *rare
	off  uint32
	size uint8
	how  how
	bit  bool
	x    bool
	_    [8]byte
}

// rare is what few variables have.
type rare struct {
	wide  []byte     // instead of last: bytes in order
	gates [2]uintptr // of an address
}

// how a value is read and shown.
type how uint8

const (
	asBit how = iota
	asVector
	asBytes
	asAddress // of a RAM port: x unless one of gates, read and write, is set
)

func newShown(v *Var, f format) shown {
	s := &v.Signal
	d := shown{off: uint32(s.Offset), size: uint8(s.Size), bit: s.Width == 1, code: newCode(f, v, s.Width == 1), mask: ^uint64(0) >> (64 - min(64, s.Width))}
	switch {
	case s.Kind == hdl.Bytes:
		d.how, d.rare = asBytes, &rare{wide: make([]byte, s.Size)}
	case s.Role == hdl.RoleRAMAddr:
		d.how, d.rare, d.x = asAddress, &rare{gates: v.gates}, true // as without an access
	case s.Width == 1:
		d.how = asBit
	default:
		d.how = asVector
	}
	return d
}

// load reads an integer of the given size in bytes.
func load(p unsafe.Pointer, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// update appends the change of a variable whose owner lies at base, if it is one.
func (d *shown) update(b []byte, base unsafe.Pointer) []byte {
	p := unsafe.Add(base, d.off)
	switch d.how {
	case asBytes:
		wide := d.rare.wide
		now := unsafe.Slice((*byte)(p), len(wide))
		if bytes.Equal(now, wide) && !d.x {
			return b
		}
		copy(wide, now)
	case asAddress:
		if !*(*bool)(unsafe.Add(base, d.rare.gates[0])) && !*(*bool)(unsafe.Add(base, d.rare.gates[1])) {
			return d.void(b)
		}
		fallthrough
	default:
		now := load(p, d.size) & d.mask
		if now == d.last && !d.x {
			return b
		}
		d.last = now
	}
	d.x = false
	return d.append(b)
}

// void appends the change to x, if it is one.
func (d *shown) void(b []byte) []byte {
	if d.x {
		return b
	}
	d.x = true
	return d.append(b)
}

// append renders the value.
func (d *shown) append(b []byte) []byte {
	if d.code.record != 0 {
		return d.appendRecord(b)
	}
	switch {
	case d.x && d.bit:
		b = append(b, 'x')
	case d.x:
		b = append(b, 'b', 'x')
	case d.bit:
		b = append(b, '0'+byte(d.last))
	case d.how == asBytes:
		b = appendBytes(append(b, 'b'), d.rare.wide)
	default:
		b = appendBits(append(b, 'b'), d.last)
	}
	b = d.code.append(b)
	if d.text != nil {
		b = d.text.change(b, d.last, d.x)
	}
	return b
}

// appendBits renders a number without leading zeros.
func appendBits(b []byte, v uint64) []byte {
	at := (bits.Len64(v|1) - 1) &^ 7
	b = appendFirst(b, byte(v>>at))
	for at > 0 {
		at -= 8
		b = binary.LittleEndian.AppendUint64(b, octet[byte(v>>at)])
	}
	return b
}

func appendFirst(b []byte, v byte) []byte {
	n := bits.Len8(v | 1)
	return binary.LittleEndian.AppendUint64(b, octet[v]>>(8*(8-n)))[:len(b)+n]
}

// appendBytes is appendBits for bytes, the first most significant.
func appendBytes(b, v []byte) []byte {
	for len(v) > 1 && v[0] == 0 {
		v = v[1:]
	}
	b = appendFirst(b, v[0])
	for _, x := range v[1:] {
		b = binary.LittleEndian.AppendUint64(b, octet[x])
	}
	return b
}
