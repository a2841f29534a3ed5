package wqesched_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
	"rnic/tb/agent"
)

// T is what the bench needs of *testing.T and *rapid.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
	Logf(format string, args ...any)
}

// testingT is a T that hdltest takes too.
var _ T = (*testing.T)(nil)

// queuePair is the model's context of a QP and its ring in host memory.
type queuePair struct {
	Type     abi.QPType
	State    abi.QPState
	Base     port.BusAddr
	Log      uint8
	MTU      roce.MTU
	Window   uint32
	Messages int
	PI       uint16
	Exec     uint16
	Next     roce.PSN
	Una      roce.PSN
	First    roce.PSN // of all
	Offset   uint32
	Entered  uint16
	EnterPSN roce.PSN
	Top      roce.PSN // after the highest that a Put told of
	Busy     bool
	Failed   bool
	Sig      bool
	Ring     [][64]byte
	Posted   []work
	Live     []port.Sent // outstanding
	CQN      port.CQN    // no two QPs, and no two lives of one, have the same
	Reset    bool        // this life was ended by a reset
	Bad      bool        // part of the ring can't be read
	out      output
	Entries  int // outstanding, as far as Puts have told
	Depth    int // READs and atomics that may be outstanding
	Reads    []port.ReadPost
	Limited  bool // the peer gives credits
	Credits  int  // that are left
	Wire     int  // entries of the wire that were pushed, less those that Puts told of
	Takers   int  // of these, those that take a receive WQE
	firstGen int
	history
	Taken uint16 // ring units that outstanding and unexecuted WQEs hold start here
}

// bench is the block with models of its neighbours: qpc, dma, retrans, pkt_tx.
type bench struct {
	Sched    *wqesched.Sched
	Activate agent.Source[port.Activate]
	Push     agent.Source[port.PushedWQE]
	Purge    agent.Source[port.Purge]
	Free     agent.Source[port.SentFree]
	Stale    agent.Source[port.Stale]
	QPC      agent.Responder[port.SQGet, port.SQCtx]
	Put      agent.Sink[port.SQPut]
	Read     agent.Sink[port.ReadReq]
	Data     agent.Source[port.ReadBeat]
	Sent     agent.Sink[port.Sent]
	Post     agent.Sink[port.ReadPost]
	Ahead    agent.Sink[port.SQAhead]
	Pkt      agent.Sink[port.TxPkt]
	Piece    agent.Sink[port.TxPiece]
	Stats    statsTap
	Mem      agent.Responder[port.MemOp, port.MemRes]
	MemPages agent.Sink[port.Beat]

	t        T
	k        *hdl.Kernel
	rng      *rand.Rand
	qps      []*queuePair
	due      []uint64 // of each beat of Data
	latency  func() uint64
	bad      map[port.BusAddr]bool // addresses that can't be read
	entries  int                   // of the table that are free
	ackDelay func() uint64
	acks     []ack
	ackEvent hdl.Event
	progress hdl.Event
	lives    []*queuePair // all that ever were, by CQN
	owner    []*queuePair // of each packet taken
	memOf    []*queuePair // of each memory operation
}

// ack is an acknowledgement under way.
type ack struct {
	at  uint64
	qpn int
	una roce.PSN
	cqn port.CQN

	local  bool // of an entry that needs none
	settle bool // no acknowledgement: a rewind of generation gen is to end
	gen    int
}

// statsTap reads the counters.
type statsTap struct {
	hdl.Behave
	Tap hdl.Tap[port.SchedStats]
}

func (s *statsTap) Tick() {}

func newBench(t T, o hdl.Options, p wqesched.Params, throttle uint64) *bench {
	b := &bench{Sched: wqesched.New(p), t: t, rng: rand.New(rand.NewPCG(o.Seed, 77)), bad: map[port.BusAddr]bool{}, entries: p.Entries}
	if p.Entries == 0 {
		b.entries = 1024
	}
	b.latency = func() uint64 { return 20 }
	b.ackDelay = func() uint64 { return 30 }
	for _, th := range []*agent.Throttle{&b.Activate.Throttle, &b.Push.Throttle, &b.Stale.Throttle, &b.QPC.Throttle, &b.Read.Throttle, &b.Data.Throttle,
		&b.Sent.Throttle, &b.Ahead.Throttle, &b.Pkt.Throttle, &b.Piece.Throttle, &b.Mem.Throttle, &b.MemPages.Throttle} {
		th.Seed = throttle
	}
	s := b.Sched
	hdl.Connect(&b.Activate.Out, &s.Pick.Activate, 2)
	hdl.Connect(&b.Purge.Out, &s.Pick.Purge, 2)
	hdl.Connect(&b.Free.Out, &s.Pick.Free, 2)
	hdl.Connect(&b.Stale.Out, &s.Fetch.Stale, 2)
	hdl.Connect(&s.Pick.Get, &b.QPC.In, 2)
	hdl.Connect(&b.QPC.Out, &s.Fetch.Ctx, p.CtxDepth())
	hdl.Connect(&b.Push.Out, &s.Fetch.Push, 2)
	hdl.Connect(&b.Data.Out, &s.Fetch.Data, 2)
	hdl.Connect(&s.Fetch.Read, &b.Read.In, 2)
	hdl.Connect(&s.Exec.Sent, &b.Sent.In, 2)
	hdl.Connect(&s.Exec.ReadPost, &b.Post.In, 2)
	hdl.Connect(&s.Exec.Ahead, &b.Ahead.In, 2)
	hdl.Connect(&s.Exec.Pkt, &b.Pkt.In, 2)
	hdl.Connect(&s.Exec.Piece, &b.Piece.In, 2)
	hdl.Connect(&s.Exec.Put, &b.Put.In, 2)
	hdl.Connect(&s.Exec.MemOp, &b.Mem.In, 2)
	hdl.Connect(&b.Mem.Out, &s.Exec.MemRes, 2)
	hdl.Connect(&s.Exec.MemPages, &b.MemPages.In, 2)
	hdl.Wire(&s.Fetch.Stats, &b.Stats.Tap)
	b.Data.NotBefore = func(n int) uint64 { return b.due[n] }
	b.QPC.Answer = b.get
	b.QPC.Latency = func() uint64 { return 3 }
	b.Put.OnTake = b.put
	b.Mem.Answer = b.memory
	b.Mem.Latency = func() uint64 { return 5 }
	b.Read.OnTake = b.read
	b.Sent.OnTake = b.sent
	b.Post.OnTake = b.readPost
	b.Ahead.OnTake = func(a port.SQAhead) { q := b.qps[a.QPN]; q.out.ahead = append(q.out.ahead, a) }
	b.Pkt.OnTake = b.pkt
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	k.Go("acks", b.acknowledge)
	return b
}

// qp adds a QP.
func (b *bench) qp(log uint8, mtu roce.MTU, window uint32, messages int) *queuePair {
	n := len(b.qps)
	q := b.life(n, log, mtu, window, messages)
	b.qps = append(b.qps, q)
	return q
}

// life is a new context for QP n.
func (b *bench) life(n int, log uint8, mtu roce.MTU, window uint32, messages int) *queuePair {
	q := &queuePair{Type: abi.QPTypeRC, State: abi.QPRTS, CQN: port.CQN(len(b.lives)), Base: port.BusAddr(len(b.lives)+1) << 24, Log: log, MTU: mtu, Window: window, Messages: messages,
		Depth: 16, Ring: make([][64]byte, 1<<log)}
	q.PI = uint16(b.rng.Uint32())
	q.start(q.PI, roce.PSN(b.rng.Uint32()&0xffffff))
	if n < len(b.qps) {
		q.Type, q.Gens = b.qps[n].Type, b.qps[n].Gens
	}
	q.firstGen, q.Starts = q.Gens, map[int]roce.PSN{}
	b.lives = append(b.lives, q)
	return q
}

// start has the first WQE lie at idx and its first packet have PSN psn.
func (q *queuePair) start(idx uint16, psn roce.PSN) {
	q.PI, q.Exec, q.Entered, q.Taken = idx, idx, idx, idx
	q.Next, q.EnterPSN, q.Una, q.First, q.Top, q.Told = psn, psn, psn, psn, psn, psn
}

// at is the WQE that was posted at a unit.
func (q *queuePair) at(idx uint16) *work {
	for i := range q.Posted {
		if q.Posted[i].Idx == idx {
			return &q.Posted[i]
		}
	}
	return nil
}

// run runs until all QPs are at rest.
func (b *bench) run(limit uint64) {
	b.t.Helper()
	for end := b.k.Cycle() + limit; !b.rest(); {
		if b.k.Cycle() > end {
			for i, q := range b.qps {
				if q.Exec != q.PI {
					b.t.Logf("QP %d: exec %d of %d, window %d, live %d, busy %v, %s", i, q.Exec, q.PI, q.Window-q.Next.Diff(q.Una), len(q.Live), q.Busy, q.State)
				}
			}
			b.t.Errorf("no rest after %d cycles", limit)
			b.t.FailNow()
		}
		require.NoError(b.t, b.k.Run(b.k.Cycle()+50))
	}
	require.NoError(b.t, b.k.Run(b.k.Cycle()+200))
	require.LessOrEqual(b.t, b.Sched.Fetch.Q.Spent, uint8(16), "QPs with a line kept for a rewind")
	require.LessOrEqual(b.t, b.Sched.Fetch.Q.More, uint8(16), "further lines")
}

func (b *bench) rest() bool {
	for _, q := range b.qps {
		if q.Exec != q.PI || q.Busy || q.Rewinding || q.Entries > 0 || len(q.Live) > 0 {
			return false
		}
	}
	return b.Activate.Pending()+b.Push.Pending()+len(b.acks) == 0
}
