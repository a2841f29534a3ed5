package trace

import "fmt"

// threads are the threads of a host. Slices that overlap go on several of one name.
type threads struct {
	pid    int
	next   int
	lanes  map[string][]*lane
	order  []string // names, in the order in which they were first asked for
	meta   []event
	events []event
}

// lane is a thread.
type lane struct {
	tid  int
	free int64 // ps: its last slice has ended
}

func newThreads(pid int, host string) *threads {
	t := &threads{pid: pid, next: 1, lanes: map[string][]*lane{}}
	t.meta = append(t.meta,
		event{Name: "process_name", Ph: "M", Pid: pid, Args: named{host}},
		event{Name: "process_sort_index", Ph: "M", Pid: pid, Args: ordered{pid}})
	return t
}

// lane is a thread of that name which is free from then on, ps. Slices of a name must be
// asked for in order of their beginning.
func (t *threads) lane(name string, from int64) *lane {
	for _, l := range t.lanes[name] {
		if l.free <= from {
			return l
		}
	}
	l := &lane{tid: t.next}
	t.next++
	if len(t.lanes[name]) == 0 {
		t.order = append(t.order, name)
	}
	t.lanes[name] = append(t.lanes[name], l)
	return l
}

// named are the metadata of the host and of its threads: those of one name are side by side.
func (t *threads) named() []event {
	out, index := t.meta, 0
	for _, name := range t.order {
		for n, l := range t.lanes[name] {
			shown := name
			if n > 0 {
				shown = fmt.Sprintf("%s (%d)", name, n+1)
			}
			index++
			out = append(out,
				event{Name: "thread_name", Ph: "M", Pid: t.pid, Tid: l.tid, Args: named{shown}},
				event{Name: "thread_sort_index", Ph: "M", Pid: t.pid, Tid: l.tid, Args: ordered{index}})
		}
	}
	return out
}

// slice puts a slice on a thread of that name. inside adds what is in it, in order.
func (t *threads) slice(thread, name, cat string, from, to int64, args any, inside func(l *lane)) {
	to = max(from, to)
	l := t.lane(thread, from)
	t.begin(l, name, cat, from, args)
	if inside != nil {
		inside(l)
	}
	t.end(l, to)
	l.free = to
}

func (t *threads) begin(l *lane, name, cat string, ps int64, args any) {
	t.events = append(t.events, event{Name: name, Cat: cat, Ph: "B", Ts: us(ps), Pid: t.pid, Tid: l.tid, Args: args})
}

func (t *threads) end(l *lane, ps int64) {
	t.events = append(t.events, event{Ph: "E", Ts: us(ps), Pid: t.pid, Tid: l.tid})
}

// instant puts a moment on the first thread of a name.
func (t *threads) instant(thread, name string, ps int64, args any) {
	if len(t.lanes[thread]) == 0 {
		t.lane(thread, ps)
	}
	l := t.lanes[thread][0]
	t.events = append(t.events, event{Name: name, Cat: "event", Ph: "i", Ts: us(ps), Pid: t.pid, Tid: l.tid, S: "t", Args: args})
}

func (t *threads) counter(name string, ps int64, args any) {
	t.events = append(t.events, event{Name: name, Ph: "C", Ts: us(ps), Pid: t.pid, Args: args})
}
