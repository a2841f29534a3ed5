package waves

import (
	"cmp"
	"math"
	"slices"

	"rnic/hdl"
)

// rowing renders the rows of one kernel: a source of its own for the merger, behind
// the kernel by RowLag.
type rowing struct {
	k        *hdl.Kernel
	m        *merger
	src      int
	from, to int64 // the window, ps
	tracks   []*track
	begun    bool // the values at the beginning are rendered
	due      []event
	b        *block
}

// newRowing is the rows of a tracer's kernel, or nil if the file has none of them.
func newRowing(t *tracer, f *File) *rowing {
	g := &rowing{k: t.k, m: t.m, src: len(t.m.queues), from: t.from, to: t.to}
	for _, v := range f.Vars {
		if v.Row && v.Kernel == t.src {
			tr := &track{v: v, g: g, code: newCode(f.format, v, false), last: math.MinInt64}
			g.tracks = append(g.tracks, tr)
			v.row.into = append(v.row.into, tr)
		}
	}
	if g.tracks == nil {
		return nil
	}
	t.m.queues = append(t.m.queues, queue{})
	g.b = t.m.block()
	return g
}

// handOver gives the merger all before a time.
func (g *rowing) handOver(upto int64) {
	if upto <= g.from {
		return
	}
	g.render(upto)
	g.b.src, g.b.upto = g.src, upto
	g.m.in <- g.b
	g.b = g.m.block()
}

// finish gives the rest, where the kernel's waves end.
func (g *rowing) finish(final int64) {
	g.render(final + 1)
	g.b.src, g.b.upto, g.b.final, g.b.last = g.src, never, final, true
	g.m.in <- g.b
	for _, t := range g.tracks {
		t.v.row.into = slices.DeleteFunc(t.v.row.into, func(x *track) bool { return x == t })
	}
}

// render puts into the block what is to be shown before a time.
func (g *rowing) render(upto int64) {
	if !g.begun {
		g.begun = true
		for _, t := range g.tracks {
			t.show(t.begins)
		}
		g.b.close(g.from)
	}
	g.due = g.due[:0]
	for i, t := range g.tracks {
		n := 0
		for n < len(t.events) && t.events[n].ps < upto {
			e := t.events[n]
			e.track = i
			g.due = append(g.due, e)
			n++
		}
		t.events = slices.Delete(t.events, 0, n)
	}
	slices.SortStableFunc(g.due, func(a, b event) int { return cmp.Compare(a.ps, b.ps) })
	for i, e := range g.due {
		last := i+1 == len(g.due) || g.due[i+1].ps != e.ps
		if t := g.tracks[e.track]; (last || g.due[i+1].track != e.track) && t.shown != e.text {
			t.show(e.text)
		}
		if last {
			g.b.close(e.ps)
		}
	}
}

func (t *track) show(text string) {
	t.shown = text
	t.v.told = t.v.told || text != ""
	t.g.b.buf = t.code.text(t.g.b.buf, text)
}
