package replay

import (
	"encoding/binary"

	"rnic/roce"
)

// plan is what the model needs, as the responder, before a request arrives.
type plan struct {
	receive bool // post one
	room    int  // of the receive, bytes
	pokes   []poke
}

// script goes through the requests that arrived as a responder does: which are new,
// which receives they take, what they find in memory and what they leave there.
func (c *Conversation) script(list []*region) map[int]plan {
	plans := map[int]plan{}
	expected := c.First
	dead := false
	var key uint32
	var at uint64 // of the WRITE in progress
	for i := range c.Events {
		e := &c.Events[i]
		if e.Answer || e.Lost != "" || dead {
			continue
		}
		p, op := &e.Packet, e.BTH.Opcode
		isNew := p.BTH.PSN == expected
		var pl plan
		if op.IsReadRequest() && (isNew || p.BTH.PSN.Before(expected)) {
			pl.pokes = c.readData(i, list)
		}
		plans[i] = pl
		if !isNew {
			continue
		}
		nak, rnr := c.rejected(i)
		if rnr {
			continue
		}
		if op.TakesReceive() {
			pl.receive, pl.room = true, c.room(p.BTH.PSN)
			plans[i] = pl
		}
		if dead = nak; dead {
			continue
		}
		expected = expected.Add(c.psns(p))
		switch {
		case op.IsWrite():
			if op.HasRETH() {
				key, at = p.RETH.RKey, p.RETH.VA
			}
			write(list, key, at, p.Payload)
			at += uint64(len(p.Payload))
		case op.IsAtomic():
			a := c.answerTo(i, p.BTH.PSN)
			if a == nil || a.BTH.Opcode != roce.RCAtomicAck {
				continue
			}
			old := a.AtomicAckETH.Orig
			pl.pokes = found(list, p.AtomicETH.RKey, p.AtomicETH.VA, binary.LittleEndian.AppendUint64(nil, old))
			plans[i] = pl
			write(list, p.AtomicETH.RKey, p.AtomicETH.VA, operate(p, old))
		}
	}
	return plans
}

// readData takes what a READ brought for what memory held when it arrived.
func (c *Conversation) readData(i int, list []*region) (pokes []poke) {
	p := &c.Events[i].Packet
	va, left := p.RETH.VA, p.RETH.Length
	for k := range c.MTU.Packets(p.RETH.Length) {
		a := c.answerTo(i, p.BTH.PSN.Add(k))
		if a == nil {
			break
		}
		if a.BTH.Opcode.IsReadResponse() {
			pokes = append(pokes, found(list, p.RETH.RKey, va, a.Payload)...)
		}
		n := min(left, uint32(c.MTU.Bytes()))
		va, left = va+uint64(n), left-n
	}
	return pokes
}

// answerTo is the first answer behind event i with a PSN, within what a window of
// requests can hold.
func (c *Conversation) answerTo(i int, psn roce.PSN) *Event {
	for k := i + 1; k < min(len(c.Events), i+horizon); k++ {
		if e := &c.Events[k]; e.Answer && e.BTH.PSN == psn {
			return e
		}
	}
	return nil
}

// horizon is how many packets behind a request its answer is looked for.
const horizon = 1 << 16

// rejected tells whether the request of event i, which came in its turn, was answered
// by a fatal NAK or an RNR NAK.
func (c *Conversation) rejected(i int) (fatal, rnr bool) {
	p := c.Events[i].BTH.PSN
	for k := i + 1; k < min(len(c.Events), i+horizon); k++ {
		e := &c.Events[k]
		switch {
		case !e.Answer && e.Lost == "" && e.BTH.PSN == p:
			return false, false
		case e.Answer && !e.BTH.PSN.Before(p):
			if e.BTH.PSN != p {
				return false, false
			}
			_, fatal = fatalNAK(&e.Packet)
			return fatal, isRNR(&e.Packet)
		}
	}
	return false, false
}

// room is the size of the receive for the message that begins with a PSN: the whole
// message, or if the peer found it too long less than what it refused.
func (c *Conversation) room(psn roce.PSN) (n int) {
	for {
		p := c.first[psn]
		if p == nil || !p.BTH.Opcode.IsSend() {
			return max(n, 1)
		}
		n += len(p.Payload)
		if code, ok := c.fatal[psn]; ok && (code == roce.NAKInvalidRequest || code == roce.NAKRemoteOperation) {
			return max(n-1, 1)
		}
		if p.BTH.Opcode.Ends() {
			return max(n, 1)
		}
		psn = psn.Add(1)
	}
}
