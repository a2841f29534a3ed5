package pktrx

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// PktDepth is how deep Pkt is to be connected.
const PktDepth = 1024

const (
	beatBytes = port.BeatBytes
	beatShift = 6
)

// Params are the choices of a receiver. Zero fields take their default.
type Params struct {
	LogBeats uint8 // log2 of the beats of rx_buf; 11, which is 128 KiB
}

// RX is the block.
type RX struct {
	hdl.Regs[state]
	Eth     hdl.In[port.EthBeat]
	Pkt     hdl.Out[port.RxPkt]
	Read    hdl.In[port.RxRead]
	Data    hdl.Out[port.Beat]
	Free    hdl.In[port.RxFree]
	PortReg hdl.Tap[port.PortReg]
	Stats   hdl.Sig[port.RxStats]

	rxBuf hdl.RAM[[beatBytes]byte] // port 0 writes frames, port 1 reads payload
	depth uint16                   // beats
}

type state struct {
	Frame frame
	Open  bool   // more beats of Frame follow
	Judge bool   // Frame has ended and is to be judged in this cycle
	Start uint16 // beat where the frame in progress begins
	Wr    uint16 // beat that is written next
	Used  uint16 // beats held, of committed frames and of the one in progress
	Rd    read
}

// New makes a receiver. rx_buf must hold a frame, so LogBeats is at least 7.
func New(p Params) *RX {
	hdl.Default(&p.LogBeats, 11)
	r := &RX{depth: 1 << p.LogBeats}
	r.rxBuf.Init(int(r.depth), hdl.ReadFirst)
	return r
}

// Eval takes a beat in every cycle. The frame that ended in the cycle before is
// judged first, so that the beat of the next one finds the room it left.
func (r *RX) Eval() {
	if r.Q.Judge {
		r.D.Judge = false
		r.judge()
	}
	if r.Free.Valid() {
		r.free(uint16(r.Free.Take().Beats))
	}
	if r.Eth.Valid() {
		r.beat(r.Eth.Take())
	}
	r.read()
}

// beat works a beat into the frame register and stores it if it can belong to a
// good frame.
func (r *RX) beat(b *port.EthBeat) {
	d := &r.D
	f := &d.Frame
	if !r.Q.Open {
		f.first(b, r.PortReg.Get())
		d.Start = d.Wr
	}
	n := f.add(b)
	if n > 0 && f.Drop == dropNone {
		r.store(b)
	}
	d.Open = !b.Last
	d.Judge = b.Last
}

// store writes a beat to rx_buf, or gives up the frame if there is no room.
func (r *RX) store(b *port.EthBeat) {
	d := &r.D
	switch {
	case d.Frame.NoRoom:
	case d.Used == r.depth:
		d.Frame.NoRoom = true
		r.rollBack()
	default:
		r.rxBuf.Write(0, int(d.Wr), &b.Data)
		d.Wr = r.wrap(d.Wr + 1)
		d.Used++
		d.Frame.Stored++
	}
}

// rollBack gives back what the frame in progress holds.
func (r *RX) rollBack() {
	d := &r.D
	d.Wr = d.Start
	d.Used -= uint16(d.Frame.Stored)
	d.Frame.Stored = 0
}

// free releases the oldest frame.
func (r *RX) free(beats uint16) {
	if beats > r.D.Used-uint16(r.D.Frame.Stored) {
		r.Fail("%d beats released, %d held", beats, r.D.Used-uint16(r.D.Frame.Stored))
	}
	r.D.Used -= beats
}

func (r *RX) wrap(beat uint16) uint16 { return beat & (r.depth - 1) }
