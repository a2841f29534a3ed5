package abi

import (
	"fmt"
	"strings"

	"rnic/bits"
)

// EnumValue is one named value of an enumeration, or one bit of a mask.
type EnumValue struct {
	Value uint32
	Name  string // as in the specification, upper case: "RDMA_WRITE"
	Doc   string
}

// Enum documents a typed constant set of this package.
type Enum struct {
	Name   string // of the Go type
	Prefix string // of its constants in C, after RNIC_
	Width  int    // bits of the field
	Mask   bool   // values are bits that may be combined
	Values []EnumValue
}

type enumValue[T any] struct {
	v         T
	name, doc string
}

type enumType interface {
	~uint8 | ~uint16 | ~uint32
	bits.Widther
}

func newEnum[T enumType](prefix string, values ...enumValue[T]) *Enum {
	var t T
	e := &Enum{Name: strings.TrimPrefix(fmt.Sprintf("%T", t), "abi."), Prefix: prefix, Width: t.Width()}
	for _, v := range values {
		e.Values = append(e.Values, EnumValue{uint32(v.v), v.name, v.doc})
	}
	return e
}

func newMask[T enumType](prefix string, values ...enumValue[T]) *Enum {
	e := newEnum(prefix, values...)
	e.Mask = true
	return e
}

// text is the name of v; for a mask the names of its bits, joined by "|".
func (e *Enum) text(v uint32) string {
	if !e.Mask {
		for i := range e.Values {
			if e.Values[i].Value == v {
				return e.Values[i].Name
			}
		}
		return fmt.Sprintf("%s(%d)", e.Name, v)
	}
	var names []string
	for i := range e.Values {
		if b := e.Values[i].Value; v&b != 0 {
			names = append(names, e.Values[i].Name)
			v &^= b
		}
	}
	if v != 0 || names == nil {
		names = append(names, fmt.Sprintf("%#x", v))
	}
	return strings.Join(names, "|")
}

// Enums lists every enumeration and mask, in the order of the documentation.
func Enums() []*Enum {
	return []*Enum{
		mtus, doorbellKinds, wqeOps, wqeFlags, wcOpcodes, wcStatuses, cqeFlags, vendorErrs, eventTypes,
		adminOps, adminStatuses, adminSyndromes, qpTypes, qpStates, qpAttrs, accessFlags, qpFlags,
		keyKinds, srqAttrs,
	}
}
