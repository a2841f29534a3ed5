package replay

import (
	"encoding/binary"

	"rnic/roce"
)

// region is the memory behind an R_Key as far as the requests reach, with what it
// must hold before the first of them for the answers to come out as captured.
type region struct {
	key      uint32
	from, to uint64 // virtual addresses at the peer's view
	initial  []byte
	written  []bool // by a request, or fixed by an answer, so far
}

// regions finds the memory that a conversation uses.
func (c *Conversation) regions() []*region {
	var list []*region
	grow := func(key uint32, va uint64, n int) {
		for _, r := range list {
			if r.key == key {
				r.from, r.to = min(r.from, va), max(r.to, va+uint64(n))
				return
			}
		}
		list = append(list, &region{key: key, from: va, to: va + uint64(n)})
	}
	for i := range c.Requests {
		switch p := &c.Requests[i]; {
		case c.refused(p):
			// the key stays one that the NIC does not know
		case p.BTH.Opcode.IsAtomic():
			grow(p.AtomicETH.RKey, p.AtomicETH.VA, 8)
		case p.BTH.Opcode.HasRETH() && p.RETH.Length > 0:
			grow(p.RETH.RKey, p.RETH.VA, int(p.RETH.Length))
		}
	}
	for _, r := range list {
		r.initial = make([]byte, r.to-r.from)
		r.written = make([]bool, r.to-r.from)
	}
	c.fill(list)
	return list
}

// refused tells whether the peer did not accept the key or range of a request.
func (c *Conversation) refused(p *roce.Packet) bool {
	for i := range c.Answers {
		a := &c.Answers[i]
		if a.BTH.PSN == p.BTH.PSN && a.BTH.Opcode == roce.RCAck && a.AETH.Syndrome == roce.NAKSyndrome(roce.NAKRemoteAccess) {
			return true
		}
	}
	return false
}

// fill goes through the requests in order: what a READ or atomic finds and no
// earlier request wrote was there from the start.
func (c *Conversation) fill(list []*region) {
	var target *region // of the WRITE in progress
	var at uint64
	answer := map[roce.PSN]*roce.Packet{}
	for i := range c.Answers {
		answer[c.Answers[i].BTH.PSN] = &c.Answers[i]
	}
	for i := range c.Requests {
		p := &c.Requests[i]
		op := p.BTH.Opcode
		switch {
		case op.IsWrite():
			if op.HasRETH() {
				target, at = find(list, p.RETH.RKey), p.RETH.VA
			}
			if target != nil && len(p.Payload) > 0 {
				target.note(at, p.Payload, false)
				at += uint64(len(p.Payload))
			}
		case op.IsReadRequest() && p.RETH.Length > 0:
			r, va := find(list, p.RETH.RKey), p.RETH.VA
			for k := range c.MTU.Packets(p.RETH.Length) {
				if a := answer[p.BTH.PSN.Add(k)]; a != nil && a.BTH.Opcode.IsReadResponse() {
					r.note(va, a.Payload, true)
					va += uint64(len(a.Payload))
				}
			}
		case op.IsAtomic():
			if a := answer[p.BTH.PSN]; a != nil && a.BTH.Opcode == roce.RCAtomicAck {
				old := binary.LittleEndian.AppendUint64(nil, a.AtomicAckETH.Orig)
				r := find(list, p.AtomicETH.RKey)
				r.note(p.AtomicETH.VA, old, true)
				r.note(p.AtomicETH.VA, old, false) // the operation changes it
			}
		}
	}
}

func find(list []*region, key uint32) *region {
	for _, r := range list {
		if r.key == key {
			return r
		}
	}
	return nil
}

// note takes bytes at va for known: found there by an answer, or written.
func (r *region) note(va uint64, b []byte, found bool) {
	for i, v := range b {
		k := va - r.from + uint64(i)
		if found && !r.written[k] {
			r.initial[k] = v
		}
		r.written[k] = true
	}
}
