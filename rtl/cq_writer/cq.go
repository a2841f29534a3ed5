package cqwriter

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// arm is what a CQ waits for.
type arm uint8

const (
	disarmed     arm = iota
	armSolicited     // a CQE that is solicited or in error
	armAny
)

// Width is 2 bits.
func (arm) Width() int { return 2 }

func (a arm) String() string {
	return [...]string{"DISARMED", "ARM_SOLICITED", "ARM_ANY", "RESERVED"}[a&3]
}

// cq is the context of a completion queue.
type cq struct {
	Exists  bool
	Dead    bool // overrun
	Owed    bool // a completion event that its event queue has not got yet
	ErrOwed bool // likewise CQ_ERR
	Arm     arm
	Sol     bool   // LastSol is beyond CI
	LastSol uint16 // index of the youngest CQE that is solicited or in error
	LogSize uint8
	EQN     port.EQN
	Page    uint8
	PI, CI  uint16
	Base    port.BusAddr
}

func (c *cq) owes() bool { return c.Owed || c.ErrOwed }

func (c *cq) full() bool { return c.PI-c.CI == 1<<c.LogSize }

// push counts a CQE in. sol: it is solicited or in error.
func (c *cq) push(sol bool) {
	if sol {
		c.Sol, c.LastSol = true, c.PI
	}
	c.PI++
	if c.Arm == armAny || c.Arm == armSolicited && sol {
		c.Arm, c.Owed = disarmed, true
	}
}

// ring takes a doorbell. ok is false when its index is not one that the driver
// can have consumed up to; then nothing changes.
func (c *cq) ring(b *port.CQDoorbell) (ok bool) {
	if b.CI-c.CI > c.PI-c.CI {
		return false
	}
	// LastSol-CI is the CQEs before it; those up to the new index are consumed.
	c.Sol = c.Sol && c.LastSol-c.CI >= b.CI-c.CI
	c.CI = b.CI
	if !b.Arm {
		return true
	}
	want := armAny
	if b.Solicited {
		want = armSolicited
	}
	c.Arm = max(c.Arm, want)
	if c.Arm == armAny && c.PI != c.CI || c.Arm == armSolicited && c.Sol {
		c.Arm, c.Owed = disarmed, true
	}
	return true
}

// slot is the address of the next CQE.
func (c *cq) slot() port.BusAddr {
	return c.Base + port.BusAddr(abi.RingSlot(c.PI, c.LogSize))*abi.CQESize
}

// complete executes what is at the head of Send or Recv.
func (w *Writer) complete(in *hdl.In[port.CQEReq], pipe int, c cq, free bool) {
	d := &w.D
	r := in.Head()
	switch {
	case r.Purge:
		d.Purge[pipe] = fence{true, w.Q.Issued}
		d.Purged[pipe] = port.Purge{QPN: r.QPN, RX: r.RX}
		d.State = idle
		in.Take()
		return
	case !c.Exists:
		d.Counted.Dropped++
		d.State = idle
		in.Take()
		return
	case c.Dead || c.full():
		if !w.Fatal.Ready() {
			return
		}
		w.Fatal.Put(port.Retire{Kind: port.RetireFatal, QPN: r.QPN})
		d.Counted.Overruns++
		c.ErrOwed = c.ErrOwed || !c.Dead
		c.Dead = true
	case !free:
		return
	default:
		w.cqe(r, &c)
		c.push(r.Solicited || r.Status != abi.StatusSuccess)
	}
	in.Take()
	w.store(c)
}

// cqe writes a CQE.
func (w *Writer) cqe(r *port.CQEReq, c *cq) {
	e := abi.CQE{
		Index: r.UnitIdx, Opcode: r.Opcode, Status: r.Status, QPN: uint32(r.QPN), Flags: abi.CQEFlags(r.Flags),
		SrcQPN: uint32(r.SrcQPN), VendorErr: r.Vendor, ByteLen: r.ByteLen, Imm: r.Imm, Timestamp: w.Now(),
		Phase: abi.RingPhase(c.PI, c.LogSize),
	}
	abi.CQELayout.Encode(&e, w.post(c.slot(), abi.CQESize).Data[:])
	n := &w.D.Counted
	n.CQEs++
	if e.Status != abi.StatusSuccess {
		if e.Opcode.IsRecv() {
			n.RespCQEError++
		} else {
			n.ReqCQEError++
		}
	}
}

// store writes a CQ back and ends the operation, or goes on to the event that the
// CQ owes.
func (w *Writer) store(c cq) {
	w.CQs.Write(1, int(w.Q.CQ), &c)
	w.D.State = idle
	if c.owes() {
		w.D.State = event
		w.D.EQ = c.EQN
		w.EQs.Read(0, int(c.EQN))
	}
}
