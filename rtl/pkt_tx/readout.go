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
// next. A beat is released with its read: Load hears of it a cycle later. A packet that
// Send has dropped is released at once.
func (b *Buffer) readOut() {
	q, d := &b.Q.Out, &b.D.Out
	if !b.chunks.Ready() {
		return
	}
	dropped := passed(q.Number, b.taken.Get())
	if q.Busy {
		d.Busy = false
		if !dropped {
			c := b.chunks.Next()
			c.Number, c.Vendor, c.Data = q.Number, abi.VendorNone, *b.payload.Data(1)
		}
	}
	left := q.Left
	switch {
	case left == 0:
		if !b.fullIn.Valid() {
			return
		}
		f := b.fullIn.Head()
		dropped = passed(q.Number+1, b.taken.Get())
		if f.Vendor != abi.VendorNone || dropped {
			if !q.Busy && !dropped {
				*b.chunks.Next() = chunk{Number: q.Number + 1, Vendor: f.Vendor}
			}
			if !q.Busy || dropped {
				b.fullIn.Take()
				b.release(f.Beats)
				d.Number, d.Next = q.Number+1, b.wrap(q.Next+uint16(f.Beats))
			}
			return
		}
		b.fullIn.Take()
		d.Number = q.Number + 1
		left = f.Beats
	case dropped:
		b.release(left)
		d.Next, d.Left = b.wrap(q.Next+uint16(left)), 0
		return
	}
	b.payload.Read(1, int(q.Next))
	b.release(1)
	d.Next, d.Left, d.Busy = b.wrap(q.Next+1), left-1, true
}

func (b *Buffer) release(beats uint8) { b.released.Set(b.released.Get() + uint16(beats)) }
