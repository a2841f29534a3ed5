package accept

import "slices"

// merge leaves out states that are the same as another.
func merge(l []*state) []*state {
	out := l[:0]
	for _, s := range l {
		i := slices.IndexFunc(out, s.same)
		if i < 0 {
			out = append(out, s)
			continue
		}
		o := out[i]
		o.deaf, o.found, o.ahead = max(o.deaf, s.deaf), min(o.found, s.found), max(o.ahead, s.ahead) // what allows more
		o.n.widen(&s.n)
	}
	return out
}

// same tells whether two states of a QP that answers nothing can't be told apart by what
// comes, but for what they may drop.
func (s *state) same(o *state) bool {
	return s.epsn == o.epsn && s.inside == o.inside && s.index == o.index && s.taken == o.taken && s.torn == o.torn &&
		s.dead == o.dead && s.length == o.length && s.write == o.write && slices.Equal(s.ended, o.ended) && len(s.lands) == len(o.lands)
}

// widen makes t hold for what o holds for, too.
func (t *tally) widen(o *tally) {
	for i, s := range t.spans() {
		x := o.spans()[i]
		*s = span{min(s.lo, x.lo), max(s.hi, x.hi)}
	}
}

func (t *tally) spans() []*span {
	return []*span{&t.duplicates, &t.gaps, &t.empty, &t.sequence, &t.rnr, &t.implied, &t.timeout, &t.other, &t.state}
}
