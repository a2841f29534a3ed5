package driver

// deviceVisiblePages lists the pages of n bytes from offset off of the buffer, and
// log2 of their size: the largest of sizes (bit k: 2^k bytes) that the frames
// allow. Pages start at multiples of their size in virtual and in bus addresses.
func (b *Buffer) deviceVisiblePages(off, n int, sizes uint64) (pages []uint64, log uint8) {
	start := off + int(b.Addr%pageSize) // from the first frame
	lo, hi := start/pageSize, (start+n+pageSize-1)/pageSize
	if n == 0 {
		return nil, 12
	}
	frames := b.frames[lo:hi]
	va := (b.Addr + uint64(off)) &^ (pageSize - 1)
	for log = 31; log > 12; log-- {
		if sizes>>log&1 != 0 && mergeable(frames, va, log) {
			break
		}
	}
	mask := uint64(1)<<log - 1
	for i := 0; i < len(frames); {
		pages = append(pages, frames[i]&^mask)
		i += int((mask + 1 - (va+uint64(i)*pageSize)&mask) / pageSize)
	}
	return pages, log
}

// mergeable tells whether all frames lie in pages of 2^log bytes as the virtual
// addresses do.
func mergeable(frames []uint64, va uint64, log uint8) bool {
	mask := uint64(1)<<log - 1
	for i, f := range frames {
		v := va + uint64(i)*pageSize
		if f&mask != v&mask || v&mask != 0 && i > 0 && f != frames[i-1]+pageSize {
			return false
		}
	}
	return true
}
