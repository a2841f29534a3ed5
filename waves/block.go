package waves

import "math"

// never is later than any time of a run.
const never = math.MaxInt64

const (
	blockSize  = 256 << 10 // bytes after which a block is handed over
	blockSlack = 64 << 10  // room for what one time has more
)

// block is a stretch of one source's changes.
type block struct {
	src   int
	buf   []byte
	parts []part
	upto  int64 // all changes before this time are in this block or in earlier ones
	last  bool
	final int64 // of the last block: where the source ends
}

// part is the changes of one time: buf up to end, from where the part before ended.
type part struct {
	t   int64
	end int
}

// close makes a part of what was appended since the last one.
func (b *block) close(t int64) {
	start := 0
	if n := len(b.parts); n > 0 {
		start = b.parts[n-1].end
	}
	if len(b.buf) > start {
		b.parts = append(b.parts, part{t, len(b.buf)})
	}
}
