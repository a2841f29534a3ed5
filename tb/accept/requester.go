package accept

import (
	"bytes"

	"rnic/abi"
	"rnic/roce"
)

// mark is where something stood from a cycle on.
type mark struct {
	at uint64
	to seq
}

// requester is the sending half of a QP.
type requester struct {
	all      []*sent // oldest first, with some that are completed
	head     int     // of them, the first that is not
	nominal  seq     // of the next work request
	number   int     // of requests posted, receives that they take, READs and atomics
	receives int
	fetched  int

	una    seq    // the oldest that is not acknowledged, by what has arrived
	moved  []mark // how it got there, as far as that matters
	top    seq    // the first that was never sent
	cursor seq    // the next in turn: top, or before it after a restart
	resume seq    // where the last restart began

	limit   int  // receive WQEs that may be taken, by credits
	free    bool // no limit
	retired int  // receive WQEs that those took which are retired

	causes []cause
	starts []start // of the ACK timer
	idle   uint64  // cycle of the last progress
	clock  clock
	unrest uint64    // cycle of the last restart, or of its cause
	tries  int       // restarts since progress
	maybe  int       // those besides that may have been for a newer cause than the one they were taken for
	waits  int       // and those for RNR NAKs
	spent  []failure // what arrived that may end it, since no retry may be left
	broke  failure   // what arrived that ends the connection
	part   seq       // where the READ that is being answered was asked for

	owed    seq  // all before it is said to have left
	flushed bool // a work request has been
	renewed bool // since then the QP is in RTS again: the next PSN is not known
	n       tally
}

// failure is an end that the peer has announced.
type failure struct {
	status abi.WCStatus
	at     uint64
	seq    seq
}

func (r *requester) begin(p roce.PSN) {
	*r = requester{nominal: begin(p), una: begin(p), top: begin(p), cursor: begin(p), part: -1, limit: 1}
}

// find is the work request that has a PSN.
func (r *requester) find(s seq) *sent {
	lo, hi := 0, len(r.all)
	for lo < hi {
		if m := (lo + hi) / 2; r.all[m].last < s {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == len(r.all) || r.all[lo].first > s {
		return nil
	}
	return r.all[lo]
}

// request judges a request packet that the NIC has sent.
func (q *qp) request(now uint64, p *roce.Packet) {
	r := &q.requests
	s, w := q.due(now, p)
	if w == nil {
		return
	}
	fresh := s == r.top
	switch {
	case fresh && (r.cursor == r.top || r.una >= r.top), s == r.cursor, s > r.cursor && s <= r.una && s < r.top:
		q.obeys(now, s)
	default:
		fresh = false
		if s > r.top {
			q.fail(now, s, "roce.md, Requester", "%v sent, %06x is next: PSNs are consecutive", p.BTH.Opcode, r.top.psn())
			return
		}
		q.restart(now, s)
	}
	if q.broken {
		return
	}
	if fresh {
		q.fresh(now, s, w)
	}
	q.contents(now, s, w, p)
	next := s + 1
	if w.Op == abi.OpRead {
		next = w.last + 1
		if s > w.first {
			r.part = s
		}
	}
	if s <= r.una && r.una < next {
		r.timer(now) // the oldest that waits for an answer
		r.clock.run(now)
	}
	r.cursor = next
	r.top = max(r.top, next)
}

// due is the work request that a packet may be of; nil: of none.
func (q *qp) due(now uint64, p *roce.Packet) (seq, *sent) {
	r := &q.requests
	s := unwrap(p.BTH.PSN, r.cursor)
	if q.silent(now) {
		q.fail(now, s, "roce.md, Queue pair states", "%v sent in RESET or ERR", p.BTH.Opcode)
		return s, nil
	}
	w := r.find(s)
	if w == nil {
		q.fail(now, s, "roce.md, Requester", "%v sent, for which nothing is posted: posts end at %06x", p.BTH.Opcode, r.nominal.psn())
	}
	return s, w
}

// fresh judges whether a packet may leave that has not before.
func (q *qp) fresh(now uint64, s seq, w *sent) {
	r := &q.requests
	starts, ends := s == w.first, s == w.last || w.Op == abi.OpRead
	switch {
	case starts && !q.executed(w):
		q.fail(now, s, "verbs-semantics.md: key and access change when the bind executes, in queue order", "a work request begins before one that changes keys")
	case r.top-r.una >= window:
		q.fail(now, s, "roce.md, PSN arithmetic", "2^23 PSNs are outstanding")
	case starts && q.drain != 0 && now > q.drain+q.a.p.Inside && r.unrest+q.a.p.Inside < q.drain: // or it had begun, but for the wire
		q.fail(now, s, "roce.md, Queue pair states: SQD", "a work request begins in SQD")
	case starts && w.fetches() && r.open(w) >= q.RdAtomic:
		q.fail(now, s, "roce.md, Requester: initiator depth", "more than %d READs and atomics outstanding", q.RdAtomic)
	case starts && w.Fence && r.open(w) > 0:
		q.fail(now, s, "roce.md, Requester: fence", "a fenced work request passes %d READs and atomics", r.open(w))
	case w.takes() && !r.free && (starts && w.Op != abi.OpWriteImm || ends) && w.receives > r.limit:
		q.fail(now, s, "roce.md, AETH syndrome: credits", "receive WQE %d is taken, credits reach to %d", w.receives, r.limit)
	case !q.unreliable() && r.broke.at != 0 && now > r.broke.at+q.a.p.Inside:
		q.fail(now, s, "roce.md, Requester: fatal NAK", "a packet is sent after %v of cycle %d", r.broke.status, r.broke.at)
	}
	if starts {
		w.begun = true
	}
}

// open is how many READs and atomics before w wait for an answer.
func (r *requester) open(w *sent) int {
	return w.fetchedBefore() - r.all[r.done()].fetchedBefore()
}

// fetchedBefore is how many READs and atomics came before.
func (w *sent) fetchedBefore() int {
	if w.fetches() {
		return w.fetched - 1
	}
	return w.fetched
}

// opcode is that of packet i of n.
func (w *sent) opcode(i, n int) roce.Opcode {
	switch w.Op {
	case abi.OpRead:
		return roce.RCReadRequest
	case abi.OpCompareSwap:
		return roce.RCCmpSwap
	case abi.OpFetchAdd:
		return roce.RCFetchAdd
	}
	first, middle, last, only := roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLast, roce.RCSendOnly
	switch w.Op {
	case abi.OpSendImm:
		last, only = roce.RCSendLastImm, roce.RCSendOnlyImm
	case abi.OpSendInv:
		last, only = roce.RCSendLastInv, roce.RCSendOnlyInv
	case abi.OpWrite:
		first, middle, last, only = roce.RCWriteFirst, roce.RCWriteMiddle, roce.RCWriteLast, roce.RCWriteOnly
	case abi.OpWriteImm:
		first, middle, last, only = roce.RCWriteFirst, roce.RCWriteMiddle, roce.RCWriteLastImm, roce.RCWriteOnlyImm
	}
	switch {
	case n == 1:
		return only
	case i == 0:
		return first
	case i == n-1:
		return last
	}
	return middle
}

// contents holds a request packet against the work request.
func (q *qp) contents(now uint64, s seq, w *sent, p *roce.Packet) {
	const clause = "roce.md, Packet; Requester: a resent packet is identical"
	i, n := int(s-w.first), int(w.last-w.first)+1
	op, b := q.opcode(w.opcode(i, n)), &p.BTH
	if b.Opcode != op {
		q.fail(now, s, clause, "%v sent, %v is due: packet %d of %d of work request %#x", b.Opcode, op, i, n, w.ID)
		return
	}
	ends := op.Ends()
	off := i * q.MTU
	switch {
	case ends && !b.AckReq && !q.unreliable():
		q.fail(now, s, "roce.md, Requester: AckReq", "%v without AckReq", op)
	case b.AckReq && q.unreliable():
		q.fail(now, s, "roce.md, BTH", "%v with AckReq", op)
	case b.SE != (ends && w.Solicited && w.takes()):
		q.fail(now, s, clause, "%v with SE %t", op, b.SE)
	case op.HasImm() && p.Imm.Imm != w.Imm, op.HasIETH() && p.IETH.RKey != w.Imm:
		q.fail(now, s, clause, "%v with immediate or key %#x, posted %#x", op, p.Imm.Imm|p.IETH.RKey, w.Imm)
	case op.IsAtomic():
		e := &p.AtomicETH
		compare := w.Compare
		if op == roce.RCFetchAdd {
			compare = 0
		}
		if e.VA != w.RemoteAddr || e.RKey != uint32(w.RKey) || e.SwapAdd != w.SwapAdd || e.Compare != compare {
			q.fail(now, s, clause, "%v %+v, posted %+v", op, *e, w.SendWR)
		}
	case op == roce.RCReadRequest:
		e := &p.RETH
		if e.VA != w.RemoteAddr+uint64(off) || e.RKey != uint32(w.RKey) || int(e.Length) != w.Len-off {
			q.fail(now, s, clause, "READ of %d bytes at %#x by key %#x, due %d at %#x by %#x",
				e.Length, e.VA, e.RKey, w.Len-off, w.RemoteAddr+uint64(off), w.RKey)
		}
	case op.HasRETH() && (p.RETH.VA != w.RemoteAddr || p.RETH.RKey != uint32(w.RKey) || int(p.RETH.Length) != len(w.Data)):
		q.fail(now, s, clause, "%v %+v, posted %#x by %#x, %d bytes", op, p.RETH, w.RemoteAddr, w.RKey, len(w.Data))
	}
	if op.IsAtomic() || op == roce.RCReadRequest {
		if len(p.Payload) != 0 {
			q.fail(now, s, clause, "%v with payload", op)
		}
		return
	}
	due := w.Data[off:min(off+q.MTU, len(w.Data))]
	switch {
	case len(p.Payload) != len(due):
		q.fail(now, s, clause, "%v with %d bytes, due %d", op, len(p.Payload), len(due))
	case !w.Volatile && !bytes.Equal(p.Payload, due):
		q.fail(now, s, clause, "%v: byte %d of work request %#x is wrong", op, off+differ(p.Payload, due), w.ID)
	case w.fault && !w.Inline && !q.a.local(q.pd, w.SGEs, off, len(due), false):
		q.fail(now, s, "roce.md, Requester: a fault of its own", "%v with bytes that the NIC may not read", op)
	}
}

// differ is the first byte in which two slices differ.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
