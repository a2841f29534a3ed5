package driver

import (
	"fmt"

	"rnic/abi"
)

// SendWR is a send work request.
type SendWR struct {
	ID     uint64 // comes back in the WC
	Op     abi.WQEOp
	SGEs   []SGE  // what is sent, or where a READ goes, in order; atomics: one, for the 8 bytes of the old value
	Inline []byte // sent instead of SGEs, if not nil: copied before PostSend returns; not of READs and atomics
	Imm    uint32 // immediate; SEND_INV: the peer's key to invalidate; LOCAL_INV: the own one

	Signaled  bool // gives a WC when done; an error gives one anyway
	Solicited bool // the receiver's WC is a solicited one
	Fence     bool // waits until all earlier READs and atomics are done

	RemoteAddr uint64 // RDMA and atomics: virtual address at the peer
	RKey       abi.Key
	SwapAdd    uint64 // atomics: value to store, or to add
	Compare    uint64 // COMPARE_SWAP

	AH         *AH    // UD: the way to the peer
	RemoteQPN  uint32 // UD: 24 bits
	RemoteQKey uint32 // UD: with the top bit set the QP's own

	Bind    *Bind    // BIND_MW, of a window of type 2
	FastReg *FastReg // FAST_REG
}

// SGE is an element: Length bytes at virtual address Addr of the region of LKey.
type SGE = abi.SGE

// flags are those of the WQE.
func (w *SendWR) flags(sigAll bool) (f abi.WQEFlags) {
	if w.Signaled || sigAll {
		f |= abi.WQESignalled
	}
	if w.Solicited {
		f |= abi.WQESolicited
	}
	if w.Fence {
		f |= abi.WQEFence
	}
	if w.Inline != nil {
		f |= abi.WQEInlined
	}
	return f
}

// PostSend posts work requests in order and tells the device with one doorbell. It
// stops at the first that is wrong: n is then its index, those before it are
// posted, and the error says why. ErrInvalid: state, elements, inline length, address
// handle, or an operation that a QP of this type does not have; ErrNotSupported: an operation that the device does not do;
// ErrNoMemory: the queue is full. It never waits for the device.
//
// A single work request of one unit goes to the device in place of the doorbell,
// which then need not read it from memory.
func (q *QP) PostSend(wrs ...SendWR) (n int, err error) {
	c := q.dev.begin(Call{Name: "PostSend", Object: "qp", Number: q.num, What: first(wrs), Posted: len(wrs)})
	n, err = q.post(wrs, abi.KeyWindow2)
	q.dev.end(c, n, err)
	return n, err
}

// post is PostSend, and also what binds windows of another kind.
func (q *QP) post(wrs []SendWR, kind abi.KeyKind) (n int, err error) {
	if q.destroyed || q.state < abi.QPRTS {
		return 0, fmt.Errorf("post send to QP %d in %s (destroyed: %t): %w", q.num, q.state, q.destroyed, ErrInvalid)
	}
	for n < len(wrs) {
		if err = q.send(&wrs[n], kind); err != nil {
			err = fmt.Errorf("post send to QP %d: work request %d (id %d): %w", q.num, n, wrs[n].ID, err)
			break
		}
		n++
	}
	if n == 0 {
		return 0, err
	}
	q.dev.bus.Spend(int64(n) * q.dev.Config.PostCost)
	if e := q.announceSends(n == 1); err == nil {
		err = e
	}
	return n, err
}

// announceSends rings, or pushes the last WQE if it is the only one that is new
// and takes one unit.
func (q *QP) announceSends(single bool) error {
	s, b := &q.sq, &q.sq.bell
	if single && !b.busy && s.pi-b.rung == 1 && q.dev.caps.PushWQE && !q.dev.Config.NoPush {
		copy(q.push[:], q.wqe[:])
		pi := s.pi
		b.busy = true
		err := q.dev.bus.Write(abi.PushAddr(q.page), q.push[:])
		b.busy = false
		if err != nil {
			return err
		}
		b.rung = pi
	}
	return q.dev.ring(b, q.page, abi.DoorbellSQ, q.num, &s.pi)
}

// send checks a work request and writes its WQE into the ring.
func (q *QP) send(w *SendWR, kind abi.KeyKind) error {
	units, err := q.checkSend(w, kind)
	if err != nil {
		return err
	}
	s := &q.sq
	if s.count >= s.max { // each has room for the most units
		return fmt.Errorf("send queue full, %d of %d work requests outstanding: %w", s.count, s.max, ErrNoMemory)
	}
	b := q.wqe[:units*abi.UnitSize]
	q.encode(w, b)
	first := min(units, 1<<s.log-int(abi.RingSlot(s.pi, s.log))) * abi.UnitSize
	addr := s.base + uint64(abi.RingSlot(s.pi, s.log))*abi.UnitSize
	if err := q.dev.bus.WriteMem(addr, b[:first]); err != nil {
		return err
	}
	if first < len(b) {
		if err := q.dev.bus.WriteMem(s.base, b[first:]); err != nil {
			return err
		}
	}
	r := workRequest{id: w.ID, units: uint8(units), op: w.Op, signalled: q.sigAll || w.Signaled}
	r.names, r.named = q.name(w)
	s.take(r)
	switch w.Op {
	case abi.OpBindMW:
		w.Bind.MW.RKey = w.Bind.RKey
	case abi.OpFastReg:
		w.FastReg.done()
	}
	return nil
}
