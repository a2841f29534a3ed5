package ackgen

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// count adds a verdict to the counters.
func count(s *port.RespStats, v *port.RxVerdict, o *order) {
	switch {
	case v.Action == port.RxDrop && o.Kind == port.RxPacket:
		countDrop(s, v.Drop)
	case v.Action == port.RxAck && o.Opcode == roce.RCAck:
		countReceived(s, o.Synd)
	}
	if o.Kind == port.RxFault {
		switch o.Status {
		case abi.StatusLocLen:
			s.RespLocalLengthError++
		case abi.StatusLocProt:
			s.RespLocalProtection++
		}
	}
	if v.Ack.Send && (v.Action == port.RxReply || v.Action == port.RxFailed) {
		countReply(s, roce.Syndrome(v.Ack.Syndrome))
	}
}

// countDrop counts a frame that was dropped for the reason c.
func countDrop(s *port.RespStats, c abi.Counter) {
	switch c {
	case abi.RxDropBadQPN:
		s.DropBadQPN++
	case abi.RxDropBadTransport:
		s.DropBadTransport++
	case abi.RxDropBadState:
		s.DropBadState++
	case abi.RxDropBadPKey:
		s.DropBadPKey++
	case abi.RxDropBadAddress:
		s.DropBadAddress++
	case abi.DuplicateRequest:
		s.DuplicateRequest++
	case abi.OutOfSequence:
		s.OutOfSequence++
	case abi.OutOfBuffer:
		s.OutOfBuffer++
	default:
		s.DropOther++
	}
}

// countReply counts a request that was answered, but not placed, by the answer.
func countReply(s *port.RespStats, y roce.Syndrome) {
	switch {
	case y.Kind() == roce.KindACK:
		s.DuplicateRequest++
	case y.Kind() == roce.KindRNR:
		s.OutOfBuffer++
	case isNAK(y, roce.NAKSequence):
		s.OutOfSequence++
	case isNAK(y, roce.NAKInvalidRequest):
		s.RespRemoteInvalidRequest++
	case isNAK(y, roce.NAKRemoteAccess):
		s.RespRemoteAccess++
	}
}

// countReceived counts a NAK that the send queue got.
func countReceived(s *port.RespStats, y roce.Syndrome) {
	switch {
	case y.Kind() == roce.KindRNR:
		s.RnrNakRetryErr++
	case isNAK(y, roce.NAKSequence):
		s.PacketSeqErr++
	case isNAK(y, roce.NAKInvalidRequest):
		s.ReqRemoteInvalidRequest++
	case isNAK(y, roce.NAKRemoteAccess):
		s.ReqRemoteAccessErr++
	case isNAK(y, roce.NAKRemoteOperation):
		s.ReqRemoteOperational++
	}
}
