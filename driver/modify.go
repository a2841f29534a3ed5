package driver

import (
	"errors"
	"fmt"

	"rnic/abi"
)

// QPAttr are the attributes of a QP, with the meanings of verbs.
type QPAttr struct {
	State           abi.QPState
	CurState        abi.QPState
	Port            uint8 // 1
	PKeyIndex       uint16
	Access          abi.AccessFlags // what the peer may do
	QKey            uint32
	PathMTU         abi.MTU
	DestQPN         uint32
	RQPSN           uint32 // first PSN expected, 24 bits
	SQPSN           uint32 // first PSN sent, 24 bits
	MaxRdAtomic     uint8  // as initiator
	MaxDestRdAtomic uint8  // as responder
	MinRNRTimer     uint8  // code, 0 to 31
	Timeout         uint8  // code, 0 to 31: 4.096 us * 2^n; 0: none
	RetryCnt        uint8  // 0 to 7
	RNRRetry        uint8  // 0 to 7
	SQDAsyncNotify  bool
	AV              abi.AV
}

// Modify changes the attributes that mask names; with abi.AttrState also the
// state. The device judges what the transition needs and allows: errors wrap
// ErrInvalid or ErrNotSupported, and nothing has changed then. To RESET, all that
// was posted is forgotten, and its completions that were not polled. From SQE to RTS
// it waits until all that was posted is flushed, up to Config.AdminTimeout: ErrBusy.
func (q *QP) Modify(attr QPAttr, mask abi.QPAttr) error {
	c := q.dev.begin(Call{Name: "Modify", Object: "qp", Number: q.num, What: attr.target(mask)})
	err := q.modify(attr, mask)
	q.dev.end(c, 0, err)
	return err
}

func (q *QP) modify(attr QPAttr, mask abi.QPAttr) error {
	if q.destroyed {
		return fmt.Errorf("modify: QP %d is destroyed: %w", q.num, ErrInvalid)
	}
	box := attr.mailbox(mask)
	if err := abi.QPMailboxLayout.Check(&box); err != nil {
		return fmt.Errorf("modify QP %d: %w: %w", q.num, ErrInvalid, err)
	}
	var b [abi.MailboxSize]byte
	abi.QPMailboxLayout.Encode(&box, b[:])
	if err := q.settle(&b); err != nil {
		return err
	}
	if mask&abi.AttrState == 0 {
		return nil
	}
	q.state = attr.State
	if q.state != abi.QPReset {
		return nil
	}
	q.sq.reset()
	q.rq.reset()
	return q.purge()
}

// settle has the device change attributes, and again while it flushes.
func (q *QP) settle(b *[abi.MailboxSize]byte) error {
	limit := q.dev.bus.Now() + q.dev.Config.AdminTimeout
	for {
		err := q.dev.command(abi.AdminModifyQP, q.num, b, false)
		var e *AdminError
		if !errors.As(err, &e) || e.Status != abi.AdminBusy || e.Syndrome != abi.SynDraining || q.dev.bus.Now() >= limit {
			return err
		}
		q.dev.bus.Spend(pollInterval)
	}
}

// mailbox holds the attributes that mask names.
func (a *QPAttr) mailbox(mask abi.QPAttr) abi.QPMailbox {
	b := abi.QPMailbox{
		AttrMask: mask, State: a.State, CurState: a.CurState, Port: a.Port, AccessFlags: a.Access,
		PKeyIndex: a.PKeyIndex, PathMTU: a.PathMTU, MaxRdAtomic: a.MaxRdAtomic, QKey: a.QKey,
		DestQPN: a.DestQPN, MaxDestRdAtomic: a.MaxDestRdAtomic, RQPSN: a.RQPSN, Timeout: a.Timeout,
		SQPSN: a.SQPSN, MinRNRTimer: a.MinRNRTimer, RetryCnt: a.RetryCnt, RNRRetry: a.RNRRetry,
		SQDAsyncNotify: a.SQDAsyncNotify, AV: a.AV,
	}
	drop := func(bit abi.QPAttr, clear func()) {
		if mask&bit == 0 {
			clear()
		}
	}
	drop(abi.AttrState, func() { b.State = 0 })
	drop(abi.AttrCurState, func() { b.CurState = 0 })
	drop(abi.AttrPort, func() { b.Port = 0 })
	drop(abi.AttrAccessFlags, func() { b.AccessFlags = 0 })
	drop(abi.AttrPKeyIndex, func() { b.PKeyIndex = 0 })
	drop(abi.AttrPathMTU, func() { b.PathMTU = 0 })
	drop(abi.AttrMaxRdAtomic, func() { b.MaxRdAtomic = 0 })
	drop(abi.AttrQKey, func() { b.QKey = 0 })
	drop(abi.AttrDestQPN, func() { b.DestQPN = 0 })
	drop(abi.AttrMaxDestRdAtomic, func() { b.MaxDestRdAtomic = 0 })
	drop(abi.AttrRQPSN, func() { b.RQPSN = 0 })
	drop(abi.AttrTimeout, func() { b.Timeout = 0 })
	drop(abi.AttrSQPSN, func() { b.SQPSN = 0 })
	drop(abi.AttrMinRNRTimer, func() { b.MinRNRTimer = 0 })
	drop(abi.AttrRetryCnt, func() { b.RetryCnt = 0 })
	drop(abi.AttrRNRRetry, func() { b.RNRRetry = 0 })
	drop(abi.AttrSQDAsyncNotify, func() { b.SQDAsyncNotify = false })
	drop(abi.AttrAV, func() { b.AV = abi.AV{} })
	return b
}

// Query asks the device for state, attributes and indices of the QP.
func (q *QP) Query() (m abi.QPMailbox, err error) {
	if q.destroyed {
		return m, fmt.Errorf("query: QP %d is destroyed: %w", q.num, ErrInvalid)
	}
	var b [abi.MailboxSize]byte
	if err := q.dev.command(abi.AdminQueryQP, q.num, &b, true); err != nil {
		return m, err
	}
	return m, abi.QPMailboxLayout.Decode(b[:], &m)
}
