package hdl_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
)

// tag is the source of an item.
type tag uint8

func (tag) Width() int { return 4 }

// item is what flows through random graphs.
type item struct {
	Tag  tag
	Last bool
	Val  uint32
}

// affine computes Val*Mul+Add, after Wait cycles.
type affine struct {
	Mul, Add uint32
	Wait     uint64
	In       hdl.In[item]
	Out      hdl.Out[item]
	hdl.Regs[struct {
		Busy bool
		Due  uint64
	}]
}

func (m *affine) Eval() {
	switch {
	case !m.In.Valid() || !m.Out.Ready():
	case m.Wait > 0 && !m.Q.Busy:
		m.D.Busy, m.D.Due = true, m.Now()+m.Wait
		m.WakeAt(m.D.Due)
	case m.Wait == 0 || m.Now() >= m.Q.Due:
		m.D.Busy = false
		i, o := m.In.Take(), m.Out.Next()
		*o = *i
		o.Val = i.Val*m.Mul + m.Add
	}
}

// counter adds to each item how many of its tag came before: a read-modify-write
// of a RAM, pipelined over three cycles, one item in flight a tag.
type counter struct {
	In     hdl.In[item]
	Out    hdl.Out[item]
	Counts hdl.RAM[uint32]
	hdl.Regs[struct {
		Full bool
		It   item
	}]
}

func (m *counter) Eval() {
	q, d := &m.Q, &m.D
	stall := q.Full && !m.Out.Ready()
	if q.Full && !stall {
		n := *m.Counts.Data(0)
		*m.Counts.WriteNext(1, int(q.It.Tag)) = n + 1
		it := q.It
		it.Val += n
		m.Out.Put(it)
		d.Full = false
	}
	// The read of the word being written would see it as it was: wait a cycle.
	if !stall && m.In.Valid() && (!q.Full || m.In.Head().Tag != q.It.Tag) {
		d.Full, d.It = true, *m.In.Take()
		m.Counts.Read(0, int(d.It.Tag))
	}
}

// table fills a RAM after reset and then adds table[Val%16].
type table struct {
	In   hdl.In[item]
	Out  hdl.Out[item]
	Rows hdl.RAM[struct{ A, B uint32 }]
	hdl.Regs[struct {
		Filled uint8
		Asked  bool
	}]
}

func row(i uint32) (a, b uint32) { return i * i, 7 - i }

func (m *table) Eval() {
	q, d := &m.Q, &m.D
	switch {
	case q.Filled < 16:
		w := m.Rows.WriteNext(0, int(q.Filled))
		w.A, w.B = row(uint32(q.Filled))
		d.Filled++
	case q.Asked:
		if m.Out.Ready() {
			it := *m.In.Take()
			it.Val += m.Rows.Data(1).A ^ m.Rows.Data(1).B
			m.Out.Put(it)
			d.Asked = false
		}
	case m.In.Valid():
		m.Rows.Read(1, int(m.In.Head().Val%16))
		d.Asked = true
	}
}

// merge arbitrates between inputs.
type merge struct {
	In  [3]hdl.In[item]
	Out hdl.Out[item]
	hdl.Regs[struct{ Last int8 }]
}

func (m *merge) Eval() {
	req := uint64(0)
	for i := range m.In {
		if m.In[i].Valid() {
			req |= 1 << i
		}
	}
	if w := hdl.RoundRobin(req, int(m.Q.Last)); w >= 0 && m.Out.Ready() {
		m.Out.Put(*m.In[w].Take())
		m.D.Last = int8(w)
	}
}

// split sends items one way or the other by a bit of Val.
type split struct {
	In  hdl.In[item]
	Out [2]hdl.Out[item]
	hdl.Regs[struct{ Seen uint32 }]
}

func (m *split) Eval() {
	if m.In.Valid() {
		if o := &m.Out[m.In.Head().Val>>3&1]; o.Ready() {
			o.Put(*m.In.Take())
			m.D.Seen++
		}
	}
}

// gate passes items while a level is up.
type gate struct {
	In   hdl.In[item]
	Out  hdl.Out[item]
	Open hdl.Tap[bool]
	hdl.Regs[struct{ Passed uint16 }]
}

func (m *gate) Eval() {
	if m.Open.Get() && m.In.Valid() && m.Out.Ready() {
		m.Out.Put(*m.In.Take())
		m.D.Passed++
	}
}

// blinker drives a level that changes every so often.
type blinker struct {
	Period uint64
	Level  hdl.Sig[bool]
	hdl.Regs[struct{ Next uint64 }]
}

func (m *blinker) Eval() {
	if m.Now() >= m.Q.Next {
		m.Level.Set(!m.Level.Get())
		m.D.Next = m.Now() + m.Period
		m.WakeAt(m.D.Next)
	}
}

type source struct {
	hdl.Behave
	Items []item
	Out   hdl.Out[item]
	rng   *rand.Rand
}

func (s *source) Tick() {
	if len(s.Items) > 0 && s.Out.Ready() {
		s.Out.Put(s.Items[0])
		s.Items = s.Items[1:]
		s.WakeAt(s.Now() + 1 + s.rng.Uint64N(3)*s.rng.Uint64N(9))
	}
}

type sink struct {
	hdl.Behave
	In   hdl.In[item]
	Got  map[tag][]uint32
	rng  *rand.Rand
	next uint64
}

func (s *sink) Tick() {
	if s.Now() < s.next {
		return
	}
	if s.In.Valid() {
		i := s.In.Take()
		s.Got[i.Tag] = append(s.Got[i.Tag], i.Val)
		s.next = s.Now() + 1 + s.rng.Uint64N(3)*s.rng.Uint64N(9)
		s.WakeAt(s.next)
	}
}

// graph is a random design; lanes pair its loose ends with what the untimed model
// says must come out of them, in order for each tag.
type graph struct {
	Affines  []*affine
	Counters []*counter
	Tables   []*table
	Merges   []*merge
	Splits   []*split
	Gates    []*gate
	Blinkers []*blinker
	Sources  []*source
	Sinks    []*sink
	lanes    []lane
}

type lane struct {
	out  *hdl.Out[item]
	want map[tag][]uint32
}

func (l lane) apply(f func(tag, int, uint32) uint32) map[tag][]uint32 {
	r := map[tag][]uint32{}
	for t, vs := range l.want {
		for i, v := range vs {
			r[t] = append(r[t], f(t, i, v))
		}
	}
	return r
}

// grow adds one block behind a lane, chosen by the script.
func (g *graph) grow(op, pick, depth int) {
	pick %= len(g.lanes)
	l := g.lanes[pick]
	join := func(in *hdl.In[item], out *hdl.Out[item], want map[tag][]uint32) {
		hdl.Connect(l.out, in, depth)
		g.lanes[pick] = lane{out, want}
	}
	switch op {
	case 0, 1:
		m := &affine{Mul: uint32(depth)*2 + 1, Add: uint32(pick), Wait: uint64(op * depth)}
		g.Affines = append(g.Affines, m)
		join(&m.In, &m.Out, l.apply(func(_ tag, _ int, v uint32) uint32 { return v*m.Mul + m.Add }))
	case 2:
		m := &counter{}
		m.Counts.Init(16, hdl.Policy(depth%2))
		g.Counters = append(g.Counters, m)
		join(&m.In, &m.Out, l.apply(func(_ tag, i int, v uint32) uint32 { return v + uint32(i) }))
	case 3:
		m := &table{}
		m.Rows.Init(16, hdl.NoChange)
		g.Tables = append(g.Tables, m)
		join(&m.In, &m.Out, l.apply(func(_ tag, _ int, v uint32) uint32 {
			a, b := row(v % 16)
			return v + (a ^ b)
		}))
	case 4:
		m, b := &gate{}, &blinker{Period: uint64(depth * 7)}
		hdl.Wire(&b.Level, &m.Open)
		g.Gates, g.Blinkers = append(g.Gates, m), append(g.Blinkers, b)
		join(&m.In, &m.Out, l.want)
	case 5:
		m := &split{}
		g.Splits = append(g.Splits, m)
		side := [2]map[tag][]uint32{{}, {}}
		for t, vs := range l.want {
			for _, v := range vs {
				side[v>>3&1][t] = append(side[v>>3&1][t], v)
			}
		}
		join(&m.In, &m.Out[0], side[0])
		g.lanes = append(g.lanes, lane{&m.Out[1], side[1]})
	case 6: // of lanes without a common tag
		m := &merge{}
		used, want := 0, map[tag][]uint32{}
		var rest []lane
		for i := range g.lanes {
			l := g.lanes[(pick+i)%len(g.lanes)]
			common := false
			for t := range l.want {
				common = common || want[t] != nil
			}
			if used == len(m.In) || common {
				rest = append(rest, l)
				continue
			}
			hdl.Connect(l.out, &m.In[used], depth)
			used++
			for t, vs := range l.want {
				want[t] = vs
			}
		}
		for i := used; i < len(m.In); i++ {
			hdl.TieOff(&m.In[i])
		}
		g.Merges = append(g.Merges, m)
		g.lanes = append(rest, lane{&m.Out, want})
	}
}

func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sources := rapid.IntRange(1, 5).Draw(t, "sources")
		items := rapid.IntRange(1, 60).Draw(t, "items")
		script := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [3]int {
			return [3]int{rapid.IntRange(0, 6).Draw(t, "op"), rapid.IntRange(0, 99).Draw(t, "lane"), rapid.IntRange(2, 5).Draw(t, "depth")}
		}), 0, 25).Draw(t, "script")
		seed := rapid.Uint64().Draw(t, "seed")

		hdltest.Identical(t, hdl.Options{Seed: seed}, func(o hdl.Options) (hdltest.Digester, []map[tag][]uint32) {
			g := &graph{}
			for i := range sources {
				s := &source{}
				want := map[tag][]uint32{}
				for n := range items {
					v := uint32(n)*2654435761 + uint32(i)
					s.Items = append(s.Items, item{Tag: tag(i), Val: v, Last: n == items-1})
					want[tag(i)] = append(want[tag(i)], v)
				}
				g.Sources = append(g.Sources, s)
				g.lanes = append(g.lanes, lane{&s.Out, want})
			}
			for _, s := range script {
				g.grow(s[0], s[1], s[2])
			}
			for _, l := range g.lanes {
				s := &sink{Got: map[tag][]uint32{}}
				hdl.Connect(l.out, &s.In, 2)
				g.Sinks = append(g.Sinks, s)
			}
			k, err := hdl.Elaborate("graph", g, o)
			require.NoError(t, err)
			for _, s := range g.Sources {
				s.rng = k.Rand(s.Path())
			}
			for _, s := range g.Sinks {
				s.rng = k.Rand(s.Path())
			}
			require.NoError(t, k.Run(20000))
			var got []map[tag][]uint32
			for i, s := range g.Sinks {
				require.Equal(t, g.lanes[i].want, s.Got)
				got = append(got, s.Got)
			}
			return k, got
		})
	})
}
