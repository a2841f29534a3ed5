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

// held says whether an event is held back.
type held uint8

const (
	none  held = iota
	begun      // it is to be put into the wheel
	timed      // it is in it
)

// Width is 2 bits.
func (held) Width() int { return 2 }

func (h held) String() string { return [...]string{"NONE", "BEGUN", "TIMED", "RESERVED"}[h&3] }

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
	Hold    held
	Due     tick   // when what is held is due
	Count   uint16 // moderation, as in abi.CQMailbox
	Period  uint16
	PI, CI  uint16
	Origin  uint16 // index that has slot 0 and phase 1
	Base    port.BusAddr
}

func (c *cq) owes() bool { return c.Owed || c.ErrOwed }

func (c *cq) full() bool { return c.PI-c.CI == 1<<c.LogSize }

// push counts a CQE in. sol: it is solicited or in error.
func (c *cq) push(sol bool, now tick) {
	if sol {
		c.Sol, c.LastSol = true, c.PI
	}
	c.PI++
	if c.Arm == armAny || c.Arm == armSolicited && sol {
		c.trigger(now)
	}
	if c.Hold != none && c.enough() {
		c.release()
	}
}

// enough tells that so many CQEs are not consumed that the event waits no longer.
func (c *cq) enough() bool { return c.Count != 0 && c.PI-c.CI >= c.Count }

// trigger ends an arm whose CQE is there. Its event is owed, or held back; with one
// that is so already it is the same.
func (c *cq) trigger(now tick) {
	c.Arm = disarmed
	switch {
	case c.Owed || c.Hold != none:
	case c.Period == 0 || c.enough():
		c.Owed = true
	default:
		c.Hold, c.Due = begun, now.plus(c.Period+1)
	}
}

// release ends the holding back of an event.
func (c *cq) release() { c.Hold, c.Owed = none, true }

// ring takes a doorbell. ok is false when its index is not one that the driver
// can have consumed up to; then nothing changes.
func (c *cq) ring(b *port.CQDoorbell, now tick) (ok bool) {
	if !c.consume(b.CI) {
		return false
	}
	if !b.Arm {
		return true
	}
	want := armAny
	if b.Solicited {
		want = armSolicited
	}
	c.Arm = max(c.Arm, want)
	if c.Arm == armAny && c.PI != c.CI || c.Arm == armSolicited && c.Sol {
		c.trigger(now)
	}
	return true
}

// consume takes a consumer index, if the driver can have come that far.
func (c *cq) consume(ci uint16) (ok bool) {
	if ci-c.CI > c.PI-c.CI {
		return false
	}
	// LastSol-CI is the CQEs before it; those up to the new index are consumed.
	c.Sol = c.Sol && c.LastSol-c.CI >= ci-c.CI
	c.CI = ci
	return true
}

// slot is the address of the next CQE.
func (c *cq) slot() port.BusAddr {
	return c.Base + port.BusAddr(abi.RingSlot(c.PI-c.Origin, c.LogSize))*abi.CQESize
}

// complete executes what is at the head of Send or Recv.
func (w *Writer) complete(in *hdl.In[port.CQEReq], pipe int, c cq, free bool) {
	d := &w.D
	r := in.Head()
	switch {
	case r.LastWQE:
		w.noteLast(r.QPN, true)
		d.State = idle
		in.Take()
		return
	case r.Purge:
		if pipe == 1 {
			w.noteLast(r.QPN, false)
		}
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
		c.push(r.Solicited || r.Status != abi.StatusSuccess, w.time())
	}
	in.Take()
	w.store(c)
}

// cqe writes a CQE.
func (w *Writer) cqe(r *port.CQEReq, c *cq) {
	e := abi.CQE{
		Index: r.UnitIdx, Opcode: r.Opcode, Status: r.Status, QPN: uint32(r.QPN), Flags: abi.CQEFlags(r.Flags),
		SrcQPN: uint32(r.SrcQPN), VendorErr: r.Vendor, ByteLen: r.ByteLen, Imm: r.Imm, Timestamp: w.Now(),
		Phase: abi.RingPhase(c.PI-c.Origin, c.LogSize),
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
// CQ owes, or to the one that it begins to hold back.
func (w *Writer) store(c cq) {
	w.D.State = idle
	switch {
	case c.owes():
		w.D.State = event
		w.D.EQ = c.EQN
		w.EQs.Read(0, int(c.EQN))
	case c.Hold == begun:
		c.Hold = timed
		w.D.State = hold
		w.Slots.Read(1, int(c.Due))
		w.Links.Read(0, int(w.Q.CQ))
	}
	w.CQs.Write(1, int(w.Q.CQ), &c)
}
