package pkttx

import "rnic/abi"

// readout is the reading side of the payload buffer.
type readout struct {
	Next  uint16 // beat to read next
	Beats uint8  // of the packet
	Left  uint8  // of them, still to be read
	Busy  bool   // the output register holds a beat for chunks
}

// readOut passes on the beat that was read in the cycle before, and reads the
// next. A packet is released with its last read: Load hears of it a cycle later.
func (b *Buffer) readOut() {
	q, d := &b.Q.Out, &b.D.Out
	if !b.chunks.Ready() {
		return
	}
	if q.Busy {
		c := b.chunks.Next()
		c.Vendor, c.Data = abi.VendorNone, *b.payload.Data(1)
		d.Busy = false
	}
	left, beats := q.Left, q.Beats
	if left == 0 {
		if !b.fullIn.Valid() {
			return
		}
		f := b.fullIn.Head()
		if f.Vendor != abi.VendorNone {
			if !q.Busy {
				b.fullIn.Take()
				*b.chunks.Next() = chunk{Vendor: f.Vendor}
				b.release(uint16(f.Beats))
				d.Next = b.wrap(q.Next + uint16(f.Beats))
			}
			return
		}
		b.fullIn.Take()
		left, beats = f.Beats, f.Beats
	}
	b.payload.Read(1, int(q.Next))
	if left == 1 {
		b.release(uint16(beats))
	}
	d.Next, d.Beats, d.Left, d.Busy = b.wrap(q.Next+1), beats, left-1, true
}

func (b *Buffer) release(beats uint16) { b.released.Set(b.released.Get() + beats) }
