package waves

import "rnic/hdl"

// tracer observes one kernel and notes what may have changed on tapes for its renderer.
type tracer struct {
	k      *hdl.Kernel
	m      *merger
	r      *renderer
	src    int
	period int64 // ps
	half   int64
	from   int64 // the window, ps
	to     int64

	sources []source // by owner
	state   []int32  // owners of state that have variables
	past    []int32  // owners of what happens in a cycle, likewise
	rows    *rowing  // of the kernel, or nil

	phase   phase
	resting bool // jumping: clk is x
	early   bool // the run ended before the window
	real    bool // a step, not a jump, led to the present cycle
	inReset bool
	tape    *tape
	t       int64 // ps, of what is being noted
	sent    int64 // upto of the last tape
	final   int64 // where it ended, once done
}

type phase uint8

const (
	before phase = iota // the window has not begun
	primed              // it begins in the present cycle, whose state is noted
	live
	done
)

func newTracer(k *hdl.Kernel, m *merger, src int, vars []*Var, f format, from, to int64) *tracer {
	t := &tracer{k: k, m: m, src: src, period: k.PeriodPs(), from: from, to: to, r: newRenderer(m, src, vars, f, from), tape: &tape{}}
	t.half = t.period / 2
	byOwner := map[int][]*Var{}
	top := -1
	for _, v := range vars[2:] {
		if v.Row {
			continue
		}
		byOwner[v.Signal.Owner] = append(byOwner[v.Signal.Owner], v)
		top = max(top, v.Signal.Owner)
	}
	t.sources = make([]source, top+1)
	for o := range t.sources {
		if own := byOwner[o]; own != nil {
			t.add(o, own, f)
		}
	}
	return t
}

// add takes up an owner with its variables.
func (t *tracer) add(o int, own []*Var, f format) {
	role := own[0].Signal.Role
	t.sources[o] = t.r.add(own, f, role == hdl.RolePayload)
	if role.Past() {
		t.past = append(t.past, int32(o))
	} else {
		t.state = append(t.state, int32(o))
	}
}

// attach starts to observe, at the kernel's present cycle.
func (t *tracer) attach() {
	t.k.Observe(t)
	for o := range t.sources {
		if s := &t.sources[o]; s.words > 0 {
			s.home = t.k.Home(o)
			if s.head%tapeKinds == tapeOwner {
				s.moved = t.k.Moved(o)
			}
		}
	}
	go t.r.run()
	t.inReset = t.k.Cycle() == 0 && t.from < t.half
	if int64(t.k.Cycle()+1)*t.period > t.from {
		t.noteAll(t.state)
		t.phase = primed
	}
}

// Edge is of hdl.Observer.
func (t *tracer) Edge(cycle uint64, ch *hdl.Changes) {
	now := int64(cycle) * t.period
	if t.phase != live && !t.begin(now) {
		return
	}
	if t.resting {
		t.resting = false
		t.at(now - t.period)
		t.clock('1')
	}
	t.note(ch.Past)
	t.fall(now-t.period+t.half, '0')
	if now > t.to {
		t.end(t.to)
		return
	}
	t.at(now)
	t.handOver(now)
	t.clock('1')
	t.note(ch.State)
}

// Jump is of hdl.Observer.
func (t *tracer) Jump(from, to uint64, ch *hdl.Changes) {
	now := int64(from) * t.period
	if t.phase != live && !t.jumpIn(now, int64(to)*t.period) {
		return
	}
	if !t.resting {
		t.note(ch.Past)
	}
	if !t.resting || t.inReset {
		t.resting = true
		t.fall(now+t.half, 'x')
	}
	if end := int64(to) * t.period; end > t.to {
		t.end(t.to)
	} else {
		t.at(end)
		t.handOver(end)
	}
}

// fall ends the clock's high half.
func (t *tracer) fall(at int64, v byte) {
	if at <= t.t || at > t.to {
		return // the window begins later, or ends before
	}
	t.at(at)
	t.clock(v)
	if t.inReset {
		t.inReset = false
		t.put(tapeReset | '0'*tapeKinds)
	}
}
