package waves

import (
	"cmp"
	"slices"
	"unsafe"
)

// owner is what hdl reports changes of: a module, part of a stream, a level, a RAM.
type owner struct {
	home        unsafe.Pointer // where its values always are; nil if the kernel has to be asked
	word, mask  uint64         // all of its memory as the file shows it, if that is a word; else 0
	shadow      *shadow
	first, last int32 // of shown
	void        bool  // has no value: x
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

// watch has the owner find changes of its variables fast.
func (o *owner) watch(own []shown) {
	if len(own) == 0 {
		return
	}
	if end := own[len(own)-1].end(); end <= 8 && own[0].how != asAddress {
		for i := range own {
			o.mask |= ^uint64(0) >> (64 - 8*own[i].bytes()) << (8 * own[i].off)
		}
	}
	o.shadow = newShadow(own)
}

// differs tells whether the owner is to be looked at: not if all of it is one word that
// the file shows. Memory of owners is whole words.
func (o *owner) differs(base unsafe.Pointer) bool {
	if o.mask == 0 {
		return true
	}
	now := *(*uint64)(base) & o.mask
	same := now == o.word
	o.word = now
	return !same
}

// end is where the variable ends in its owner's memory.
func (d *shown) end() uint32 { return d.off + d.bytes() }
