package scatter_test

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// peer is the far end of a QP: the request and the response that it is sending.
type peer struct {
	psn  roce.PSN
	req  message
	resp message
	key  port.Key // of the last WRITE
}

// message is one in progress.
type message struct {
	started bool // the first packet was sent
	write   bool
	left    int // bytes still to be sent
	offset  uint32
	wqe     *wqe // of the READ that is answered
}

// sentPkt is what the peer has put on the wire.
type sentPkt struct {
	pkt     port.RxPkt
	payload []byte
	fate    fate
	life    int // of the QP
	wqe     *wqe
	offset  uint32
	header  []byte // of IP, of a datagram
}

// fate says how qpc is to judge a packet of a living QP.
type fate uint8

const (
	normal fate = iota
	dropped
	duplicate
	anew  // duplicate of a READ or atomic
	fatal // NAK invalid request
)

// pump has peers send while there is room in the buffer.
func (x *traffic) pump() {
	for x.left > 0 && x.b.Pkt.Pending() < 4 {
		q := x.list[x.rng.IntN(len(x.list))]
		if len(x.held) == 0 {
			x.held = append(x.held, x.next(q))
		}
		s := x.held[0]
		var ok bool
		if s.pkt.BufAddr, s.pkt.FrameBeats, ok = x.b.buf.put(pick(x.rng, 54, 74, 58), s.payload); !ok {
			return
		}
		if s.header != nil {
			s.pkt.IPAddr = s.pkt.BufAddr - grhBytes
			x.b.buf.fill(s.pkt.IPAddr, s.header)
		}
		x.held = x.held[:0]
		x.left--
		x.sent = append(x.sent, s)
		x.b.Pkt.Push(s.pkt)
	}
}

// next makes a packet.
func (x *traffic) next(q *qp) sentPkt {
	r := x.rng
	s := sentPkt{life: q.life, pkt: port.RxPkt{QPN: q.n, PSN: q.peer.psn, Imm: r.Uint32(), Solicited: r.IntN(4) == 0}}
	if x.size != 0 {
		q.peer.psn = q.peer.psn.Add(1)
		s.pkt.Opcode, s.pkt.AckReq = roce.RCSendOnly, true
		x.fill(&s, x.size)
		return s
	}
	switch n := r.IntN(40); {
	case n > 0 && q.unacked():
		x.unacked(q, &s)
	case n == 0:
		s.pkt.QPN, s.pkt.Opcode = 1023, roce.RCSendOnly
		x.fill(&s, r.IntN(x.mtu))
	case n < 3:
		x.repeat(q, &s)
	case n < 6:
		s.pkt.Opcode, s.pkt.Syndrome = roce.RCAck, pick[uint8](r, 31, 31, 0x60)
	case n < 15:
		x.response(q, &s)
	default:
		if x.trouble && r.IntN(300) == 0 {
			s.fate = fatal
		}
		x.request(q, &s)
		q.peer.psn = q.peer.psn.Add(1)
	}
	return s
}

// repeat is a request that is not executed.
func (x *traffic) repeat(q *qp, s *sentPkt) {
	s.fate, s.pkt.PSN = pick(x.rng, dropped, duplicate, anew), s.pkt.PSN.Sub(1)
	switch {
	case s.fate != anew:
		s.pkt.Opcode = roce.RCSendOnly
		x.fill(s, x.rng.IntN(x.mtu))
	case x.rng.IntN(2) == 0:
		x.atomic(q, s)
	default:
		x.read(s)
		if x.trouble && x.rng.IntN(2) == 0 {
			s.pkt.Reth.RKey |= port.Key(1 + x.rng.IntN(4))
		}
	}
}

// request goes on with a request, or begins one.
func (x *traffic) request(q *qp, s *sentPkt) {
	r := x.rng
	m := &q.peer.req
	if !m.started {
		switch n := r.IntN(10); {
		case n < 3 && q.transport != roce.RC:
		case n == 0:
			x.read(s)
			return
		case n == 1:
			x.atomic(q, s)
			return
		case n == 2:
			s.pkt.Opcode, s.pkt.AckReq = roce.RCWriteOnly, true
			s.pkt.Reth = port.Reth{VA: q.hot, RKey: hotKey, Len: 8}
			x.fill(s, 8)
			return
		}
		*m = message{write: r.IntN(3) == 0, left: pick(r, 0, 1, 64, r.IntN(64), r.IntN(x.mtu+1), r.IntN(3*x.mtu))}
		if m.write {
			x.reth(q, s, uint32(m.left))
		}
	}
	n := min(m.left, x.mtu)
	m.left -= n
	x.fill(s, n)
	s.pkt.Opcode = x.part(m)
	m.started = m.left > 0
	s.pkt.AckReq = !m.started && r.IntN(4) > 0 || r.IntN(8) == 0
	if s.pkt.Opcode.HasIETH() {
		s.pkt.Imm = uint32(x.key(0))
		if x.trouble && r.IntN(8) == 0 {
			s.pkt.Imm = uint32(q.peer.key)
		}
	}
}

// reth names memory for a WRITE; now and then that of the last one.
func (x *traffic) reth(q *qp, s *sentPkt, n uint32) {
	s.pkt.Reth = port.Reth{VA: x.va, RKey: x.key(abi.AccessRemoteWrite), Len: n}
	x.va += port.VA(n) + port.VA(x.rng.IntN(200))
	if x.trouble && x.rng.IntN(20) == 0 && q.peer.key != 0 {
		s.pkt.Reth.RKey = q.peer.key
	}
	q.peer.key = s.pkt.Reth.RKey
	if x.trouble && x.rng.IntN(60) == 0 && n > 0 {
		s.pkt.Reth.Len = region + 1 // the first packet tells
	}
}

// part is the opcode of the next packet of a SEND or WRITE.
func (x *traffic) part(m *message) roce.Opcode {
	kind := x.rng.IntN(4)
	ops := [...]roce.Opcode{roce.RCSendOnly, roce.RCSendOnlyImm, roce.RCSendOnlyInv, roce.RCSendOnly}
	if m.started {
		ops = [...]roce.Opcode{roce.RCSendLast, roce.RCSendLastImm, roce.RCSendLastInv, roce.RCSendLast}
	}
	switch {
	case m.write && m.left > 0 && m.started:
		return roce.RCWriteMiddle
	case m.write && m.left > 0:
		return roce.RCWriteFirst
	case m.write && m.started:
		return [...]roce.Opcode{roce.RCWriteLast, roce.RCWriteLastImm}[kind&1]
	case m.write:
		return [...]roce.Opcode{roce.RCWriteOnly, roce.RCWriteOnlyImm}[kind&1]
	case m.left > 0 && m.started:
		return roce.RCSendMiddle
	case m.left > 0:
		return roce.RCSendFirst
	}
	return ops[kind]
}

// read asks for some memory.
func (x *traffic) read(s *sentPkt) {
	s.pkt.Opcode = roce.RCReadRequest
	s.pkt.Reth = port.Reth{VA: x.va, RKey: x.key(abi.AccessRemoteRead), Len: uint32(pick(x.rng, 0, 1, 1<<20))}
}

// atomic adds to the QP's word, or swaps it if it is a multiple of 256.
func (x *traffic) atomic(q *qp, s *sentPkt) {
	s.pkt.Opcode = pick(x.rng, roce.RCFetchAdd, roce.RCCmpSwap)
	s.pkt.Reth = port.Reth{VA: q.hot, RKey: hotKey, Swap: uint64(x.rng.Uint32N(256)), Compare: uint64(x.rng.Uint32N(2))}
	if x.trouble && x.rng.IntN(100) == 0 {
		s.pkt.Reth.RKey = x.key(abi.AccessRemoteRead)
	}
}

// response goes on with the answer to a READ, or begins that of a READ or atomic.
func (x *traffic) response(q *qp, s *sentPkt) {
	r := x.rng
	m := &q.peer.resp
	if !m.started {
		if r.IntN(3) == 0 {
			s.pkt.Opcode, s.pkt.Reth.Swap, s.wqe = roce.RCAtomicAck, r.Uint64(), x.postSend(q, abi.OpFetchAdd, 8)
			return
		}
		*m = message{left: pick(r, 0, 1, 64, r.IntN(64), r.IntN(x.mtu+1), r.IntN(3*x.mtu))}
		m.wqe = x.postSend(q, abi.OpRead, m.left)
	}
	n := min(m.left, x.mtu)
	m.left -= n
	s.wqe, s.offset = m.wqe, m.offset
	m.offset += uint32(n)
	x.fill(s, n)
	switch {
	case m.started && m.left > 0:
		s.pkt.Opcode = roce.RCReadRespMiddle
	case m.started:
		s.pkt.Opcode = roce.RCReadRespLast
	case m.left > 0:
		s.pkt.Opcode = roce.RCReadRespFirst
	default:
		s.pkt.Opcode = roce.RCReadRespOnly
	}
	m.started = m.left > 0
}

// fill gives a packet a payload.
func (x *traffic) fill(s *sentPkt, n int) {
	s.payload, s.pkt.Len = make([]byte, n), uint16(n)
	for i := range s.payload {
		s.payload[i] = byte(x.rng.Uint32())
	}
}

func (x *traffic) checkCQE(c port.CQEReq) {
	require.Less(x.b.t, x.seen.cqes, len(x.cqes), "a CQE too many: %+v", c)
	d := x.cqes[x.seen.cqes]
	require.Equal(x.b.t, d.cqe, c, "CQE %d", x.seen.cqes)
	require.GreaterOrEqual(x.b.t, x.b.dma.postedBy(x.b.k.Cycle()), d.mark, "CQE %d before its payload", x.seen.cqes)
	require.GreaterOrEqual(x.b.t, x.b.Atomic.done[c.QPN], d.atomics, "CQE %d before an atomic", x.seen.cqes)
	x.seen.cqes++
	if c.Flags&uint8(abi.CQEWithInv) != 0 {
		x.seen.keys++
		require.LessOrEqual(x.b.t, x.seen.keys, x.b.Ended.Sent(), "CQE %d while its key may still be read by", x.seen.cqes)
	}
	if c.Purge {
		x.purged.Notify()
		return
	}
	q := x.qps[c.QPN]
	switch {
	case c.LastWQE:
		return
	case q.srq != nil:
		q.srq.release(x.b.t, c.UnitIdx)
		return
	}
	require.Equal(x.b.t, q.free, c.UnitIdx, "receive WQEs complete in order")
	q.free++
}

func (x *traffic) checkJob(j port.Job) {
	q := x.qps[j.QPN]
	if j.Again && j.Kind == port.JobNone {
		x.stats.DropOther++
		x.seen.lost++
	}
	for {
		require.NotEmpty(x.b.t, q.jobs, "an answer too many: %+v", j)
		d := q.jobs[0]
		q.jobs = q.jobs[1:]
		if d.job == j {
			require.GreaterOrEqual(x.b.t, x.b.dma.postedBy(x.b.k.Cycle()), d.mark, "answered before the payload is posted")
			return
		}
		require.True(x.b.t, d.void, "sent %+v, not %+v", j, d.job)
	}
}

func (x *traffic) checkEvent(e port.AckEvent) {
	q := x.qps[e.QPN]
	require.NotEmpty(x.b.t, q.events, "an event too many: %+v", e)
	require.Equal(x.b.t, q.events[0].event, e)
	require.GreaterOrEqual(x.b.t, x.b.dma.postedBy(x.b.k.Cycle()), q.events[0].mark, "done before the data is posted")
	q.events = q.events[1:]
}

func (x *traffic) checkAtomic(r port.AtomicReq) {
	require.Less(x.b.t, x.seen.atomics, len(x.atomics), "an atomic too many: %+v", r)
	d := x.atomics[x.seen.atomics]
	require.Equal(x.b.t, d.req, r)
	require.GreaterOrEqual(x.b.t, x.b.dma.postedBy(x.b.k.Cycle()), d.mark, "before what was placed before it")
	x.seen.atomics++
}

// pick returns one of the values.
func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }
