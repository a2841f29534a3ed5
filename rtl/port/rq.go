package port

import "rnic/abi"

// RQGet asks rq_fetch for a receive WQE, or (SQ) for the SGEs of a send WQE whose
// response has come: scatter to rq_fetch. The answer is an
// RQWQE; a hit is answered at once, a miss after a DMA read. Next entries behind
// it may be prefetched. Done releases the entry from the pool. Skip tells of an
// entry that is used up unread, and has no answer. Purge forgets the QP; a void
// answer comes when no read for it is under way any more.
//
// With SRQ, Take is for the next entry of the list of SRQN, number Idx, whose ring is at
// Addr (First: it begins at slot 0); without Take it is the one that the QP took last.
// There is no Skip: the answer says which slot it is.
type RQGet struct {
	SRQ    bool
	SRQN   SRQN
	Take   bool
	First  bool
	Purge  bool
	Skip   bool
	SQ     bool // Ref names the WQE; Idx, Addr, Stride, Next are not used
	Ref    SQRef
	QPN    QPN
	Idx    uint16
	Addr   BusAddr // of the entry
	Stride uint16
	Next   uint16
	Log    uint8 // log2 of the ring's entries: nothing beyond its end is prefetched
	Done   bool  // last use of this entry
}

// SQAhead has rq_fetch read a send WQE of Units units ahead of the responses that
// will need it: wqe_sched to rq_fetch, for each READ or atomic with data, before its
// packet is described. What rq_fetch held of unit Idx of the QP is from an older life
// and is forgotten.
type SQAhead struct {
	QPN   QPN
	Base  BusAddr
	Log   uint8
	Idx   uint16
	Units uint8
}

// MaxSGE is the number of scatter/gather elements that the hardware takes.
const MaxSGE = 16

// SGE is one scatter/gather element.
type SGE struct {
	VA  VA
	Len uint32
	Key Key
}

// RQWQE is a receive WQE as fetched. Err: unreadable or malformed, Vendor says why.
type RQWQE struct {
	Slot   uint16 // of an SRQ's entry; with Err too
	Err    bool
	Vendor abi.VendorErr
	Num    uint8
	SGE    [MaxSGE]SGE
}
