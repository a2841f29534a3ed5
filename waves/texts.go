package waves

// texts is the names of an enum's values as the file has them.
type texts struct {
	code   code
	names  func(uint64) string
	narrow [][]byte          // by value, as they are needed
	wide   map[uint64][]byte // likewise, for enums too wide to list
}

// wideTexts is how many names of a wide enum are kept.
const wideTexts = 4096

func newTexts(v *Var, f format) *texts {
	s := &v.Signal
	t := &texts{code: newCode(f, v, false), names: s.Names}
	if s.Width <= enumTable {
		t.narrow = make([][]byte, 1<<s.Width)
	} else {
		t.wide = map[uint64][]byte{}
	}
	return t
}

// change appends the change to the name of a value, or to nothing if it is x.
func (t *texts) change(b []byte, v uint64, x bool) []byte {
	if t.code.record != 0 {
		b = appendHead(b, t.code.record|recordLong)
		if x {
			return appendTextValue(b, "")
		}
		return append(b, t.of(v)...)
	}
	b = append(b, 's')
	if !x {
		b = append(b, t.of(v)...)
	}
	return t.code.append(b)
}

// of is the name of a value as the format has it.
func (t *texts) of(v uint64) []byte {
	if t.narrow != nil {
		if t.narrow[v] == nil {
			t.narrow[v] = t.render(v)
		}
		return t.narrow[v]
	}
	name, ok := t.wide[v]
	if !ok {
		name = t.render(v)
		if len(t.wide) < wideTexts {
			t.wide[v] = name
		}
	}
	return name
}

func (t *texts) render(v uint64) []byte {
	if t.code.record != 0 {
		return appendTextValue(nil, t.names(v))
	}
	return appendText([]byte{}, t.names(v))
}
