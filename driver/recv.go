package driver

import (
	"fmt"

	"rnic/abi"
)

// RecvWR is a receive work request: where a message goes.
type RecvWR struct {
	ID   uint64 // comes back in the WC
	SGEs []SGE  // filled in order; a datagram comes behind GRHSize bytes of header
}

// PostRecv posts receives in order and tells the device with one doorbell. It
// stops at the first that is wrong, as PostSend does: ErrInvalid for the state
// RESET, too many elements or a QP with an SRQ, ErrNoMemory when the queue is full. It never waits for
// the device.
func (q *QP) PostRecv(wrs ...RecvWR) (n int, err error) {
	c := q.dev.begin(Call{Name: "PostRecv", Object: "qp", Number: q.num, Posted: len(wrs)})
	n, err = q.postRecv(wrs)
	q.dev.end(c, n, err)
	return n, err
}

func (q *QP) postRecv(wrs []RecvWR) (n int, err error) {
	if q.destroyed || q.state == abi.QPReset {
		return 0, fmt.Errorf("post receive to QP %d in %s (destroyed: %t): %w", q.num, q.state, q.destroyed, ErrInvalid)
	}
	if q.srq != nil {
		return 0, fmt.Errorf("post receive to QP %d, which has SRQ %d: %w", q.num, q.srq.num, ErrInvalid)
	}
	for n < len(wrs) {
		if err = q.recv(&wrs[n]); err != nil {
			err = fmt.Errorf("post receive to QP %d: work request %d (id %d): %w", q.num, n, wrs[n].ID, err)
			break
		}
		n++
	}
	if n == 0 {
		return 0, err
	}
	q.dev.bus.Spend(int64(n) * q.dev.Config.PostCost)
	if e := q.dev.ring(&q.rq.bell, q.page, abi.DoorbellRQ, q.num, &q.rq.pi); err == nil {
		err = e
	}
	return n, err
}

// recv checks a receive and writes it into the ring.
func (q *QP) recv(w *RecvWR) error {
	r := &q.rq
	switch {
	case len(w.SGEs) > r.maxSGE:
		return fmt.Errorf("%d SGEs, the QP has %d: %w", len(w.SGEs), r.maxSGE, ErrInvalid)
	case r.count >= r.max:
		return fmt.Errorf("receive queue full, %d of %d work requests outstanding: %w", r.count, r.max, ErrNoMemory)
	}
	b := encodeRecv(q.rwqe[:], w, abi.RWQEControl{NumSGE: uint8(len(w.SGEs)), Index: r.pi})
	addr := r.base + uint64(abi.RingSlot(r.pi, r.log))<<r.stride
	if err := q.dev.bus.WriteMem(addr, b); err != nil {
		return err
	}
	r.take(workRequest{id: w.ID, units: 1, signalled: true})
	return nil
}

// encodeRecv fills in the used part of a receive WQE and returns it.
func encodeRecv(b []byte, w *RecvWR, c abi.RWQEControl) []byte {
	b = b[:abi.RWQEDataOffset+len(w.SGEs)*abi.SGESize]
	clear(b)
	abi.RWQEControlLayout.Encode(&c, b)
	for i := range w.SGEs {
		abi.SGELayout.Encode(&w.SGEs[i], b[abi.RWQEDataOffset+i*abi.SGESize:])
	}
	return b
}

// rqLogStride is log2 of the bytes of a receive WQE.
func rqLogStride(maxSGE int) uint8 { return max(abi.RQLogStride(maxSGE), 5) }
