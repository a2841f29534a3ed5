package mac

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Transmit pads a frame, appends its FCS and paces it to the link rate.
type Transmit struct {
	hdl.Regs[transmitState]
	TxIn hdl.In[port.EthBeat]
	Tx   hdl.Out[port.EthBeat]

	cycle, byteCost int64
}

type transmitState struct {
	Debt      int64 // line time owed for what was sent, in units of pace; negative: left over
	CRC       roce.CRC
	Open      bool   // inside a frame
	Spoilt    bool   // underrun inside it
	Underruns uint32 // frames spoilt so far
	SpillLen  uint8  // bytes of the FCS that had no room behind the last beat
	Spill     [4]byte
}

// Eval sends a beat when the line is free at some point of this cycle. A beat
// shorter than a cycle leaves line time over, which the next one may use if it
// follows at once.
func (t *Transmit) Eval() {
	q, d := &t.Q, &t.D
	d.Debt = max(q.Debt-t.cycle, 0)
	if q.Debt >= t.cycle || !t.Tx.Ready() {
		return
	}
	sent := 0
	switch {
	case q.SpillLen > 0:
		sent = t.spill()
	case t.TxIn.Valid():
		sent = t.beat()
	case q.Open && !q.Spoilt:
		d.Spoilt = true
		d.Underruns = q.Underruns + 1
		return
	default:
		return
	}
	d.Debt = max(q.Debt+int64(sent)*t.byteCost-t.cycle, -t.cycle)
}

// beat passes one beat on, the last one with pad and FCS. It returns the line
// time taken, in bytes.
func (t *Transmit) beat() int {
	q, d := &t.Q, &t.D
	in, out := t.TxIn.Take(), t.Tx.Next()
	out.Data, out.Len, out.Last, out.Bad = in.Data, in.Len, false, false
	crc := q.CRC
	if !q.Open {
		crc = roce.FCSStart
	}
	d.Open = !in.Last
	if !in.Last {
		d.CRC = crc.Beat(&out.Data, int(in.Len))
		return int(in.Len)
	}
	n := int(in.Len)
	if !q.Open && n < roce.MinFrame {
		clear(out.Data[n:])
		n = roce.MinFrame
	}
	sum := crc.Beat(&out.Data, n).Sum()
	if in.Bad || q.Spoilt {
		sum = ^sum
	}
	d.Spoilt = false
	var fcs [4]byte
	binary.LittleEndian.PutUint32(fcs[:], sum)
	fit := copy(out.Data[n:], fcs[:])
	out.Len = uint8(n + fit)
	if fit < len(fcs) {
		d.SpillLen = uint8(copy(d.Spill[:], fcs[fit:]))
		return n + fit
	}
	out.Last = true
	return n + fit + gapBytes
}

// spill sends what is left of the FCS.
func (t *Transmit) spill() int {
	q, d := &t.Q, &t.D
	out := t.Tx.Next()
	*out = port.EthBeat{Len: q.SpillLen, Last: true}
	copy(out.Data[:], q.Spill[:q.SpillLen])
	d.SpillLen = 0
	return int(q.SpillLen) + gapBytes
}
