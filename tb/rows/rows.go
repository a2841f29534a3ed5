package rows

import (
	"fmt"

	"rnic/hdl"
	"rnic/rtl"
	"rnic/tb/host"
	"rnic/waves"
)

// Host is what is watched: one host of a bench.
type Host struct {
	K       *hdl.Kernel
	NIC     *rtl.NIC
	Machine *host.Host
}

// Options say what there are rows for. Zero values stand for the defaults.
type Options struct {
	QPs     int         // of each host that have rows of their own, from FirstQPN on; others share some. 16
	Threads int         // of each host; further ones share the last row. 8
	Event   func(Event) // told of each event, on the goroutine of its kernel
}

// FirstQPN is the first number that drivers give out (IBTA 3.5.3 reserves 0 and 1).
const FirstQPN = 2

// PulseCycles is how long something is shown that has no duration: 100 ns.
const PulseCycles = 25

// Rows watches hosts.
type Rows struct {
	List  []*waves.Row // for waves.Options
	sides []*side
}

// New watches hosts from their present cycle on, before their first run. Close ends it.
func New(o Options, hosts ...Host) (*Rows, error) {
	hdl.Default(&o.QPs, 16)
	hdl.Default(&o.Threads, 8)
	r := &Rows{}
	for _, h := range hosts {
		s, err := newSide(r, o, h)
		if err != nil {
			return nil, err
		}
		r.sides = append(r.sides, s)
	}
	for _, s := range r.sides {
		s.h.K.Observe(s)
	}
	return r, nil
}

// Close stops watching. The hosts must not be running.
func (r *Rows) Close() {
	for _, s := range r.sides {
		s.h.K.Unobserve(s)
		s.h.Machine.OnCall = nil
	}
}

// side watches one host.
type side struct {
	r      *Rows
	o      Options
	h      Host
	name   string
	period int64 // ps
	on     []func(now int64)
	sigs   map[string]hdl.Signal
	pulses pulses
	at     *stream  // whose head is being looked at, or nil
	faulty []faulty // completions in error whose CQEs are not written yet
	ops    []string // of packets that qpc has not judged
	qps    qps
	calls  *calls
	came   [2]arrival // the last frames that pkt_rx has taken
	fault  *waves.Row
}

func newSide(r *Rows, o Options, h Host) (*side, error) {
	s := &side{r: r, o: o, h: h, name: h.K.Name(), period: h.K.PeriodPs(), sigs: map[string]hdl.Signal{}}
	for _, sig := range h.K.Signals() {
		if sig.Role.Past() || sig.Role == hdl.RoleLevel {
			s.sigs[sig.Path] = sig
		}
	}
	s.fault = s.row("wire.fault")
	for _, watch := range []func() error{s.wires, s.packets, s.receive, s.queues} {
		if err := watch(); err != nil {
			return nil, err
		}
	}
	s.calls = newCalls(s)
	return s, nil
}

// row adds a row below the kernel.
func (s *side) row(path string) *waves.Row {
	row := &waves.Row{Path: s.name + "." + path}
	s.r.List = append(s.r.List, row)
	return row
}

// signal finds a signal below the kernel.
func (s *side) signal(path string) (hdl.Signal, error) {
	sig, ok := s.sigs[s.name+"."+path]
	if !ok {
		return sig, fmt.Errorf("rows: no such signal: %s.%s", s.name, path)
	}
	return sig, nil
}

// when has f called after each edge at which an owner of signals may have changed.
func (s *side) when(owner int, f func(now int64)) {
	for len(s.on) <= owner {
		s.on = append(s.on, nil)
	}
	if old := s.on[owner]; old != nil {
		s.on[owner] = func(now int64) { old(now); f(now) }
		return
	}
	s.on[owner] = f
}

// Edge is of hdl.Observer.
func (s *side) Edge(cycle uint64, ch *hdl.Changes) {
	now := int64(cycle) * s.period
	s.pulses.end(now)
	s.tell(ch.State, now)
	s.tell(ch.Past, now)
}

func (s *side) tell(owners []int32, now int64) {
	for _, o := range owners {
		if int(o) < len(s.on) {
			if f := s.on[o]; f != nil {
				f(now)
			}
		}
	}
}

// Jump is of hdl.Observer: nothing happens in it but that pulses end.
func (s *side) Jump(from, to uint64, ch *hdl.Changes) { s.pulses.end(int64(to) * s.period) }
