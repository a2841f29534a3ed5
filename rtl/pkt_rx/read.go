package pktrx

import "rnic/rtl/port"

// read is the read port of rx_buf: a request in progress, and the beat that the
// RAM's output register holds.
type read struct {
	Next uint16 // beat to read next
	Left uint8  // beats of the request still to be read
	End  uint8  // bytes of its last beat
	Busy bool   // the output register holds a beat for Data
	Last bool   // it is the last one of its request
	Len  uint8
}

// read passes on the beat that was read in the cycle before, and reads the next.
func (r *RX) read() {
	q, d := &r.Q.Rd, &r.D.Rd
	if q.Busy {
		if !r.Data.Ready() {
			return
		}
		out := r.Data.Next()
		out.Data, out.Len, out.Last = *r.rxBuf.Data(1), q.Len, q.Last
		d.Busy = false
	}
	next, left, end := q.Next, q.Left, q.End
	if left == 0 {
		if !r.Read.Valid() {
			return
		}
		next, left, end = r.span(r.Read.Take())
	}
	r.rxBuf.Read(1, int(next))
	d.Busy, d.Last, d.Len = true, left == 1, beatBytes
	if left == 1 {
		d.Len = end
	}
	d.Next, d.Left, d.End = r.wrap(next+1), left-1, end
}

// span is what a request covers: first beat, beats, bytes of the last one.
func (r *RX) span(q *port.RxRead) (first uint16, beats, end uint8) {
	last := q.Addr&(beatBytes-1) + uint32(max(q.Len, 1)) - 1
	return r.wrap(uint16(q.Addr >> beatShift)), uint8(last>>beatShift) + 1, uint8(last&(beatBytes-1)) + 1
}
