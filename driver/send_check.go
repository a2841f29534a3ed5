package driver

import (
	"fmt"

	"rnic/abi"
)

// checkSend judges a work request, which binds windows of a kind, and returns the
// units that its WQE takes.
func (q *QP) checkSend(w *SendWR, kind abi.KeyKind) (units int, err error) {
	switch {
	case w.Op > abi.OpNop:
		return 0, fmt.Errorf("operation %d: %w", w.Op, ErrInvalid)
	case !q.has(w.Op):
		return 0, fmt.Errorf("operation %s of a QP of type %s: %w", w.Op, q.typ, ErrInvalid)
	case q.dev.Attr.WQEOps>>w.Op&1 == 0:
		return 0, fmt.Errorf("operation %s: %w", w.Op, ErrNotSupported)
	case w.Inline != nil && len(w.SGEs) != 0:
		return 0, fmt.Errorf("inline data and %d SGEs: %w", len(w.SGEs), ErrInvalid)
	case len(w.Inline) > q.maxInline:
		return 0, fmt.Errorf("%d bytes of inline data, the QP has %d: %w", len(w.Inline), q.maxInline, ErrInvalid)
	case len(w.SGEs) > q.sq.maxSGE:
		return 0, fmt.Errorf("%d SGEs, the QP has %d: %w", len(w.SGEs), q.sq.maxSGE, ErrInvalid)
	}
	if q.typ == abi.QPTypeUD && w.Op != abi.OpNop {
		if err := q.checkAH(w); err != nil {
			return 0, err
		}
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
	case abi.OpLocalInv, abi.OpBindMW, abi.OpFastReg:
		return q.checkMemory(w, kind)
	}
	return abi.WQEUnits(len(w.SGEs), len(w.Inline)), nil
}

// checkAH judges where a datagram goes. That the handle is of the QP's PD is for the
// device to judge.
func (q *QP) checkAH(w *SendWR) error {
	switch {
	case w.AH == nil:
		return fmt.Errorf("datagram without AH: %w", ErrInvalid)
	case w.AH.dev.device != q.dev.device || w.AH.destroyed:
		return fmt.Errorf("AH %d is destroyed (%t), or of another device: %w", w.AH.num, w.AH.destroyed, ErrInvalid)
	case w.RemoteQPN >= 1<<24:
		return fmt.Errorf("remote QPN %#x: %w", w.RemoteQPN, ErrInvalid)
	}
	return nil
}

// checkMemory judges what is about keys, and moves no data.
func (q *QP) checkMemory(w *SendWR, kind abi.KeyKind) (units int, err error) {
	if w.Inline != nil || len(w.SGEs) != 0 {
		return 0, fmt.Errorf("%s with data: %w", w.Op, ErrInvalid)
	}
	switch w.Op {
	case abi.OpBindMW:
		return 1, q.checkBind(w.Bind, kind)
	case abi.OpFastReg:
		if err := q.checkFastReg(w.FastReg); err != nil {
			return 0, err
		}
		return fastRegUnits(len(w.FastReg.Pages)), nil
	}
	return 1, nil
}
