package trace

import (
	"cmp"
	"slices"
	"strings"

	"rnic/tb/story"
)

// packetArgs are the facts of a packet.
type packetArgs struct {
	Packet   int    `json:"packet"`
	QPN      uint32 `json:"qpn"`
	DestQPN  uint32 `json:"dest_qpn"`
	PSN      uint32 `json:"psn"`
	Bytes    int    `json:"bytes"`
	Payload  int    `json:"payload"`
	Syndrome string `json:"syndrome,omitempty"`
	WR       int    `json:"wr"`
	Cause    string `json:"cause"`
	Fate     string `json:"fate"`
	place
}

// end is an end of a packet's way: the sender's wire, or the receiver's.
type end struct {
	packet int
	in     bool
}

// flow is an arrow that begins or ends at a slice.
type flow struct {
	id   int
	cat  string
	last bool
}

// flows are the arrows of each slice of a wire.
type flows struct {
	of map[end][]flow
	n  int
}

// add draws an arrow between slices that are in order of time.
func (f *flows) add(cat string, from end, fromPs int64, to end, toPs int64) {
	if fromPs/1000 >= toPs/1000 {
		return
	}
	f.n++
	f.of[from] = append(f.of[from], flow{f.n, cat, false})
	f.of[to] = append(f.of[to], flow{f.n, cat, true})
}

// arrival is when a packet's slice at the receiver begins: it is as long as the sender's.
func arrival(p *story.Packet) int64 { return max(p.Ps, p.ArrivePs-max(0, p.EndPs-p.Ps)) }

// newFlows finds the arrows of a story.
func newFlows(s *story.Story) *flows {
	f := &flows{of: map[end][]flow{}}
	byID := map[int]*story.Packet{}
	for _, p := range s.Packets {
		byID[p.ID] = p
	}
	type attempt struct {
		host    string
		wr, qpn int
		psn     uint32
	}
	before := map[attempt]*story.Packet{}
	for _, p := range byTime(s) {
		out := end{p.ID, false}
		if p.ArrivePs >= 0 {
			f.add("packet", out, p.Ps, end{p.ID, true}, arrival(p))
		}
		if c, ok := byID[p.Because]; ok {
			if c.Host == p.Host {
				f.add("cause", end{c.ID, false}, c.Ps, out, p.Ps)
			} else if c.ArrivePs >= 0 {
				f.add("cause", end{c.ID, true}, arrival(c), out, p.Ps)
			}
		}
		if p.WR < 0 || !strings.HasPrefix(p.Cause, "retry") && p.Cause != story.New {
			continue
		}
		a := attempt{p.Host, p.WR, int(p.QPN), p.PSN}
		if c, ok := before[a]; ok {
			f.add("retry", end{c.ID, false}, c.Ps, out, p.Ps)
		}
		before[a] = p
	}
	return f
}

func byTime(s *story.Story) []*story.Packet {
	list := slices.Clone(s.Packets)
	slices.SortStableFunc(list, func(a, b *story.Packet) int { return cmp.Compare(a.Ps, b.Ps) })
	return list
}

// packets puts each packet on the wire of its sender and, if it arrived, of its receiver.
func (w *writer) packets() error {
	type arrived struct {
		p *story.Packet
		t *threads
	}
	var in []arrived
	for _, p := range byTime(w.story) {
		t, err := w.of(p.Host)
		if err != nil {
			return err
		}
		w.wire(t, "wire out", p, false, p.Ps, p.EndPs)
		if p.ArrivePs < 0 {
			continue
		}
		for _, h := range w.story.Hosts {
			if h != p.Host { // a run has two hosts
				in = append(in, arrived{p, w.host[h]})
				break
			}
		}
	}
	slices.SortStableFunc(in, func(a, b arrived) int { return cmp.Compare(arrival(a.p), arrival(b.p)) })
	for _, a := range in {
		w.wire(a.t, "wire in", a.p, true, arrival(a.p), a.p.ArrivePs)
	}
	return nil
}

func (w *writer) wire(t *threads, thread string, p *story.Packet, in bool, from, to int64) {
	args := packetArgs{p.ID, p.QPN, p.DestQPN, p.PSN, p.Bytes, p.Payload, p.Syndrome, p.WR, p.Cause, p.Fate, place{p.Cycle, p.Signal, p.Value}}
	name := cmp.Or(p.Opcode, "no RoCE")
	if p.Fate != story.Delivered {
		name += ", " + p.Fate
	}
	t.slice(thread, name, "packet", from, to, args, func(l *lane) {
		for _, f := range w.flows.of[end{p.ID, in}] {
			e := event{Name: f.cat, Cat: f.cat, Ph: "s", Ts: us(from), Pid: t.pid, Tid: l.tid, ID: f.id}
			if f.last {
				e.Ph, e.Bp = "f", "e"
			}
			t.events = append(t.events, e)
		}
	})
}
