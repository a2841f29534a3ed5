package wqesched

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/rtl/port"
)

// store is the lines of one QP with the pool, and what lies in it: of each unit its
// index. Others take slots and give them back.
type store struct {
	*rapid.T
	e       lines
	c       port.SQCtx
	slots   int
	free    uint64
	units   [64 * lineUnits]uint16
	written [64 * lineUnits]bool
	reads   []plan
	beat    uint8 // of the first of reads
	oldest  uint16
}

func (s *store) slot() int {
	if s.free == 0 || rapid.IntRange(0, 3).Draw(s.T, "none") == 0 {
		return noSlot
	}
	return bits.TrailingZeros64(s.free)
}

func (s *store) issue(p plan, slot int) {
	if p.Took {
		s.free &^= 1 << slot
	}
	if p.Read {
		require.Positive(s, p.Count)
		require.LessOrEqual(s, p.First%lineUnits+uint16(p.Count), uint16(lineUnits))
		s.reads = append(s.reads, p)
	}
}

func (s *store) put(at int, idx uint16) { s.units[at], s.written[at] = idx, true }

// fill takes n beats of data at most.
func (s *store) fill(n int) {
	for ; n > 0 && len(s.reads) > 0; n-- {
		r := s.reads[0]
		s.put(int(r.Slot)*lineUnits+int(r.First%lineUnits)+int(s.beat), r.First+uint16(s.beat))
		if s.beat++; s.beat == r.Count {
			s.e.filled(r.Line, false)
			s.reads, s.beat = s.reads[1:], 0
		}
	}
}

// check demands that what the lines are said to hold lies there.
func (s *store) check(e *lines) {
	owned, pairs := uint64(0), 0
	for i := range e.Line {
		l := &e.Line[i]
		if !l.Own {
			require.Equal(s, line{}, *l)
			continue
		}
		if owned&(1<<l.Slot) != 0 {
			pairs++
		}
		owned |= 1 << l.Slot
		require.False(s, l.Past && (l.Busy || l.Err || e.partner(l) != nil), "a line that stays is whole")
		require.Zero(s, s.free&(1<<l.Slot), "a slot is free and taken")
		for u := l.Lo; u < l.Hi; u++ {
			idx := l.Block*lineUnits + uint16(u)
			require.True(s, s.written[e.address(idx)])
			require.Equal(s, idx, s.units[e.address(idx)])
		}
	}
	require.LessOrEqual(s, pairs, 1)
	require.Equal(s, uint64(1)<<s.slots-1, owned|s.free, "a slot is lost")
}

// serve is a service at idx of a WQE of n units. It tells whether the WQE was there.
func (s *store) serve(idx uint16, n uint8) (done bool) {
	e, slot := &s.e, s.slot()
	e.stale()
	e.back(idx)
	switch {
	case e.seek(idx):
		return false
	case e.find(idx) == nil:
		p := e.demand(idx, &s.c, slot)
		if !p.Hungry && !p.Read {
			p = e.ahead(idx, &s.c, slot)
		}
		s.issue(p, slot)
		return false
	}
	e.Locked = true
	reader := *e
	s.issue(e.ahead(idx, &s.c, slot), slot)
	s.others()
	if _, done = reader.whole(idx, n); done {
		for i := range uint16(n) {
			require.NotNil(s, reader.find(idx+i))
			require.Equal(s, idx+i, s.units[reader.address(idx+i)], "a unit of the WQE")
		}
		idx += uint16(n)
	} else if missing, ok := e.whole(idx, n); !ok {
		slot := s.slot()
		s.issue(e.further(idx, missing, &s.c, slot), slot)
	}
	s.check(e)
	s.others()
	may := uint16(rapid.IntRange(0, pastLines).Draw(s.T, "may"))
	s.free |= e.done(idx, false, may)
	require.LessOrEqual(s, e.past(), int(may))
	for i := range e.Line {
		if l := &e.Line[i]; l.Own && !l.Busy { // so no block is there when its number comes again
			require.Less(s, blocks(idx/lineUnits-places, l.Block), uint16(2*places))
		}
	}
	return done
}

// others is what happens besides.
func (s *store) others() {
	for range rapid.IntRange(0, 3).Draw(s.T, "others") {
		switch rapid.IntRange(0, 3).Draw(s.T, "what") {
		case 0:
			s.fill(rapid.IntRange(1, 9).Draw(s.T, "beats"))
		case 1:
			if s.c.PI-s.oldest < 1<<s.c.SQLog {
				slot := s.slot()
				if took, ok := s.e.push(s.c.PI, slot); ok {
					s.issue(plan{Took: took}, slot)
					s.put(s.e.address(s.c.PI), s.c.PI)
				}
				s.c.PI++
			}
		case 2:
			s.free |= s.e.evict(uint8(rapid.IntRange(0, 11).Draw(s.T, "evict")))
		case 3:
			s.c.PI += uint16(rapid.IntRange(0, 1<<s.c.SQLog-int(s.c.PI-s.oldest)).Draw(s.T, "posted"))
		}
		s.check(&s.e)
	}
}

// TestLinesOfJumps: services begin anywhere among the units that are posted, with
// WQEs of any length, while lines are read, pushed into, shared and taken away. What
// a service reads is always right, and at a place where it stays it comes.
func TestLinesOfJumps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &store{T: t, slots: rapid.IntRange(1, 12).Draw(t, "slots")}
		s.free = 1<<s.slots - 1
		s.c.SQLog = uint8(rapid.IntRange(0, 8).Draw(t, "log"))
		s.oldest = rapid.Uint16().Draw(t, "oldest")
		s.c.PI = s.oldest
		for range 30 {
			s.others()
			posted := int(s.c.PI - s.oldest)
			if posted == 0 {
				continue
			}
			idx := s.oldest + uint16(rapid.IntRange(0, posted-1).Draw(t, "at"))
			n := uint8(min(rapid.IntRange(1, lineUnits).Draw(t, "units"), int(s.c.PI-idx)))
			for i := 0; !s.serve(idx, n) && rapid.IntRange(0, 9).Draw(t, "stay") > 0; i++ {
				s.check(&s.e)
				if i > 20 { // the pool is the QP's now, and time passes
					require.Less(t, i, 60, "it never comes")
					s.fill(100)
					for slot := range uint8(s.slots) {
						if s.free == 0 {
							s.free |= s.e.evict(slot)
						}
					}
				}
			}
			s.check(&s.e)
			s.oldest += uint16(rapid.IntRange(0, int(idx-s.oldest)).Draw(t, "ended"))
		}
	})
}
