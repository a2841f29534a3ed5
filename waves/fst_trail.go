package waves

// trail is the changes of a variable in a section, as the file has them: each with how
// many time stamps it is behind the one before.
type trail struct {
	chunk []byte // that is being filled; a change lies in one chunk
	more  int32  // the full chunks before it: a place in section.full, or -1
	bytes int32  // in those
	last  uint32 // time stamp of the last change
	at    uint32 // of a vector: where in chunk its last value is
	width uint32 // bits; 0: a string
	size  uint16 // bytes of a vector's value
	kind  uint8  // of the last record
}

// full is a chunk that is full, and the one before it.
type full struct {
	chunk []byte
	more  int32
}

// Chunks of a trail have as many bytes as all before them, within bounds, so that no
// more is reserved than twice what is used, and trails of a few changes need little.
const (
	leastChunk = 64
	mostChunk  = 4096
	slabSize   = 256 << 10 // from which chunks are cut
)

// room has the trail's chunk take so many bytes more.
func (sec *section) room(t *trail, n int) {
	if len(t.chunk) > 0 {
		sec.full = append(sec.full, full{t.chunk, t.more})
		t.more = int32(len(sec.full) - 1)
		t.bytes += int32(len(t.chunk))
	}
	size := max(n, min(max(int(t.bytes), leastChunk), mostChunk))
	switch {
	case size > slabSize:
		t.chunk = make([]byte, 0, size) // a very long text
		return
	case size > slabSize-sec.cut:
		sec.slab++
		sec.cut = 0
		if sec.slab == len(sec.slabs) {
			sec.slabs = append(sec.slabs, make([]byte, slabSize))
		}
	}
	t.chunk = sec.slabs[sec.slab][sec.cut : sec.cut : sec.cut+size]
	sec.cut += size
}

// whole is the trail in one piece, which may be in a buffer that it makes larger if
// need be.
func (sec *section) whole(t *trail, buf []byte) (chain, buffer []byte) {
	if t.more < 0 {
		return t.chunk, buf
	}
	n := int(t.bytes) + len(t.chunk)
	if n > len(buf) {
		buf = make([]byte, n+n/4)
	}
	end := int(t.bytes)
	copy(buf[end:], t.chunk)
	for i := t.more; i >= 0; i = sec.full[i].more {
		c := sec.full[i].chunk
		end -= len(c)
		copy(buf[end:], c)
	}
	return buf[:n], buf
}

// reset empties a section; its slabs are used again.
func (sec *section) reset() {
	clear(sec.full) // very long texts among them
	sec.full = sec.full[:0]
	sec.slab, sec.cut = 0, 0
	for i := range sec.trails {
		t := &sec.trails[i]
		t.chunk, t.more, t.bytes, t.last = nil, -1, 0, 0
	}
}

// advance brings a frame from the values at a section's beginning to those at its end.
func (sec *section) advance(frame []byte) {
	for i := range sec.trails[1:] {
		t := &sec.trails[i+1]
		f := frame[:t.width]
		frame = frame[t.width:]
		switch {
		case len(t.chunk) == 0:
		case t.kind == recordX:
			for j := range f {
				f[j] = 'x'
			}
		case t.width == 1:
			f[0] = '0' + t.kind>>1
		default:
			for j := range f {
				f[j] = '0' + t.chunk[int(t.at)+j/8]>>(7-j&7)&1
			}
		}
	}
}
