package waves

import "rnic/hdl"

// texts is the names of an enum's values as the file has them.
type texts struct {
	tail   code
	names  func(uint64) string
	narrow [][]byte          // by value, as they are needed
	wide   map[uint64][]byte // likewise, for enums too wide to list
}

// wideTexts is how many names of a wide enum are kept.
const wideTexts = 4096

func newTexts(s *hdl.Signal, id []byte) *texts {
	t := &texts{tail: newCode(id, false), names: s.Names}
	if s.Width <= enumTable {
		t.narrow = make([][]byte, 1<<s.Width)
	} else {
		t.wide = map[uint64][]byte{}
	}
	return t
}

func (t *texts) append(b []byte, v uint64) []byte {
	if t.narrow != nil {
		if t.narrow[v] == nil {
			t.narrow[v] = appendText([]byte{}, t.names(v))
		}
		return append(b, t.narrow[v]...)
	}
	name, ok := t.wide[v]
	if !ok {
		name = appendText(nil, t.names(v))
		if len(t.wide) < wideTexts {
			t.wide[v] = name
		}
	}
	return append(b, name...)
}
