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
	Imm    uint32 // immediate; SEND_INV: the peer's key to invalidate

	Signaled  bool // gives a WC when done; an error gives one anyway
	Solicited bool // the receiver's WC is a solicited one
	Fence     bool // waits until all earlier READs and atomics are done

	RemoteAddr uint64 // RDMA and atomics: virtual address at the peer
	RKey       abi.Key
	SwapAdd    uint64 // atomics: value to store, or to add
	Compare    uint64 // COMPARE_SWAP
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
// posted, and the error says why. ErrInvalid: state, elements, inline length, or
// operation; ErrNotSupported: an operation that the device does not do;
// ErrNoMemory: the queue is full. It never waits for the device.
//
// A single work request of one unit goes to the device in place of the doorbell,
// which then need not read it from memory.
func (q *QP) PostSend(wrs ...SendWR) (n int, err error) {
	c := q.dev.begin(Call{Name: "PostSend", Object: "qp", Number: q.num, What: first(wrs), Posted: len(wrs)})
	n, err = q.postSend(wrs)
	q.dev.end(c, n, err)
	return n, err
}

func (q *QP) postSend(wrs []SendWR) (n int, err error) {
	if q.destroyed || q.state < abi.QPRTS {
		return 0, fmt.Errorf("post send to QP %d in %s (destroyed: %t): %w", q.num, q.state, q.destroyed, ErrInvalid)
	}
	for n < len(wrs) {
		if err = q.send(&wrs[n]); err != nil {
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
func (q *QP) send(w *SendWR) error {
	units, err := q.checkSend(w)
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
	s.take(workRequest{
		id: w.ID, units: uint8(units), op: w.Op, signalled: q.sigAll || w.Signaled,
	})
	return nil
}

// checkSend judges a work request and returns the units that its WQE takes.
func (q *QP) checkSend(w *SendWR) (units int, err error) {
	switch {
	case w.Op > abi.OpNop:
		return 0, fmt.Errorf("operation %d: %w", w.Op, ErrInvalid)
	case q.dev.Attr.WQEOps>>w.Op&1 == 0 || w.Op == abi.OpBindMW || w.Op == abi.OpFastReg:
		return 0, fmt.Errorf("operation %s: %w", w.Op, ErrNotSupported)
	case w.Inline != nil && len(w.SGEs) != 0:
		return 0, fmt.Errorf("inline data and %d SGEs: %w", len(w.SGEs), ErrInvalid)
	case len(w.Inline) > q.maxInline:
		return 0, fmt.Errorf("%d bytes of inline data, the QP has %d: %w", len(w.Inline), q.maxInline, ErrInvalid)
	case len(w.SGEs) > q.sq.maxSGE:
		return 0, fmt.Errorf("%d SGEs, the QP has %d: %w", len(w.SGEs), q.sq.maxSGE, ErrInvalid)
	}
	switch w.Op {
	case abi.OpCompareSwap, abi.OpFetchAdd: // that it has 8 bytes is for the device to judge
		if len(w.SGEs) != 1 {
			return 0, fmt.Errorf("%s with %d SGEs, not 1: %w", w.Op, len(w.SGEs), ErrInvalid)
		}
		return 1, nil
	case abi.OpRead:
		if w.Inline != nil {
			return 0, fmt.Errorf("READ with inline data: %w", ErrInvalid)
		}
	}
	return abi.WQEUnits(len(w.SGEs), len(w.Inline)), nil
}

// encode fills b, the units of a WQE.
func (q *QP) encode(w *SendWR, b []byte) {
	clear(b)
	c := &q.ctrl
	*c = abi.WQEControl{
		Op: w.Op, Flags: w.flags(q.sigAll), Units: uint8(len(b) / abi.UnitSize), NumSGE: uint8(len(w.SGEs)),
		Index: q.sq.pi, Imm: w.Imm, QPN: q.num,
	}
	if w.Inline != nil {
		c.InlineLen = uint16(len(w.Inline))
		copy(b[abi.WQEDataOffset:], w.Inline)
	}
	abi.WQEControlLayout.Encode(c, b)
	r := abi.RemoteSegment{Addr: w.RemoteAddr, RKey: w.RKey}
	abi.RemoteSegmentLayout.Encode(&r, b[abi.WQERemoteOffset:])
	for i := range w.SGEs {
		abi.SGELayout.Encode(&w.SGEs[i], b[abi.WQEDataOffset+i*abi.SGESize:])
	}
	if w.Op == abi.OpCompareSwap || w.Op == abi.OpFetchAdd {
		a := abi.AtomicSegment{SwapAdd: w.SwapAdd, Compare: w.Compare}
		abi.AtomicSegmentLayout.Encode(&a, b[abi.WQEAtomicOffset:])
	}
}
