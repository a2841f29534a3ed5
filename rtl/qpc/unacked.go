package qpc

import (
	"rnic/abi"
	"rnic/roce"
)

// The send queue of QPs that nobody acknowledges: UC, UD, raw. What has left is as good
// as acknowledged: retrans tells by Retire DONE. There are no rewinds, credits, READs or
// timers. A fault ends the send queue alone (state SQE); it goes on when all behind the
// fault is flushed and the driver takes the QP to RTS (IBTA 10.3.1.6).

// packetsAtOnce is SQCtx.Window of a QP without acknowledgements: there is no other
// limit than that PSNs must not be mistaken for older ones.
const packetsAtOnce = 0xffff

// maxFrame is the MTU of a raw QP, bytes: each message is a packet.
const maxFrame = 4096

// unacked tells whether nobody acknowledges what the QP sends.
func (c *Context) unacked() bool { return c.Common.Type != abi.QPTypeRC }

// mtu is the most payload of a packet in bytes.
func (c *Context) mtu(e *Env) uint16 {
	switch c.Common.Type {
	case abi.QPTypeUD:
		return e.Reg.MTU
	case abi.QPTypeRaw:
		return maxFrame
	}
	return uint16(c.Common.MTU.Bytes())
}

// room is the number of packets that a QP without acknowledgements may send.
func (c *Context) room() uint16 {
	if c.SQ.Next.Diff(c.Requester.Una)+1<<16 >= roce.MaxOutstanding {
		return 0
	}
	return packetsAtOnce
}

// sent takes the PSN after the last packet that has left. Nothing is before the oldest
// one that has not, or behind where the send queue has failed.
func (c *Context) sent(una roce.PSN) {
	r := &c.Requester
	end := c.limit()
	if r.Fail != FailNone {
		end = r.Stop
	}
	if una.Diff(r.Una) <= end.Diff(r.Una) {
		r.Una = una
	}
}

// flushed tells whether nothing of a send queue in SQE is left.
func (c *Context) flushed() bool {
	s := &c.SQ
	return !s.Busy && s.PI == s.Entered && s.Messages == 0
}

// restart has a send queue in SQE go on where it was flushed to, as if nothing had
// been. Packets that were described before are of an older generation.
func (c *Context) restart() {
	s, r := &c.SQ, &c.Requester
	psn := s.EnteredPSN
	s.Exec, s.Offset, s.Next, s.Top, s.Faulty = s.Entered, 0, psn, psn, false
	r.Gen++
	r.Una, r.Asked, r.Stop, r.Fail, r.Status, r.Vendor = psn, psn, 0, FailNone, abi.StatusSuccess, abi.VendorNone
}

// stopSending takes the QP to ERR after a fault of its send queue, or, if nobody
// acknowledges what it sends, to SQE: its receive side works on.
func (c *Context) stopSending() {
	switch {
	case c.unacked() && c.runs():
		c.Common.State = abi.QPSQE
		if c.backlog() {
			c.note(NoteActivate)
		}
	case c.Common.State != abi.QPSQE:
		c.enterErr()
	}
}
