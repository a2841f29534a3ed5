package qpc

import "rnic/rtl/port"

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
	sources = iota
)

// Width is 4 bits.
func (source) Width() int { return 4 }

var sourceNames = [...]string{"ADMIN", "BELL", "GET", "PUT", "TX_REQ", "TX_FAULT", "RX", "RETIRE", "FATAL", "READ_POST", "RESP_DONE", "TOLD"}

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
	rewinds   = [sources]bool{srcPut: true, srcRx: true, srcRetire: true}
)

// banks are those that the operation at the head of a port looks at: the lists only
// for packets that have to do with them.
func (m *QPC) banks(s source) Bank {
	r := reads[s]
	if s == srcRx {
		o := m.Rx.Head()
		op := o.Pkt.Opcode
		if o.Kind != port.RxPacket || !answered(op) {
			r &^= InSaved
		}
		if o.Kind == port.RxPacket && !op.IsResponse() {
			r &^= InReads
		}
	}
	return r
}

// head is the QP of the operation at the head of a port.
func (m *QPC) head(s source) port.QPN {
	switch s {
	case srcAdmin:
		return m.Admin.Head().QPN
	case srcBell:
		return m.Bell.Head().QPN
	case srcGet:
		return m.Get.Head().QPN
	case srcPut:
		return m.Put.Head().QPN
	case srcTxReq:
		return m.TxReq.Head().QPN
	case srcTxFault:
		return m.TxFault.Head().QPN
	case srcRx:
		return m.Rx.Head().QPN
	case srcRetire:
		return m.Retire.Head().QPN
	case srcFatal:
		return m.Fatal.Head().QPN
	case srcReadPost:
		return m.ReadPost.Head().QPN
	case srcRespDone:
		return m.RespDone.Head().QPN
	}
	return m.Told.Head().QPN
}
