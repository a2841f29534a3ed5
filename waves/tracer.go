package waves

import (
	"unsafe"

	"rnic/hdl"
)

// tracer observes one kernel and renders its changes into blocks.
type tracer struct {
	k      *hdl.Kernel
	m      *merger
	src    int
	period int64 // ps
	half   int64
	from   int64 // the window, ps
	to     int64

	place      []int32 // of owners, by number: from 1 in words, from -1 down in owners; 0: nothing to show
	words      []single
	owners     []owner
	shown      []shown
	quick      []quick // of shown, in an FST
	state      []int32 // owners of state that have variables
	past       []int32 // owners of what happens in a cycle, likewise
	clk, reset code
	rows       *rowing // of the kernel, or nil
	high       byte    // what clk is shown as

	phase   phase
	resting bool // jumping: clk is x
	early   bool // the run ended before the window
	real    bool // a step, not a jump, led to the present cycle
	inReset bool
	b       *block
	t       int64 // of what is being appended to b
	sent    int64 // upto of the last block
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
	t := &tracer{k: k, m: m, src: src, period: k.PeriodPs(), from: from, to: to, b: m.block()}
	t.half = t.period / 2
	t.clk, t.reset = newCode(f, vars[0], true), newCode(f, vars[1], true)
	byOwner := map[int][]*Var{}
	top := -1
	for _, v := range vars[2:] {
		if v.Row {
			continue
		}
		byOwner[v.Signal.Owner] = append(byOwner[v.Signal.Owner], v)
		top = max(top, v.Signal.Owner)
	}
	t.place = make([]int32, top+1)
	for o := range t.place {
		if own := byOwner[o]; own != nil {
			t.add(o, own, f)
		}
	}
	return t
}

// attach starts to observe, at the kernel's present cycle.
func (t *tracer) attach() {
	t.k.Observe(t)
	for o, p := range t.place {
		switch home := t.k.Home(o); {
		case p > 0:
			t.words[p-1].home = home
		case p < 0:
			t.owners[^p].home = home
		}
	}
	t.inReset = t.k.Cycle() == 0 && t.from < t.half
	if int64(t.k.Cycle()+1)*t.period > t.from {
		t.note(t.state)
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
	t.changes(ch.Past)
	t.fall(now-t.period+t.half, '0')
	if now > t.to {
		t.end(t.to)
		return
	}
	t.at(now)
	t.handOver(now)
	t.clock('1')
	t.changes(ch.State)
}

// Jump is of hdl.Observer.
func (t *tracer) Jump(from, to uint64, ch *hdl.Changes) {
	now := int64(from) * t.period
	if t.phase != live && !t.jumpIn(now, int64(to)*t.period) {
		return
	}
	if !t.resting {
		t.changes(ch.Past)
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
		t.level(&t.reset, '0')
	}
}

func (t *tracer) clock(v byte) {
	if v != t.high {
		t.high = v
		t.level(&t.clk, v)
	}
}

func (t *tracer) level(c *code, v byte) {
	t.b.buf = c.bit(t.b.buf, v)
}

// changes renders owners as they are now.
func (t *tracer) changes(list []int32) {
	for _, o := range list {
		if int(o) >= len(t.place) {
			continue
		}
		switch p := t.place[o]; {
		case p > 0:
			w := &t.words[p-1]
			t.word(w, *(*uint64)(w.home))
		case p < 0:
			w := &t.owners[^p]
			base := w.home
			if base == nil {
				base = t.k.Base(int(o))
			}
			t.owner(w, base)
		}
	}
}

// word renders an owner that is one word.
func (t *tracer) word(w *single, now uint64) {
	now &= w.mask
	diff := now ^ w.shown
	if diff == 0 {
		return
	}
	w.shown = now
	b := t.b.buf
	if t.quick == nil {
		for i := w.first; i < w.last; i++ {
			b = t.shown[i].update(b, w.home)
		}
		t.b.buf = b
		return
	}
	for i := w.first; i < w.last; i++ {
		if q := &t.quick[i]; diff&q.mask != 0 {
			b = q.append(b, now)
			if q.text {
				b = t.shown[i].text.change(b, now&q.mask>>q.shift, false)
			}
		}
	}
	t.b.buf = b
}

func (t *tracer) owner(o *owner, base unsafe.Pointer) {
	b, own := t.b.buf, t.shown[o.first:o.last]
	switch {
	case base == nil && o.void:
	case base == nil && o.shadow != nil:
		o.void = true
		b = o.shadow.void(b, own)
	case base == nil:
		o.void = true
		for i := range own {
			b = own[i].void(b)
		}
	case o.shadow != nil:
		b = o.shadow.update(b, own, base, o.void)
		o.void = false
	default:
		o.void = false
		for i := range own {
			b = own[i].update(b, base)
		}
	}
	t.b.buf = b
}

// at closes the changes of one time and begins those of another.
func (t *tracer) at(ps int64) {
	t.b.close(t.t)
	t.t = ps
}
