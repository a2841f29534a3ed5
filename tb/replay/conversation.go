package replay

import (
	"fmt"

	"rnic/roce"
)

// Conversation is one direction of a connection: the requests of one side and the
// other's answers, of which only RC has any, in the order of the capture. Of UD it is
// what one QP sent to one other.
type Conversation struct {
	Transport  roce.Transport
	Peer, Self Address // who asks, who answers
	PeerQP     roce.QPN
	SelfQP     roce.QPN
	MTU        roce.MTU
	First      roce.PSN // of the first request that is replayed
	Events     []Event
	Notes      []string

	answers  []Captured                // that may be its own
	requests int                       // events so far
	next     *Conversation             // that its QPs have later
	first    map[roce.PSN]*Event       // requests, each as it was sent first
	fatal    map[roce.PSN]roce.NAKCode // requests that the responder refused for good
}

// Address is a host as its frames show it.
type Address struct {
	MAC roce.MAC
	GID roce.GID // IPv4: mapped
}

// Event is a packet of a conversation.
type Event struct {
	Captured
	Answer bool
	Lost   string // why it is taken not to have arrived; "": it arrived
}

func (c *Conversation) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

type flowKey struct {
	src, dst  roce.GID
	qp        roce.QPN
	transport roce.Transport
	from      roce.QPN // of UD, where packets tell; else 0
}

// flow is the direction in which a packet goes.
func flow(p *roce.Packet) flowKey {
	src, dst := addresses(p)
	return flowKey{src.GID, dst.GID, p.BTH.DestQP, p.BTH.Opcode.Transport(), p.DETH.SrcQP}
}

// jump is how far a PSN is from the one before when the QP has been connected anew.
const jump = 1 << 16

// Conversations takes a capture apart: each direction in which requests went, by
// its first request.
func Conversations(packets []Captured, o Options) []*Conversation {
	var out []*Conversation
	current := map[flowKey]*Conversation{}
	last := map[flowKey]roce.PSN{}
	for i := range packets {
		p := &packets[i]
		if !p.BTH.Opcode.IsRequest() {
			continue
		}
		src, dst := addresses(&p.Packet)
		k := flow(&p.Packet)
		c := current[k]
		d := p.BTH.PSN.Diff(last[k])
		if anew := d > jump && d < 1<<24-jump && p.BTH.Opcode.Starts() && k.transport != roce.UD; c == nil || anew {
			n := &Conversation{Transport: k.transport, Peer: src, Self: dst, SelfQP: p.BTH.DestQP, PeerQP: k.from}
			if c != nil {
				c.next = n
			}
			c, current[k], out = n, n, append(out, n)
		}
		last[k] = p.BTH.PSN
		c.Events = append(c.Events, Event{Captured: *p})
	}
	answers := map[flowKey][]Captured{}
	for _, p := range packets {
		if p.BTH.Opcode.IsResponse() {
			k := flow(&p.Packet)
			answers[k] = append(answers[k], p)
		}
	}
	for _, c := range out {
		switch c.Transport {
		case roce.RC:
			c.pair(answers)
		case roce.UC:
			c.opposite(out)
		}
	}
	share(out)
	for _, c := range out {
		c.MTU = o.MTU
		if c.MTU == 0 {
			c.MTU = c.mtu()
		}
		c.cut()
		c.warn()
		c.lose(o.Lost)
		c.addresses()
		c.first, c.fatal = c.sent(), c.refusals()
	}
	return out
}

func addresses(p *roce.Packet) (src, dst Address) {
	src.MAC, dst.MAC = p.Eth.Src, p.Eth.Dst
	if p.V6 {
		src.GID, dst.GID = p.IP6.Src, p.IP6.Dst
	} else {
		src.GID, dst.GID = roce.GIDFromIPv4(p.IP4.Src), roce.GIDFromIPv4(p.IP4.Dst)
	}
	return src, dst
}

// addresses gives MAC addresses to hosts whose capture shows none, and other ones
// where a host has not one of its own.
func (c *Conversation) addresses() {
	bad := func(m roce.MAC) bool { return m == roce.MAC{} || m[0]&1 != 0 }
	if bad(c.Peer.MAC) || bad(c.Self.MAC) || c.Peer.MAC == c.Self.MAC {
		c.Peer.MAC, c.Self.MAC = roce.HostMAC(1), roce.HostMAC(2)
		for i := range c.Events {
			e := &c.Events[i]
			e.Eth.Src, e.Eth.Dst = c.Peer.MAC, c.Self.MAC
			if e.Answer {
				e.Eth.Src, e.Eth.Dst = c.Self.MAC, c.Peer.MAC
			}
		}
	}
}

// String is the direction, as "10.0.0.1 QP 000011 -> 10.0.0.2 QP 000012"; UC and UD
// stand before it.
func (c *Conversation) String() string {
	prefix := ""
	if c.Transport != roce.RC {
		prefix = c.Transport.String() + " "
	}
	return prefix + fmt.Sprintf("%s QP %06x -> %s QP %06x", host(c.Peer.GID), uint32(c.PeerQP), host(c.Self.GID), uint32(c.SelfQP))
}

// Requests and Answers are how many there are.
func (c *Conversation) Requests() int { return len(c.Events) - c.Answers() }

// Answers are the captured ones.
func (c *Conversation) Answers() (n int) {
	for i := range c.Events {
		if c.Events[i].Answer {
			n++
		}
	}
	return n
}

// mtu is the payload of full packets. Where there is none it is what makes the PSN
// behind a READ come out, else the largest.
func (c *Conversation) mtu() roce.MTU {
	for i := range c.Events {
		op := c.Events[i].BTH.Opcode
		if op.IsFirst() || op.IsMiddle() {
			if m, ok := roce.MTUOf(len(c.Events[i].Payload)); ok {
				return m
			}
		}
	}
	var read *Event
	for i := range c.Events {
		e := &c.Events[i]
		if e.Answer {
			continue
		}
		if read != nil && e.BTH.PSN.After(read.BTH.PSN) {
			for m := roce.MTU4096; m >= roce.MTU256; m-- {
				if read.BTH.PSN.Add(m.Packets(read.RETH.Length)) == e.BTH.PSN {
					return m
				}
			}
		}
		read = nil
		if e.BTH.Opcode.IsReadRequest() {
			read = e
		}
	}
	return roce.MTU4096
}

// psns is how many PSNs a request takes.
func (c *Conversation) psns(p *roce.Packet) uint32 {
	if p.BTH.Opcode.IsReadRequest() {
		return c.MTU.Packets(p.RETH.Length)
	}
	return 1
}

// host is an address as it is written: IPv4 without its prefix.
func host(g roce.GID) string {
	if a, ok := g.IPv4(); ok {
		return a.String()
	}
	return g.String()
}
