package bits

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// Order is the bit and byte order of a layout.
type Order int

const (
	Big    Order = iota // most significant bit first: the wire
	Little              // least significant bit first in little-endian bytes: host structures
)

// String returns "big" or "little".
func (o Order) String() string {
	if o == Little {
		return "little"
	}
	return "big"
}

// Widther is a field type that states its own width in bits.
type Widther interface{ Width() int }

// ErrShort is the error of Decode on fewer bytes than the layout has.
var ErrShort = errors.New("too short")

// ErrRange is the error of Check on a value wider than its field.
var ErrRange = errors.New("value wider than its field")

// Layout is a compiled description of T's encoding.
type Layout[T any] struct {
	Name  string // of the format, for messages and documentation
	Order Order
	Size  int // bytes

	fields []leaf
	words  []word
	short  error
}

// MustLayout compiles the description that T's fields give. It panics, so when
// the program starts, if the description is wrong: widths that do not add up to
// sizeBytes, a Go type narrower than its field, an unsupported type.
func MustLayout[T any](name string, o Order, sizeBytes int) *Layout[T] {
	fields, err := describe(reflect.TypeFor[T](), sizeBytes)
	if err != nil {
		panic(fmt.Errorf("bits: layout %s: %w", name, err))
	}
	return &Layout[T]{
		Name: name, Order: o, Size: sizeBytes,
		fields: fields,
		words:  compile(fields, o, sizeBytes),
		short:  fmt.Errorf("%s: %w: %d bytes needed", name, ErrShort, sizeBytes),
	}
}

// Encode writes v to the first Size bytes of b, which must have them. Reserved
// fields are written as 0; a value wider than its field is masked.
func (l *Layout[T]) Encode(v *T, b []byte) {
	encode(l.words, l.Order, unsafe.Pointer(v), b[:l.Size])
}

// Decode reads v from the first Size bytes of b. The error wraps ErrShort if b
// has fewer; v is then unchanged. Reserved bits are ignored.
func (l *Layout[T]) Decode(b []byte, v *T) error {
	if len(b) < l.Size {
		return l.short
	}
	decode(l.words, l.Order, unsafe.Pointer(v), b[:l.Size])
	return nil
}

// Check returns an error that wraps ErrRange if a value of v is wider than its
// field and so would be masked by Encode.
func (l *Layout[T]) Check(v *T) error {
	for i := range l.fields {
		f := &l.fields[i]
		if f.Reserved || f.bytes || f.Width == 64 {
			continue
		}
		if x := load(unsafe.Pointer(v), f.off, f.size); x>>f.Width != 0 {
			return fmt.Errorf("%s.%s: %w: %#x in %d bits", l.Name, f.Name, ErrRange, x, f.Width)
		}
	}
	return nil
}

// Field documents one field of a layout.
type Field struct {
	Name      string // Go name; flattened: "SGE[1].Addr"; "" if reserved
	Doc       string // the doc tag
	BitOffset int    // from the start of the structure, in the Order's numbering
	Width     int    // bits; more than 64 only for byte arrays and reserved fields
	Reserved  bool
	Type      string // Go type, as "roce.PSN"; "" if reserved
}

// Fields lists all fields, reserved ones too, in order and without gaps.
func (l *Layout[T]) Fields() []Field {
	fs := make([]Field, len(l.fields))
	for i := range fs {
		fs[i] = l.fields[i].Field
	}
	return fs
}
