package hang

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"rnic/hdl"
	"rnic/roce"
)

// Step is a link of the chain: who waits for whom.
type Step struct {
	Host  string // host_a or host_b
	Block string // below the host, as nic.pkt_tx.send; wire; rc is the root complex
	Port  string // of the block, below the host; "" if it is no matter of a port
	State string // of the port: full; held, that is valid and not taken, and full or unmoved; empty
	Since uint64 // cycle; of a port, that of the last beat in or out, since which State is what it is
	Peer  string // block at the other end of the port
	Text  string
}

// String is one line.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s", s.Host, s.Block)
	if s.Port != "" {
		fmt.Fprintf(&b, ": %s is %s since cycle %d, peer %s", s.Port, s.State, s.Since, s.Peer)
	}
	if s.Text != "" {
		fmt.Fprintf(&b, ": %s", s.Text)
	}
	return b.String()
}

// quiet is how long a port must not have moved, cycles, to count as stuck.
const quiet = 2000

// graph is the streams of a host as they stand.
type graph struct {
	s       *side
	now     uint64
	streams []hdl.Stream
	in      map[string]*hdl.Stream // by the taking port, below the host
	out     map[string]*hdl.Stream // by the putting port
}

func newGraph(s *side) *graph {
	g := &graph{s: s, now: s.h.K.Cycle(), streams: s.h.K.Streams(), in: map[string]*hdl.Stream{}, out: map[string]*hdl.Stream{}}
	for i := range g.streams {
		p := &g.streams[i]
		for _, at := range []*string{&p.From, &p.Out, &p.To, &p.In} {
			*at = strings.TrimPrefix(*at, s.name+".")
		}
		g.in[p.In], g.out[p.Out] = p, p
	}
	return g
}

// step is a step at a port: at the end that puts if the stream is full, else at the
// one that takes.
func (g *graph) step(p *hdl.Stream, full bool) Step {
	s := Step{Host: g.s.name, Since: p.Since}
	switch {
	case full:
		s.Block, s.Port, s.Peer, s.State = p.From, p.Out, p.To, "full"
	case p.Full():
		s.Block, s.Port, s.Peer, s.State = p.To, p.In, p.From, "held, full"
	case p.N > 0: // it may have been valid before the last beat came
		s.Block, s.Port, s.Peer, s.State = p.To, p.In, p.From, "held, unmoved"
	default:
		s.Block, s.Port, s.Peer, s.State = p.To, p.In, p.From, "empty"
	}
	return s
}

// stuck tells whether nothing has gone through a stream for a while.
func (g *graph) stuck(p *hdl.Stream) bool { return p.Since+quiet <= g.now }

// follow goes from a block to what it waits for, down to the root.
func (g *graph) follow(block string, seen []string) []Step {
	for _, b := range seen {
		if b == block {
			return []Step{{Host: g.s.name, Block: block, Since: g.now, Text: "the circle is closed: these blocks wait for each other for ever"}}
		}
	}
	seen = append(slices.Clone(seen), block)
	if block == "rc" {
		return []Step{g.host()}
	}
	if p := g.full(block); p != nil {
		return append([]Step{g.step(p, true)}, g.follow(p.To, seen)...)
	}
	if p, n := g.missing(block); p != nil {
		s := g.step(p, false)
		s.Text = "it waits for " + n.What
		return append([]Step{s}, g.owed(p, n, seen)...)
	}
	if block == "nic.dma.read" {
		return g.reads(seen)
	}
	return []Step{g.root(block)}
}

// owed goes on from an answer that is missing: with the block that owes it, or, if that
// waits for nothing, with one on the way of the question.
func (g *graph) owed(p *hdl.Stream, n *need, seen []string) []Step {
	if p.From == "nic.dma.read" {
		if l := g.read(p, seen); l != nil {
			return l
		}
	}
	owes := g.follow(p.From, seen)
	if owes[len(owes)-1].known() {
		return owes
	}
	for _, v := range n.Via {
		if l := g.follow("nic."+v, seen); len(l) > 1 && l[len(l)-1].known() {
			return l
		}
	}
	return owes
}

// known tells whether a last step is more than that nothing is known.
func (s *Step) known() bool { return s.Text != "" && !strings.HasPrefix(s.Text, unknown) }

const unknown = "it waits for nothing that is known"

// full is the Out of a block that has been full longest.
func (g *graph) full(block string) (found *hdl.Stream) {
	for i := range g.streams {
		p := &g.streams[i]
		if p.From == block && p.To != block && p.Full() && g.stuck(p) && (found == nil || p.Since < found.Since) {
			found = p
		}
	}
	return found
}

// missing is an In of a block by which something must come that does not, and what.
func (g *graph) missing(block string) (*hdl.Stream, *need) {
	for i := range needs {
		n := &needs[i]
		p := g.in["nic."+n.In]
		if p == nil || p.To != block || p.N > 0 || !g.stuck(p) {
			continue
		}
		if n.While != nil && n.While(g.s.h.NIC) {
			return p, n
		}
		if why := g.in["nic."+n.For]; why != nil {
			if why.N > 0 && g.stuck(why) {
				return p, n
			}
		} else if why := g.out["nic."+n.For]; why != nil && why.Since > 0 && why.Since >= p.Since {
			return p, n
		}
	}
	return nil, nil
}

// root is the end of the chain at a block that waits for nothing that is known: it
// does not take what is there.
func (g *graph) root(block string) Step {
	s := Step{Host: g.s.name, Block: block, Since: g.now, Text: unknown}
	awake, due, _ := g.s.h.K.Activity(g.s.name + "." + block)
	sleeps := "it sleeps, and nothing is due"
	switch {
	case awake:
		sleeps = "it is awake"
	case due != ^uint64(0):
		sleeps = fmt.Sprintf("it sleeps until cycle %d", due)
	}
	var held *hdl.Stream
	for i := range g.streams {
		p := &g.streams[i]
		if p.To == block && p.From != block && p.N > 0 && g.stuck(p) && (held == nil || p.Full() && !held.Full() || p.Since < held.Since && p.Full() == held.Full()) {
			held = p
		}
	}
	if held != nil {
		s = g.step(held, false)
		s.Text = "it does not take what is there"
	}
	s.Text += "; " + sleeps
	return s
}

// read goes on from an answer of dma that is missing, if the read that it belongs to
// is under way.
func (g *graph) read(p *hdl.Stream, seen []string) []Step {
	d := &g.s.h.NIC.Dma.Read
	c := 0
	for g.out[fmt.Sprintf("nic.dma.read.data_%d", c)] != p {
		c++
	}
	cur := d.Q.Get[c].Cur
	if cur.Valid && d.Q.Open>>cur.Tag&1 != 0 {
		return g.tag(int(cur.Tag), clients[c], p.Since, seen)
	}
	return nil
}

// reads goes on from dma's reads: a tag that is open.
func (g *graph) reads(seen []string) []Step {
	if open := g.s.h.NIC.Dma.Read.Q.Open; open != 0 {
		return g.tag(bits.TrailingZeros64(open), "a client", g.now, seen)
	}
	return []Step{g.root("nic.dma.read")}
}

// tag is a read TLP whose completion has not come.
func (g *graph) tag(t int, client string, since uint64, seen []string) []Step {
	s := Step{Host: g.s.name, Block: "nic.dma.read", Since: since}
	s.Text = fmt.Sprintf("the read of %s under PCIe tag %d has no completion, %d bytes are missing", client, t, uint64(g.s.h.NIC.Dma.Read.Q.Tags[t].Left))
	if p := g.out["nic.dma.read.tlp"]; p != nil && p.N > 0 && g.stuck(p) {
		return append([]Step{s}, g.follow("nic.dma.tx", seen)...)
	}
	for _, r := range g.s.h.Machine.RC.OpenReads() {
		if int(r.Tag) == t {
			s.Since = r.At
			s.Text += fmt.Sprintf(" of %d at address %#x", r.Bytes, r.Addr)
			h := g.host()
			if r.Due == ^uint64(0) {
				h.Since, h.Text = r.At, fmt.Sprintf("the host has the read of tag %d since cycle %d and never completes it", t, r.At)
			}
			return []Step{s, h}
		}
	}
	return append([]Step{s}, g.host())
}

// host is the root complex as the end of a chain.
func (g *graph) host() Step {
	rc := &g.s.h.Machine.RC
	s := Step{Host: g.s.name, Block: "rc", Since: g.now, Text: "the host does not answer"}
	if p := g.in["rc.from_nic"]; p != nil && p.N > 0 && g.stuck(p) {
		s = g.step(p, false)
		s.Text = "the host takes no TLP: it gives no credits"
	}
	if rc.Stopped() > g.now {
		s.Text += fmt.Sprintf("; it stands still until cycle %d", rc.Stopped())
	}
	return s
}

// beat is a beat of a QP in a stream.
type beat struct {
	p   *hdl.Stream
	i   int
	psn roce.PSN
	has bool // it has a PSN
}

// beats finds the oldest beat in each stream that names a QP, in the order of needs:
// those that are furthest come last. Only streams between from and to of needs are looked at.
func (g *graph) beats(qpn int, from, to string) (l []beat) {
	on := from == ""
	for k := range needs {
		on = on || needs[k].In == from
		p := g.in["nic."+needs[k].In]
		if on && p != nil {
			qp, psn := names(p)
			for i, found := 0, false; i < p.N && qp != "" && !found; i++ {
				if v, ok := p.Beat(i, qp); ok && int(v.Bits) == qpn {
					b := beat{p: p, i: i}
					if v, ok := p.Beat(i, psn); ok {
						b.psn, b.has = roce.PSN(v.Bits), true
					}
					l, found = append(l, b), true
				}
			}
		}
		if needs[k].In == to {
			break
		}
	}
	return l
}

// names are the fields of a stream's beats that say whose they are, and which PSN they
// are of.
func names(p *hdl.Stream) (qp, psn string) {
	for _, f := range p.Fields() {
		prefix, ok := strings.CutSuffix(f, "qpn")
		if ok && (prefix == "" || strings.HasSuffix(prefix, ".")) && qp == "" {
			qp, psn = f, prefix+"psn"
		}
	}
	return qp, psn
}
