package retrans_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/retrans"
)

// message is one that was pushed, and the ways in which it may end.
type message struct {
	sent   port.Sent
	ends   []abi.WCStatus // if not acknowledged
	pushed int            // place among all that were pushed
}

// life is a QP between two purges, as qpc and wqe_sched know it.
type life struct {
	messages []*message
	next     roce.PSN
	una      roce.PSN
	failed   bool // something is to fail, and no more is acknowledged from stop on
	flush    bool // all is to be flushed
	stop     roce.PSN
	status   abi.WCStatus
	purging  bool // the marker is on its way
	purged   bool

	unacked   bool // nobody answers
	revived   bool // it has gone on after a failure
	gen       uint8
	rewinding bool // and no answer has come
	at        roce.PSN
	ready     uint64 // cycle before which none may come

	completed int // messages whose turn is over, from CQEs
	retired   int
}

// program drives the block at random as its neighbours would, and judges what
// comes out when it does.
type program struct {
	t       require.TestingT
	b       *bench
	r       *rand.Rand
	qps     []*life
	entries int
	credits int
	pushed  int
	unit    uint16
	timers  bool
	purges  int

	timeouts, failures, rewinds, revivals int
}

// newLife is one of a QP number whose last rewind had generation gen.
func newLife(r *rand.Rand, gen uint8) *life {
	l := &life{next: roce.PSN(r.UintN(1 << 24)), gen: gen}
	if r.IntN(2) == 0 {
		l.next = roce.PSN(1<<24 - 1 - r.UintN(8))
	}
	l.una, l.unacked = l.next, r.IntN(3) == 0
	return l
}

func (p *program) arm(l *life) uint64 {
	if !p.timers || l.unacked || p.r.IntN(4) == 0 {
		return 0
	}
	return uint64(16) << p.r.IntN(8)
}

// push sends a message if there is a credit.
func (p *program) push(qpn int) {
	l := p.qps[qpn]
	if p.credits == 0 || l.purging || l.rewinding {
		return
	}
	p.credits--
	p.unit++
	m := &message{sent: port.Sent{
		QPN: port.QPN(qpn), Gen: l.gen, UnitIdx: p.unit, Op: abi.WQEOp(p.r.IntN(int(abi.OpFetchAdd) + 1)), Signaled: p.r.IntN(3) > 0, SendCQN: port.CQN(qpn) + 100,
		Arm: p.arm(l), FirstPSN: l.next, LastPSN: l.next, ByteLen: p.r.Uint32(),
	}, pushed: p.pushed}
	p.pushed++
	if s := &m.sent; p.r.IntN(4) == 0 {
		s.Kind, s.Op = port.SentLocal, abi.OpNop
		s.Status = []abi.WCStatus{abi.StatusSuccess, abi.StatusLocQPOp, abi.StatusWRFlush}[p.r.IntN(3)]
	} else {
		l.next = l.next.Add(1 + p.r.Uint32N(4))
		s.LastPSN = l.next.Sub(1)
	}
	l.messages = append(l.messages, m)
	p.b.Sent.Push(m.sent)
	if m.sent.Kind == port.SentWire && !l.unacked && p.r.IntN(8) > 0 {
		p.b.leave(port.QPN(qpn), m.sent.LastPSN)
	}
}

// onTable tells whether the message that holds a PSN has left its source.
func (p *program) onTable(l *life, psn roce.PSN) bool {
	for _, m := range l.messages {
		if m.sent.Kind == port.SentWire && psn.Within(m.sent.FirstPSN, m.sent.LastPSN.Diff(m.sent.FirstPSN)+1) {
			return m.pushed < p.b.Sent.Sent()
		}
	}
	return false
}

// event is what qpc says of the QP at present.
func (p *program) event(qpn int) port.AckEvent {
	l := p.qps[qpn]
	e := port.AckEvent{QPN: port.QPN(qpn), Una: l.una, Arm: p.arm(l), Gen: l.gen}
	switch {
	case l.flush:
		e.Flush, e.Status, e.Vendor = true, abi.StatusWRFlush, abi.VendorFlush
	case l.failed:
		e.Fail, e.FailPSN, e.Status, e.Vendor = true, l.stop, l.status, abi.VendorErr(l.status)
	}
	return e
}

// limit is the PSN after the last one that may be acknowledged.
func (l *life) limit() roce.PSN {
	if l.failed {
		return l.stop
	}
	return l.next
}

// ack acknowledges some PSNs that were sent.
func (p *program) ack(qpn int) {
	l := p.qps[qpn]
	n := l.limit().Diff(l.una)
	if l.purging || n == 0 {
		return
	}
	to := l.una.Add(1 + p.r.Uint32N(min(n, 8)))
	if !p.onTable(l, to.Sub(1)) {
		return
	}
	l.una = to
	if l.unacked {
		p.b.Left.Push(port.Left{QPN: port.QPN(qpn), LastPSN: to.Sub(1), Unacked: true})
		return
	}
	p.b.Ack.Push(p.event(qpn))
}

// rewind has the QP send again: at once or later, by either port.
func (p *program) rewind(qpn int) {
	l := p.qps[qpn]
	if l.purging || l.failed || l.unacked || !p.entered(l) {
		return
	}
	e := p.rewound(qpn)
	if p.r.IntN(2) == 0 {
		p.b.Ack.Push(e)
	} else {
		p.b.Event.Push(e)
	}
}

// rewound is the event of a rewind.
func (p *program) rewound(qpn int) port.AckEvent {
	l := p.qps[qpn]
	e := p.event(qpn)
	e.Rewind, e.At, e.Gen, e.Wait = true, l.una, l.gen+1, uint64(p.r.IntN(2)*p.r.IntN(2000))
	l.gen, l.rewinding, l.at, l.ready = e.Gen, true, e.At, p.b.k.Cycle()+e.Wait
	p.rewinds++
	return e
}

// entered tells whether there are messages, and all are on the table.
func (p *program) entered(l *life) bool {
	return len(l.messages) > 0 && !p.b.DUT.Sent.Valid() && l.messages[len(l.messages)-1].pushed < p.b.Sent.Sent()
}

var failures = []abi.WCStatus{abi.StatusRetryExc, abi.StatusLocProt, abi.StatusRemOp, abi.StatusRNRRetryExc}

// fail has the QP fail at a PSN that was sent: by a NAK, or by a local fault.
func (p *program) fail(qpn int) {
	l := p.qps[qpn]
	n := l.limit().Diff(l.una)
	if l.purging || l.flush || n == 0 {
		return
	}
	psn := l.una.Add(p.r.Uint32N(n))
	if !p.onTable(l, psn) {
		return
	}
	nak := p.r.IntN(2) == 0 && !l.unacked
	if nak {
		l.una = psn
	}
	l.fault(psn, failures[p.r.IntN(len(failures))])
	p.failures++
	if nak {
		p.b.Ack.Push(p.event(qpn))
	} else {
		p.b.Event.Push(p.event(qpn))
	}
}

// fault notes how the message that holds psn ends. It may have failed in its turn
// for another reason before that is known.
func (l *life) fault(psn roce.PSN, status abi.WCStatus) {
	l.rewinding = false
	l.failed, l.stop, l.status = true, psn, status
	for _, m := range l.messages {
		if m.sent.Kind == port.SentWire && psn.Within(m.sent.FirstPSN, m.sent.LastPSN.Diff(m.sent.FirstPSN)+1) {
			m.ends = append(m.ends, status)
		}
	}
}

// flush has all fail that is not acknowledged.
func (p *program) flush(qpn int) {
	l := p.qps[qpn]
	if l.purging || l.failed && l.una == l.stop {
		return
	}
	l.failed, l.flush, l.stop, l.rewinding = true, true, l.una, false
	p.failures++
	p.b.Event.Push(p.event(qpn))
}

// purge resets the QP. An acknowledgement may come later than the marker.
func (p *program) purge(qpn int) {
	l := p.qps[qpn]
	if l.purging || p.b.Sent.Pending() > 0 || p.b.Event.Pending() > 0 || p.b.Left.Pending() > 0 {
		return
	}
	if l.una != l.limit() && p.onTable(l, l.una) && p.r.IntN(2) == 0 {
		p.ack(qpn)
	}
	l.purging = true
	p.purges++
	p.b.Purge.Push(port.Purge{QPN: port.QPN(qpn)})
}

// revive has a QP that nobody answers go on after a failure, all of which has ended.
func (p *program) revive(th *hdl.Thread, qpn int) {
	l := p.qps[qpn]
	rest := func() bool {
		return l.failed && l.unacked && !l.purging && l.retired == len(l.messages) && p.quiet() && p.b.Left.Pending() == 0
	}
	if !rest() {
		return
	}
	if th.Sleep(100); !rest() {
		return
	}
	for ; l.completed < len(l.messages); l.completed++ {
		require.True(p.t, p.silent(l, l.completed), "QP %d message %d", qpn, l.completed)
	}
	late := p.event(qpn)
	*l = life{next: l.next, una: l.next, unacked: true, revived: true, gen: l.gen + 1}
	p.push(qpn)
	if p.r.IntN(2) == 0 && len(l.messages) > 0 {
		for !p.entered(l) {
			th.Sleep(5)
		}
		p.b.Ack.Push(late) // by way of scatter
	}
	p.revivals++
}

// quiet tells whether what was on its way of former lives has come.
func (p *program) quiet() bool {
	return p.b.Ack.Pending() == 0 && p.b.Event.Pending() == 0 && !p.b.Retire.In.Valid() && !p.b.CQE.In.Valid()
}

// step does something at random.
func (p *program) step(th *hdl.Thread) {
	qpn := p.r.IntN(len(p.qps))
	l := p.qps[qpn]
	if l.purged && p.quiet() {
		th.Sleep(100)
		if p.quiet() {
			p.qps[qpn] = newLife(p.r, l.gen)
		}
		return
	}
	switch k := p.r.IntN(100); {
	case k < 45:
		p.push(qpn)
	case k < 86:
		p.ack(qpn)
	case k < 90:
		p.rewind(qpn)
	case k < 92:
		p.fail(qpn)
	case k < 93:
		p.flush(qpn)
	case k < 95:
		p.purge(qpn)
	case k < 97 || l.failed:
		p.revive(th, qpn)
	default:
		th.Sleep(uint64(p.r.IntN(200)))
	}
	if p.r.IntN(3) == 0 {
		th.Sleep(1 + uint64(p.r.IntN(8)))
	}
}

// finish ends what is left: all is acknowledged up to where the QP failed.
func (p *program) finish(th *hdl.Thread) {
	for {
		open := false
		for qpn, l := range p.qps {
			if l.purging {
				open = open || !l.purged
				continue
			}
			open = open || l.retired < len(l.messages) || l.rewinding
			p.ack(qpn)
		}
		if !open {
			break
		}
		th.Sleep(50)
	}
	th.Sleep(5000)
}

func (p *program) run(steps int) {
	p.b.Free.OnTake = func(f port.SentFree) { p.credits += int(f.N) }
	p.b.Retire.OnTake = p.retired
	p.b.CQE.OnTake = p.completion
	p.b.k.Go("program", func(th *hdl.Thread) {
		for range steps {
			p.step(th)
		}
		p.finish(th)
		p.b.k.Stop()
	})
	require.NoError(p.t, p.b.k.Run(10_000_000))
	require.Less(p.t, p.b.k.Cycle(), uint64(10_000_000), "messages are left")
	require.Equal(p.t, p.entries, p.credits)
	for qpn, l := range p.qps {
		if l.purging {
			continue
		}
		for ; l.completed < len(l.messages); l.completed++ {
			require.True(p.t, p.silent(l, l.completed), "QP %d message %d", qpn, l.completed)
		}
	}
}

// TestPrograms runs random programs of several QPs: each message ends once, in
// order, in a way that is right, and all credits come home. Fast and strict runs
// agree to the bit.
func TestPrograms(t *testing.T) {
	var timeouts, failures, purges, rewinds, revivals int
	rapid.Check(t, func(t *rapid.T) {
		logQP := rapid.UintRange(1, 5).Draw(t, "logQP")
		entries := rapid.SampledFrom([]int{1, 2, 5, 16, 64}).Draw(t, "entries")
		burst := rapid.IntRange(1, 8).Draw(t, "burst")
		throttle := rapid.Uint64Range(0, 3).Draw(t, "throttle")
		timers := rapid.Bool().Draw(t, "timers")
		seed := rapid.Uint64().Draw(t, "seed")
		p := hdltest.Identical(t, hdl.Options{Seed: seed}, func(o hdl.Options) (hdltest.Digester, [6]int) {
			b := newBench(t, o, retrans.Params{LogQP: logQP, Entries: entries, Burst: burst}, throttle)
			defer b.k.Close()
			p := &program{t: t, b: b, r: rand.New(rand.NewPCG(seed, 7)), entries: entries, credits: entries, timers: timers}
			for range 1 << logQP {
				p.qps = append(p.qps, newLife(p.r, 0))
			}
			p.run(600)
			return b.k, [6]int{p.timeouts, p.failures, p.purges, p.pushed, p.rewinds, p.revivals}
		})
		timeouts, failures, purges, rewinds, revivals = timeouts+p[0], failures+p[1], purges+p[2], rewinds+p[4], revivals+p[5]
	})
	require.NotZero(t, timeouts)
	require.NotZero(t, failures)
	require.NotZero(t, purges)
	require.NotZero(t, rewinds)
	require.NotZero(t, revivals)
}
