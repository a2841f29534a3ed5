package accept

import (
	"rnic/abi"
)

// SendWR is a send work request as it was posted.
type SendWR struct {
	ID        uint64
	Op        abi.WQEOp
	Data      []byte // what is sent, as it was when posted. It must not change
	Volatile  bool   // Data may change in memory: its bytes are not judged
	Len       int    // bytes that a READ asks for
	Imm       uint32 // immediate; SEND_INV: the key
	Signaled  bool
	Solicited bool
	Fence     bool

	RemoteAddr uint64
	RKey       abi.Key
	SwapAdd    uint64
	Compare    uint64

	To     Datagram // UD
	Change Change   // of keys: LOCAL_INV, BIND_MW, FAST_REG

	SGEs   []abi.SGE     // local; those of inline data are not looked at
	Inline bool          // the data is in the WQE
	Result func() []byte // reads, when done, where a READ or atomic has written to; may be nil
}

// RecvWR is a receive work request as it was posted.
type RecvWR struct {
	ID   uint64
	SGEs []abi.SGE
	Read func(n int) []byte // the first n bytes of its memory; may be nil
}

// takes tells whether the request takes a receive WQE.
func (w *SendWR) takes() bool {
	return w.Op <= abi.OpSendInv || w.Op == abi.OpWriteImm
}

// fetches tells whether it waits for an answer with data.
func (w *SendWR) fetches() bool {
	return w.Op == abi.OpRead || w.atomic()
}

func (w *SendWR) atomic() bool { return w.Op == abi.OpCompareSwap || w.Op == abi.OpFetchAdd }

// length is the bytes of the message.
func (w *SendWR) length() int {
	switch {
	case w.Op == abi.OpRead:
		return w.Len
	case w.atomic():
		return 8
	}
	return len(w.Data)
}

// sent is a send work request and what became of it.
type sent struct {
	SendWR
	posted      uint64
	first, last seq // PSNs that it takes; a NOP none: last is before first
	number      int // among all requests, from 1
	receives    int // receive WQEs that it and those before it take
	fetched     int // READs and atomics up to it
	begun       bool
	acked       uint64 // cycle in which all that was due for it had arrived
	got         []byte // what answers brought
	fault       bool   // an SGE of its own is no good
	claimed     uint64 // cycle in which its completion was made before it was seen to leave; 0: it was not
}

// packets is how many packets, and PSNs, n bytes take.
func packets(n, mtu int) int { return max(1, (n+mtu-1)/mtu) }

// PostSend tells of a work request, before the NIC can know of it.
func (a *Acceptor) PostSend(now uint64, qpn uint32, w SendWR) {
	q := a.qps[qpn]
	r := &q.requests
	s := &sent{SendWR: w, posted: now, first: r.nominal, number: r.number, receives: r.receives, fetched: r.fetched}
	n := packets(w.length(), q.MTU)
	switch {
	case w.Op == abi.OpNop || w.local():
		n = 0
		a.change(now, &w.Change)
	default:
		r.number++
		s.number = r.number
		if w.takes() {
			r.receives++
		}
		if w.fetches() {
			r.fetched++
		}
		s.receives, s.fetched = r.receives, r.fetched
	}
	if w.atomic() {
		n = 1
	}
	r.nominal += seq(n)
	s.last = r.nominal - 1
	s.fault = !w.Inline && w.Op != abi.OpNop && !w.local() && !a.local(q.pd, w.SGEs, 0, w.length(), w.fetches())
	if s.fault && !q.unreliable() {
		q.mayFail(now)
	}
	if s.last < r.una {
		s.acked = max(now, 1) // a NOP behind what is done
	}
	r.all = append(r.all, s)
}

// PostRecv tells of a receive, before the NIC can know of it.
func (a *Acceptor) PostRecv(now uint64, qpn uint32, w RecvWR) {
	r := &a.qps[qpn].responds
	r.posts = append(r.posts, receive{RecvWR: w, posted: now})
}

// Rung tells that the NIC has been told of all receives that were posted: the write to its
// doorbell is on the way. Without it they may be found at any time up to Params.Posted.
func (a *Acceptor) Rung(now uint64, qpn uint32) {
	l := a.qps[qpn].responds.posts
	for i := len(l) - 1; i >= 0 && l[i].rung == 0; i-- {
		l[i].rung = max(now, 1)
	}
}
