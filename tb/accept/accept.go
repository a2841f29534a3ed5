package accept

import (
	"fmt"

	"rnic/abi"
	"rnic/roce"
)

// Params say what the acceptor cannot know. Times are in cycles.
type Params struct {
	Name     string // of the host, in messages
	TimeUnit uint64 // cycles that stand for 4.096 us; 1,024

	// Inside is how long a packet that has arrived may be without effect on what
	// leaves: the way through the receive pipeline, and that of the packets which are
	// on their way out; 10,000, for a host that is slower than the wire. It should be
	// less than the ACK timer, or timeouts cannot be told from delays.
	Inside uint64
	// Posted is after how long a receive that was posted must be found; 10,000.
	Posted uint64
	// Rung is after how long a receive must be found that the NIC has been told of; 2,000.
	Rung uint64
	// Early is by how much a timeout or an RNR wait may seem too short: the NIC's
	// clock starts when a packet leaves for the MAC, the acceptor sees its last bit;
	// 1,000.
	Early uint64

	// Deaf is how long a QP that answers nothing may drop what comes behind a packet that
	// does not fit, or has a bad key; 4,000.
	Deaf uint64

	FaultyReads bool // reads of payload from memory may fail
	Lossy       bool // the port may drop requests that arrive for want of room
	NoCredits   bool // the NIC neither gives credits nor asks for any
	NoPad       bool // frames under 60 bytes are not padded yet: a capture
	Soft        bool // the peculiarities of Linux's Soft-RoCE (linux-peer.md) are taken
}

func (p *Params) defaults() {
	set(&p.TimeUnit, 1024)
	set(&p.Inside, 10_000)
	set(&p.Posted, 10_000)
	set(&p.Rung, 2000)
	set(&p.Early, 1000)
	set(&p.Deaf, 4000)
}

func set(v *uint64, def uint64) {
	if *v == 0 {
		*v = def
	}
}

// Acceptor judges one NIC.
type Acceptor struct {
	p       Params
	qps     map[uint32]*qp
	peers   map[uint32]*qp // by the QP that they are connected to
	regions map[abi.Key]*region
	words   map[uint64]*word
	writes  []write // to memory by requests that have arrived; the youngest last
	order   int     // requests that have arrived
	fog     bool    // not all that is written to memory is known any more
	blinded int
	body    []byte // payload of the last
	header  []byte // and its IP header
	srqs    map[uint32]*shared
	buried  map[uint32]uint64 // UD QPs that are no more, and since when
	counts  Counts
	drops   drops
	told    map[told]span // events of QPs that are no more
	past    tally         // of the QPs that are no more
	next    uint64        // cycle of the next look at what is overdue
	errs    []error
}

// New makes an acceptor.
func New(p Params) *Acceptor {
	p.defaults()
	return &Acceptor{p: p, qps: map[uint32]*qp{}, peers: map[uint32]*qp{}, regions: map[abi.Key]*region{}, words: map[uint64]*word{}, told: map[told]span{}, buried: map[uint32]uint64{}, srqs: map[uint32]*shared{}}
}

// Errors are the broken rules, at most 20.
func (a *Acceptor) Errors() []error { return a.errs }

// Counts are what the port has seen.
func (a *Acceptor) Counts() Counts { return a.counts }

// Blinded is how many QPs were in more states than can be followed.
func (a *Acceptor) Blinded() int { return a.blinded }

func (a *Acceptor) fail(now uint64, format string, args ...any) {
	if len(a.errs) < 20 {
		a.errs = append(a.errs, fmt.Errorf("%s, cycle %d: "+format, append([]any{a.p.Name, now}, args...)...))
	}
}

// Connection is what a QP is connected with. The attributes are those of verbs.
type Connection struct {
	PeerQPN                uint32
	MTU                    int // bytes
	SendPSN, RecvPSN       roce.PSN
	Timeout                uint8
	RetryCnt, RNRRetry     uint8
	MinRNRTimer            uint8
	RdAtomic, DestRdAtomic int
	Access                 abi.AccessFlags
	Path                   Path

	QKey      uint32     // UD
	Addresses []roce.GID // UD: those that the port has
}

// phase is how far a QP is in its life.
type phase uint8

const (
	idle     phase = iota // RESET or INIT
	starting              // about to be in RTR and RTS: it may listen already
	live                  // RTS or SQD
	stopping              // about to be in ERR, RESET or destroyed
	stopped               // in ERR
)

// qp is what the acceptor knows of a QP.
type qp struct {
	Connection
	a       *Acceptor
	qpn     uint32
	pd      int
	sigAll  bool
	typ     abi.QPType
	shared  *shared // or nil
	erred   uint64  // cycle in which it was in ERR; 0: it was not
	phase   phase
	since   uint64 // cycle of the last change of phase
	gone    uint64 // cycle in which its life ended; 0: it goes on
	greeted bool   // a request came before it was in RTS for certain
	reset   bool   // it stops for RESET or destroy
	broken  bool   // it has broken a rule: not judged any more
	blind   bool   // there were too many possible states: its receives are not judged until all is at rest
	hazy    bool   // it has been

	failed   uint64 // cycle since when a failure may have taken it to ERR; 0: none has
	drain    uint64 // cycle since when no new work request may begin; 0: it may
	requests requester
	responds responder
}

// fail reports a broken rule of a QP. What it does afterwards is not judged.
func (q *qp) fail(now uint64, s seq, clause, format string, args ...any) {
	if !q.broken {
		q.a.fail(now, "QP %#x PSN %06x: "+format+" ("+clause+")", append([]any{q.qpn, s.psn()}, args...)...)
	}
	q.broken = true
}

// QP is what a queue pair is made with.
type QP struct {
	PD     int // any name of its protection domain
	SigAll bool
	Type   abi.QPType // RC if 0
	Shared bool       // it takes its receives from SRQ
	SRQ    uint32
}

// Create tells of an RC QP that was made.
func (a *Acceptor) Create(now uint64, qpn uint32, pd int, sigAll bool) {
	a.Make(now, qpn, QP{PD: pd, SigAll: sigAll})
}

// Make tells of a QP that was made, or reset: all that it was is forgotten.
func (a *Acceptor) Make(now uint64, qpn uint32, c QP) {
	if c.Type == 0 {
		c.Type = abi.QPTypeRC
	}
	if old := a.qps[qpn]; old != nil {
		old.gone = now
		a.buried[qpn] = now
		old.stop(now)
		old.leave()
		old.events(a.told)
		a.past.add(old.tally())
	}
	a.qps[qpn] = &qp{a: a, qpn: qpn, pd: c.PD, sigAll: c.SigAll, typ: c.Type, since: now}
	if c.Shared {
		a.qps[qpn].shared = a.srqs[c.SRQ]
	}
}

// Connect tells that a QP is about to be taken to RTR and RTS.
func (a *Acceptor) Connect(now uint64, qpn uint32, c Connection) {
	q := a.qps[qpn]
	q.Connection, q.phase, q.since = c, starting, now
	n := q.requests.n // what came before
	q.requests.begin(c.SendPSN)
	q.requests.n = n
	q.requests.free = a.p.Soft || a.p.NoCredits || q.unreliable()
	q.responds.begin(c.RecvPSN)
	if q.typ != abi.QPTypeUD {
		a.peers[c.PeerQPN] = q
	}
}

// Connected tells that it is there.
func (a *Acceptor) Connected(now uint64, qpn uint32) {
	if q := a.qps[qpn]; q.phase == starting {
		q.phase, q.since = live, now
	}
}

// Stop tells that a QP is about to be taken to ERR, or with reset to RESET or to be
// destroyed.
func (a *Acceptor) Stop(now uint64, qpn uint32, reset bool) {
	q := a.qps[qpn]
	q.phase, q.since, q.reset = stopping, now, reset
	q.mayFail(now)
	if reset {
		q.unbind(now, false)
	}
}

// Stopped tells that it has been.
func (a *Acceptor) Stopped(now uint64, qpn uint32) {
	q := a.qps[qpn]
	if q.reset {
		q.unbind(now, true)
		c := QP{PD: q.pd, SigAll: q.sigAll, Type: q.typ, Shared: q.shared != nil}
		if c.Shared {
			c.SRQ = q.shared.n
		}
		a.Make(now, qpn, c)
		return
	}
	q.phase, q.since, q.erred = stopped, now, max(now, 1)
}

// Destroyed tells that a QP is no more.
func (a *Acceptor) Destroyed(now uint64, qpn uint32) {
	a.qps[qpn].unbind(now, true)
	a.qps[qpn].gone = now
	a.buried[qpn] = now
	a.qps[qpn].stop(now)
	a.qps[qpn].leave()
	a.qps[qpn].events(a.told)
	a.past.add(a.qps[qpn].tally())
	delete(a.qps, qpn)
}

// Drain tells that a QP is in SQD; Resume that it is about to be in RTS again.
func (a *Acceptor) Drain(now uint64, qpn uint32) { a.qps[qpn].drain = now }

// Resume ends what Drain began.
func (a *Acceptor) Resume(qpn uint32) { a.qps[qpn].drain = 0 }

// mayFail notes a reason for which the QP may go to ERR.
func (q *qp) mayFail(now uint64) {
	if q.failed == 0 {
		q.failed = max(now, 1)
	}
}

// silent tells whether the QP must have ceased to send.
func (q *qp) silent(now uint64) bool {
	switch q.phase {
	case idle:
		return true
	case stopped:
		return now > q.since+q.a.p.Inside
	}
	return false
}
