package replay

import (
	"bytes"
	"fmt"
	"slices"

	"rnic/roce"
)

// psn is what the model as requester sends the request of an event with. Datagrams of
// UD take one after the other, whatever the captured QP sent to others in between.
func (c *Conversation) psn(event int) roce.PSN {
	if c.Transport == roce.UD {
		return c.First.Add(uint32(event))
	}
	return c.Events[event].BTH.PSN
}

// qkey is the Q_Key that most datagrams have, the first of several: that of the captured
// QP, for nothing else tells it.
func (c *Conversation) qkey() (key uint32) {
	count := map[uint32]int{}
	for i := range c.Events {
		count[c.Events[i].DETH.QKey]++
	}
	most := 0
	for i := range c.Events {
		if k := c.Events[i].DETH.QKey; count[k] > most {
			key, most = k, count[k]
		}
	}
	return key
}

// warn notes what was inferred and may be wrong.
func (c *Conversation) warn() {
	if c.Transport != roce.UD || len(c.Events) == 0 {
		return
	}
	key, other := c.qkey(), 0
	for i := range c.Events {
		if c.Events[i].DETH.QKey != key {
			other++
		}
	}
	if other > 0 {
		c.note("the Q_Key of %d datagrams is not %08x, which most have and which is taken for the receiver's: it drops them", other, key)
	}
}

// delivery is what a request of UC or UD must lead to at its receiver, which answers
// none.
type delivery struct {
	post  bool   // a receive must have been posted for it
	drop  string // why it leads to nothing; "": it is taken
	recv  bool   // it completes a receive
	data  []byte // then, of a SEND: what is in the buffer, headers of UD included
	bytes int    // then: the length that the completion tells
	wrote []byte // it is the last of a WRITE: what memory then holds
	reach int    // from a byte of this region on
	at    uint64
}

// text is a delivery in a few words.
func (d *delivery) text(op roce.Opcode, p *roce.Packet) string {
	switch {
	case d.drop != "":
		return "drops: " + d.drop
	case d.recv && op.HasImm():
		return fmt.Sprintf("receives %d B imm %08x", d.bytes, p.Imm.Imm)
	case d.recv:
		return fmt.Sprintf("receives %d B", d.bytes)
	case op.Ends():
		return fmt.Sprintf("has %d B written", len(d.wrote))
	}
	return ""
}

// deliveries goes through the requests that arrived as their receiver does.
func (c *Conversation) deliveries(list []*region) map[int]delivery {
	if c.Transport == roce.UD {
		return c.datagrams()
	}
	u := unacked{c: c, list: list}
	all := map[int]delivery{}
	for i := range c.Events {
		if e := &c.Events[i]; e.Lost == "" {
			all[i] = u.take(&e.Packet)
		}
	}
	return all
}

func (c *Conversation) datagrams() map[int]delivery {
	all, key := map[int]delivery{}, c.qkey()
	for i := range c.Events {
		e := &c.Events[i]
		switch {
		case e.Lost != "":
		case e.DETH.QKey != key:
			all[i] = delivery{drop: "another Q_Key"}
		case len(e.Payload) > c.MTU.Bytes():
			all[i] = delivery{drop: "longer than the MTU"}
		default:
			data := append(header(&e.Packet), e.Payload...)
			all[i] = delivery{post: true, recv: true, data: data, bytes: len(data)}
		}
	}
	return all
}

// grhSize is what comes before a datagram in a receive, bytes.
const grhSize = 40

// header is that: the IP header, at its end.
func header(p *roce.Packet) []byte {
	h := make([]byte, grhSize)
	f := p.Append(nil)
	ip := f[p.L3():]
	if p.V6 {
		copy(h, ip)
	} else {
		copy(h[grhSize-roce.IPv4Size:], ip)
	}
	return h
}

// unacked is the receiver of UC.
type unacked struct {
	c        *Conversation
	list     []*region
	expected roce.PSN
	on, send bool // in a message
	held     bool // a receive is there that no message has completed
	data     []byte
	key      uint32
	start    uint64
	length   int // of a WRITE: as its first packet says
	done     int
}

// take takes a packet. A first or only one begins a message whatever was before; one
// that does not follow ends the message in progress, as does one of a wrong length
// (IBTA 9.8.2).
func (u *unacked) take(p *roce.Packet) (d delivery) {
	op := p.BTH.Opcode
	switch {
	case op.Starts():
		*u = unacked{c: u.c, list: u.list, held: u.held, on: true, send: op.IsSend(), key: p.RETH.RKey, start: p.RETH.VA, length: int(p.RETH.Length)}
	case !u.on:
		d.drop = "of a message that is dropped"
		return d
	case p.BTH.PSN != u.expected:
		u.on, d.drop = false, "PSNs before it are missing"
		return d
	case op.IsSend() != u.send:
		u.on, d.drop = false, "of another operation"
		return d
	}
	u.expected = p.BTH.PSN.Add(1)
	if d.drop = u.wrong(p); d.drop != "" {
		u.on = false
		return d
	}
	if (u.send && op.Starts() || op.HasImm()) && !u.held {
		d.post, u.held = true, true
	}
	if u.send {
		u.data = append(u.data, p.Payload...)
	} else {
		write(u.list, u.key, u.start+uint64(u.done), p.Payload)
	}
	u.done += len(p.Payload)
	if !op.Ends() {
		return d
	}
	u.on = false
	if r := reaches(u.list, u.key, u.start, u.done); r != nil && !u.send {
		d.reach, d.at = slices.Index(u.list, r), u.start-r.from
		d.wrote = bytes.Clone(r.now[d.at : d.at+uint64(u.done)])
	}
	if u.send || op.HasImm() {
		d.recv, d.data, d.bytes, u.held = true, u.data, u.done, false
	}
	return d
}

// wrong is why a packet in its turn can't be taken.
func (u *unacked) wrong(p *roce.Packet) string {
	op, n, mtu := p.BTH.Opcode, len(p.Payload), u.c.MTU.Bytes()
	whole := u.done+n == u.length
	switch {
	case n > mtu, (op.IsFirst() || op.IsMiddle()) && n != mtu, op.IsLast() && n == 0:
		return "of a wrong length"
	case u.send:
		return ""
	case u.done+n > u.length, op.Ends() && !whole:
		return "of a wrong length"
	case u.length > 0 && reaches(u.list, u.key, u.start, u.length) == nil:
		return "beyond memory"
	}
	return ""
}
