package bits

import (
	"fmt"
	"reflect"
	"strconv"
)

// leaf is a field after structs and arrays are flattened.
type leaf struct {
	Field
	off   uintptr // of the Go field in the struct
	size  uint8   // bytes of the Go integer: 1, 2, 4 or 8
	bytes bool    // a byte array, copied as it is
}

type describer struct {
	leaves []leaf
	bit    int
}

// describe flattens struct type t and checks that it fills size bytes.
func describe(t reflect.Type, size int) ([]leaf, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	var d describer
	if err := d.fields(t, 0, ""); err != nil {
		return nil, err
	}
	if d.bit != size*8 {
		return nil, fmt.Errorf("fields take %d bits, the structure has %d", d.bit, size*8)
	}
	return d.leaves, nil
}

func (d *describer) fields(t reflect.Type, base uintptr, prefix string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		width := 0
		if tag, ok := f.Tag.Lookup("bits"); ok {
			n, err := strconv.Atoi(tag)
			if err != nil || n <= 0 {
				return fmt.Errorf("field %s%s: bad width %q", prefix, f.Name, tag)
			}
			width = n
		}
		doc, name, off := f.Tag.Get("doc"), prefix+f.Name, base+f.Offset
		var err error
		switch {
		case f.Name == "_":
			err = d.reserved(f.Type, doc, width)
		case f.Anonymous && f.Type.Kind() == reflect.Struct && width == 0:
			err = d.fields(f.Type, off, prefix)
		default:
			err = d.field(f.Type, off, name, doc, width)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *describer) reserved(t reflect.Type, doc string, width int) error {
	if width == 0 {
		width = int(t.Size()) * 8
	}
	if width == 0 {
		return fmt.Errorf("a reserved field at bit %d has no width", d.bit)
	}
	d.add(leaf{Field: Field{Doc: doc, Width: width, Reserved: true}})
	return nil
}

// field adds the leaves of one value of type t; width is its tag, 0 if none.
func (d *describer) field(t reflect.Type, off uintptr, name, doc string, width int) error {
	switch t.Kind() {
	case reflect.Struct:
		start := d.bit
		if err := d.fields(t, off, name+"."); err != nil {
			return err
		}
		if got := d.bit - start; width != 0 && got != width {
			return fmt.Errorf("field %s: its fields take %d bits, its tag says %d", name, got, width)
		}
		return nil
	case reflect.Array:
		if whole := int(t.Size()) * 8; isByte(t.Elem()) && (width == 0 || width == 8 || width == whole) {
			if d.bit%8 != 0 {
				return fmt.Errorf("field %s: byte array at bit %d, not on a byte boundary", name, d.bit)
			}
			if whole > 0 {
				d.add(leaf{Field: Field{Name: name, Doc: doc, Width: whole, Type: t.String()}, off: off, bytes: true})
			}
			return nil
		}
		for i := range t.Len() {
			elem := off + uintptr(i)*t.Elem().Size()
			if err := d.field(t.Elem(), elem, fmt.Sprintf("%s[%d]", name, i), doc, width); err != nil {
				return err
			}
		}
		return nil
	}
	max := scalarBits(t)
	if max == 0 {
		return fmt.Errorf("field %s: %v has no encoding", name, t)
	}
	if own := ownWidth(t); own != 0 {
		if width != 0 && width != own {
			return fmt.Errorf("field %s: the tag says %d bits, %v.Width says %d", name, width, t, own)
		}
		width = own
	}
	if width == 0 {
		width = max
	}
	if width > max || width < 0 {
		return fmt.Errorf("field %s: %v cannot hold %d bits", name, t, width)
	}
	d.add(leaf{Field: Field{Name: name, Doc: doc, Width: width, Type: t.String()}, off: off, size: uint8(t.Size())})
	return nil
}

func (d *describer) add(l leaf) {
	l.BitOffset = d.bit
	d.bit += l.Width
	d.leaves = append(d.leaves, l)
}

func isByte(t reflect.Type) bool {
	return t.Kind() == reflect.Uint8 && ownWidth(t) == 0
}

// scalarBits is the most bits a value of t can hold, 0 if it is no scalar.
func scalarBits(t reflect.Type) int {
	switch t.Kind() {
	case reflect.Bool:
		return 1
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return t.Bits()
	}
	return 0
}

// ownWidth is what t's Width method says, 0 if it has none.
func ownWidth(t reflect.Type) int {
	if w, ok := reflect.Zero(t).Interface().(Widther); ok {
		return w.Width()
	}
	return 0
}
