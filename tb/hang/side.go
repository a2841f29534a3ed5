package hang

import (
	"strings"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/qpc"
	"rnic/tb"
)

// side is a host under watch.
type side struct {
	n    int
	name string
	h    *tb.Host
	log  *log
	qps  []*qp  // that exist, by number
	scan uint64 // cycle from which on the table is searched for others
}

// qp is what a Dog remembers of a QP.
type qp struct {
	n     int
	mark  mark
	tries tries
	since uint64 // cycle in which there was progress last, as seen at a barrier
	tried uint64 // cycle of the last try or progress
	work  bool
}

// mark is what changes with progress and never goes back.
type mark struct {
	State    abi.QPState
	PI       uint16
	Entered  uint16
	Oldest   uint16
	Messages uint16
	Top      roce.PSN
	Una      roce.PSN
	Retired  uint8
}

// tries is what changes with a retry.
type tries struct {
	Gen, Tries, RNR    uint8
	Rewinding, Waiting bool
}

// every is the cycles between two searches for QPs.
const every = 1 << 11

func newSide(b *tb.Bench, n int, h *tb.Host) *side {
	s := &side{n: n, name: h.K.Name(), h: h, log: newLog(uint64(b.Config.LinkLatencyPs / tb.PeriodPs))}
	h.Tap(s.log.tap)
	b.Hosts[1-n].OnFault(s.log.struck)
	return s
}

// context is what qpc knows of a QP.
func (s *side) context(n int) (c qpc.Context) {
	m := s.h.NIC.QPC
	if n < 0 || n >= m.Common.Depth() {
		return c
	}
	c.Common, c.SQ, c.Requester, c.Responder = *m.Common.Peek(n), *m.SQ.Peek(n), *m.Requester.Peek(n), *m.Responder.Peek(n)
	return c
}

// update compares the QPs with what they were, and tells whether one has work. What has
// changed did so in cycle seen at the latest.
func (s *side) update(now, seen uint64) (busy bool) {
	m := s.h.NIC.QPC
	if now >= s.scan {
		s.scan = now + every
		old := s.qps
		s.qps = nil
		for n := range m.Common.Depth() {
			for len(old) > 0 && old[0].n < n {
				old = old[1:]
			}
			switch {
			case !m.Common.Peek(n).Exists:
			case len(old) > 0 && old[0].n == n:
				s.qps = append(s.qps, old[0])
			default:
				s.qps = append(s.qps, &qp{n: n, since: seen, tried: seen})
			}
		}
	}
	for _, q := range s.qps {
		q.update(m, seen)
		busy = busy || q.work
	}
	return busy
}

func (q *qp) update(m *qpc.QPC, now uint64) {
	c, sq, r := m.Common.Peek(q.n), m.SQ.Peek(q.n), m.Requester.Peek(q.n)
	k := mark{c.State, sq.PI, sq.Entered, sq.Oldest, sq.Messages, sq.Top, r.Una, r.Retired}
	t := tries{r.Gen, r.Tries, r.RNRTries, sq.Rewinding, r.Waiting}
	work := c.Exists && hasWork(c.State, sq)
	if k != q.mark || !work || !q.work {
		q.since, q.tried = now, now
	}
	if t != q.tries {
		q.tried = now
	}
	q.mark, q.tries, q.work = k, t, work
}

// hasWork tells whether the send queue has something to do or to wait for.
func hasWork(state abi.QPState, s *qpc.SQ) bool {
	switch state {
	case abi.QPRTS, abi.QPErr, abi.QPSQE:
		return s.PI != s.Entered || s.Messages != 0
	case abi.QPSQD:
		return s.Exec != s.Entered || s.Messages != 0
	}
	return false
}

// moves counts what happens at the host: frames, completions, commands.
func (s *side) moves() uint64 {
	return s.log.frames + s.h.NIC.CQWriter.Stats.Get().CQEs + s.h.NIC.Admin.Stats.Get().Commands
}

// interrupt tells whether a thread waits for an interrupt.
func interrupt(w hdl.Waiter) bool { return strings.HasPrefix(w.Event, "interrupt") }

func firstLine(err error) string {
	l, _, _ := strings.Cut(err.Error(), "\n")
	return l
}
