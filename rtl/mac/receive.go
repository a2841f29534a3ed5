package mac

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Receive checks the FCS and the length of frames and takes the FCS off. The FCS
// may begin in the beat before the last, so a beat waits in the hold register
// until it is known what follows it.
type Receive struct {
	hdl.Regs[receiveState]
	Rx    hdl.In[port.EthBeat]
	RxOut hdl.Out[port.EthBeat]

	hold     hdl.RAM[[beatBytes]byte] // one word: the output register of port 0
	maxFrame uint16
}

type receiveState struct {
	CRC     roce.CRC
	Bytes   uint16 // of the frame so far
	Swallow bool   // cut: the rest of the frame is of no interest
	Held    held
}

// held describes the beat in the hold register.
type held struct {
	Valid bool
	Final bool // the last beat of its frame: Len and Bad are known
	Bad   bool
	Len   uint8
}

// Eval moves the hold register on: a final beat leaves it at once, another one
// when its successor is there.
func (r *Receive) Eval() {
	q, d := &r.Q, &r.D
	if !r.RxOut.Ready() {
		return
	}
	if q.Held.Final {
		r.emit(q.Held.Len, true, q.Held.Bad)
		d.Held = held{}
	}
	if !r.Rx.Valid() {
		return
	}
	in := r.Rx.Take()
	if q.Swallow {
		d.Swallow = !in.Last
		return
	}
	crc, bytes := q.CRC, q.Bytes+uint16(in.Len)
	if q.Bytes == 0 {
		crc = roce.FCSStart
	}
	crc = crc.Beat(&in.Data, int(in.Len))
	long := bytes > r.maxFrame
	if !in.Last && !long {
		d.CRC, d.Bytes = crc, bytes
		if q.Held.Valid && !q.Held.Final {
			r.emit(beatBytes, false, false)
		}
		r.hold.Write(0, 0, &in.Data)
		d.Held = held{Valid: true}
		return
	}
	d.Bytes, d.Swallow = 0, !in.Last
	bad := long || in.Bad || bytes < minFrame || crc != roce.Residue
	r.end(in, bad)
}

// end deals with the last beat of a frame.
func (r *Receive) end(in *port.EthBeat, bad bool) {
	q, d := &r.Q, &r.D
	open := q.Held.Valid && !q.Held.Final // the beat before is held
	switch {
	case open && in.Len <= roce.FCSSize:
		r.emit(beatBytes-roce.FCSSize+in.Len, true, bad)
		d.Held = held{}
		return
	case open:
		r.emit(beatBytes, false, false)
	case !q.Held.Final:
		out := r.RxOut.Next()
		out.Data, out.Len, out.Last, out.Bad = in.Data, strip(in.Len), true, bad
		return
	}
	r.hold.Write(0, 0, &in.Data)
	d.Held = held{Valid: true, Final: true, Bad: bad, Len: strip(in.Len)}
}

// strip is the length of a last beat without FCS; a frame that is nothing but an
// FCS, or less, keeps one byte: it is Bad.
func strip(n uint8) uint8 {
	if n <= roce.FCSSize {
		return 1
	}
	return n - roce.FCSSize
}

// emit sends the beat in the hold register.
func (r *Receive) emit(n uint8, last, bad bool) {
	out := r.RxOut.Next()
	out.Data, out.Len, out.Last, out.Bad = *r.hold.Data(0), n, last, bad
}
