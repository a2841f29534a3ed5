package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// Refusal is why a request in order gets a fatal NAK: what becomes of the receive
// WQE, if there is one. No Vendor: it gets none.
type Refusal struct {
	Status abi.WCStatus
	Vendor abi.VendorErr
}

// refuse makes the checks that come before the receive WQE: the sequence of
// opcodes in a message, whether the operation exists and is enabled, whether
// another READ or atomic may be answered, and where an atomic points to.
func (c *Context) refuse(p *port.RxPkt) Refusal {
	op, r := p.Opcode, &c.Responder
	switch {
	case op.Valid() && op.Starts() == (r.Incoming != IncomingNone), // a new message in the midst of one, or the rest of none
		op.IsSend() && r.Incoming == IncomingWrite, // a WRITE that goes on as a SEND
		op.IsWrite() && r.Incoming == IncomingSend:
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}
	case !op.Valid(), c.Common.Access&permission(op) != permission(op):
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvOp}
	case answered(op) && r.Reads >= c.Common.MaxDestRd:
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvOp}
	case op.IsAtomic() && p.Reth.VA%8 != 0:
		return Refusal{abi.StatusLocQPOp, abi.VendorAtomicAlign}
	}
	return Refusal{}
}

// permission is what an operation needs of the QP, and of the region of its key.
func permission(op roce.Opcode) abi.AccessFlags {
	switch {
	case op.IsWrite():
		return abi.AccessRemoteWrite
	case op.IsReadRequest():
		return abi.AccessRemoteRead
	case op.IsAtomic():
		return abi.AccessRemoteAtomic
	}
	return 0
}

// answered tells whether a request has an answer of its own: responder resources
// are counted.
func answered(op roce.Opcode) bool { return op.IsReadRequest() || op.IsAtomic() }

// wrongLength checks the lengths of a request. All packets of a message but the
// last are full and without pad; a message has not more than 2^31 bytes, a WRITE
// as many as it said. READs and atomics have no payload.
func (c *Context) wrongLength(p *port.RxPkt) Refusal {
	op, r := p.Opcode, &c.Responder
	size, mtu := uint32(p.Len), c.Common.MTU.Bytes()
	offset, total := r.Offset, r.Length
	if op.Starts() {
		offset = 0
	}
	if op.HasRETH() {
		total = p.Reth.Len
	}
	wrong := false
	switch {
	case answered(op):
		wrong = size != 0 || op.IsReadRequest() && total > roce.MaxMessage
	case !op.Ends():
		wrong = size != mtu || p.Pad != 0
	case op.IsLast():
		wrong = size == 0 || size > mtu
	default:
		wrong = size > mtu
	}
	if op.IsWrite() {
		rest := total - offset
		wrong = wrong || total > roce.MaxMessage || op.Ends() && size != rest || !op.Ends() && size >= rest
	}
	switch {
	case wrong:
		return Refusal{abi.StatusLocQPOp, abi.VendorRecvLength}
	case op.IsSend() && offset+size > roce.MaxMessage:
		return Refusal{abi.StatusLocLen, abi.VendorRecvTooLong}
	}
	return Refusal{}
}
