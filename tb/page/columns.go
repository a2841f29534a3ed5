package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"rnic/tb/story"
)

// run is what the page's script reads: names short, strings by their number.
type run struct {
	Clock     int64           `json:"clock"`
	End       int64           `json:"end"`
	Flight    int64           `json:"flight"` // median time from first bit to arrival
	Hosts     []string        `json:"hosts"`
	Failure   string          `json:"failure"`
	Interrupt bool            `json:"interrupted"`
	Axis      int64           `json:"axis"`      // where axes of time end
	Unended   int             `json:"unended"`   // work requests
	Forgotten [2]uint64       `json:"forgotten"` // work requests, packets
	Strings   []string        `json:"strings"`
	Stages    []string        `json:"stages"`
	Packets   packets         `json:"packets"`
	Why       map[int][]event `json:"why"` // by packet ID
	WRs       []wr            `json:"wrs"`
	QPs       []qp            `json:"qps"`
	Spent     [][]any         `json:"spent"`     // by host: [where, ps, share]
	Bandwidth [][3]any        `json:"bandwidth"` // [host, ps, gbps]
	Counters  [][]any         `json:"counters"`  // [name, value of each host]
	Leads     []lead          `json:"leads"`
}

// packets are columns. Ps and Cycle are differences to the packet before, Dur and Fly to
// Ps; a Fly of -1 is a packet that did not arrive.
type packets struct {
	ID       []int    `json:"id"`
	Host     []int    `json:"host"`
	To       []int    `json:"to"`
	Ps       []int64  `json:"ps"`
	Dur      []int64  `json:"dur"`
	Fly      []int64  `json:"fly"`
	Cycle    []int64  `json:"cycle"`
	QPN      []uint32 `json:"qpn"`
	DQPN     []uint32 `json:"dqpn"`
	PSN      []uint32 `json:"psn"`
	Op       []int    `json:"op"`
	Bytes    []int    `json:"bytes"`
	Payload  []int    `json:"payload"`
	Syndrome []int    `json:"syndrome"`
	MSN      []uint32 `json:"msn"`
	AckReq   []int    `json:"ackreq"`
	WR       []int    `json:"wr"`
	Cause    []int    `json:"cause"`
	Because  []int    `json:"because"`
	Fate     []int    `json:"fate"`
	Signal   []int    `json:"signal"`
	Value    []int    `json:"value"`
}

// lead is [ps, cycle, signal, value, text, work request, packet]; -1: none.
type lead [7]int64

// event is [ps, cycle, signal, value, text].
type event [5]int64

type wr struct {
	ID        int        `json:"id"`
	Host      int        `json:"host"`
	QPN       uint32     `json:"qpn"`
	Transport string     `json:"transport"`
	Queue     string     `json:"queue"`
	Index     uint16     `json:"index"`
	Op        string     `json:"op"`
	Bytes     uint64     `json:"bytes"`
	Status    string     `json:"status"`
	Vendor    string     `json:"vendor"`
	Signalled bool       `json:"signalled"`
	Tries     int        `json:"tries"`
	Stages    [][5]int64 `json:"stages"` // [name, ps, cycle, signal, value]
	Waits     [][7]int64 `json:"waits"`  // [from, to, for, cycle, signal, value, ps]
	Packets   []int      `json:"packets"`
}

type qp struct {
	Host        int        `json:"host"`
	QPN         uint32     `json:"qpn"`
	Transport   string     `json:"transport"`
	Outstanding [][2]int64 `json:"outstanding"`
	SQ          [][2]int64 `json:"sq"`
}

// table numbers strings in the order in which they come.
type table struct {
	of   map[string]int
	list []string
}

func (t *table) number(s string) int {
	n, ok := t.of[s]
	if !ok {
		n = len(t.list)
		t.of[s] = n
		t.list = append(t.list, s)
	}
	return n
}

func (t *table) n(s string) int64 { return int64(t.number(s)) }

// columns is a story as the page has it.
func columns(s *story.Story) (*run, error) {
	host := map[string]int{}
	for i, h := range s.Hosts {
		host[h] = i
	}
	t := &table{of: map[string]int{}}
	r := &run{
		Clock: s.ClockPs, End: s.EndPs, Flight: flight(s), Hosts: s.Hosts,
		Failure: s.Failure, Interrupt: s.WasInterrupted(), Axis: motion(s), Unended: s.Unended, Forgotten: [2]uint64{s.Forgotten.WRs, s.Forgotten.Packets},
		Stages: story.Stages[:], Why: map[int][]event{},
		WRs: []wr{}, QPs: []qp{}, Spent: [][]any{}, Bandwidth: [][3]any{}, Counters: [][]any{},
	}
	if err := r.addPackets(s, host, t); err != nil {
		return nil, err
	}
	if err := r.addWRs(s, host, t); err != nil {
		return nil, err
	}
	for _, q := range s.QPs {
		h, ok := host[q.Host]
		if !ok {
			return nil, fmt.Errorf("page: QP %d of %q, which is no host of the run", q.QPN, q.Host)
		}
		r.QPs = append(r.QPs, qp{h, q.QPN, q.Transport, some(q.Outstanding), some(q.SQDepth)})
	}
	for _, b := range bandwidth(s, r.Axis) {
		h, ok := host[b.Host]
		if !ok {
			return nil, fmt.Errorf("page: bandwidth of %q, which is no host of the run", b.Host)
		}
		r.Bandwidth = append(r.Bandwidth, [3]any{h, b.Ps, b.Gbps})
	}
	for _, h := range s.Hosts {
		shares := []any{}
		for _, p := range s.Spent[h] {
			shares = append(shares, []any{p.Where, p.Ps, p.Share})
		}
		r.Spent = append(r.Spent, shares)
	}
	r.addCounters(s)
	r.addLeads(s, t)
	r.Strings = some(t.list)
	return r, nil
}

// addLeads has what to look at first. What was under way when something else ended the run
// is no lead.
func (r *run) addLeads(s *story.Story, t *table) {
	l := s.Leads()
	if s.Hangs() {
		l = append(l, s.Open()...)
	}
	r.Leads = []lead{}
	for _, x := range l {
		r.Leads = append(r.Leads, lead{x.Ps, int64(x.Cycle), t.n(x.Signal), t.n(x.Value), t.n(x.Text), int64(x.WR), int64(x.Packet)})
	}
}

// addCounters makes a row of each counter; values are texts, as a number of JavaScript
// has but 53 bits.
func (r *run) addCounters(s *story.Story) {
	names := map[string]bool{}
	for _, c := range s.Counters {
		for n := range c {
			names[n] = true
		}
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for _, n := range sorted {
		row := []any{n}
		for _, h := range s.Hosts {
			row = append(row, strconv.FormatUint(s.Counters[h][n], 10))
		}
		r.Counters = append(r.Counters, row)
	}
}

func (r *run) addWRs(s *story.Story, host map[string]int, t *table) error {
	for _, w := range s.WRs {
		h, ok := host[w.Host]
		if !ok {
			return fmt.Errorf("page: work request %d of %q, which is no host of the run", w.ID, w.Host)
		}
		o := wr{
			ID: w.ID, Host: h, QPN: w.QPN, Transport: w.Transport, Queue: w.Queue, Index: w.Index, Op: w.Op, Bytes: w.Bytes,
			Status: w.Status, Vendor: w.Vendor, Signalled: w.Signalled, Tries: w.Tries,
			Stages: [][5]int64{}, Waits: [][7]int64{}, Packets: some(w.Packets),
		}
		for _, g := range w.Stages {
			o.Stages = append(o.Stages, [5]int64{t.n(g.Name), g.Ps, int64(g.Cycle), t.n(g.Signal), t.n(g.Value)})
		}
		slices.SortStableFunc(o.Stages, func(a, b [5]int64) int { return cmp.Compare(a[1], b[1]) })
		for _, g := range w.Waits {
			o.Waits = append(o.Waits, [7]int64{g.FromPs, g.ToPs, t.n(g.For), int64(g.Cycle), t.n(g.Signal), t.n(g.Value), g.Ps})
		}
		r.WRs = append(r.WRs, o)
	}
	slices.SortStableFunc(r.WRs, func(a, b wr) int { return cmp.Compare(posted(a), posted(b)) })
	return nil
}

func posted(w wr) int64 {
	if len(w.Stages) == 0 {
		return 0
	}
	return w.Stages[0][1]
}

// some is a list that is [] and not null in JSON.
func some[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
