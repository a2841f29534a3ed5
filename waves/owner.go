package waves

import (
	"cmp"
	"slices"
)

// owner is what hdl reports changes of: a module, part of a stream, a level, a RAM.
type owner struct {
	shadow
	first, last int32 // of renderer.shown
	void        bool  // has no value: x
}

// single is an owner that is one word of memory and always has a value, such as the
// handshakes of a stream: those that change most often.
type single struct {
	shown uint64 // what the file shows of it
	names uint64 // bits of what has some
	cell         // of renderer.quick and renderer.shown
}

// add takes up an owner with its variables.
func (r *renderer) add(own []*Var, f format, voids bool) source {
	first := int32(len(r.shown))
	r.shown = append(r.shown, inMemory(own, f)...)
	last := int32(len(r.shown))
	list := r.shown[first:]
	var quicks []quick
	if f == asFST {
		quicks = make([]quick, len(list))
		for i := range list {
			quicks[i] = newQuick(&list[i])
		}
		r.quick = append(r.quick, quicks...)
	}
	other := func(d shown) bool { return d.how == asBytes || d.how == asAddress }
	words := memoryWords(list)
	if voids || words > 1 || slices.ContainsFunc(list, other) {
		r.owners = append(r.owners, owner{shadow: newShadow(list, quicks), first: first, last: last})
		return source{words: uint32(words), head: uint32(len(r.owners)-1)*tapeKinds + tapeOwner}
	}
	s := single{cell: cell{first: first, last: last}}
	for i := range list {
		s.names |= ^uint64(0) >> (64 - 8*list[i].bytes()) << (8 * list[i].off)
	}
	if quicks != nil {
		s.cell = newCell(r.quick, int(first), int(last))
	}
	r.singles = append(r.singles, s)
	return source{words: 1, head: uint32(len(r.singles)-1)*tapeKinds + tapeSingle}
}

// memoryWords is how many words of an owner's memory its variables need.
func memoryWords(own []shown) int {
	end := uint32(0)
	for i := range own {
		end = max(end, own[i].end())
		if own[i].how == asAddress {
			end = max(end, uint32(max(own[i].rare.gates[0], own[i].rare.gates[1]))+1)
		}
	}
	return int(end+7) / 8
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
func (r *renderer) settle() {
	for i := range r.owners {
		o := &r.owners[i]
		o.settle(r.shown[o.first:o.last], o.void)
	}
	if r.quick == nil {
		return
	}
	for _, s := range r.singles {
		for i := s.first; i < s.last; i++ {
			r.shown[i].last = r.quick[i].value(s.shown)
		}
	}
}

// end is where the variable ends in its owner's memory.
func (d *shown) end() uint32 { return d.off + d.bytes() }
