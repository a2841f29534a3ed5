package waves

import (
	"cmp"
	"slices"
	"unsafe"

	"rnic/hdl"
)

// owner is what hdl reports changes of: a module, part of a stream, a level, a RAM.
type owner struct {
	home        unsafe.Pointer // where its values always are; nil if the kernel has to be asked
	shadow      *shadow
	first, last int32 // of shown
	void        bool  // has no value: x
}

// single is an owner whose values always are in one word of memory, such as the handshakes
// of a stream: those that change most often. Memory of owners is whole words.
type single struct {
	home        unsafe.Pointer
	shown       uint64 // what the file shows of it
	mask        uint64 // of what has names
	first, last int32  // of tracer.shown
}

// add takes up an owner with its variables.
func (t *tracer) add(o int, own []*Var, f format) {
	first := int32(len(t.shown))
	t.shown = append(t.shown, inMemory(own, f)...)
	last := int32(len(t.shown))
	list := t.shown[first:]
	role := own[0].Signal.Role
	var quicks []quick
	if f == asFST {
		quicks = make([]quick, len(list))
		for i := range list {
			quicks[i] = newQuick(&list[i])
		}
		t.quick = append(t.quick, quicks...)
	}
	other := func(d shown) bool { return d.how == asBytes || d.how == asAddress || d.end() > 8 }
	if role != hdl.RolePayload && !slices.ContainsFunc(list, other) {
		w := single{first: first, last: last}
		for i := range list {
			w.mask |= ^uint64(0) >> (64 - 8*list[i].bytes()) << (8 * list[i].off)
		}
		t.words = append(t.words, w)
		t.place[o] = int32(len(t.words))
	} else {
		t.owners = append(t.owners, owner{first: first, last: last, shadow: newShadow(list, quicks)})
		t.place[o] = int32(-len(t.owners))
	}
	if role.Past() {
		t.past = append(t.past, int32(o))
	} else {
		t.state = append(t.state, int32(o))
	}
}

// inMemory is variables of one owner in the order of their places in memory, which is
// not that of the file where structs are nested. An enum's text goes with its number.
func inMemory(own []*Var, f format) (l []shown) {
	for _, v := range own {
		if v.Text {
			l[len(l)-1].text = newTexts(v, f)
			continue
		}
		l = append(l, newShown(v, f))
	}
	slices.SortStableFunc(l, func(a, b shown) int { return cmp.Compare(a.off, b.off) })
	return l
}

// settle has variables say what the file shows of them, where it is known by memory.
func (t *tracer) settle() {
	for i := range t.owners {
		if o := &t.owners[i]; o.shadow != nil {
			o.shadow.settle(t.shown[o.first:o.last], o.void)
		}
	}
	if t.quick == nil {
		return
	}
	for _, w := range t.words {
		for i := w.first; i < w.last; i++ {
			q := &t.quick[i]
			t.shown[i].last = w.shown & q.mask >> q.shift
		}
	}
}

// end is where the variable ends in its owner's memory.
func (d *shown) end() uint32 { return d.off + d.bytes() }
