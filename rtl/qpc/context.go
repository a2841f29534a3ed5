package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// Context is all that the NIC knows of one QP, in the five banks that hold it.
type Context struct {
	Common    Common
	SQ        SQ
	Requester Requester
	Responder Responder
	Reads     Reads
}

// Common is the bank that nearly every operation reads and few write: what was
// fixed at creation, the state, and the attributes of MODIFY_QP but the PSNs.
type Common struct {
	Exists  bool
	State   abi.QPState
	Pending Note // what is to be told, see notify.go
	Queued  bool // the QP is in the queue of those with something to tell

	// Fixed at creation.
	Type         abi.QPType
	Flags        abi.QPFlags
	Page         uint8
	SQLog, RQLog uint8 // log2 of units, of entries
	StrideLog    uint8 // log2 of the bytes of a receive queue entry
	SQMaxSGE     uint8
	RQMaxSGE     uint8
	SQMaxInline  uint16
	PD           port.PD
	SendCQN      port.CQN
	RecvCQN      port.CQN
	SQBase       port.BusAddr
	RQBase       port.BusAddr

	// Attributes.
	MTU         abi.MTU
	Access      abi.AccessFlags
	Timeout     uint8 // 5 bits
	MinRNRTimer uint8 // 5 bits
	RetryCnt    uint8
	RNRRetry    uint8
	MaxRd       uint8
	MaxDestRd   uint8
	DestQPN     port.QPN
	V6          bool
	DMAC        [6]byte
	DGID        [16]byte // IPv4: ::ffff:a.b.c.d
	Flow        uint32   // 20 bits
	SPort       uint16
	TOS         uint8
	TTL         uint8
}

// SQ is the send queue. Between SQGet and SQPut the fields Exec, Next and Msg
// are those of before the service.
type SQ struct {
	PI       uint16 // producer index of the last doorbell, units
	Exec     uint16 // unit index of the WQE to execute next, or being executed
	Next     roce.PSN
	Msg      port.SQMsg
	Busy     bool   // a service is open
	Granted  uint32 // PSNs from Next on that the open service may use
	Messages uint16 // in the outstanding table, modulo 2^16: less than 0 while a service is open
	Oldest   uint16 // unit index of the oldest of them, as of the last Retire
	Notify   bool   // SQD: tell when drained

	Requests port.MSN // number of the last request of the services that are closed
	Limit    port.MSN // number of the last one that a receive WQE of the peer is sure for
}

// Requester is what acknowledgements change.
type Requester struct {
	Una    roce.PSN // oldest PSN not acknowledged
	Fail   FailKind
	Stop   roce.PSN // FailAt, FailLocal: PSNs before it may still be acknowledged
	Status abi.WCStatus
	Vendor abi.VendorErr

	// The list of READs and atomics: numbers of entries, modulo 256.
	Posted   uint8    // entered
	Answered uint8    // of them, whose answer has come
	Retired  uint8    // of them, that are over for retrans too: its data has been posted
	Oldest   roce.PSN // first PSN of the oldest that is not over, when there is one

	Unlimited bool     // the peer gives no credits
	Limit     port.MSN // number of the last request that the peer has given a credit for
}

// Responder is the expected packet and the receive queue.
type Responder struct {
	Expected roce.PSN
	MSN      port.MSN // messages completed, READs and atomics accepted
	Nak      NakState
	CommEst  bool     // COMM_EST has been told
	Incoming Incoming // the message that is coming in
	Held     uint16   // SEND: entry index of its receive WQE
	Offset   uint32   // bytes received of it
	Length   uint32   // WRITE: bytes of the message
	Key      port.Key // WRITE
	VA       port.VA  // WRITE: of the first byte
	Reads    uint8    // READs and atomics that are being answered
	PI, CI   uint16   // producer and consumer index, entries

	Failed   bool     // a fatal NAK was sent, or would have been
	FailedAt roce.PSN // of the request or response that it was for
}

// Incoming is what kind of message of several packets is coming in.
type Incoming uint8

// Messages that may come in.
const (
	IncomingNone Incoming = iota
	IncomingSend
	IncomingWrite
)

// Width is 2 bits.
func (Incoming) Width() int { return 2 }

func (i Incoming) String() string { return [...]string{"NONE", "SEND", "WRITE", "RESERVED"}[i&3] }

// NakState says which NAK waits for the expected PSN to come again.
type NakState uint8

// NAKs sent.
const (
	NakNone NakState = iota
	NakSequence
	NakRNR
)

// Width is 2 bits.
func (NakState) Width() int { return 2 }

func (s NakState) String() string { return [...]string{"NONE", "SEQUENCE", "RNR", "RESERVED"}[s&3] }

// Bank is a set of banks.
type Bank uint8

// The banks.
const (
	InCommon Bank = 1 << iota
	InSQ
	InRequester
	InResponder
	InReads

	InAll = InCommon | InSQ | InRequester | InResponder | InReads
)

// Env is what the operations know besides the context.
type Env struct {
	Reg       port.PortReg
	LogWindow uint8  // log2 of the bytes that a QP may have in flight
	Messages  uint16 // entries of the outstanding table that a QP may take
	NoCredits bool   // acknowledgements give no credits, and need not give any
}

// backlog tells whether wqe_sched has something to do for the QP: WQEs to
// execute (SQD: the begun message), or to flush.
func (c *Context) backlog() bool {
	switch c.Common.State {
	case abi.QPRTS, abi.QPErr, abi.QPSQE:
		return c.SQ.PI != c.SQ.Exec || c.SQ.Msg.Active
	case abi.QPSQD:
		return c.SQ.Msg.Active
	}
	return false
}

// drained tells whether no WQE of the send queue is begun and not done.
func (c *Context) drained() bool {
	return !c.SQ.Busy && !c.SQ.Msg.Active && c.SQ.Messages == 0
}

// responds tells whether the QP's responder is at work.
func (c *Context) responds() bool {
	switch c.Common.State {
	case abi.QPRTR, abi.QPRTS, abi.QPSQD, abi.QPSQE:
		return true
	}
	return false
}

// window is the number of packets that may be sent before an ACK: as many as
// LogWindow has room for, less those in flight.
func (c *Context) window(e *Env) uint16 {
	size := uint32(1) << (e.LogWindow - 7 - uint8(c.Common.MTU)) // an MTU is 2^(7+code) bytes
	flight := c.SQ.Next.Diff(c.Requester.Una)
	return uint16(size - min(size, flight))
}

// arm is the ACK timeout in cycles, 0 if there is none. A timeout n stands for
// T = 4.096 us * 2^n, and the timer must expire between T and 4 T after a packet
// was sent (IBTA 9.7.6.1.3). It is started when the packet is described, before
// its payload is read; half of T more makes up for that.
func (c *Context) arm(e *Env) uint64 {
	if c.Common.Timeout == 0 {
		return 0
	}
	t := uint64(e.Reg.TimeUnit) << c.Common.Timeout
	return t + t/2
}
