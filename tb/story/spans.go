package story

import (
	"cmp"
	"math"
	"slices"
)

// span is a stretch of time, ps.
type span struct{ from, to int64 }

// spans are the times of a host that belong to something, by places of where. Lists are
// bounded: beyond, stretches with short gaps between become one.
type spans struct {
	lists [len(where) - 1][]span
	gap   int64
	reads int // of host memory under way
	since int64
}

// where are the parts of a host's time, in the order in which they go first.
var where = [...]string{OnTheWire, ReadingPCIe, OnTimer, OnCredits, OnWindow, OnAck, InNIC, InDriver}

// mostSpans bounds each list.
const mostSpans = 1 << 17

func (s *spans) add(part int, from, to int64) {
	if to <= from {
		return
	}
	l := s.lists[part]
	if n := len(l); n > 0 && from >= l[n-1].from && from <= l[n-1].to+s.gap {
		l[n-1].to = max(l[n-1].to, to)
		return
	}
	if l = append(l, span{from, to}); len(l) > mostSpans {
		for l = merge(l, s.gap); len(l) > mostSpans/2; l = merge(l, s.gap) {
			s.gap = max(4*periodPs, 2*s.gap)
		}
	}
	s.lists[part] = l
}

// sending is a frame, in cycles of its first and last beat; the silence behind is its own.
func (s *spans) sending(first, last uint64) {
	s.add(0, int64(first)*periodPs, int64(last+1)*periodPs)
}

// reading counts reads of host memory that begin or end.
func (s *spans) reading(cycle uint64, n int) {
	ps := int64(cycle) * periodPs
	if s.reads == 0 && n > 0 {
		s.since = ps
	}
	if s.reads += n; s.reads <= 0 {
		s.add(1, s.since, ps)
		s.reads = 0
	}
}

func (s *spans) wait(what string, from, to int64) {
	part := 5
	switch what {
	case ForRetryTimer, ForRNRTimer:
		part = 2
	case ForCredits:
		part = 3
	case ForWindow:
		part = 4
	}
	s.add(part, from, to)
}

// open is the time of a work request at the NIC.
func (s *spans) open(w *wr, ps int64) {
	if len(w.Stages) > 0 {
		s.add(6, w.Stages[0].Ps, ps)
	}
}

// merge sorts stretches and joins those that touch, or nearly.
func merge(l []span, gap int64) []span {
	slices.SortFunc(l, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var out []span
	for _, x := range l {
		if n := len(out); n > 0 && x.from <= out[n-1].to+gap {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	return out
}

// shares gives each moment of the run to the first part that it belongs to.
func (s *spans) shares(end int64) []Share {
	if s.reads > 0 {
		s.add(1, s.since, end)
	}
	var all []span
	out, before := []Share{}, int64(0)
	for i, name := range where {
		sum := end
		if i < len(s.lists) {
			all = merge(append(all, s.lists[i]...), 0)
			sum = 0
			for _, x := range all {
				sum += max(0, min(x.to, end)-max(0, x.from))
			}
		}
		share := Share{Where: name, Ps: sum - before}
		if end > 0 {
			share.Share = round(float64(share.Ps)/float64(end), 1e4)
		}
		out, before = append(out, share), sum
	}
	return out
}

func round(v, digits float64) float64 { return math.Round(v*digits) / digits }
