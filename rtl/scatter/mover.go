package scatter

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// move is a frame to be released after its bytes were written.
type move struct {
	BufAddr uint32
	Beats   uint8 // 0: no frame
	N       uint8 // pieces
	Value   bool  // Data is written, not bytes of rx_buf
	Data    uint64
	Piece   [port.MaxSGE]port.MptRes
}

// run is a write of host memory whose data is still to be moved, or none.
type run struct {
	Read  bool // the data comes from rx_buf
	Value bool // the data is Len bytes of Data, from byte Shift on
	Last  bool // of the frame, which is then released if it has Beats
	Beats uint8
	Shift uint8
	Len   uint8
	Data  uint64
}

type moverRegs struct {
	Piece  uint8  // of the frame at the head
	Second bool   // its second run, beyond a page boundary
	Offset uint16 // bytes of the packet done
}

// Mover issues a read of rx_buf and a write of host memory for each run of bytes
// with consecutive bus addresses, one a cycle.
type Mover struct {
	In    hdl.In[move]
	Read  hdl.Out[port.RxRead]
	Write hdl.Out[port.WriteReq]
	Runs  hdl.Out[run]
	hdl.Regs[moverRegs]
}

// Eval issues a run, and with the last leaves the frame to Forward.
func (m *Mover) Eval() {
	if !m.In.Valid() || !m.Runs.Ready() || !m.Read.Ready() || !m.Write.Ready() {
		return
	}
	f := m.In.Head()
	r := run{Last: true, Beats: f.Beats}
	if f.N != 0 {
		m.write(f, &r)
	}
	m.Runs.Put(r)
	if r.Last {
		m.In.Take()
		m.D = moverRegs{}
	}
}

// write begins the next run of a frame.
func (m *Mover) write(f *move, r *run) {
	q, d := &m.Q, &m.D
	p := &f.Piece[q.Piece]
	addr, n := p.Addr0, p.Len0
	if q.Second {
		addr, n = p.Addr1, p.Len1
	}
	d.Second = !q.Second && p.Len1 != 0
	if !d.Second {
		d.Piece++
	}
	d.Offset += n
	r.Last = d.Piece == f.N
	at := f.BufAddr + uint32(q.Offset)
	shift := uint8(at % port.BeatBytes)
	m.Write.Put(port.WriteReq{Addr: addr, Len: uint32(n), Shift: shift, Notify: r.Last})
	if f.Value {
		r.Value, r.Shift, r.Len, r.Data = true, shift, uint8(n), f.Data
		return
	}
	r.Read = true
	m.Read.Put(port.RxRead{Addr: at, Len: n})
}
