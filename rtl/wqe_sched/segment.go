package wqesched

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// packet is one packet of a message.
type packet struct {
	Opcode    roce.Opcode
	Len       uint16 // payload bytes, without pad
	Last      bool   // of the message
	AckReq    bool
	Solicited bool
}

// packetsOf is the number of packets of a message of length bytes: one at least.
func packetsOf(length uint32, shift uint) uint32 {
	if length == 0 {
		return 1
	}
	return (length-1)>>shift + 1
}

// cut describes the packet at byte offset of a SEND or WRITE: every packet but the
// last is full (IBTA 9.7.5). An acknowledgement is asked for by the last packet,
// and every 16 packets so that the window keeps moving.
func cut(w *wqe, offset uint32, psn roce.PSN, shift uint) packet {
	left := w.Len - offset
	p := packet{Last: left <= 1<<shift}
	p.Len = uint16(1 << shift)
	if p.Last {
		p.Len = uint16(left)
	}
	p.Opcode = sendOpcode(w.Op, offset == 0, p.Last)
	p.Solicited = p.Last && w.Solicited
	p.AckReq = p.Last || psn%16 == 15
	return p
}

// sendOpcode is the opcode of a packet of a SEND or WRITE.
func sendOpcode(op abi.WQEOp, first, last bool) roce.Opcode {
	o := &sendOpcodes[op&7]
	switch {
	case first && last:
		return o.only
	case first:
		return o.first
	case last:
		return o.last
	}
	return o.middle
}

var sendOpcodes = [8]struct{ first, middle, last, only roce.Opcode }{
	abi.OpSend:     {roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLast, roce.RCSendOnly},
	abi.OpSendImm:  {roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLastImm, roce.RCSendOnlyImm},
	abi.OpSendInv:  {roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLastInv, roce.RCSendOnlyInv},
	abi.OpWrite:    {roce.RCWriteFirst, roce.RCWriteMiddle, roce.RCWriteLast, roce.RCWriteOnly},
	abi.OpWriteImm: {roce.RCWriteFirst, roce.RCWriteMiddle, roce.RCWriteLastImm, roce.RCWriteOnlyImm},
}

// readOpcode is the opcode of the request of a READ or atomic.
func readOpcode(op abi.WQEOp) roce.Opcode {
	switch op {
	case abi.OpCompareSwap:
		return roce.RCCmpSwap
	case abi.OpFetchAdd:
		return roce.RCFetchAdd
	}
	return roce.RCReadRequest
}

// gather is the run of at most n bytes at byte offset of a gather list: it ends
// with its element. Elements without length are passed over.
func gather(list *[port.MaxSGE]port.SGE, offset, n uint32) (p port.SGE) {
	for i := range list {
		e := &list[i]
		if offset < e.Len {
			return port.SGE{VA: e.VA + port.VA(offset), Len: min(n, e.Len-offset), Key: e.Key}
		}
		offset -= e.Len
	}
	return port.SGE{}
}

// runs is the number of runs that n bytes at offset fall into.
func runs(list *[port.MaxSGE]port.SGE, offset, n uint32) (count uint8) {
	for i := range list {
		e := &list[i]
		if n != 0 && offset < e.Len {
			count++
			n -= min(n, e.Len-offset)
			offset = 0
			continue
		}
		offset -= min(offset, e.Len)
	}
	return count
}
