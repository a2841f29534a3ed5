package replay

import (
	"iter"
	"slices"

	"rnic/roce"
)

// pair finds the peer's QP, for packets name their destination only: the one that
// gets the most answers with PSNs that were asked before; of several the one whose
// first answer comes soonest.
func (c *Conversation) pair(answers map[flowKey][]Captured) {
	c.PeerQP = c.SelfQP // if nobody answers
	c.requests = len(c.Events)
	from, to := c.Events[0].Frame, 0
	if c.next != nil {
		to = c.next.Events[0].Frame
	}
	asked := map[roce.PSN]int{} // by frame
	for i := range c.Events {
		if p := c.Events[i].BTH.PSN; asked[p] == 0 {
			asked[p] = c.Events[i].Frame
		}
	}
	var best []Captured
	most, soonest := 0, 0
	for k, list := range answers {
		if k.src != c.Self.GID || k.dst != c.Peer.GID {
			continue
		}
		list = slices.Clone(list)
		list = slices.DeleteFunc(list, func(a Captured) bool { return a.Frame < from || to != 0 && a.Frame > to })
		n, first := 0, 0
		for i := range list {
			if f := asked[list[i].BTH.PSN]; f != 0 && f < list[i].Frame {
				if n++; n == 1 {
					first = list[i].Frame
				}
			}
		}
		if n > most || n == most && n > 0 && first < soonest {
			most, soonest, best, c.PeerQP = n, first, list, k.qp
		}
	}
	c.answers = best
}

// opposite finds the peer's QP of UC, whose packets name their destination only: the
// one to which packets go the other way, if there is but one, both ways.
func (c *Conversation) opposite(list []*Conversation) {
	c.PeerQP = c.SelfQP
	there, back := map[roce.QPN]bool{}, map[roce.QPN]bool{}
	for _, o := range list {
		switch {
		case o.Transport != roce.UC:
		case o.Self.GID == c.Self.GID && o.Peer.GID == c.Peer.GID:
			there[o.SelfQP] = true
		case o.Self.GID == c.Peer.GID && o.Peer.GID == c.Self.GID:
			back[o.SelfQP] = true
		}
	}
	if len(there) == 1 && len(back) == 1 {
		for qp := range back {
			c.PeerQP = qp
		}
	}
}

// share gives each answer to one conversation: where several have the same peer, one
// after the other, to the one that asked last before it.
func share(list []*Conversation) {
	flows := map[flowKey][]*Conversation{}
	for _, c := range list {
		if len(c.answers) > 0 {
			k := c.answerFlow()
			flows[k] = append(flows[k], c)
		}
	}
	for _, c := range list {
		rivals := flows[c.answerFlow()]
		for _, a := range c.answers {
			mine := c.asked(a.Frame)
			if !slices.ContainsFunc(rivals, func(r *Conversation) bool { return r.asked(a.Frame) > mine }) {
				c.Events = append(c.Events, Event{Captured: a, Answer: true})
			}
		}
	}
	for _, c := range list {
		c.answers = nil
		slices.SortStableFunc(c.Events, func(a, b Event) int { return a.Frame - b.Frame })
	}
}

// answerFlow is the way that answers take.
func (c *Conversation) answerFlow() flowKey {
	return flowKey{src: c.Self.GID, dst: c.Peer.GID, qp: c.PeerQP, transport: c.Transport}
}

// asked is the frame of the last request before a frame; 0: none. Answers are no
// events yet, or behind the requests.
func (c *Conversation) asked(frame int) int {
	n := c.requests
	i, _ := slices.BinarySearchFunc(c.Events[:n], frame, func(e Event, f int) int { return e.Frame - f })
	if i == 0 {
		return 0
	}
	return c.Events[i-1].Frame
}

// cut leaves out what a replay cannot begin or go on with: what is before the first
// whole message, and what is behind a PSN that the capture lacks.
func (c *Conversation) cut() {
	first := slices.IndexFunc(c.Events, func(e Event) bool { return !e.Answer && e.BTH.Opcode.Starts() })
	if first < 0 {
		c.note("no message begins in the capture: nothing to replay")
		c.Events = nil
		return
	}
	c.First = c.Events[first].BTH.PSN
	if c.Transport == roce.UD {
		c.first = c.sent()
		return
	}
	n := len(c.Events)
	c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return e.BTH.PSN.Before(c.First) })
	if d := n - len(c.Events); d > 0 {
		c.note("%d packets before PSN %06x are left out: their message began before the capture", d, uint32(c.First))
	}
	c.first = c.sent()
	end := c.First
	for e := range c.inOrder() {
		end = e.BTH.PSN.Add(c.psns(&e.Packet))
	}
	for i := range c.Events {
		e := &c.Events[i]
		if !e.Answer && !e.BTH.PSN.Before(end) {
			if c.Transport == roce.UC {
				c.note("the capture has no packet of PSN %06x: as requester replayed is what is before frame %d", uint32(end), e.Frame)
				return
			}
			c.note("the capture has no packet of PSN %06x: replayed is what is before frame %d", uint32(end), e.Frame)
			c.Events = c.Events[:i]
			return
		}
	}
}

// sent are the requests by the PSN that the model sends them with, each as it was sent
// first.
func (c *Conversation) sent() map[roce.PSN]*Event {
	m := map[roce.PSN]*Event{}
	for i := range c.Events {
		if e, p := &c.Events[i], c.psn(i); !e.Answer && m[p] == nil {
			m[p] = e
		}
	}
	return m
}

// refusals are the requests that were answered by a fatal NAK.
func (c *Conversation) refusals() map[roce.PSN]roce.NAKCode {
	m := map[roce.PSN]roce.NAKCode{}
	for i := range c.Events {
		if code, ok := fatalNAK(&c.Events[i].Packet); ok && c.Events[i].Answer {
			m[c.Events[i].BTH.PSN] = code
		}
	}
	return m
}

// inOrder are the requests by PSN, without a gap, each as it was sent first. More PSNs
// than may be in flight they are never: a READ can ask for too many.
func (c *Conversation) inOrder() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		total := uint32(0)
		for psn := c.First; total < roce.MaxOutstanding; {
			e := c.first[psn]
			if e == nil || !yield(e) {
				return
			}
			n := c.psns(&e.Packet)
			psn, total = psn.Add(n), total+n
		}
	}
}
