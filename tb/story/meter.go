package story

import "rnic/tb"

// meter adds up for how long a host's line is taken, in buckets that become wider with the
// run. A frame takes the line from its first bit on for its bytes, FCS, preamble and gap;
// the mac begins a frame at the edge of the cycle in which the one before ends, so what
// is left of that comes first.
type meter struct {
	num, den int64 // rate of the line, Gb/s
	free     int64 // ps: the line is free from then on
	width    int64 // ps
	busy     [buckets]int64
}

// buckets are as many as a picture shows.
const buckets = 256

// narrowest is the width of buckets at first, ps.
const narrowest = 100_000

// frameExtra is what a frame takes of the wire beside the bytes of a capture: FCS,
// preamble and gap.
const frameExtra = 4 + 20

func newMeter(c *tb.Config) meter {
	m := meter{num: int64(c.NIC.Mac.RateNum), den: int64(c.NIC.Mac.RateDen), width: narrowest}
	if m.num == 0 {
		m.num = 100
	}
	m.den = max(1, m.den)
	return m
}

// add takes a frame of so many bytes whose first bit leaves at ps.
func (m *meter) add(ps int64, bytes int) {
	from := max(ps, m.free)
	m.free = from + int64(bytes+frameExtra)*8000*m.den/m.num
	m.reach(m.free)
	for from < m.free {
		i := from / m.width
		until := min(m.free, (i+1)*m.width)
		m.busy[i] += until - from
		from = until
	}
}

// reach widens the buckets until they go up to ps.
func (m *meter) reach(ps int64) {
	for (ps-1)/m.width >= buckets {
		for i := range buckets / 2 {
			m.busy[i] = m.busy[2*i] + m.busy[2*i+1]
		}
		clear(m.busy[buckets/2:])
		m.width *= 2
	}
}

// list has all buckets up to the end of the run; the last may be shorter.
func (m *meter) list(host string, end int64) (l []Bucket) {
	m.reach(end)
	for i := range m.busy {
		ps := int64(i) * m.width
		if ps >= end {
			break
		}
		width, busy := min(m.width, end-ps), m.busy[i]
		if width < m.width { // a frame may go on beyond the end
			busy = min(busy, width)
		}
		l = append(l, Bucket{host, ps, round(float64(busy*m.num)/float64(width*m.den), 1e3)})
	}
	return l
}
