package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// Context is all that the NIC knows of one QP, in the six banks that hold it, and the
// shared receive queue that it uses, which other QPs use too.
type Context struct {
	Common    Common
	SQ        SQ
	Requester Requester
	Responder Responder
	Reads     Reads
	Saved     Saved
	Shared    Shared
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
	SRQN         port.SRQN // with flag QPHasSRQ: then there is no receive queue

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
	QKey        uint32
	Address
}

// SQ is the send queue. Between SQGet and SQPut the fields from Exec to Top are
// those of before the service. In order, modulo 2^24: Una of the requester, Next
// (unless the queue is being rewound), Top, EnteredPSN.
type SQ struct {
	PI         uint16 // producer index of the last doorbell, units
	Exec       uint16 // unit index of the WQE to execute next, or being executed
	Offset     uint32 // bytes of its message before Next
	Next       roce.PSN
	Entered    uint16   // unit index of the first WQE that is not in the outstanding table
	EnteredPSN roce.PSN // of its first packet
	Top        roce.PSN // the PSN after the last one that was ever described
	Faulty     bool     // the last WQE that was entered can't be executed

	Rewinding bool   // retrans was asked where to go on, see rewind.go
	Resume    Resume // its answer, when a service is open

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
	Una   roce.PSN // oldest PSN not acknowledged
	Gen   uint8    // generation of the requests that are sent; it outlives the QP
	Asked roce.PSN // PSN after the newest request of this generation that pkt_tx has asked for
	Again roce.PSN // of the last READ request that asked for the rest of an answer

	Tries    uint8 // since the last progress, but for RNR NAKs
	RNRTries uint8 // RNR NAKs obeyed since the last progress
	Obeyed   bool  // a NAK for Una was obeyed since progress or timeout
	Implied  bool  // an implied NAK for Una was obeyed, or there was a timeout, since progress
	Waiting  bool  // the queue is being rewound because of an RNR NAK for Una
	Delayed  bool  // the next question to retrans is to wait for Delay
	Delay    uint8 // RNR timer code, 5 bits

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
	Held     uint16   // SEND: entry index of its receive WQE; of an SRQ, its number
	Offset   uint32   // bytes received of it
	Length   uint32   // WRITE: bytes of the message
	Key      port.Key // WRITE
	VA       port.VA  // WRITE: of the first byte
	Reads    uint8    // READs and atomics that are being answered
	Again    uint8    // duplicates of READs and atomics that are being answered
	Accepted uint8    // READs and atomics accepted, modulo 16: the next entry of Saved
	Atomics  uint8    // atomics accepted, modulo 16: the next Job.Slot
	PI, CI   uint16   // producer and consumer index, entries
	LastWQE  bool     // QP with SRQ in ERR: that its last WQE is done has been told

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
	NakNone     NakState = iota
	NakSequence          // UC: packets are missing, and no message has begun since
	NakRNR
)

// Width is 2 bits.
func (NakState) Width() int { return 2 }

func (s NakState) String() string { return [...]string{"NONE", "SEQUENCE", "RNR", "RESERVED"}[s&3] }

// Bank is a set of banks: of a QP, and of what it has in common with others.
type Bank uint8

// The banks.
const (
	InCommon Bank = 1 << iota
	InSQ
	InRequester
	InResponder
	InReads
	InSaved
	InShared // the SRQ
	InAH     // the address handle that a packet names

	InLists = InReads | InSaved
	InAll   = InCommon | InSQ | InRequester | InResponder | InLists
)

// Env is what the operations know besides the context.
type Env struct {
	Reg       port.PortReg
	GIDs      port.GIDTable
	LogWindow uint8  // log2 of the bytes that a QP may have in flight
	Messages  uint16 // entries of the outstanding table that a QP may take
	NoCredits bool   // acknowledgements give no credits, and need not give any
}

// backlog tells whether wqe_sched has something to do for the QP: WQEs to
// execute (SQD: those entered), or to flush.
func (c *Context) backlog() bool {
	s := &c.SQ
	switch c.Common.State {
	case abi.QPRTS:
		return !s.Rewinding && s.PI != s.Exec
	case abi.QPSQD:
		return !s.Rewinding && s.Exec != s.Entered
	case abi.QPErr, abi.QPSQE:
		return s.PI != s.Entered
	}
	return false
}

// runs tells whether the send queue executes: nothing has failed.
func (c *Context) runs() bool { return c.Common.State == abi.QPRTS || c.Common.State == abi.QPSQD }

// hasSRQ tells whether receive WQEs come from a shared receive queue.
func (c *Context) hasSRQ() bool { return c.Common.Flags&abi.QPHasSRQ != 0 }

// drained tells whether no WQE of the send queue is begun and not done.
func (c *Context) drained() bool {
	s := &c.SQ
	return !s.Busy && !s.Rewinding && s.Exec == s.Entered && s.Messages == 0
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
// was sent (IBTA 9.7.6.1.3). It is started when the packet has left, and again with
// progress; a sixteenth of T more makes up for the way of the answer inside the NIC.
func (c *Context) arm(e *Env) uint64 {
	if c.Common.Timeout == 0 {
		return 0
	}
	t := uint64(e.Reg.TimeUnit) << c.Common.Timeout
	return t + t/16
}
