package port

import (
	"rnic/abi"
	"rnic/roce"
)

// QPDoorbell is a rung doorbell of a QP or SRQ: csr to qpc. Page is the UAR page that
// was written; a doorbell on another page than the QP's is counted and ignored.
type QPDoorbell struct {
	QPN   QPN    // with SRQ: the SRQN
	SRQ   bool   // Index is the number of entries posted of an SRQ, modulo 2^16
	RQ    bool   // receive queue, else send queue
	Push  bool   // rung by a pushed WQE: a PushedWQE went to wqe_sched before it
	Index uint16 // producer index, units (SQ) or entries (RQ), modulo 2^16
	Page  uint8
}

// Activate tells wqe_sched that a QP may have send work now: doorbell, window
// opened, or (Flush) its WQEs have to be flushed. Spurious ones are harmless.
//
// Each QPDoorbell with Push leads to exactly one Activate with Push, in order:
// it accepts the oldest PushedWQE, or refuses it (Refuse: bad QP, bad page, not
// the next unit) and the unit is forgotten.
type Activate struct {
	QPN    QPN
	Push   bool
	Refuse bool
}

// SQGet opens a service of a QP's send queue: wqe_sched to qpc. Until the
// SQPut, next_psn, exec_idx and the message in progress belong to wqe_sched.
// Packets is the most it will send; meanwhile qpc takes acknowledgements of
// PSNs up to NextPSN plus what it granted for legal.
type SQGet struct {
	QPN     QPN
	Packets uint8
}

// SQCtx answers SQGet. With Run or Flush the service is open until its SQPut;
// otherwise there is nothing to do, and no SQPut.
//
// The WQEs from ExecIdx up to, not including, Entered have their entry in the
// outstanding table: the message in progress, and after a rewind those that are sent
// again. For these there is no Sent, ReadPost or SQAhead, nothing is counted, and
// neither fence, initiator depth, credits nor room in the table hold them. When they
// are done the PSN must be EnteredPSN; else the host has changed a WQE meanwhile.
// Messages 0: send what is entered, start no other (SQD). With Flush, ExecIdx is
// Entered.
//
// UC, UD and raw QPs have no limit of credits, and no Reads; the MTU of a UD QP is the
// port's.
type SQCtx struct {
	QPN        QPN
	Type       abi.QPType
	State      abi.QPState
	Run        bool // RTS: execute. With State ERR or SQE: flush. Otherwise: nothing to do
	Flush      bool
	PD         PD
	MTU        uint16 // bytes
	SQBase     BusAddr
	SQLog      uint8  // log2 of the ring's units
	PI         uint16 // producer index, units
	ExecIdx    uint16 // unit index of the WQE to execute, or being executed
	Offset     uint32 // bytes of its message before NextPSN
	NextPSN    roce.PSN
	Entered    uint16   // unit index of the first WQE without an entry in the outstanding table
	EnteredPSN roce.PSN // of its first packet
	Gen        uint8    // generation of the packets described: it changes with each rewind
	Window     uint16   // packets that may still be sent before an ACK
	Idle       bool     // nothing is in flight: NextPSN is the oldest PSN not acknowledged
	Messages   uint8    // entries of the outstanding table that the QP may still take
	Reads      uint8    // READs and atomics that may still be started (initiator depth)
	Reading    bool     // READs or atomics are outstanding: a fenced WQE has to wait
	Credits    uint16   // requests that take a receive WQE of the peer that may still be started; 0xffff: no limit
	MaxSGE     uint8
	Arm        uint64 // ACK timeout in cycles, 0: none
	SendCQN    CQN
	SigAll     bool
}

// SQPut closes a service: what it consumed. Fault reports a WQE that can't be
// executed (malformed, opcode, length, a memory operation that was refused): it was
// pushed as a Sent entry with that status, now or before a rewind, and the QP goes to
// ERR (UC, UD: SQE). If the QP was rewound
// meanwhile, qpc takes what was entered, and no more.
type SQPut struct {
	QPN        QPN
	ExecIdx    uint16
	Offset     uint32 // bytes of its message before NextPSN
	NextPSN    roce.PSN
	Entered    uint16
	EnteredPSN roce.PSN
	Messages   uint8 // outstanding entries pushed in this service
	Requests   uint8 // of them, those that went to the wire (numbered by the peer's MSN)
	Credited   uint8 // of the requests, those that take a receive WQE of the peer
	Fault      bool
}

// ReadPost enters a READ or atomic into the QP's list of those outstanding:
// wqe_sched to qpc, before the request packet is described. FirstPSN..LastPSN
// are the PSNs of its responses. They do not count against SQGet.Packets: the
// PSNs after LastPSN become legal to acknowledge as those after NextPSN were.
type ReadPost struct {
	QPN      QPN
	Op       abi.WQEOp
	UnitIdx  uint16 // of the WQE: its SGEs say where the data goes
	FirstPSN roce.PSN
	LastPSN  roce.PSN
	Len      uint32
}

// RespDone tells qpc that the answer of a READ or atomic has left: responder to
// qpc. Its responder resource is free. Again: it was the answer of a duplicate.
type RespDone struct {
	QPN   QPN
	Again bool
}

// TxHdrReq asks qpc for what the headers of one packet need: pkt_tx to qpc.
// Resp says that the packet is the responder's; else Gen and LastPSN are those of TxPkt.
type TxHdrReq struct {
	QPN     QPN
	Resp    bool
	Gen     uint8
	LastPSN roce.PSN
	UD      bool // AH is that of TxPkt
	AH      AHN
}

// TxHdr answers TxHdrReq. Drop: the QP no longer sends (it failed, or it was
// reset, since the packet was described); the packet is to be discarded. Stale, with
// Drop: only that packet; it is from before a rewind, and will be described again.
// BadAH: there is no such address handle in the QP's domain, the packet is a fault
// (LOC_QP_OP_ERR). A raw QP needs nothing but Drop, Stale and PD.
type TxHdr struct {
	BadAH   bool
	QKey    uint32 // the QP's
	VLAN    bool
	TCI     uint16
	SIP     [16]byte // as DIP
	Drop    bool
	Stale   bool
	PD      PD
	DestQPN QPN
	PKey    uint16
	DMAC    [6]byte
	V6      bool
	DIP     [16]byte // IPv4: ::ffff:a.b.c.d
	SPort   uint16
	TOS     uint8
	TTL     uint8
	Flow    uint32
}

// Stale tells that requests of the QP from before generation Gen (compared modulo 2^8)
// are not sent any more: qpc to pkt_tx, which drops them, and to wqe_sched, which ends
// a service that describes such, with each rewind. It is always taken.
type Stale struct {
	QPN QPN
	Gen uint8
}

// Left tells that a request that asks for an answer has left (its last beat went to
// the MAC): pkt_tx to retrans, for its ACK timer. It is always taken. LastPSN is that
// of TxPkt. Each packet with Unacked is told too, also one that a port that is off has
// dropped: it is as good as acknowledged.
type Left struct {
	QPN     QPN
	LastPSN roce.PSN
	Unacked bool
}

// SQFault is a local fault met while sending: pkt_tx to qpc, which ignores one of an
// old generation. The QP goes to
// ERR, the WQE that PSN belongs to gets Status, after all before it. A fault in a
// READ response goes to ack_gen instead, which has a NAK take its place.
type SQFault struct {
	QPN    QPN
	PSN    roce.PSN
	Gen    uint8 // of a request: TxPkt.Gen
	Status abi.WCStatus
	Vendor abi.VendorErr
}

// RetireKind says what a Retire reports.
type RetireKind uint8

// Kinds of Retire.
const (
	RetireDone    RetireKind = iota // Messages left the outstanding table
	RetireTimeout                   // the ACK timer of the QP expired
	RetireFatal                     // cq_writer: a CQ of the QP overran or died
	RetireRewind                    // answers an AckEvent with Rewind
)

// Width is 2 bits.
func (RetireKind) Width() int { return 2 }

func (k RetireKind) String() string {
	return [...]string{"DONE", "TIMEOUT", "FATAL", "REWIND"}[k&3]
}

// Retire reports progress or failure of the requester: retrans to qpc. A DONE
// may open the window (Activate follows); TIMEOUT and FATAL lead to an AckEvent.
// Of a UC, UD or raw QP Una is the PSN after the last packet that has left: there is
// one, if need be without Messages, with the last packet of each message and whenever
// the low 16 bits of LastPSN are all ones.
//
// Una lags behind that of the context, since events pass through scatter. A READ is
// over, for a fence and for its place in the list, when retrans knows it; and a
// timeout fails nothing while an acknowledgement is still on its way to retrans.
type Retire struct {
	Kind     RetireKind
	QPN      QPN
	Messages uint8
	Oldest   uint16   // DONE: unit index of the oldest message left, when there is one
	Una      roce.PSN // DONE, TIMEOUT: oldest PSN not acknowledged, as retrans knows

	// REWIND, when the wait is over and all messages before AckEvent.At have ended.
	Gen   uint8    // of the AckEvent
	Any   bool     // a message of the wire is outstanding: Oldest and the PSNs are of the oldest
	First roce.PSN // of its first packet
	Last  roce.PSN // of its last packet, or response
}

// QPAdminOp is what admin asks of qpc.
type QPAdminOp uint8

// Operations of admin on qpc.
const (
	QPCreate QPAdminOp = iota
	QPModify
	QPQuery
	QPDestroy // first phase: state RESET, nothing new starts
	QPFree    // second phase, when the pipelines are empty: the number is free
	QPClear   // RESET, second phase: PSNs, counters, indices zeroed
	AHCreate  // of AH; QPN is the AHN
	AHDestroy
	SRQCreate // of SRQ; QPN is the SRQN
	SRQModify
	SRQQuery
	SRQDestroy
)

// Width is 4 bits.
func (QPAdminOp) Width() int { return 4 }

func (o QPAdminOp) String() string {
	if int(o) < len(qpAdminNames) {
		return qpAdminNames[o]
	}
	return "RESERVED"
}

var qpAdminNames = [...]string{"CREATE", "MODIFY", "QUERY", "DESTROY", "FREE", "CLEAR", "AH_CREATE", "AH_DESTROY", "SRQ_CREATE", "SRQ_MODIFY", "SRQ_QUERY", "SRQ_DESTROY"}

// QPAdmin carries one admin operation with the mailbox of its kind as the host wrote
// it. How many QPs use an SRQ, admin knows.
type QPAdmin struct {
	Op   QPAdminOp
	QPN  QPN
	Attr abi.QPMailbox
	AH   abi.AHMailbox
	SRQ  abi.SRQMailbox
}

// QPAdminRes answers QPAdmin. Quiesce: the QP went to RESET (or is being
// destroyed): admin must flush the pipelines with Purge before it goes on with
// QPClear or QPFree.
type QPAdminRes struct {
	Status   abi.AdminStatus
	Syndrome uint8
	Quiesce  bool
	Attr     abi.QPMailbox
	SRQ      abi.SRQMailbox // SRQ_QUERY
}

// Purge is a marker that admin sends down both pipelines, one behind the other, when
// a QP is reset or destroyed. It travels in order behind all work of that QP:
//
//	admin ► wqe_sched ► pkt_tx ► retrans ► cq_writer ► admin
//	admin ► ack_gen ► scatter ► cq_writer ► admin, and scatter ► ack_gen ► responder
//
// Each block forgets what it holds of the QP (lines, outstanding entries, timers,
// prefetched receive WQEs) before it passes the marker on. cq_writer returns it when
// every CQE before it has entered the posted queue.
type Purge struct {
	QPN QPN
	RX  bool // the receive pipeline's marker
}
