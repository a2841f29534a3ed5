package pkttx

import "rnic/abi"

// readout is the reading side of the payload buffer.
type readout struct {
	Number uint16 // packets begun, modulo 2^16
	Next   uint16 // beat to read next
	Left   uint8  // beats of the packet still to be read
	Busy   bool   // the output register holds a beat for chunks, of packet Number
}

// passed tells whether Send is done with a packet that has payload, sent it or dropped
// it. These packets are numbered from 1 on, modulo 2^16; taken is Send's last one.
func passed(number, taken uint16) bool { return int16(number-taken) <= 0 }

// readOut passes on the beat that was read in the cycle before, and reads the
// next. A beat is released with its read: Load hears of it a cycle later. Of a packet
// that Send drops meanwhile the rest is released at once.
func (b *Buffer) readOut() {
	q, d := &b.Q.Out, &b.D.Out
	if !b.chunks.Ready() {
		return
	}
	if q.Busy {
		c := b.chunks.Next()
		c.Number, c.Vendor, c.Data = q.Number, abi.VendorNone, *b.payload.Data(1)
		d.Busy = false
	}
	left := q.Left
	switch {
	case left == 0:
		if !b.fullIn.Valid() {
			return
		}
		f := b.fullIn.Head()
		if f.Vendor != abi.VendorNone {
			if !q.Busy {
				b.fullIn.Take()
				d.Number = q.Number + 1
				*b.chunks.Next() = chunk{Number: d.Number, Vendor: f.Vendor}
				b.release(f.Beats)
				d.Next = b.wrap(q.Next + uint16(f.Beats))
			}
			return
		}
		b.fullIn.Take()
		d.Number, left = q.Number+1, f.Beats
	case passed(q.Number, b.taken.Get()):
		b.release(left)
		d.Next, d.Left = b.wrap(q.Next+uint16(left)), 0
		return
	}
	b.payload.Read(1, int(q.Next))
	b.release(1)
	d.Next, d.Left, d.Busy = b.wrap(q.Next+1), left-1, true
}

func (b *Buffer) release(beats uint8) { b.released.Set(b.released.Get() + uint16(beats)) }
