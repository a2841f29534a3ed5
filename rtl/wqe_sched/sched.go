package wqesched

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// Params are the sizes of the block; 0 takes the default.
type Params struct {
	LogQP         uint // log2 of the QPs; default 10
	Lines         int  // lines of 512 bytes in the pool, 1..64; default 64
	Entries       int  // entries of the shared outstanding table, up to 65,535; default 1,024
	Services      int  // services open at once; default 8
	PacketBudget  int  // packets a service, up to 255; default 16
	MessageBudget int  // WQEs a service, up to 255; default 8
}

func (p Params) withDefaults() Params {
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.Lines, 64)
	hdl.Default(&p.Entries, 1024)
	hdl.Default(&p.Services, 8)
	hdl.Default(&p.PacketBudget, 16)
	hdl.Default(&p.MessageBudget, 8)
	return p
}

// CtxDepth is the depth that the stream Ctx needs.
func (p Params) CtxDepth() int { return max(2, p.withDefaults().Services) }

// Sched is the block: three modules.
type Sched struct {
	Pick  Pick
	Fetch Fetch
	Exec  Exec
}

// New makes the block.
func New(p Params) *Sched {
	p = p.withDefaults()
	s := &Sched{}
	s.Pick.init(p)
	s.Fetch.init(p)
	s.Exec.p = p
	hdl.Connect(&s.Pick.grant, &s.Fetch.grant, max(2, p.Services))
	hdl.Connect(&s.Pick.token, &s.Fetch.token, 2)
	hdl.Connect(&s.Pick.forget, &s.Fetch.forget, 2)
	hdl.Connect(&s.Fetch.ready, &s.Pick.ready, 2)
	hdl.Connect(&s.Fetch.service, &s.Exec.service, 2)
	hdl.Connect(&s.Fetch.wqe, &s.Exec.wqe, 4)
	hdl.Wire(&s.Fetch.newest, &s.Exec.newest)
	hdl.Connect(&s.Exec.done, &s.Pick.done, 2)
	hdl.Connect(&s.Exec.release, &s.Fetch.release, 2)
	return s
}

// queue is a FIFO inside a module.
type queue[T any] struct {
	tail hdl.Out[T]
	head hdl.In[T]
}

func (q *queue[T]) init(depth int) { hdl.Connect(&q.tail, &q.head, max(2, depth)) }

// grant tells Fetch of an SQGet: how many entries of the outstanding table were
// set aside for the service.
type grant struct {
	Entries uint8
}

// token tells Fetch what to do with the oldest pushed unit.
type token struct {
	Refuse bool
}

// outcome says how a service ended, and so when the QP is served next.
type outcome uint8

const (
	idle    outcome = iota // nothing to do before the next Activate
	more                   // there is more to do: back to the queue
	parked                 // Fetch tells when its line has come
	starved                // when entries of the outstanding table have come back
)

// Width is 2 bits.
func (outcome) Width() int { return 2 }

func (o outcome) String() string { return [...]string{"IDLE", "MORE", "PARKED", "STARVED"}[o&3] }

// done closes a service towards Pick.
type done struct {
	QPN     port.QPN
	Outcome outcome
	Unused  uint8 // entries set aside and not used
}

// release closes a service towards Fetch: lines before ExecIdx are done with.
type release struct {
	QPN     port.QPN
	ExecIdx uint16
	Starved bool // it lacks nothing but an entry of the outstanding table
}

// verdict is what Fetch says of a service.
type verdict uint8

const (
	run     verdict = iota // WQEs follow, up to one that is Last
	nothing                // qpc has nothing to do: the service is not open there
	wait                   // no WQE yet: close the service as it was
	forget                 // the marker of a Purge, no service
)

// Width is 2 bits.
func (verdict) Width() int { return 2 }

func (v verdict) String() string { return [...]string{"RUN", "NOTHING", "WAIT", "FORGET"}[v&3] }

// service is a service as Fetch hands it to Exec.
type service struct {
	Verdict verdict
	Outcome outcome // of nothing and wait
	Entries uint8   // of the grant
	Ctx     port.SQCtx
}
