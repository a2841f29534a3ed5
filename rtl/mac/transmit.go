package mac

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Transmit puts the tag into a frame, pads it, appends its FCS and paces it to the
// link rate. A frame for the port's own address it hands to Loop instead.
type Transmit struct {
	hdl.Regs[transmitState]
	TxIn hdl.In[port.EthBeat]
	Tx   hdl.Out[port.EthBeat]

	loop hdl.Out[port.EthBeat]
	own  hdl.Tap[roce.MAC]

	cycle, byteCost int64
}

type transmitState struct {
	Debt      int64 // line time owed for what was sent, in units of pace; negative: left over
	CRC       roce.CRC
	Open      bool // inside a frame of the wire
	Loop      bool // inside a frame of the loop
	Tag       insert
	Spoilt    bool   // underrun inside the frame
	Underruns uint32 // frames spoilt so far
	SpillLen  uint8  // bytes of the FCS that had no room behind the last beat
	Spill     [roce.FCSSize]byte
}

// Eval sends a beat when the line is free at some point of this cycle. A beat
// shorter than a cycle leaves line time over, which the next one may use if it
// follows at once. A beat of the loop takes no line time.
func (t *Transmit) Eval() {
	q, d := &t.Q, &t.D
	d.Debt = max(q.Debt-t.cycle, 0)
	if q.Loop || t.returns() {
		t.turn()
		return
	}
	if q.Debt >= t.cycle || !t.Tx.Ready() {
		return
	}
	sent := 0
	switch {
	case q.SpillLen > 0:
		sent = t.spill()
	case q.Tag.Tail > 0:
		sent = t.tail()
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

// beat passes one beat on. It returns the line time taken, in bytes.
func (t *Transmit) beat() int {
	in, out := t.TxIn.Take(), t.Tx.Next()
	n, last := t.insert(in, &out.Data)
	if in.Last && !last {
		t.D.Spoilt = t.Q.Spoilt || in.Bad // known to tail
	}
	return t.finish(out, n, last, in.Bad)
}

// tail sends what the tag has pushed out of the last beat.
func (t *Transmit) tail() int {
	q, out := &t.Q, t.Tx.Next()
	clear(out.Data[:])
	n := copy(out.Data[:], q.Tag.Carry[:q.Tag.Tail])
	t.D.Tag = insert{}
	return t.finish(out, n, true, false)
}

// finish completes a beat with n bytes of data, the last one with pad and FCS. It
// returns the line time taken, in bytes.
func (t *Transmit) finish(out *port.EthBeat, n int, last, bad bool) int {
	q, d := &t.Q, &t.D
	out.Len, out.Last, out.Bad, out.VLAN, out.TCI = uint8(n), false, false, false, 0
	crc := q.CRC
	if !q.Open {
		crc = roce.FCSStart
	}
	d.Open = !last
	if !last {
		d.CRC = crc.Beat(&out.Data, n)
		return n
	}
	if !q.Open && n < roce.MinFrame {
		clear(out.Data[n:])
		n = roce.MinFrame
	}
	sum := crc.Beat(&out.Data, n).Sum()
	if bad || q.Spoilt {
		sum = ^sum
	}
	d.Spoilt = false
	var fcs [roce.FCSSize]byte
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
