package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// source is a port that operations come from.
type source uint8

const (
	srcAdmin source = iota
	srcBell
	srcGet
	srcPut
	srcTxReq
	srcTxFault
	srcRx
	srcRetire
	srcFatal
	srcReadPost
	srcRespDone
	srcTold
	srcToldSRQ
	sources = iota
)

// Width is 4 bits.
func (source) Width() int { return 4 }

var sourceNames = [...]string{"ADMIN", "BELL", "GET", "PUT", "TX_REQ", "TX_FAULT", "RX", "RETIRE", "FATAL", "READ_POST", "RESP_DONE", "TOLD", "TOLD_SRQ"}

func (s source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "RESERVED"
}

// reads are the banks that an operation of each source looks at (a packet: not all of
// them), activates the sources whose operations may put on Activate, rewinds those
// that may put on Stale and StaleSQ.
var (
	reads = [sources]Bank{
		srcAdmin:    InAll &^ InLists,
		srcBell:     InCommon | InSQ | InResponder,
		srcGet:      InCommon | InSQ | InRequester,
		srcPut:      InAll &^ InLists,
		srcTxReq:    InCommon | InRequester,
		srcTxFault:  InAll &^ InLists,
		srcRx:       InAll,
		srcRetire:   InAll &^ InSaved,
		srcFatal:    InAll &^ InLists,
		srcReadPost: InCommon | InSQ | InRequester | InReads,
		srcRespDone: InResponder,
		srcTold:     InCommon | InRequester,
	}
	activates = [sources]bool{srcBell: true, srcRx: true, srcRetire: true, srcTold: true}
	rewinds   = [sources]bool{srcAdmin: true, srcPut: true, srcRx: true, srcRetire: true}
)

// banks are those that the operation at the head of a port looks at: the lists only
// for packets that have to do with them.
func (m *QPC) banks(s source) Bank {
	r := reads[s]
	switch s {
	case srcRx:
		o := m.Rx.Head()
		op := o.Pkt.Opcode
		if o.Kind != port.RxPacket || !answered(op) {
			r &^= InSaved
		}
		if o.Kind == port.RxPacket && !op.IsResponse() {
			r &^= InReads
		}
	case srcTxReq:
		if m.TxReq.Head().UD {
			r |= InAH
		}
	case srcAdmin:
		if a := m.Admin.Head(); a.Op == port.QPCreate && a.Attr.Flags&abi.QPHasSRQ != 0 {
			r |= InShared
		}
	}
	return r
}

// object is what an operation is on.
type object uint8

const (
	ofQP object = iota
	ofAH
	ofSRQ
)

// Width is 2 bits.
func (object) Width() int { return 2 }

func (o object) String() string { return [...]string{"QP", "AH", "SRQ", "RESERVED"}[o&3] }

// subject is what an operation of admin is on.
func subject(op port.QPAdminOp) object {
	switch op {
	case port.AHCreate, port.AHDestroy:
		return ofAH
	case port.SRQCreate, port.SRQModify, port.SRQQuery, port.SRQDestroy:
		return ofSRQ
	}
	return ofQP
}

// head is the object of the operation at the head of a port, and its number.
func (m *QPC) head(s source) (object, port.QPN) {
	switch s {
	case srcAdmin:
		a := m.Admin.Head()
		return subject(a.Op), a.QPN
	case srcBell:
		d := m.Bell.Head()
		if d.SRQ {
			return ofSRQ, d.QPN
		}
		return ofQP, d.QPN
	case srcGet:
		return ofQP, m.Get.Head().QPN
	case srcPut:
		return ofQP, m.Put.Head().QPN
	case srcTxReq:
		return ofQP, m.TxReq.Head().QPN
	case srcTxFault:
		return ofQP, m.TxFault.Head().QPN
	case srcRx:
		return ofQP, m.Rx.Head().QPN
	case srcRetire:
		return ofQP, m.Retire.Head().QPN
	case srcFatal:
		return ofQP, m.Fatal.Head().QPN
	case srcReadPost:
		return ofQP, m.ReadPost.Head().QPN
	case srcRespDone:
		return ofQP, m.RespDone.Head().QPN
	case srcToldSRQ:
		return ofSRQ, port.QPN(*m.ToldSRQ.Head())
	}
	return ofQP, m.Told.Head().QPN
}
