package mac

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Receive checks the FCS and the length of frames and takes FCS and tag off. The FCS
// may begin in the beat before the last, and four bytes of a tagged frame move to the
// beat before, so a beat waits in the hold register until it is known what follows it.
// Between frames of the wire those of the loop come in: see merge.
type Receive struct {
	hdl.Regs[receiveState]
	Rx    hdl.In[port.EthBeat]
	RxOut hdl.Out[port.EthBeat]
	// Losses is how many frames of the loop were thrown away; it wraps at 2^64.
	Losses hdl.Sig[uint64]

	loop     hdl.In[port.EthBeat]     // whole frames, a beat a cycle
	hold     hdl.RAM[[beatBytes]byte] // one word: the output register of port 0
	late     hdl.RAM[port.EthBeat]    // beats that RxOut had no time for; port 0 writes, 1 reads
	maxFrame uint16
}

type receiveState struct {
	CRC     roce.CRC
	Bytes   uint16 // of the frame so far
	Swallow bool   // cut: the rest of the frame is of no interest
	Tagged  bool   // the frame has a tag
	Held    held
	Merge   merge
}

// held describes the beat in the hold register.
type held struct {
	Valid  bool
	First  bool // of its frame
	Final  bool // the last beat of its frame: Len and Bad are known
	Tagged bool
	Bad    bool
	Len    uint8
}

// none is what follows the last beat of a frame.
var none [beatBytes]byte

// wire moves the hold register on: a final beat leaves it at once, another one
// when its successor is there. It tells whether a beat goes out.
func (r *Receive) wire() (sent bool) {
	q, d := &r.Q, &r.D
	if q.Held.Final {
		r.emit(&none, q.Held.Len, true, q.Held.Bad)
		d.Held = held{}
		sent = true
	}
	if !r.Rx.Valid() {
		return sent
	}
	in := r.Rx.Take()
	if q.Swallow {
		d.Swallow = !in.Last
		return sent
	}
	crc, bytes := q.CRC, q.Bytes+uint16(in.Len)
	if q.Bytes == 0 {
		crc = roce.FCSStart
		d.Tagged = isTagged(in)
	}
	crc = crc.Beat(&in.Data, int(in.Len))
	long := bytes > r.maxFrame
	if in.Last || long {
		d.Bytes, d.Swallow = 0, !in.Last
		bad := long || in.Bad || bytes < minFrame || crc != roce.Residue
		return r.end(in, bad) || sent
	}
	d.CRC, d.Bytes = crc, bytes
	if q.Held.Valid && !q.Held.Final {
		r.emit(&in.Data, beatBytes, false, false)
		sent = true
	}
	r.hold.Write(0, 0, &in.Data)
	d.Held = held{Valid: true, First: q.Bytes == 0, Tagged: d.Tagged}
	return sent
}

// end deals with the last beat of a frame: behind it, FCS and tag are missing from it,
// or from the beat before.
func (r *Receive) end(in *port.EthBeat, bad bool) (sent bool) {
	q, d := &r.Q, &r.D
	open := q.Held.Valid && !q.Held.Final // the beat before is held
	off := uint8(roce.FCSSize)
	if d.Tagged {
		off += roce.VLANSize
	}
	first := q.Bytes == 0
	switch {
	case open && in.Len <= off:
		r.emit(&in.Data, beatBytes-off+in.Len, true, bad)
		d.Held = held{}
		return true
	case open:
		r.emit(&in.Data, beatBytes, false, false)
	case !q.Held.Final:
		r.put(&in.Data, &none, first, d.Tagged, strip(in.Len, off), true, bad)
		return true
	}
	r.hold.Write(0, 0, &in.Data)
	d.Held = held{Valid: true, First: first, Final: true, Tagged: d.Tagged, Bad: bad, Len: strip(in.Len, off)}
	return open
}

// strip is the length of a last beat without what comes off; a frame that is nothing but
// an FCS, or less, keeps one byte: it is Bad.
func strip(n, off uint8) uint8 {
	if n <= off {
		return 1
	}
	return n - off
}

// emit sends the beat in the hold register; behind is what follows it.
func (r *Receive) emit(behind *[beatBytes]byte, n uint8, last, bad bool) {
	h := &r.Q.Held
	r.put(r.hold.Data(0), behind, h.First, h.Tagged, n, last, bad)
}

// put sends a beat, without the tag.
func (r *Receive) put(beat, behind *[beatBytes]byte, first, tagged bool, n uint8, last, bad bool) {
	out := r.next(last)
	out.Len, out.Last, out.Bad = n, last, bad
	if tagged {
		remove(out, first, beat, behind)
		return
	}
	out.Data, out.VLAN, out.TCI = *beat, false, 0
}
