package cqwriter_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	cqwriter "rnic/rtl/cq_writer"
	"rnic/rtl/port"
)

// The model knows no time: each operation has all its effects at once. Queues are
// lists of all that ever went into them.

type modelCQ struct {
	log, eqn  int
	wakes     []bool // of each CQE: it is solicited or in error
	ci        int
	any, sol  bool // armed for
	dead      bool
	owed, err bool // events that the event queue had no room for

	count, period int
	held          int // steps after which the event that is held must have come; 0: none is
	ring, origin  int // of how many it is the last, and the CQE in its slot 0
}

// trigger ends an arm whose CQE is there.
func (c *modelCQ) trigger() {
	c.any, c.sol = false, false
	switch {
	case c.owed || c.held != 0:
	case c.period == 0 || c.enough():
		c.owed = true
	default:
		c.held = 2 + (c.period+1)*unit/stepCycles
	}
}

func (c *modelCQ) enough() bool { return c.count != 0 && len(c.wakes)-c.ci >= c.count }

const stepCycles = 500

type modelEQ struct {
	log, vector int
	pi, ci      int
	armed       bool
	cqs         int
}

type model struct {
	cqs    map[int]*modelCQ
	eqs    map[int]*modelEQ
	async  []port.EventReq
	lasts  []lastOf
	ends   int
	vector uint32 // vectors raised in the present step
	bad    uint64
	lost   uint64
}

// tell takes an event that the device wrote: it must have been due. Which of the
// CQs that wait for room is served first is not said.
func (m *model) tell(t *rapid.T, n int, e abi.Event) {
	q := m.eqs[n]
	require.NotNil(t, q)
	require.Less(t, q.pi-q.ci, 1<<q.log, "event queue overrun")
	require.Equal(t, q.pi>>q.log&1 == 0, e.Phase)
	q.pi++
	if q.armed {
		q.armed = false
		m.vector |= 1 << q.vector
	}
	if e.Type == abi.EventQPLastWQEReached {
		require.Zero(t, n)
		m.tellLast(t, int(e.Number))
		return
	}
	if e.Type != abi.EventCompletion && e.Type != abi.EventCQErr {
		require.Zero(t, n)
		require.NotEmpty(t, m.async)
		require.Equal(t, m.async[0], port.EventReq{Type: e.Type, Number: e.Number, Syndrome: e.Syndrome})
		m.async = m.async[1:]
		return
	}
	c := m.cqs[int(e.Number)]
	require.NotNil(t, c)
	require.Equal(t, c.eqn, n)
	if c.held != 0 && e.Type == abi.EventCompletion { // it may have come
		c.held, c.owed = 0, true
	}
	owed := &c.owed
	if e.Type == abi.EventCQErr {
		owed = &c.err
	}
	require.True(t, *owed, "%v of CQ %d is not due", e.Type, e.Number)
	*owed = false
}

// settled checks that what was not told had no room.
func (m *model) settled(t *rapid.T) {
	full := func(n int) bool { return m.eqs[n].pi-m.eqs[n].ci == 1<<m.eqs[n].log }
	for n, c := range m.cqs {
		if c.held == 1 { // its time is over
			c.held, c.owed = 0, true
		}
		c.held = max(0, c.held-1)
		require.True(t, !c.owed && !c.err || full(c.eqn), "an event of CQ %d is lost", n)
	}
	if m.eqs[0] == nil {
		m.lost += uint64(len(m.async) + m.owedLasts())
		m.async, m.lasts = nil, nil
	}
	require.True(t, m.owedLasts() == 0 || full(0), "last WQEs: %v", m.lasts)
	require.True(t, len(m.async) == 0 || full(0))
}

func (m *model) complete(n int, wakes bool) (fatal bool) {
	c := m.cqs[n]
	switch {
	case c == nil:
		m.lost++
		return false
	case c.dead || len(c.wakes)-c.ci == 1<<c.log:
		c.err = c.err || !c.dead
		c.dead = true
		return true
	}
	c.wakes = append(c.wakes, wakes)
	if c.any || c.sol && wakes {
		c.trigger()
	}
	if c.held != 0 && c.enough() {
		c.held, c.owed = 0, true
	}
	return false
}

func (m *model) bell(n, ci int, arm, solicited bool) {
	c := m.cqs[n]
	if c == nil || ci < c.ci || ci > len(c.wakes) {
		m.bad++
		return
	}
	c.ci = ci
	if !arm {
		return
	}
	c.any = c.any || !solicited
	c.sol = true
	if c.any && ci < len(c.wakes) || slices.Contains(c.wakes[ci:], true) {
		c.trigger()
	}
}

// TestEqualsModel does one operation after another, and compares all that came of
// each with the model: CQEs, events, interrupts, answers.
func TestEqualsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cqs, eqs, qps = 6, 3, 4
		b := newBench(t, cqwriter.Params{CQs: cqs, EQs: eqs, QPs: qps}, hdl.Options{Strict: rapid.Bool().Draw(t, "strict")},
			rapid.Uint64Range(0, 5).Draw(t, "throttle"))
		m := &model{cqs: map[int]*modelCQ{}, eqs: map[int]*modelEQ{}}
		pickCQ := func(t *rapid.T) int { return rapid.IntRange(0, cqs).Draw(t, "cqn") }
		pickEQ := func(t *rapid.T) int { return rapid.IntRange(0, eqs).Draw(t, "eqn") }
		var wantCQE []abi.CQE // of the present step
		var wantAddr []port.BusAddr
		var fatal, seen int
		ask := func(o port.CQAdmin, want abi.AdminStatus) {
			n := len(b.AdminRes.Got)
			b.Admin.Push(o)
			for range stepCycles {
				b.k.Step()
			}
			require.Len(t, b.AdminRes.Got, n+1)
			require.Equal(t, want, b.AdminRes.Got[n].Status)
		}
		for n := range 2 { // to begin with, so that most steps do something
			m.eqs[n] = &modelEQ{log: 2, vector: n}
			ask(createEQ(n, 2, uint8(n)), abi.AdminOK)
		}
		for n := range 3 {
			m.cqs[n] = &modelCQ{log: 2, eqn: n % 2, period: n % 2}
			m.eqs[n%2].cqs++
			ask(moderated(n, 2, n%2, 0, uint16(n%2)), abi.AdminOK)
			m.bell(n, 0, true, false)
			b.Bell.Push(arm(n, 0, false))
		}
		t.Repeat(map[string]func(*rapid.T){
			"createEQ": func(t *rapid.T) {
				n, log, vector := pickEQ(t), rapid.IntRange(0, 2).Draw(t, "log"), rapid.IntRange(0, 2).Draw(t, "vector")
				want := abi.AdminOK
				switch {
				case n == eqs:
					want = abi.AdminBadObject
				case m.eqs[n] != nil:
					want = abi.AdminExists
				default:
					m.eqs[n] = &modelEQ{log: log, vector: vector}
				}
				ask(createEQ(n, uint8(log), uint8(vector)), want)
			},
			"createCQ": func(t *rapid.T) {
				n, log, eqn := pickCQ(t), rapid.IntRange(0, 3).Draw(t, "log"), pickEQ(t)
				want := abi.AdminOK
				switch {
				case n == cqs:
					want = abi.AdminBadObject
				case m.cqs[n] != nil:
					want = abi.AdminExists
				case m.eqs[eqn] == nil:
					want = abi.AdminBadParam
				default:
					m.cqs[n] = &modelCQ{log: log, eqn: eqn}
					m.eqs[eqn].cqs++
				}
				ask(createCQ(n, uint8(log), eqn), want)
			},
			"modifyCQ": func(t *rapid.T) {
				n, count, period := pickCQ(t), rapid.IntRange(0, 3).Draw(t, "count"), rapid.IntRange(0, 4).Draw(t, "period")
				want, c := abi.AdminOK, m.cqs[n]
				switch {
				case c == nil:
					want = abi.AdminBadObject
				case period == 0 && count > 1:
					want = abi.AdminBadParam
				default:
					c.count, c.period = count, period
					if c.held != 0 {
						c.held, c.owed = 0, true
					}
				}
				ask(modify(n, uint16(count), uint16(period)), want)
			},
			"resizeCQ": func(t *rapid.T) {
				n, log, ci := pickCQ(t), rapid.IntRange(0, 3).Draw(t, "log"), rapid.IntRange(-1, 9).Draw(t, "ci")
				want, c, ring := abi.AdminBadObject, m.cqs[n], 0
				if c != nil {
					ci += c.ci
					if ci < c.ci || ci > len(c.wakes) { // means nothing
						ci = c.ci
					}
					ring = c.ring + 1
					switch {
					case c.dead:
						want = abi.AdminBadState
					case len(c.wakes)-ci > 1<<log:
						want = abi.AdminBadParam
					default:
						want = abi.AdminOK
						c.ci, c.log, c.ring, c.origin = ci, log, ring, len(c.wakes)
					}
				}
				ask(resize(n, ring, uint8(log), uint16(ci)), want)
				if want == abi.AdminOK {
					require.EqualValues(t, c.origin, b.AdminRes.Got[len(b.AdminRes.Got)-1].Index)
				}
			},
			"destroyEQ": func(t *rapid.T) {
				n := pickEQ(t)
				want := abi.AdminOK
				switch {
				case m.eqs[n] == nil:
					want = abi.AdminBadObject
				case m.eqs[n].cqs != 0:
					want = abi.AdminBusy
				default:
					delete(m.eqs, n)
				}
				ask(port.CQAdmin{Op: port.EQDestroy, Number: uint32(n)}, want)
			},
			"destroyCQ": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "rarely") != 0 {
					return
				}
				n := pickCQ(t)
				want := abi.AdminBadObject
				if c := m.cqs[n]; c != nil {
					want = abi.AdminOK
					m.eqs[c.eqn].cqs--
					delete(m.cqs, n)
				}
				ask(port.CQAdmin{Op: port.CQDestroy, Number: uint32(n)}, want)
			},
			"complete": func(t *rapid.T) {
				n, recv, sol := pickCQ(t), rapid.Bool().Draw(t, "recv"), rapid.Bool().Draw(t, "solicited")
				status := rapid.SampledFrom([]abi.WCStatus{0, 0, abi.StatusWRFlush}).Draw(t, "status")
				r := port.CQEReq{CQN: port.CQN(n), QPN: 5, Solicited: sol, Status: status, UnitIdx: uint16(len(b.log))}
				c := m.cqs[n]
				if m.complete(n, sol || status != 0) {
					fatal++
				} else if c != nil {
					wantCQE = append(wantCQE, abi.CQE{QPN: 5, Status: status, Index: r.UnitIdx, Phase: (len(c.wakes)-1-c.origin)>>c.log&1 == 0})
					at := otherRing(n, c.ring)
					wantAddr = append(wantAddr, at+port.BusAddr((len(c.wakes)-1-c.origin)&(1<<c.log-1))*abi.CQESize)
				}
				if recv {
					b.Recv.Push(r)
				} else {
					b.Send.Push(r)
				}
			},
			"bell": func(t *rapid.T) {
				n, arms, sol := pickCQ(t), rapid.Bool().Draw(t, "arm"), rapid.Bool().Draw(t, "solicited")
				ci := rapid.IntRange(-1, 9).Draw(t, "ci")
				if c := m.cqs[n]; c != nil {
					ci += c.ci
				}
				m.bell(n, ci, arms, sol)
				b.Bell.Push(port.CQDoorbell{CQN: port.CQN(n), CI: uint16(ci), Page: uint8(n), Arm: arms, Solicited: sol})
			},
			"bellEQ": func(t *rapid.T) {
				n, ci := pickEQ(t), rapid.IntRange(-1, 5).Draw(t, "ci")
				if e := m.eqs[n]; e != nil {
					ci = min(e.ci+ci, e.pi+1)
				}
				m.bellEQ(n, ci)
				b.Bell.Push(rearm(n, uint16(ci)))
			},
			"async": func(t *rapid.T) {
				if len(m.async) > 2 {
					return // the port takes no more
				}
				r := port.EventReq{Type: abi.EventQPFatal, Number: uint32(rapid.IntRange(0, 99).Draw(t, "number")), Syndrome: 3}
				m.async = append(m.async, r)
				b.Async.Push(r)
			},
			"lastWQE": func(t *rapid.T) {
				first := rapid.IntRange(0, qps).Draw(t, "qpn")
				for i := range rapid.IntRange(1, 3).Draw(t, "QPs") {
					qpn := (first + i) % (qps + 1)
					m.last(qpn, qps)
					b.Recv.Push(port.CQEReq{LastWQE: true, CQN: port.CQN(pickCQ(t)), QPN: port.QPN(qpn)})
				}
			},
			"end": func(t *rapid.T) {
				qpn, rx := rapid.IntRange(0, qps).Draw(t, "qpn"), rapid.Bool().Draw(t, "rx")
				m.ends++
				if rx {
					m.end(qpn)
					b.Recv.Push(endOf(port.QPN(qpn)))
				} else {
					b.Send.Push(port.CQEReq{Purge: true, QPN: port.QPN(qpn)})
				}
			},
			"": func(t *rapid.T) {
				for range stepCycles {
					b.k.Step()
				}
				for n := -1; n != len(b.log); { // an event that was held may have come just now
					n = len(b.log)
					for range 200 {
						b.k.Step()
					}
				}
				var cqes []abi.CQE
				var addrs []port.BusAddr
				var vectors uint32
				for ; seen < len(b.log); seen++ {
					l := &b.log[seen]
					switch {
					case l.isCQE():
						c := l.cqe()
						c.Timestamp = 0
						cqes = append(cqes, c)
						addrs = append(addrs, l.Addr)
					case l.isEvent():
						e := l.event()
						if c := m.cqs[int(e.Number)]; c == nil || c.held == 0 {
							require.Len(t, cqes, len(wantCQE), "an event before its CQE")
						}
						m.tell(t, l.queue(), e)
					default:
						require.Zero(t, vectors>>l.queue()&1, "vector %d twice", l.queue())
						vectors |= 1 << l.queue()
						require.Equal(t, vectors, m.vector&vectors, "an interrupt before its event")
					}
				}
				m.settled(t)
				require.Equal(t, wantCQE, cqes)
				require.Equal(t, wantAddr, addrs)
				require.Equal(t, m.vector, vectors)
				require.Equal(t, m.bad, b.W.Stats.Get().BadNumber)
				require.Equal(t, m.lost, b.W.Stats.Get().Dropped)
				require.Len(t, b.Fatal.Got, fatal)
				require.Len(t, b.Purged.Got, m.ends)
				wantCQE, wantAddr, m.vector = nil, nil, 0
			},
		})
	})
}
