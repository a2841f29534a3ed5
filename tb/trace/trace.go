package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rnic/tb/story"
)

// Write writes a story as trace events to a file: the same bytes for the same story.
func Write(path string, s *story.Story) error {
	w := &writer{story: s, host: map[string]*threads{}, flows: newFlows(s)}
	for i, h := range s.Hosts {
		w.host[h] = newThreads(i+1, h)
	}
	for _, add := range []func() error{w.packets, w.requests, w.waits, w.qps, w.bandwidth} {
		if err := add(); err != nil {
			return err
		}
	}
	var meta, events []event
	for _, h := range s.Hosts {
		meta = append(meta, w.host[h].named()...)
		events = append(events, w.host[h].events...)
	}
	return write(path, meta, events)
}

type writer struct {
	story *story.Story
	host  map[string]*threads
	flows *flows
}

func (w *writer) of(host string) (*threads, error) {
	if t, ok := w.host[host]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("trace: %q is no host of the run", host)
}

// place is where a slice or an instant can be looked up in the waves.
type place struct {
	Cycle  uint64 `json:"cycle"`
	Signal string `json:"signal"`
	Value  string `json:"value"`
}

func at(a story.At) place { return place{a.Cycle, a.Signal, a.Value} }

// requestArgs are the facts of a work request.
type requestArgs struct {
	WR        int    `json:"wr"`
	Index     uint16 `json:"index"`
	Bytes     uint64 `json:"bytes"`
	Status    string `json:"status"`
	Ended     bool   `json:"ended"` // false: its slice ends where the run does
	Vendor    string `json:"vendor,omitempty"`
	Signalled bool   `json:"signalled"`
	Tries     int    `json:"tries"`
}

// requests puts each work request on its queue, with a slice in it for each stage: named
// by the stage that ends it.
func (w *writer) requests() error {
	list := slices.Clone(w.story.WRs)
	list = slices.DeleteFunc(list, func(r *story.WR) bool { return len(r.Stages) == 0 })
	stages := map[*story.WR][]story.Stage{}
	for _, r := range list {
		stages[r] = slices.Clone(r.Stages)
		slices.SortStableFunc(stages[r], func(a, b story.Stage) int { return cmp.Compare(a.Ps, b.Ps) })
	}
	var shown []*story.WR
	work := map[*story.WR][]story.Stage{}
	for _, r := range list {
		if st := atWork(r, stages[r]); len(st) > 0 {
			shown, work[r] = append(shown, r), st
		}
	}
	sortByBegin(shown, work)
	for _, r := range shown {
		t, err := w.of(r.Host)
		if err != nil {
			return err
		}
		st := work[r]
		end := st[len(st)-1].Ps
		name := fmt.Sprintf("%s #%d", r.Op, r.Index)
		if r.Status == "" {
			end = max(end, w.story.EndPs)
			name += ", not ended"
		}
		args := requestArgs{r.ID, r.Index, r.Bytes, r.Status, r.Status != "", r.Vendor, r.Signalled, r.Tries}
		t.slice(fmt.Sprintf("QP %d %s", r.QPN, r.Queue), name, "wr", st[0].Ps, end, args, func(l *lane) {
			for k, g := range st[1:] {
				t.begin(l, "to "+g.Name, "stage", st[k].Ps, at(g.At))
				t.end(l, g.Ps)
			}
			if r.Status == "" {
				last := st[len(st)-1]
				t.begin(l, "not ended", "stage", last.Ps, at(last.At))
				t.end(l, end)
			}
		})
	}
	sortByBegin(list, stages)
	for _, r := range list {
		t, err := w.of(r.Host)
		if err != nil {
			return err
		}
		for _, g := range stages[r] {
			t.instant(block(g.Signal), fmt.Sprintf("%s: %s #%d of QP %d", g.Name, r.Op, r.Index, r.QPN), g.Ps, at(g.At))
		}
	}
	return nil
}

// sortByBegin sorts work requests by the first of these stages of each.
func sortByBegin(l []*story.WR, stages map[*story.WR][]story.Stage) {
	slices.SortStableFunc(l, func(a, b *story.WR) int { return cmp.Compare(stages[a][0].Ps, stages[b][0].Ps) })
}

// atWork are the stages in which something happens to a work request. A receive lies ready
// before them, maybe for the whole run.
func atWork(r *story.WR, stages []story.Stage) []story.Stage {
	if r.Queue == "sq" {
		return stages
	}
	ready := func(g story.Stage) bool { return g.Name == story.Posted || g.Name == story.Doorbell }
	if i := slices.IndexFunc(stages, func(g story.Stage) bool { return !ready(g) }); i >= 0 {
		return stages[i:]
	}
	return nil
}

// block is the part of the host that has a signal: the first two names under the host.
func block(signal string) string {
	parts := strings.Split(signal, ".")
	if len(parts) < 3 {
		return "other signals"
	}
	return strings.Join(parts[1:min(3, len(parts)-1)], ".")
}

// waits puts what work requests waited for on the threads of the blocks that tell so.
func (w *writer) waits() error {
	type wait struct {
		story.Wait
		wr *story.WR
	}
	var list []wait
	for _, r := range w.story.WRs {
		for _, g := range r.Waits {
			list = append(list, wait{g, r})
		}
	}
	slices.SortStableFunc(list, func(a, b wait) int { return cmp.Compare(a.FromPs, b.FromPs) })
	for _, g := range list {
		t, err := w.of(g.wr.Host)
		if err != nil {
			return err
		}
		t.slice(block(g.Signal), fmt.Sprintf("wait for %s: %s #%d of QP %d", g.For, g.wr.Op, g.wr.Index, g.wr.QPN), "wait", g.FromPs, g.ToPs, at(g.At), nil)
	}
	return nil
}

// value is the argument of a counter.
type value struct {
	Value int64 `json:"value"`
}

func (w *writer) qps() error {
	for _, q := range w.story.QPs {
		t, err := w.of(q.Host)
		if err != nil {
			return err
		}
		for _, e := range q.Events {
			t.instant(fmt.Sprintf("QP %d events", q.QPN), e.Text, e.Ps, at(e.At))
		}
		for _, p := range q.Outstanding {
			t.counter(fmt.Sprintf("QP %d outstanding", q.QPN), p[0], value{p[1]})
		}
		for _, p := range q.SQDepth {
			t.counter(fmt.Sprintf("QP %d sq depth", q.QPN), p[0], value{p[1]})
		}
	}
	return nil
}

// rate is the argument of the counter of bandwidth.
type rate struct {
	Gbps float64 `json:"gbps"`
}

func (w *writer) bandwidth() error {
	for _, b := range w.story.Bandwidth {
		t, err := w.of(b.Host)
		if err != nil {
			return err
		}
		t.counter("bandwidth", b.Ps, rate{b.Gbps})
	}
	return nil
}
