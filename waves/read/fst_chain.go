package read

import (
	"encoding/binary"
	"math"
	"slices"
)

// unpack unpacks the chains that are wanted, and notes when each changes first.
func (t *fst) unpack(pack byte, s *state) error {
	r := &t.stream
	r.data = r.data[:0]
	r.heads = append(r.heads[:0], make([]uint32, len(r.times))...)
	if r.links == nil {
		r.links, r.from, r.to = make([]uint32, len(s.kinds)), make([]uint32, len(s.kinds)), make([]uint32, len(s.kinds))
	}
	for id, root := range r.roots {
		if root == 0 || t.wanted != nil && !t.wanted[id] {
			continue
		}
		c := &r.chains[root-1]
		if !c.open {
			if err := t.chain(c, pack); err != nil {
				return err
			}
		}
		r.from[id], r.to[id] = c.from, c.to
		if err := t.link(int32(id), r.shift, s); err != nil {
			return err
		}
	}
	return nil
}

// chain unpacks one.
func (t *fst) chain(c *chain, pack byte) error {
	r := &t.stream
	if int64(cap(r.packed)) < c.size {
		if c.size > t.size {
			return t.fail(c.at, "a chain of %d bytes", c.size)
		}
		r.packed = make([]byte, c.size)
	}
	b := r.packed[:c.size]
	if _, err := t.r.ReadAt(b, c.at); err != nil {
		return t.fail(c.at, "a chain: %v", err)
	}
	n := chars{b: b}
	size := n.number()
	b = b[n.at:]
	whole := size == 0
	if whole {
		size = uint64(len(b))
	}
	from := len(r.data)
	if n.short || size > maxSection || from+int(size) > maxSection || !plausible(int64(size), int64(len(b))) {
		return t.fail(c.at, "a chain of %d bytes, packed as %d, in a section with %d; at most %d", size, len(b), from, maxSection)
	}
	r.data = slices.Grow(r.data, int(size))[:from+int(size)]
	dst := r.data[from:]
	var err error
	switch {
	case whole:
		copy(dst, b)
	case pack == '4':
		err = unlz4(dst, b)
	case pack == 'Z' || pack == '!':
		var out []byte
		if out, err = unzip(b, int64(size)); err == nil { // equal sizes mean nothing here
			copy(dst, out)
		}
	case pack == 'F':
		return t.fail(c.at, "a chain packed by FastLZ, which is not read: vcd2fst -4 and -Z pack by others")
	default:
		return t.fail(c.at, "a chain packed in a way %s that is not known", quote([]byte{pack}))
	}
	if err != nil {
		return t.fail(c.at, "a chain: %v", err)
	}
	c.from, c.to, c.open = uint32(from), uint32(len(r.data)), true
	return nil
}

// lead is the number that a change begins with.
func (r *stream) lead(id int32) (v uint64, next uint32, ok bool) {
	at, to := r.from[id], r.to[id]
	for shift := 0; at < to && shift < 35; shift += 7 {
		b := r.data[at]
		at++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, at, true
		}
	}
	return 0, 0, false
}

// link notes at which time stamp, from at on, an ID changes next, if it does.
func (t *fst) link(id int32, at int, s *state) error {
	r := &t.stream
	if r.from[id] == r.to[id] {
		return nil
	}
	v, _, ok := r.lead(id)
	switch {
	case s.kinds[id] != String && s.kinds[id] != Real && s.at[id+1]-s.at[id] == 1:
		v >>= 2 << (v & 1)
	default:
		v >>= 1
	}
	if !ok || v >= uint64(len(r.times)-at) {
		return t.broken(id)
	}
	at += int(v)
	r.links[id] = r.heads[at]
	r.heads[at] = uint32(id) + 1
	return nil
}

// broken is the error of a chain that does not make sense.
func (t *fst) broken(id int32) error {
	c := t.stream.chains[t.stream.roots[id]-1]
	return t.fail(c.at, "the chain of value %d: byte %d of %d", id+1, t.stream.from[id]-c.from, c.to-c.from)
}

// apply takes all changes of a time stamp.
func (t *fst) apply(s *state) error {
	r := &t.stream
	for r.heads[r.at] != 0 {
		id := int32(r.heads[r.at] - 1)
		r.heads[r.at] = r.links[id]
		ok := false
		switch s.kinds[id] {
		case String:
			ok = r.text(id, s)
		case Real:
			ok = r.number(id, s, t.swapped)
		default:
			ok = r.bits(id, s)
		}
		if !ok {
			return t.broken(id)
		}
		if err := t.link(id, r.at, s); err != nil {
			return err
		}
	}
	r.at++
	return nil
}

// spread are the digits of a byte.
var spread = func() (t [256][8]byte) {
	for i := range t {
		for j := range 8 {
			t[i][j] = '0' + byte(i>>(7-j)&1)
		}
	}
	return
}()

// take is the next n bytes of a change from a place on.
func (r *stream) take(id int32, at uint32, n uint64) []byte {
	if uint64(r.to[id]-at) < n {
		return nil
	}
	r.from[id] = at + uint32(n)
	return r.data[at : at+uint32(n) : at+uint32(n)]
}

func (r *stream) bits(id int32, s *state) bool {
	v, at, ok := r.lead(id)
	n := s.at[id+1] - s.at[id]
	switch {
	case !ok:
		return false
	case n == 1 && v&1 == 0:
		r.from[id] = at
		s.digit(id, '0'+byte(v>>1&1))
		return true
	case n == 1:
		c := "xzhuwl-?"[v>>1&7]
		if c == '?' {
			return false
		}
		r.from[id] = at
		s.digit(id, c)
		return true
	case v&1 == 0:
		b := r.take(id, at, uint64(n+7)/8)
		if b == nil {
			return false
		}
		dst, differs := s.raw(id), false
		for i, c := range b {
			d := spread[c][:]
			if j := i * 8; j+8 > int(n) {
				d = d[:int(n)-j]
			}
			if part := dst[i*8 : i*8+len(d)]; string(part) != string(d) {
				copy(part, d)
				differs = true
			}
		}
		if differs {
			s.list(id)
		}
		return true
	}
	b := r.take(id, at, uint64(n))
	if b == nil {
		return false
	}
	dst, differs := s.raw(id), false
	for i, c := range b {
		d := digitOf[c]
		if d == 0 {
			return false
		}
		differs = differs || dst[i] != d
		dst[i] = d
	}
	if differs {
		s.list(id)
	}
	return true
}

func (r *stream) text(id int32, s *state) bool {
	v, at, ok := r.lead(id)
	if !ok || v&1 != 0 {
		return false
	}
	r.from[id] = at
	n, at, ok := r.lead(id)
	if !ok || n > maxWord {
		return false
	}
	b := r.take(id, at, n)
	if b == nil {
		return false
	}
	s.text(id, b)
	return true
}

func (r *stream) number(id int32, s *state, swapped bool) bool {
	v, at, ok := r.lead(id)
	if !ok {
		return false
	}
	var b []byte
	if v&1 == 1 {
		b = r.take(id, at, 8)
	} else if one := r.take(id, at, 1); one != nil { // all 8 bytes were digits to the writer
		b = spread[one[0]][:]
	}
	if b == nil {
		return false
	}
	s.real(id, float(b, swapped))
	return true
}

// real is a number of the file.
func (t *fst) real(b []byte) float64 { return float(b, t.swapped) }

func float(b []byte, swapped bool) float64 {
	if swapped {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}
