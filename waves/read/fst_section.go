package read

import (
	"encoding/binary"
	"fmt"
	"io"
)

// stream is the section that is being read: by time the values that change next, each
// with the rest of its chain of changes.
type stream struct {
	section int      // the next to load
	data    []byte   // chains, unpacked
	packed  []byte   // one as it is in the file
	times   []uint64 // time stamps
	at      int      // of the next
	heads   []uint32 // of each time: ID + 1 of the first that changes
	links   []uint32 // of each ID: ID + 1 of the next one at the same time
	from    []uint32 // of each ID: what is left of its chain in data
	to      []uint32
	roots   []uint32 // of each ID: 1 + the number of its chain; 0: none
	chains  []chain
	shift   int // time stamps before the first of the section
	last    uint64
	begun   bool
	black   int // blackouts that have been
	on      bool
}

// chain is where one is packed, and where in data it is once it is unpacked.
type chain struct {
	at, size int64
	from, to uint32
	open     bool
}

func (t *fst) want(ids []bool) { t.wanted = ids }

func (t *fst) dumping() bool { return t.stream.black == 0 || t.stream.on }

// step gives all changes of the next time, be it at the end of a section and at the
// beginning of the next.
func (t *fst) step(s *state) (uint64, error) {
	r := &t.stream
	if err := t.fill(s); err != nil {
		return 0, err
	}
	now := r.times[r.at]
	for {
		if err := t.apply(s); err != nil {
			return 0, err
		}
		if r.at < len(r.times) && r.times[r.at] == now {
			continue
		}
		if r.at == len(r.times) && r.section < len(t.sections) && t.sections[r.section].begin == now {
			if err := t.fill(s); err != nil {
				return 0, err
			}
			if r.times[r.at] == now {
				continue
			}
		}
		break
	}
	for r.black < len(t.blackout) && t.blackout[r.black].time <= now {
		r.on = t.blackout[r.black].on
		r.black++
	}
	return now, nil
}

func (t *fst) upcoming(s *state) (uint64, error) {
	if err := t.fill(s); err != nil {
		return 0, err
	}
	return t.stream.times[t.stream.at], nil
}

// fill loads sections until there is a time stamp.
func (t *fst) fill(s *state) error {
	r := &t.stream
	for r.at == len(r.times) {
		if r.section == len(t.sections) {
			if t.cut != nil {
				return t.cut
			}
			return io.EOF
		}
		if err := t.load(t.sections[r.section], s); err != nil {
			return err
		}
		r.section++
	}
	return nil
}

// load unpacks a section.
func (t *fst) load(sec section, s *state) error {
	r := &t.stream
	end := sec.at + 1 + sec.size
	if sec.size < 32+24+8 {
		return t.fail(sec.at, "a section of %d bytes", sec.size)
	}
	// From the end: sizes, times, length of the index, index.
	tail, err := t.bytes(end-24, 24, "the end of a section")
	if err != nil {
		return err
	}
	size, packed, n := binary.BigEndian.Uint64(tail), int64(binary.BigEndian.Uint64(tail[8:])), binary.BigEndian.Uint64(tail[16:])
	if packed < 0 || packed > sec.size-32-24-8 || size > maxSection || n > size {
		return t.fail(end-24, "%d times in %d bytes, packed as %d, of a section of %d", n, size, packed, sec.size)
	}
	b, err := t.bytes(end-24-packed, packed, "the times")
	if err != nil {
		return err
	}
	if b, err = inflate(b, int64(size)); err != nil {
		return t.fail(end-24-packed, "the times: zlib: %v", err)
	}
	if err := t.table(b, int(n), sec); err != nil {
		return err
	}
	head, err := t.bytes(sec.at+33, min(30, end-sec.at-33), "the head of a section")
	if err != nil {
		return err
	}
	c := chars{b: head}
	frame, packedFrame, _ := c.number(), int64(c.number()), c.number()
	at := sec.at + 33 + int64(c.at)
	stop := end - 24 - packed - 8
	if c.short || packedFrame < 0 || packedFrame > stop-at || frame > maxBits {
		return t.fail(sec.at+33, "a frame of %d bytes, packed as %d, of a section of %d", frame, packedFrame, sec.size)
	}
	if !r.begun {
		if err := t.frame(at, packedFrame, int64(frame), s); err != nil {
			return err
		}
		r.begun = true
		if n == 0 || sec.begin < r.times[0] {
			r.times = append([]uint64{sec.begin}, r.times...)
			r.shift = 1
		}
	}
	at += packedFrame
	if head, err = t.bytes(at, min(11, stop-at), "the changes"); err != nil {
		return err
	}
	c = chars{b: head}
	handles := c.number()
	pack := c.byte()
	if c.short || handles > uint64(len(s.kinds)) {
		return t.fail(at, "changes of %d values of %d", handles, len(s.kinds))
	}
	start := at + int64(c.at) - 1
	if head, err = t.bytes(stop, 8, "the length of the index"); err != nil {
		return err
	}
	length := int64(binary.BigEndian.Uint64(head))
	if length < 0 || length > stop-start-1 {
		return t.fail(stop, "an index of %d bytes in a section of %d", length, sec.size)
	}
	index, err := t.bytes(stop-length, length, "the index")
	if err != nil {
		return err
	}
	if err := r.index(index, sec.kind, int(handles), start, stop-length); err != nil {
		return t.fail(stop-length, "the index: %v", err)
	}
	return t.unpack(pack, s)
}

// table reads the time stamps.
func (t *fst) table(b []byte, n int, sec section) error {
	r := &t.stream
	c := chars{b: b}
	r.times, r.at, r.shift = r.times[:0], 0, 0
	now := uint64(0)
	for i := range n {
		d := c.number()
		if c.short || now+d < now {
			return t.fail(sec.at, "time %d of %d of a section", i+1, n)
		}
		now += d
		if i == 0 && r.begun && now < r.last {
			return t.fail(sec.at, "time %d after %d", now, r.last)
		}
		r.times = append(r.times, now)
	}
	if n > 0 {
		r.last = now
	}
	return nil
}

// frame sets the values at the beginning of the file.
func (t *fst) frame(at, packed, size int64, s *state) error {
	b, err := t.bytes(at, packed, "a frame")
	if err != nil {
		return err
	}
	if b, err = inflate(b, size); err != nil {
		return t.fail(at, "a frame: zlib: %v", err)
	}
	for id, k := range s.kinds {
		n := int(s.at[id+1] - s.at[id])
		if n > len(b) {
			return nil // variables that came later
		}
		v := b[:n]
		b = b[n:]
		switch {
		case t.wanted != nil && !t.wanted[id]:
		case k == Real:
			s.real(int32(id), t.real(v))
		case k == Bits:
			for i, c := range v {
				if v[i] = digitOf[c]; v[i] == 0 {
					return t.fail(at, "a frame has the digit %s", quote([]byte{c}))
				}
			}
			s.digits(int32(id), v)
		}
	}
	return nil
}

// index finds the chains.
func (r *stream) index(b []byte, kind byte, handles int, start, end int64) error {
	r.roots = append(r.roots[:0], make([]uint32, handles)...)
	r.chains = r.chains[:0]
	c := chars{b: b}
	place, twin := int64(0), uint32(0)
	for h := 0; c.at < len(b); {
		skip, alias, step := uint64(0), int64(-1), int64(0)
		if kind == fstAlias2 {
			if b[c.at]&1 == 0 {
				skip = c.number() >> 1
			} else if v := c.signed() >> 1; v > 0 {
				step = v
			} else {
				alias = -v
			}
		} else if v := c.number(); v == 0 {
			alias = int64(c.number())
		} else if v&1 == 1 {
			step = int64(v >> 1)
		} else {
			skip = v >> 1
		}
		if c.short || skip > uint64(handles-h) || skip == 0 && h == handles {
			return fmt.Errorf("more than %d values", handles)
		}
		switch {
		case skip > 0:
			h += int(skip)
			continue
		case step > 0:
			if step >= end-start-place {
				return fmt.Errorf("the chain of value %d is at %d of %d", h+1, place+step, end-start)
			}
			if n := len(r.chains); n > 0 {
				r.chains[n-1].size = step
			}
			place += step
			r.chains = append(r.chains, chain{at: start + place})
			r.roots[h] = uint32(len(r.chains))
		default:
			if alias > 0 {
				if alias > int64(h) {
					return fmt.Errorf("value %d is as %d", h+1, alias)
				}
				twin = r.roots[alias-1]
			}
			r.roots[h] = twin
		}
		h++
	}
	if n := len(r.chains); n > 0 {
		r.chains[n-1].size = end - r.chains[n-1].at
	}
	return nil
}
