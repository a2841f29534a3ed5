package driver

import "rnic/abi"

// workQueue is a send or receive queue. Indices count units or entries.
type workQueue struct {
	base   uint64
	log    uint8 // of units or entries
	stride uint8 // log2 of the bytes of one
	max    int   // work requests
	maxSGE int
	count  int // work requests posted and not retired
	pi, ci uint16
	passed uint64 // units retired, or forgotten by a reset: that before ci
	done   uint64 // units that the device is known to be done with, counted like passed
	resets int
	wr     []workRequest // by slot of the first unit
	cq     *cq
	bell   bell
}

// workRequest is what the driver remembers of a work request.
type workRequest struct {
	id        uint64
	units     uint8
	op        abi.WQEOp
	signalled bool
	named     bool   // it names an object:
	names     uint32 // AHN of a datagram, or index of the key that a BIND_MW or FAST_REG changes
}

func (w *workQueue) reset() {
	w.passed += uint64(w.pi - w.ci)
	w.resets++
	w.count, w.pi, w.ci, w.bell.rung = 0, 0, 0, 0
}

// take enters a work request, whose WQE is in the ring.
func (w *workQueue) take(r workRequest) {
	w.wr[abi.RingSlot(w.pi, w.log)] = r
	w.pi += uint16(r.units)
	w.count++
}

// retire ends the work request at an index that is posted, and all before it.
// skipped tells that one of those should have had a CQE of its own; ok is false,
// and nothing changes, if no work request begins at the index.
func (w *workQueue) retire(index uint16) (r workRequest, skipped, ok bool) {
	i, n := w.ci, 0
	for i != index {
		r = w.wr[abi.RingSlot(i, w.log)]
		if uint16(r.units) > index-i {
			return r, false, false
		}
		skipped = skipped || r.signalled
		i += uint16(r.units)
		n++
	}
	r = w.wr[abi.RingSlot(i, w.log)]
	w.passed += uint64(i + uint16(r.units) - w.ci)
	w.ci = i + uint16(r.units)
	w.count -= n + 1
	return r, skipped, true
}
