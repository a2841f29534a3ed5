package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// form is what keys, and how many elements, a value of the file may have. Package json takes
// keys in any case, those that come twice, arrays of another length, and null for anything.
type form struct {
	fields map[string]field // of a struct; else nil
	elem   *form            // of a list or a map; else nil
	len    int              // of an array; 0: any
	null   bool
}

type field struct {
	name   string
	number int // in its struct
	form   *form
}

func formOf(t reflect.Type) *form {
	switch t.Kind() {
	case reflect.Pointer:
		return formOf(t.Elem())
	case reflect.Slice, reflect.Map:
		return &form{elem: formOf(t.Elem()), null: true}
	case reflect.Array:
		return &form{elem: formOf(t.Elem()), len: t.Len()}
	case reflect.Struct:
		f := &form{fields: map[string]field{}}
		for _, x := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(x.Tag.Get("json"), ","); name != "" {
				f.fields[name] = field{name, len(f.fields), formOf(x.Type)}
			}
		}
		return f
	}
	return &form{}
}

var storyForm = formOf(reflect.TypeFor[Story]())

// keysOf checks the bytes of a story that package json has read.
func keysOf(b []byte) error {
	w := walk{b: b}
	return w.value(storyForm)
}

// walk goes through valid JSON.
type walk struct {
	b    []byte
	at   int
	path []step
}

// step is a key, or the index of an element.
type step struct {
	key   string
	index int // -1: a key
}

// wrong is an error at a byte of the value that the walk is in.
func (w *walk) wrong(at int, format string, args ...any) error {
	var p strings.Builder
	for i, s := range w.path {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&p, "[%d]", s.index)
		case i == 0:
			p.WriteString(s.key)
		default:
			p.WriteString("." + s.key)
		}
	}
	if p.Len() == 0 {
		p.WriteString("the story")
	}
	return fmt.Errorf("byte %d: %s %s", at, p.String(), fmt.Sprintf(format, args...))
}

func (w *walk) value(f *form) error {
	w.space()
	switch w.b[w.at] {
	case 'n':
		if !f.null {
			return w.wrong(w.at, "is null")
		}
		w.at += len("null")
	case '{':
		return w.object(f)
	case '[':
		return w.list(f)
	case '"':
		w.text()
	default:
		for w.at < len(w.b) && strings.IndexByte(",]} \t\r\n", w.b[w.at]) < 0 {
			w.at++
		}
	}
	return nil
}

func (w *walk) object(f *form) error {
	seen, keys := uint64(0), map[string]bool(nil)
	for w.at++; ; {
		switch w.space(); w.b[w.at] {
		case ',':
			w.at++
			continue
		case '}':
			w.at++
			return nil
		}
		at := w.at
		raw := w.text()
		x, ok := f.fields[string(raw)]
		twice := ok && seen>>x.number&1 != 0
		if seen |= 1 << x.number; f.fields == nil {
			x = field{name: string(raw), form: f.elem}
			if twice = keys[x.name]; keys == nil {
				keys = map[string]bool{}
			}
			keys[x.name] = true
		} else if !ok {
			return w.wrong(at, "has the unknown key %q", raw)
		}
		if twice {
			return w.wrong(at, "has the key %q twice", raw)
		}
		w.space()
		w.at++ // the colon
		w.path = append(w.path, step{x.name, -1})
		if err := w.value(x.form); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
}

func (w *walk) list(f *form) error {
	begin, n := w.at, 0
	for w.at++; ; {
		switch w.space(); w.b[w.at] {
		case ',':
			w.at++
			continue
		case ']':
			w.at++
			if f.len > 0 && n != f.len {
				return w.wrong(begin, "has %d elements: must be %d", n, f.len)
			}
			return nil
		}
		if f.len > 0 && n == f.len {
			return w.wrong(w.at, "has more than %d elements", f.len)
		}
		w.path = append(w.path, step{"", n})
		if err := w.value(f.elem); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
		n++
	}
}

// text is what a string says.
func (w *walk) text() []byte {
	from := w.at
	for w.at++; w.b[w.at] != '"'; w.at++ {
		if w.b[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	raw := w.b[from:w.at]
	if bytes.IndexByte(raw, '\\') >= 0 {
		var s string
		_ = json.Unmarshal(raw, &s) // it is valid
		return []byte(s)
	}
	return raw[1 : len(raw)-1]
}

func (w *walk) space() {
	for w.at < len(w.b) && strings.IndexByte(" \t\r\n", w.b[w.at]) >= 0 {
		w.at++
	}
}
