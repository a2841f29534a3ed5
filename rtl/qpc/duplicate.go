package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// Request is a READ or atomic that was accepted.
type Request struct {
	Op   roce.Opcode // 0: none
	Slot uint8       // atomic: Job.Slot
	PSN  roce.PSN    // of the request
	Key  port.Key
	VA   port.VA
	Len  uint32
}

// Saved are the last READs and atomics that were accepted: a ring. The responder
// bank says which is the newest.
type Saved [depth]Request

// save keeps a READ or atomic for its duplicates, and returns where responder keeps
// the value of an atomic.
func (c *Context) save(p *port.RxPkt) (slot uint8) {
	r := &c.Responder
	if p.Opcode.IsAtomic() {
		slot = r.Atomics
		r.Atomics = (slot + 1) % depth
	}
	c.Saved[r.Accepted%depth] = Request{
		Op: p.Opcode, Slot: slot, PSN: p.PSN, Key: p.Reth.RKey, VA: p.Reth.VA, Len: p.Reth.Len,
	}
	r.Accepted = (r.Accepted + 1) % depth
	return slot
}

// duplicate answers a request that was executed before (IBTA 9.7.5.1.4). A SEND or
// WRITE that asks for an answer learns where the responder is now. A READ is executed
// again, and an atomic gets the value it got, if they are among the last that the peer
// may have outstanding; as many such answers may be under way, so that duplicates can't
// fill responder. What is not as it was is dropped, as is all else.
func (c *Context) duplicate(p *port.RxPkt, v *port.RxVerdict, e *Env) Bank {
	v.Drop = abi.DuplicateRequest
	r, op := &c.Responder, p.Opcode
	switch {
	case op.IsSend() || op.IsWrite():
		if p.AckReq {
			c.reply(v, r.Expected.Sub(1), roce.Syndrome(c.ack(e)), abi.DuplicateRequest)
		}
		return 0
	case !answered(op) || p.Len != 0 || r.Again >= c.Common.MaxDestRd || c.Common.Access&permission(op) == 0:
		return 0
	}
	slot, ok := c.find(p)
	if !ok {
		return 0
	}
	r.Again++
	v.Action = port.RxPlace
	v.Ack = port.AckReq{QPN: v.QPN, PSN: p.PSN, Syndrome: c.ack(e), MSN: r.MSN}
	c.answer(p, v, slot)
	v.Job.Again = true
	if op.IsAtomic() { // the memory is not touched again
		v.Target, v.Remote = port.TargetNone, port.Remote{}
	}
	return InResponder
}

// find looks for the request that p is a duplicate of, among the last that the peer
// may have outstanding.
func (c *Context) find(p *port.RxPkt) (slot uint8, ok bool) {
	for i := uint8(1); i <= min(c.Common.MaxDestRd, depth); i++ {
		q := &c.Saved[(c.Responder.Accepted-i)%depth]
		if q.Op == p.Opcode && (q.Op.IsAtomic() && q.PSN == p.PSN || q.Op.IsReadRequest() && q.contains(p, c.Common.MTU)) {
			return q.Slot, true
		}
	}
	return 0, false
}

// contains tells whether a READ asks for a part of what q asked for, from the
// beginning of a packet on, and by the PSN of that.
func (q *Request) contains(p *port.RxPkt, mtu abi.MTU) bool {
	offset := uint64(p.PSN.Diff(q.PSN)) << (7 + uint(mtu))
	return p.Reth.RKey == q.Key && p.Reth.VA-q.VA == port.VA(offset) &&
		(offset == 0 || offset < uint64(q.Len)) && offset+uint64(p.Reth.Len) <= uint64(q.Len)
}
