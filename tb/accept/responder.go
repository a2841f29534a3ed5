package accept

import (
	"slices"

	"rnic/abi"
	"rnic/roce"
)

// receive is a receive work request and when it was posted.
type receive struct {
	RecvWR
	posted uint64
	rung   uint64 // cycle in which the NIC was told of it; 0: not known
}

// responder is the receiving half of a QP.
type responder struct {
	posts   []receive // all of this life
	done    int       // of them, completed
	flushed bool      // one has been
	states  []*state  // in which it may be; at least one
	begins  seq
	values  map[seq]uint64  // that atomics returned
	atoms   map[seq]*atomic // requests that may have been carried out
}

// saved is a READ or atomic that can be answered again.
type saved struct {
	first seq
	n     int
	op    roce.Opcode
	va    uint64
	key   abi.Key
	len   int
}

// state is one that the responder may be in when all that has arrived is judged.
type state struct {
	epsn   seq
	msn    uint32
	acked  seq  // the highest PSN that was answered
	gap    bool // a NAK sequence is out, or due, until epsn comes
	rnr    bool // an RNR NAK
	dead   bool
	closed bool // its fatal NAK is out
	alarm  alarm
	credit int // messages and receives that the peer was told of
	spare  int // acknowledgements of duplicates that may come one by one

	deaf   uint64 // cycle since when what comes may be dropped for a fault that is dealt with; 0: it is not
	torn   bool   // the rest of a message is missing
	inside bool   // between first and last of a message
	write  bool   // it is a WRITE
	va     uint64
	key    abi.Key
	total  int // of a WRITE, as announced
	length int // so far
	index  int // of the receive that it has taken

	saved []saved     // READs and atomics, the youngest last
	taken int         // receives
	found uint64      // cycle in which the youngest of them was posted: those posted with it are there, too
	last  int         // and of that which completed last
	came  int         // order of the message that took the last of a shared queue
	ahead uint64      // cycle in which it took one that was not posted yet
	dues  []due       // answers that are owed, in order
	marks []milestone // since the last answer
	ended []arrival
	lands []landing

	duplicates, gaps, empty, dropped int
	maybe                            int // perhaps dropped besides
	unsure                           int // of the first two, perhaps lost

	n tally // of a QP that answers nothing
}

// milestone is what a message was completed with.
type milestone struct {
	msn   uint32
	taken int // receives by then
	psn   seq // its last
}

// arrival is a message that completes a receive.
type arrival struct {
	index    int
	status   abi.WCStatus
	opcode   abi.WCOpcode
	flags    abi.CQEFlags
	imm      uint32
	len      int
	from     uint32 // QP that it came from
	came     int    // order among all messages, if the queue is shared
	at       uint64
	landings int // among those of the state, how many it and those before it have made
}

// answer is what is owed.
type answer uint8

const (
	ack answer = iota
	read
	atom
	nak
)

// due is an answer that is owed.
type due struct {
	answer answer
	psn    seq
	limit  seq  // acknowledgements of PSNs from it on must not pass
	again  bool // for a duplicate
	may    bool // it need not come
	syn    roce.Syndrome
	msn    uint32 // with the request
	data   *source
	last   seq // of a READ
	begun  bool
	len    int // left to send
	off    int
}

// source is where a READ reads, and what was there when it came.
type source struct {
	key  abi.Key
	va   uint64
	n    int
	then []byte
}

func (r *responder) begin(p roce.PSN) {
	s := begin(p)
	r.begins = s
	r.values, r.atoms = map[seq]uint64{}, map[seq]*atomic{}
	r.states = []*state{{epsn: s, acked: s - 1, index: -1, marks: []milestone{{0, 0, s - 1}}}}
}

// fork is a copy of a state that goes its own way.
func (s *state) fork() *state {
	c := *s
	c.dues, c.marks, c.ended, c.lands = slices.Clone(s.dues), slices.Clone(s.marks), slices.Clone(s.ended), slices.Clone(s.lands)
	c.saved = slices.Clone(s.saved)
	return &c
}

// mayBeDead tells whether a request may have taken the QP to ERR.
func (r *responder) mayBeDead() bool {
	return slices.ContainsFunc(r.states, func(s *state) bool { return s.dead })
}

// most is how many states a responder may be in before the acceptor gives up.
const most = 512

// asked takes a request that has arrived.
func (q *qp) asked(now uint64, p *roce.Packet) {
	r := &q.responds
	if q.broken || q.blind || q.phase == idle {
		return
	}
	q.greeted = q.greeted || q.phase == starting
	q.a.order++
	q.a.body = nil
	if len(p.Payload) > 0 {
		q.a.body = append(q.a.body, p.Payload...) // the frame is gone when this returns
	}
	next := make([]*state, 0, len(r.states))
	for _, s := range r.states {
		if s.dead || q.phase == stopped {
			s.dropped++
			next = append(next, s)
			continue
		}
		switch q.typ {
		case abi.QPTypeUC:
			next = q.heard(now, s, p, next, q.segment)
		case abi.QPTypeUD:
			next = q.heard(now, s, p, next, q.datagram)
		default:
			next = q.step(now, s, p, next)
		}
	}
	if q.unreliable() {
		next = merge(next)
	}
	r.states = next
	if len(next) > most && q.unreliable() {
		q.blind, q.hazy, q.a.fog = true, true, true
		q.a.blinded++
		r.states = next[:1]
		return
	}
	if len(next) > most {
		q.fail(now, unwrap(p.BTH.PSN, next[0].epsn), "acceptor", "more than %d possible states", most)
	}
}

// step has a state take a request, and appends what may come of it.
func (q *qp) step(now uint64, s *state, p *roce.Packet, next []*state) []*state {
	n := unwrap(p.BTH.PSN, s.epsn)
	unheard := q.phase == starting || q.a.p.Lossy // perhaps it is lost
	switch {
	case n > s.epsn:
		s.gaps++
		if unheard {
			s.unsure++
		}
		if s.gap || s.rnr {
			s.dropped++
			break
		}
		s.gap = true
		s.owe(due{answer: nak, psn: s.epsn, limit: s.epsn, syn: 3 << 5, msn: s.msn, may: unheard})
	case n < s.epsn:
		s.duplicates++
		if unheard {
			s.unsure++
		}
		k := len(s.dues)
		next = q.again(now, s, n, p, next)
		if unheard && len(s.dues) > k {
			s.dues[k].may = true
		}
		return next
	default:
		if unheard {
			next = append(next, s.fork())
		}
		if s.gap { // the NAK, if it is not out, says nothing any more
			for i := range s.dues {
				if s.dues[i].answer == nak && s.dues[i].syn == 3<<5 {
					s.dues[i].may = true
				}
			}
		}
		s.gap, s.rnr = false, false
		return q.take(now, s, n, p, next)
	}
	return append(next, s)
}

func (s *state) owe(d due) { s.dues = append(s.dues, d) }

// refuse ends the connection with a NAK of a code.
func (s *state) refuse(now uint64, n seq, code uint8, st abi.WCStatus) *state {
	s.dead = true
	s.owe(due{answer: nak, psn: n, limit: n, syn: roce.Syndrome(3<<5 | code), msn: s.msn})
	if s.index >= 0 {
		s.ended = append(s.ended, arrival{index: s.index, status: st, came: s.came, at: now, landings: len(s.lands)})
		s.index = -1
		return s
	}
	s.alarm = alarmOf(code)
	return s
}

// NAK codes, roce.md, "AETH syndrome".
const (
	invalid     = 1
	accessError = 2
	operational = 3
)

// take judges a request in its turn: first what is wrong whatever the rest, then all
// that may be (roce.md, "Responder": where two faults lie after the opcode, either).
func (q *qp) take(now uint64, s *state, n seq, p *roce.Packet, next []*state) []*state {
	op := p.BTH.Opcode
	starts := op.Starts()
	wrong := starts == s.inside || !starts && op.IsWrite() != s.write
	if wrong || !op.Valid() || op.IsAtomic() && q.Access&abi.AccessRemoteAtomic == 0 ||
		op.IsWrite() && q.Access&abi.AccessRemoteWrite == 0 || op.IsReadRequest() && q.Access&abi.AccessRemoteRead == 0 {
		return append(next, s.refuse(now, n, invalid, abi.StatusLocQPOp))
	}
	if starts {
		s.length, s.total, s.va, s.key, s.write = 0, int(p.RETH.Length), p.RETH.VA, abi.Key(p.RETH.RKey), op.IsWrite()
	}
	var judged verdicts
	q.judge(now, s, op, p, &judged)
	for _, f := range judged.faults {
		c := s.fork()
		if f.rnr {
			c.rnr = true
			c.empty++
			c.owe(due{answer: nak, psn: n, limit: n, syn: roce.Syndrome(1<<5 | q.MinRNRTimer&31), msn: c.msn})
			next = append(next, c)
			continue
		}
		if op.TakesReceive() && (c.taken < len(q.responds.posts) || q.shared != nil) {
			c.came = q.a.order
			c.index, c.taken = c.taken, c.taken+1
		}
		next = append(next, c.refuse(now, n, f.code, f.status))
	}
	if judged.must {
		return next
	}
	return q.accepted(now, s, n, p, next)
}
