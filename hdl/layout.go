package hdl

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"
)

// Widther gives a named integer type its width in bits.
type Widther interface{ Width() int }

// Kind is how a signal's bits are to be read.
type Kind uint8

const (
	Bool  Kind = iota // one bit, in a byte
	Uint              // unsigned, little-endian in Size bytes
	Int               // two's complement, little-endian in Size bytes
	Enum              // unsigned with Names
	Bytes             // a byte array, first byte first
)

// leaf is one field without parts of a flat type.
type leaf struct {
	name   string
	kind   Kind
	off    uintptr
	size   uintptr
	width  int
	typ    reflect.Type
	narrow bool // width less than its storage
}

// layout is a flat type taken apart.
type layout struct {
	typ    reflect.Type
	words  uintptr
	leaves []leaf
	mask   []uint64 // ones where there are fields
	bits   int
	poison []uint64 // a value that no design should depend on
}

// newLayout takes a type apart, or says what in it is not flat.
func newLayout(t reflect.Type) (*layout, error) {
	l := &layout{typ: t, words: (t.Size() + 7) / 8}
	if err := l.add("", t, 0); err != nil {
		return nil, err
	}
	mask, poison := make([]byte, l.words*8), make([]byte, l.words*8)
	for i := range l.leaves {
		f := &l.leaves[i]
		f.narrow = f.kind != Bytes && f.kind != Bool && f.width < int(f.size)*8
		for j := range f.size {
			mask[f.off+j] = 0xff
			poison[f.off+j] = 0xa5
			if f.kind == Bool {
				poison[f.off] = 1
			}
		}
		l.bits += f.width
	}
	l.mask, l.poison = toWords(mask), toWords(poison)
	return l, nil
}

func toWords(b []byte) []uint64 {
	w := make([]uint64, len(b)/8)
	for i := range w {
		w[i] = *(*uint64)(unsafe.Pointer(&b[i*8]))
	}
	return w
}

func (l *layout) add(name string, t reflect.Type, off uintptr) error {
	f := leaf{name: name, off: off, size: t.Size(), width: int(t.Size()) * 8, typ: t}
	switch t.Kind() {
	case reflect.Bool:
		f.kind, f.width = Bool, 1
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		f.kind = Uint
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		f.kind = Int
	case reflect.Array:
		if t.Elem() == reflect.TypeFor[byte]() {
			f.kind = Bytes
			break
		}
		for i := range t.Len() {
			n := name + "_" + strconv.Itoa(i)
			if err := l.add(n, t.Elem(), off+uintptr(i)*t.Elem().Size()); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		for i := range t.NumField() {
			sf := t.Field(i)
			if sf.Name == "_" {
				continue
			}
			n := name
			if !sf.Anonymous {
				n = join(name, snake(sf.Name))
			}
			if err := l.add(n, sf.Type, off+sf.Offset); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("%s has type %s, which is not flat", orValue(name), t)
	}
	if f.kind == Uint || f.kind == Int {
		if w, ok := reflect.Zero(t).Interface().(Widther); ok {
			f.width = w.Width()
			if f.width < 1 || f.width > int(f.size)*8 {
				return fmt.Errorf("%s has type %s of width %d in %d bytes", orValue(name), t, f.width, f.size)
			}
			if _, ok := w.(fmt.Stringer); ok && f.kind == Uint {
				f.kind = Enum
			}
		}
	}
	if f.size > 0 {
		l.leaves = append(l.leaves, f)
	}
	return nil
}

func orValue(name string) string {
	if name == "" {
		return "the value"
	}
	return "field " + name
}

func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// overflow names the first field whose value does not fit its width.
func (l *layout) overflow(p unsafe.Pointer) string {
	for i := range l.leaves {
		if f := &l.leaves[i]; f.narrow {
			if v := load(unsafe.Add(p, f.off), f.size); !fits(v, f) {
				return fmt.Sprintf("%s = %#x exceeds %d bits", orValue(f.name), v, f.width)
			}
		}
	}
	return ""
}

func fits(v uint64, f *leaf) bool {
	if f.kind == Int {
		s := int64(v) << (64 - 8*f.size) >> (64 - 8*f.size)
		return s>>(f.width-1) == 0 || s>>(f.width-1) == -1
	}
	return v>>f.width == 0
}

// load reads an integer of the given size in bytes.
func load(p unsafe.Pointer, size uintptr) uint64 {
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

func (k Kind) String() string {
	return [...]string{"bool", "uint", "int", "enum", "bytes"}[k]
}
