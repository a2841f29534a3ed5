package pkttx

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Buffer is the payload buffer: a ring of beats as the frames will have them.
// Runs land in order; one that begins where the last one ended inside a beat is
// merged with it: the output register of the writing port still shows that beat.
// Packets that are complete are read out in order, but those that Send has dropped.
type Buffer struct {
	hdl.Regs[bufferState]
	Data   hdl.In[port.ReadBeat]
	Fenced hdl.Out[port.Fence]

	land     hdl.In[landing]
	fullOut  hdl.Out[full] // packets that are complete
	fullIn   hdl.In[full]
	chunks   hdl.Out[chunk]
	released hdl.Sig[uint16] // beats read out or dropped so far, modulo 2^16
	taken    hdl.Tap[uint16]

	payload hdl.RAM[[beatBytes]byte] // port 0 writes, port 1 reads
	beats   uint16
}

type bufferState struct {
	Open   bool          // inside a packet
	Base   uint16        // beat where its payload begins
	Pos    uint16        // bytes from the start of that beat to what lands next
	Done   uint16        // bytes of the run that have landed
	Vendor abi.VendorErr // a run of the packet was not readable
	Out    readout
}

// full is a packet that is complete. With Vendor, its payload is void.
type full struct {
	Beats  uint8
	Vendor abi.VendorErr
}

// chunk is a beat of payload for Send; with Vendor it stands for a whole packet.
// Number says which: see passed.
type chunk struct {
	Number uint16
	Vendor abi.VendorErr
	Data   [beatBytes]byte
}

// Eval lands a beat and reads one out. A marker goes back when all before it has landed.
func (b *Buffer) Eval() {
	b.readOut()
	switch {
	case !b.land.Valid():
	case b.land.Head().Fence != 0:
		if b.Fenced.Ready() {
			b.Fenced.Put(b.land.Take().Fence)
		}
	case b.fullOut.Ready():
		b.landBeat()
	}
}

// landBeat stores the next beat, or part of one, of the run that is due.
func (b *Buffer) landBeat() {
	q, d := &b.Q, &b.D
	x := b.land.Head()
	pos := q.Pos
	if !q.Open {
		pos = uint16(x.Start)
	}
	rest := x.Len - q.Done
	switch {
	case x.Len == 0:
		b.end(x, pos, x.Vendor)
	case x.Inline:
		n := min(rest, beatBytes-pos%beatBytes)
		b.store(pos, x.Data[q.Done:q.Done+n])
		d.Open, d.Pos, d.Done = true, pos+n, q.Done+n
		if n == rest {
			b.end(x, pos+n, x.Vendor)
		}
	case b.Data.Valid():
		beat := b.Data.Take()
		from := uint16(0)
		if q.Done == 0 {
			from = pos % beatBytes
		}
		n := min(rest, beatBytes-pos%beatBytes, max(uint16(beat.Len), from)-from)
		if n > 0 {
			b.store(pos, beat.Beat.Data[from:from+n])
		}
		d.Open, d.Pos, d.Done = true, pos+n, q.Done+n
		if beat.Last {
			vendor := abi.VendorNone
			if beat.Err || n < rest {
				vendor = abi.VendorDMARead
			}
			b.end(x, pos+rest, vendor)
		}
	}
}

// store merges bytes into the beat at pos, at the lanes that pos says. Lanes that
// nothing was stored to are zero.
func (b *Buffer) store(pos uint16, bytes []byte) {
	addr, lane := b.wrap(b.Q.Base+pos/beatBytes), int(pos%beatBytes)
	w := b.payload.WriteNext(0, int(addr))
	switch {
	case len(bytes) == beatBytes:
	case lane == 0 || !b.Q.Open:
		clear(w[:])
	default:
		*w = *b.payload.Data(0)
	}
	copy(w[lane:], bytes)
}

// end finishes a run, and its packet if it is the last one.
func (b *Buffer) end(x *landing, pos uint16, vendor abi.VendorErr) {
	q, d := &b.Q, &b.D
	b.land.Take()
	if q.Vendor != abi.VendorNone {
		vendor = q.Vendor
	}
	d.Open, d.Pos, d.Done, d.Vendor = true, pos, 0, vendor
	if x.Last {
		b.fullOut.Put(full{x.Beats, vendor})
		d.Open, d.Pos, d.Vendor = false, 0, abi.VendorNone
		d.Base = b.wrap(q.Base + uint16(x.Beats))
	}
}

// wrap is an address in the ring, which need not be a power of two long.
func (b *Buffer) wrap(beat uint16) uint16 {
	if beat >= b.beats {
		return beat - b.beats
	}
	return beat
}
