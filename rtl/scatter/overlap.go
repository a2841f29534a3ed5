package scatter

import "rnic/rtl/port"

// piece is a run of bytes of one scatter element.
type piece struct {
	Key port.Key
	VA  port.VA
	Len uint16
}

// overlap cuts bytes [offset, offset+n) of a message along the scatter list:
// count pieces, in order, none of them empty. fits is false if the list is
// shorter than that, or than need bytes; then there are none.
func overlap(w *port.RQWQE, offset uint32, n, need uint16) (p [port.MaxSGE]piece, count uint8, fits bool) {
	from, to := uint64(offset), uint64(offset)+uint64(n)
	begin := uint64(0) // of the element, in the message
	for i := range min(int(w.Num), port.MaxSGE) {
		s := &w.SGE[i]
		end := begin + uint64(s.Len)
		lo, hi := max(begin, from), min(end, to)
		if lo < hi {
			p[count] = piece{s.Key, s.VA + port.VA(lo-begin), uint16(hi - lo)}
			count++
		}
		begin = end
	}
	if max(to, uint64(need)) > begin {
		return p, 0, false
	}
	return p, count, true
}
