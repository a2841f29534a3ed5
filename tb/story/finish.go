package story

import (
	"cmp"
	"slices"

	"rnic/tb"
)

// Finish ends the story, after the run. It may be called again.
func (r *Recorder) Finish() *Story {
	if r.done != nil {
		return r.done
	}
	t := &Story{
		ClockPs: tb.PeriodPs, EndPs: int64(r.bench.World.Now()) * tb.PeriodPs, Limit: r.limit,
		WRs: []*WR{}, Packets: []*Packet{}, QPs: []*QP{}, Bandwidth: []Bucket{},
		Spent: map[string][]Share{}, Counters: map[string]map[string]uint64{},
	}
	for _, s := range r.sides {
		s.hub.k.Unobserve(s.hub)
		for len(s.came) > 0 && len(s.drops) > 0 { // counted, and no good packet came behind
			s.skipped, s.came = append(s.skipped, s.came[0]), s.came[1:]
			s.pair()
		}
		s.unheard()
		for _, q := range s.order {
			for _, w := range q.open {
				s.spans.open(w, t.EndPs)
			}
		}
	}
	for n, s := range r.sides {
		s.fates(r.sides[1-n], t.EndPs, int64(r.bench.Config.LinkLatencyPs))
	}
	byID := map[int]*sent{}
	for _, s := range r.sides {
		for _, p := range s.sent {
			byID[p.ID] = p
		}
	}
	for n, s := range r.sides {
		s.answersOf(byID)
		s.neverLeft(r.sides[1-n], byID)
		t.add(s)
	}
	t.sort(byID)
	slices.SortStableFunc(t.PCIe, func(a, b Event) int { return cmp.Compare(a.Ps, b.Ps) })
	t.silences()
	t.Unended = len(t.stuck("", 0))
	r.done = t
	for _, s := range r.sides {
		for _, w := range s.wrs {
			s.tell(w)
		}
	}
	return t
}

// tell tells OnWR of a WR, once.
func (s *side) tell(w *wr) {
	if !w.told {
		w.told = true
		s.r.wr(&w.WR)
	}
}

// fates are those of what this host sent, as its peer knows.
func (s *side) fates(peer *side, end, latency int64) {
	landed := map[uint64]*landing{}
	copies := map[uint64][]*landing{}
	for i := range peer.landed {
		l := &peer.landed[i]
		if landed[l.number] == nil {
			landed[l.number] = l
		} else {
			copies[l.number] = append(copies[l.number], l)
		}
	}
	struck := map[uint64]*strike{}
	for i := range peer.strikes {
		struck[peer.strikes[i].number] = &peer.strikes[i]
	}
	for _, p := range s.sent {
		l, k := landed[p.number], struck[p.number]
		if k != nil {
			p.Why = append(p.Why, Event{k.at, k.text})
		}
		if l != nil {
			p.ArrivePs, p.Fate = l.ps, l.fate
			p.Why = append(p.Why, l.why...)
			for _, l := range copies[p.number] {
				a := at(uint64(l.ps/periodPs), peer.name+".wire.to_nic.ready", "1")
				p.Why = append(p.Why, Event{a, "a copy of it arrives; " + l.fate})
				for _, x := range l.why {
					p.Why = append(p.Why, Event{x.At, "the copy: " + x.Text})
				}
			}
		}
		switch {
		case k != nil && k.drop, k == nil && l == nil && p.EndPs+latency < end:
			p.Fate = DroppedOnWire
		case k != nil && k.change && l != nil:
			p.Fate = Corrupted
		}
	}
}

// answersOf gives answers with data the WR that they are for.
func (s *side) answersOf(byID map[int]*sent) {
	for _, p := range s.sent {
		if p.request || p.Payload == 0 && p.Cause != AtomicResponse && p.Cause != ReadResponse && p.Cause != Duplicate {
			continue
		}
		if o := byID[p.Because]; o != nil && o.wr != nil {
			if p.Cause == Duplicate && !o.wr.read {
				continue
			}
			p.WR = o.wr.ID
			o.wr.addPacket(p.ID)
		}
	}
}

func (t *Story) add(s *side) {
	t.Hosts = append(t.Hosts, s.name)
	t.PCIe = append(t.PCIe, s.tlps...)
	n := len(s.sent) - min(len(s.sent), t.Limit/2)
	for _, p := range s.sent[:n] {
		s.forgot.Packets++
		s.forgot.Bytes += uint64(p.Bytes)
	}
	for _, p := range s.sent[n:] {
		t.Packets = append(t.Packets, &p.Packet)
	}
	n = len(s.wrs) - min(len(s.wrs), t.Limit/2)
	s.forgot.WRs += uint64(n)
	for _, w := range s.wrs[n:] {
		t.WRs = append(t.WRs, &w.WR)
	}
	for _, q := range s.order {
		t.QPs = append(t.QPs, &q.QP)
	}
	t.Forgotten.WRs += s.forgot.WRs
	t.Forgotten.Packets += s.forgot.Packets
	t.Forgotten.Bytes += s.forgot.Bytes
	t.Forgotten.Events += s.forgot.Events
	t.Spent[s.name] = s.spans.shares(t.EndPs)
	t.Bandwidth = append(t.Bandwidth, s.meter.list(s.name, t.EndPs)...)
	t.Counters[s.name] = s.counters()
}

// begin is when a WR was first heard of.
func (w *WR) begin() int64 {
	if len(w.Stages) == 0 {
		return 0
	}
	return w.Stages[0].Ps
}

// sort puts the lists in order, and drops WRs of packets that are not kept.
func (t *Story) sort(byID map[int]*sent) {
	ps := func(id int) int64 {
		if p := byID[id]; p != nil {
			return p.Ps
		}
		return 0
	}
	kept := map[int]bool{}
	slices.SortStableFunc(t.WRs, func(a, b *WR) int {
		return cmp.Or(cmp.Compare(a.begin(), b.begin()), cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID))
	})
	for _, w := range t.WRs {
		kept[w.ID] = true
		slices.SortStableFunc(w.Stages, func(a, b Stage) int { return cmp.Compare(a.Ps, b.Ps) })
		slices.SortStableFunc(w.Waits, func(a, b Wait) int { return cmp.Compare(a.FromPs, b.FromPs) })
		slices.SortFunc(w.Packets, func(a, b int) int { return cmp.Or(cmp.Compare(ps(a), ps(b)), cmp.Compare(a, b)) })
		w.Packets = slices.Compact(w.Packets)
	}
	slices.SortStableFunc(t.Packets, func(a, b *Packet) int { return cmp.Or(cmp.Compare(a.Ps, b.Ps), cmp.Compare(a.Host, b.Host)) })
	for _, p := range t.Packets {
		slices.SortStableFunc(p.Why, func(a, b Event) int { return cmp.Compare(a.Ps, b.Ps) })
		if !kept[p.WR] {
			p.WR = -1
		}
	}
	slices.SortStableFunc(t.QPs, func(a, b *QP) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.QPN, b.QPN)) })
}
