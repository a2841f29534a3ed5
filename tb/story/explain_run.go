package story

import (
	"cmp"
	"fmt"
	"slices"
)

// longest is how many waits the explanation of a run names.
const longest = 8

// ExplainRun tells where the time of a run went.
func (s *Story) ExplainRun() *Explanation {
	e := &Explanation{Of: fmt.Sprintf("the run, %d cycles, %s", s.EndPs/s.ClockPs, Time(s.EndPs))}
	if s.Failure != "" {
		e.failed(s.Failure)
	}
	for _, h := range s.Hosts {
		for _, x := range s.Spent[h] {
			if x.Ps > 0 {
				e.say(At{}, "%s: %.2f %% %s, %s", h, 100*x.Share, whereText(x.Where), Time(x.Ps))
			}
		}
	}
	total, number := map[string]int64{}, map[string]int{}
	type wait struct {
		w *WR
		x *Wait
	}
	var all []wait
	for _, w := range s.WRs {
		for i := range w.Waits {
			x := &w.Waits[i]
			total[x.For] += x.ToPs - x.FromPs
			number[x.For]++
			all = append(all, wait{w, x})
		}
	}
	kinds := make([]string, 0, len(total))
	for k := range total {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b)) })
	for _, k := range kinds {
		e.say(At{}, "work requests waited %s in all for %s, %s", Time(total[k]), reason(k), plural(number[k], "time"))
	}
	slices.SortStableFunc(all, func(a, b wait) int { return cmp.Compare(b.x.ToPs-b.x.FromPs, a.x.ToPs-a.x.FromPs) })
	for _, x := range all[:min(longest, len(all))] {
		e.say(x.x.At, "among the longest: %s %s", x.w.Label(), x.x.text())
	}
	causes, fates := map[string]int{}, map[string]int{}
	for _, p := range s.Packets {
		causes[p.Cause]++
		fates[p.Fate]++
	}
	e.say(At{}, "packets sent: %s", counts(causes))
	e.say(At{}, "what became of them: %s", counts(fates))
	for _, x := range s.Leads() {
		e.Statements = append(e.Statements, x.Statement)
	}
	stuck := s.stuck("", 0)
	if len(stuck) > 0 {
		has := "have"
		if len(stuck) == 1 {
			has = "has"
		}
		e.say(At{}, "%s %s not ended", plural(len(stuck), "work request"), has)
	}
	for _, x := range s.Open() {
		e.Statements = append(e.Statements, x.Statement)
	}
	if f := s.Forgotten; f != (Forgotten{}) {
		e.say(At{}, "not kept: the oldest %d packets of %d bytes, %d work requests, %d events of QPs", f.Packets, f.Bytes, f.WRs, f.Events)
	}
	return e
}

// whereText is a part of a host's time in words.
func whereText(where string) string {
	switch where {
	case OnTheWire:
		return "sending"
	case ReadingPCIe:
		return "reading host memory over PCIe"
	case OnTimer:
		return "waiting for timers"
	case OnCredits:
		return "waiting for credits"
	case OnWindow:
		return "waiting for the window"
	case OnAck:
		return "waiting for acknowledgements"
	case InNIC:
		return "in the NIC, with a work request open"
	case InDriver:
		return "in the driver: no work request was open"
	}
	return where
}
