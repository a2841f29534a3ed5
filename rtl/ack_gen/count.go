package ackgen

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// count adds a verdict to the counters: under the one that it names; a dropped
// packet whose counter is not one of drops under DropOther too; a fault that is
// answered with NAK invalid request under that too.
func count(s *port.RespStats, v *port.RxVerdict) {
	if n := counter(s, v.Drop); n != nil {
		*n++
	}
	if v.Action == port.RxDrop && !isDrop(v.Drop) {
		s.DropOther++
	}
	if v.Action == port.RxFailed && v.Drop != abi.RespRemoteInvalidRequest && v.Ack.Send && roce.Syndrome(v.Ack.Syndrome) == roce.NAKSyndrome(roce.NAKInvalidRequest) {
		s.RespRemoteInvalidRequest++
	}
}

// isDrop tells whether a counter counts dropped packets, and here.
func isDrop(c abi.Counter) bool { return c >= abi.RxDropBadQPN && c <= abi.RxDropOther }

// counter is the one of s that a verdict names, nil if it is not kept here.
func counter(s *port.RespStats, c abi.Counter) *uint64 {
	switch c {
	case abi.RxDropBadQPN:
		return &s.DropBadQPN
	case abi.RxDropBadTransport:
		return &s.DropBadTransport
	case abi.RxDropBadState:
		return &s.DropBadState
	case abi.RxDropBadPKey:
		return &s.DropBadPKey
	case abi.RxDropBadAddress:
		return &s.DropBadAddress
	case abi.RxDropBadQKey:
		return &s.DropBadQKey
	case abi.RxDropOther:
		return &s.DropOther
	case abi.DuplicateRequest:
		return &s.DuplicateRequest
	case abi.OutOfSequence:
		return &s.OutOfSequence
	case abi.OutOfBuffer:
		return &s.OutOfBuffer
	case abi.RespLocalLengthError:
		return &s.RespLocalLengthError
	case abi.RespLocalProtectionErrors:
		return &s.RespLocalProtection
	case abi.RespRemoteAccessErrors:
		return &s.RespRemoteAccess
	case abi.RespRemoteInvalidRequest:
		return &s.RespRemoteInvalidRequest
	case abi.PacketSeqErr:
		return &s.PacketSeqErr
	case abi.RNRNakRetryErr:
		return &s.RnrNakRetryErr
	case abi.ImpliedNakSeqErr:
		return &s.ImpliedNakSeqErr
	case abi.ReqRemoteInvalidRequest:
		return &s.ReqRemoteInvalidRequest
	case abi.ReqRemoteAccessErrors:
		return &s.ReqRemoteAccessErr
	case abi.ReqRemoteOperational:
		return &s.ReqRemoteOperational
	}
	return nil
}
