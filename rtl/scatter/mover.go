package scatter

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

type moverRegs struct {
	Piece  uint8  // of the frame at the head
	Second bool   // its second run, beyond a page boundary
	Reads  uint8  // runs done
	Offset uint16 // bytes of the packet done
}

// Mover issues a read of rx_buf and a write of host memory for each run of bytes
// with consecutive bus addresses, one a cycle.
type Mover struct {
	In    hdl.In[move]
	Read  hdl.Out[port.RxRead]
	Write hdl.Out[port.WriteReq]
	Tail  hdl.Out[tail]
	hdl.Regs[moverRegs]
}

// Eval issues a run, and with the last leaves the frame to Forward.
func (m *Mover) Eval() {
	q, d := &m.Q, &m.D
	if !m.In.Valid() || !m.Tail.Ready() || !m.Read.Ready() || !m.Write.Ready() {
		return
	}
	f := m.In.Head()
	last := f.N == 0
	if f.N != 0 {
		p := &f.Piece[q.Piece]
		addr, n := p.Addr0, p.Len0
		if q.Second {
			addr, n = p.Addr1, p.Len1
		}
		d.Second = !q.Second && p.Len1 != 0
		if !d.Second {
			d.Piece++
		}
		last = d.Piece == f.N
		at := f.BufAddr + uint32(q.Offset)
		m.Read.Put(port.RxRead{Addr: at, Len: n})
		m.Write.Put(port.WriteReq{Addr: addr, Len: uint32(n), Shift: uint8(at % port.BeatBytes), Notify: last})
		d.Offset += n
		d.Reads++
	}
	if last {
		m.Tail.Put(tail{Reads: d.Reads, Beats: f.Beats})
		m.In.Take()
		*d = moverRegs{}
	}
}

type forwardRegs struct {
	Ended uint16 // reads that have ended, of frames not released
}

// Forward passes payload from rx_buf to dma as it is, and releases frames.
type Forward struct {
	Data      hdl.In[port.Beat]
	WriteData hdl.Out[port.Beat]
	Tail      hdl.In[tail]
	Free      hdl.Out[port.RxFree]
	hdl.Regs[forwardRegs]
}

// Eval moves a beat and releases a frame.
func (f *Forward) Eval() {
	q, d := &f.Q, &f.D
	if f.Data.Valid() && f.WriteData.Ready() {
		b := f.Data.Take()
		f.WriteData.Put(*b)
		if b.Last {
			d.Ended++
		}
	}
	if !f.Tail.Valid() || !f.Free.Ready() {
		return
	}
	if t := f.Tail.Head(); q.Ended >= uint16(t.Reads) {
		f.Free.Put(port.RxFree{Beats: t.Beats})
		f.Tail.Take()
		d.Ended -= uint16(t.Reads)
	}
}

type finishRegs struct {
	Posted uint16 // packets whose writes are posted, not yet finished
}

// Finish completes packets in order once their writes are posted.
type Finish struct {
	In        hdl.In[done]
	WriteDone hdl.In[port.WriteDone]
	CQE       hdl.Out[port.CQEReq]
	Placed    hdl.Out[port.Placed]
	hdl.Regs[finishRegs]
}

// Eval counts WriteDones and finishes a packet.
func (f *Finish) Eval() {
	d := &f.D
	if f.WriteDone.Valid() {
		f.WriteDone.Take()
		d.Posted++
	}
	if !f.In.Valid() || !f.CQE.Ready() || !f.Placed.Ready() {
		return
	}
	p := f.In.Head()
	if p.Writes {
		if d.Posted == 0 {
			return
		}
		d.Posted--
	}
	if p.HasCQE {
		f.CQE.Put(p.CQE)
	}
	if p.HasPlaced {
		f.Placed.Put(p.Placed)
	}
	f.In.Take()
}
