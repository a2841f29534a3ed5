package port

import (
	"rnic/abi"
	"rnic/roce"
)

// RxPkt is one good frame (FCS, lengths and ICRC right): pkt_rx to ack_gen, in
// arrival order. The payload stays in rx_buf until the frame is released by
// RxFree. Ext header fields are valid when the opcode has them.
type RxPkt struct {
	Opcode     roce.Opcode
	QPN        QPN // destination QP of the BTH
	PSN        roce.PSN
	AckReq     bool
	Solicited  bool
	Pad        uint8
	PKey       uint16
	V6         bool
	SIP        [16]byte // IPv4: ::ffff:a.b.c.d
	DIP        [16]byte
	CE         bool // ECN congestion experienced
	Imm        uint32
	QKey       uint32 // DETH
	SrcQPN     QPN    // DETH
	Raw        bool   // not RoCE: the payload is the whole frame, QPN is PortReg.RawQPN
	VLAN       bool
	TCI        uint16
	IPAddr     uint32 // byte address of the IP header in rx_buf
	Syndrome   uint8
	MSN        MSN
	Reth       Reth
	Len        uint16 // payload bytes without pad
	BufAddr    uint32 // byte address of the first payload byte in rx_buf
	FrameBeats uint8  // rx_buf beats that the frame occupies, for RxFree
}

// RxRead asks pkt_rx for Len payload bytes (1..4096) at byte address Addr of
// rx_buf (it wraps): scatter to pkt_rx. They come back as Beats exactly as they
// lie in the buffer: the first byte in lane Addr mod 64.
type RxRead struct {
	Addr uint32
	Len  uint16
}

// RxFree releases the oldest frame of rx_buf, Beats long. Frames are released
// in arrival order, every frame once: by scatter alone, which sees all of them.
type RxFree struct {
	Beats uint8
}

// RxOpKind says what ack_gen asks of qpc.
type RxOpKind uint8

// Kinds of RxOp.
const (
	RxPacket  RxOpKind = iota // judge a packet
	RxFault                   // scatter could not place a packet: fatal NAK, QP to ERR
	RxFlushRQ                 // take the next receive WQE to flush
	RxPurge                   // Purge marker: keeps the order, changes nothing
)

// Width is 2 bits.
func (RxOpKind) Width() int { return 2 }

func (k RxOpKind) String() string { return [...]string{"PACKET", "FAULT", "FLUSH_RQ", "PURGE"}[k&3] }

// RxOp is one operation on the receive side of a context: ack_gen to qpc. All
// kinds share one queue, so each sees the effect of those before it.
type RxOp struct {
	Kind   RxOpKind
	QPN    QPN
	Pkt    RxPkt
	PSN    roce.PSN     // RxFault: of the packet that failed
	MSN    MSN          // RxFault: messages completed before it
	Send   bool         // RxFault: the data of a response could not be placed: the send queue fails, no NAK
	Silent bool         // RxFault: no NAK either (a key that can't be invalidated)
	RQIdx  uint16       // RxFault: RxVerdict.RQIdx of the packet
	Resp   bool         // RxFault: of a READ response that was to be sent; MSN is void, the context's holds
	Status abi.WCStatus // RxFault; of an R_Key REM_ACCESS_ERR, or LOC_ACCESS_ERR if a receive WQE has told it
	Vendor abi.VendorErr
}

// RxAction is the verdict on an RxOp.
type RxAction uint8

// Verdicts.
const (
	RxDrop    RxAction = iota // release the frame, count Drop
	RxPlace                   // new request in order: place its payload
	RxReply                   // no payload to place: send Ack (duplicate, NAK, RNR NAK)
	RxAck                     // acknowledgement to the send queue: nothing to place, Event goes on
	RxFlushed                 // RxFlushRQ: WQE RQIdx is flushed; More says ask again
	RxNothing                 // RxFlushRQ with nothing left, RxPurge: marker only
	RxFailed                  // RxFault executed: Ack is the NAK, QP is in ERR
)

// Width is 3 bits.
func (RxAction) Width() int { return 3 }

func (a RxAction) String() string {
	if int(a) < len(rxActionNames) {
		return rxActionNames[a]
	}
	return "RESERVED"
}

var rxActionNames = [...]string{"DROP", "PLACE", "REPLY", "ACK", "FLUSHED", "NOTHING", "FAILED"}

// RxTarget is where the payload of a packet goes.
type RxTarget uint8

// Targets.
const (
	TargetNone   RxTarget = iota
	TargetRecv            // the receive WQE, at Offset
	TargetRemote          // memory of an R_Key: WRITE; for READ and atomic requests only the check
	TargetSend            // the SGEs of a send WQE, at Offset: READ response, atomic result
)

// Width is 2 bits.
func (RxTarget) Width() int { return 2 }

func (t RxTarget) String() string { return [...]string{"NONE", "RECV", "REMOTE", "SEND"}[t&3] }

// RxVerdict answers RxOp, in order. TakesWQE..Offset describe the receive WQE
// and the message when Action is RxPlace (or RxReply of a fatal NAK that has a
// receive WQE: Error is set). RxPlace also stands for READ and atomic requests,
// whose R_Key scatter has checked before Job goes on, and for responses to the
// send queue: their Event follows when the data has been posted.
//
// SENDs have TargetRecv, with no payload too. Packets of a WRITE have
// TargetRemote, or TargetNone without payload; the one with immediate has
// TakesWQE and EndsWQE besides, and Offset is what the WRITE has written before.
// RxFailed of a fault with Send always has an Event: none goes on between the fault
// and that.
//
// UC, UD and raw QPs have no acknowledgements, and Quiet verdicts. When such a packet
// does not fit its receive WQE, or its R_Key is bad, nothing completes: scatter reports
// the fault and drops what it still gets of that QP until the verdict RxFailed, with the
// WQEs that this takes; qpc goes back to RQIdx, which each RxPlace has: that of the
// receive WQE of the message, or else of the next to be taken. WQEs of an SRQ can't go
// back: they end in error. Other faults (of the local memory of a receive WQE) are as of
// RC, without NAK.
//
// With an SRQ RQIdx is the number of the entry in the order in which they are taken,
// modulo 2^16; rq_fetch finds its slot. Whatever completes one has to ask it.
type RxVerdict struct {
	Quiet bool
	GRH   bool // UD: the receive WQE begins with 40 bytes for the IP header, and Offset is 40
	V6    bool // with GRH: a header of 40 bytes, else one of 20 in the last 20

	SRQ     bool // the receive WQE is one of SRQN
	SRQN    SRQN
	First   bool // it is the first ever taken of the SRQ: that in slot 0
	RQPD    PD   // of the elements of the receive WQE: the SRQ's, or the QP's
	LastWQE bool // RxNothing of a QP with SRQ in ERR: QP_LAST_WQE_REACHED, once

	// The receive WQE of the SRQ that an earlier message of the QP has taken, number
	// Broken, ends with BrokenStatus before anything else happens: the message will not be
	// completed (UC), or the QP's life ends (RxPurge). Its address is as RQAddr says.
	HasBroken    bool
	Broken       uint16
	BrokenStatus abi.WCStatus
	BrokenVendor abi.VendorErr

	Action RxAction
	Kind   RxOpKind
	QPN    QPN
	Target RxTarget
	Remote Remote // TargetRemote
	SQ     SQRef  // TargetSend
	Job    Job    // READ and atomic requests: what responder does after the checks
	// Drop is the counter of a drop. One that is not an RxDrop* (a duplicate, a
	// packet behind a NAK) counts besides RxDropOther. With RxReply and RxFailed
	// it is the counter of their reason, with RxAck that of a NAK, with RxPlace that of
	// a duplicate; 0: none.
	Drop     abi.Counter
	PD       PD
	RecvCQN  CQN
	SrcQPN   QPN     // the QP's peer
	TakesWQE bool    // this packet took a receive WQE (first/only of a SEND)
	EndsWQE  bool    // this packet completes it (last/only)
	RQIdx    uint16  // entry index of the receive WQE, free running
	RQAddr   BusAddr // of the entry; with SRQ of the ring
	RQStride uint16  // bytes
	RQNext   uint16  // entries posted behind it, for prefetch
	RQLog    uint8   // log2 of the receive queue's entries: where the ring wraps
	Offset   uint32  // bytes of the message before this packet
	Error    bool    // the receive WQE ends with Status, nothing is placed
	Status   abi.WCStatus
	Vendor   abi.VendorErr
	More     bool
	Ack      AckReq // with Ack.Send: the acknowledgement to send; RxPlace: MSN is valid without too
	HasEvent bool   // Event goes to retrans, behind the placement of this packet
	Event    AckEvent
}

// Remote is memory that a request names. Range bytes from VA on must be inside
// the region of Key: the whole RETH range at the first packet of a message.
// Zero-length requests have no Remote: their key is not looked at.
type Remote struct {
	VA     VA
	Key    Key
	Range  uint32
	Access uint8 // abi.Access bits
}

// SQRef names a send WQE in host memory: unit Idx of the ring of 2^Log units at
// Base.
type SQRef struct {
	Base BusAddr
	Log  uint8
	Idx  uint16
	Last bool // last packet of the response: the WQE is not needed again
}

// JobKind is what responder shall send.
type JobKind uint8

// Jobs of responder.
const (
	JobNone   JobKind = iota
	JobAck            // acknowledgement or NAK
	JobRead           // READ responses: Len bytes at VA under Key
	JobAtomic         // ATOMIC acknowledge, when the value has come from atomic
)

// Width is 2 bits.
func (JobKind) Width() int { return 2 }

func (k JobKind) String() string { return [...]string{"NONE", "ACK", "READ", "ATOMIC"}[k&3] }

// Job is an answer of the responder. Those of a QP leave in order; those of
// different QPs take turns.
type Job struct {
	Kind     JobKind
	Purge    bool // marker: forget the QP
	QPN      QPN
	PSN      roce.PSN // of the acknowledgement, or of the first response
	Syndrome uint8
	MSN      MSN
	VA       VA
	Key      Key
	Len      uint32
	MTU      uint16
	Op       roce.Opcode // JobAtomic: of the request
	Swap     uint64      // swap or add
	Compare  uint64
	// Slot is where responder keeps the value of an atomic: the number of the atomic
	// among those of the QP, modulo 16.
	Slot uint8
	// Again: a duplicate is answered. A READ is read again. Of an atomic the value in
	// Slot is sent again, if it is that of PSN, else nothing; the atomic unit has no
	// part in it. JobNone: nothing is sent, since the key was bad; all that is left to
	// do is RespDone.
	Again bool
}

// AtomicReq asks the atomic unit for a read-modify-write of the 8 bytes at Addr:
// scatter to atomic. AtomicRes answers to responder, with the original value, and
// AtomicDone to scatter, which holds back what it would place for the same QP
// until then; both when the new value has entered the posted queue.
type AtomicReq struct {
	QPN     QPN
	PSN     roce.PSN
	Slot    uint8 // of Job
	Addr    BusAddr
	Op      roce.Opcode
	Swap    uint64
	Compare uint64
}

// AtomicRes answers AtomicReq, to responder. Err: the memory could not be read.
type AtomicRes struct {
	QPN   QPN
	PSN   roce.PSN
	Slot  uint8 // of Job
	Value uint64
	Err   bool
}

// AtomicDone answers AtomicReq, to scatter. Err: the memory could not be read. The QP
// fails when its answer's turn comes; until then none of its requests is placed.
type AtomicDone struct {
	QPN QPN
	Err bool
}

// AckReq asks ack_gen to send one acknowledgement.
type AckReq struct {
	Send     bool
	QPN      QPN
	PSN      roce.PSN
	Syndrome uint8
	MSN      MSN
}

// Place is one element of the receive pipeline: ack_gen to scatter. Each frame
// of rx_buf passes here exactly once, in order, whether it is placed or not.
//
// A verdict with GRH makes two elements, and one with HasBroken one more before them:
// they have no frame, and are of the same verdict but for what they are about.
type Place struct {
	HasFrame bool // a frame is to be released (FrameBeats)
	GRH      bool // Len bytes of IP header at BufAddr go to V.Offset; Need bytes have to fit in all
	Broken   bool // V.Broken ends
	Need     uint16
	VLAN     bool // Imm is the 802.1Q tag control
	Purge    bool
	Send     bool // RxFailed: of a fault with Send
	V        RxVerdict
	Imm      uint32
	HasImm   bool
	Opcode   roce.Opcode
	Solicit  bool
	Len      uint16
	BufAddr  uint32
	Beats    uint8
	PSN      roce.PSN
	MSN      MSN    // messages completed before this packet
	Value    uint64 // atomic acknowledgement: the original value
}

// Placed reports back: scatter to ack_gen. Job: the payload of a packet has
// entered the posted queue, or its key was good: the answer may leave. Fault: a
// packet could not be placed; ack_gen runs an RxFault for it, and scatter drops
// what it still gets of that QP until the verdict RxFailed comes by.
// Purge: the receive pipeline's marker for the QP has passed; nothing older of it
// follows.
type Placed struct {
	Fault  bool
	Purge  bool
	QPN    QPN
	PSN    roce.PSN // Fault: of the packet
	MSN    MSN      // Fault: messages completed before it
	Send   bool     // Fault: of a response, see RxOp
	Silent bool     // Fault: no NAK, see RxOp
	RQIdx  uint16   // Fault: see RxOp
	Job    Job
	Status abi.WCStatus
	Vendor abi.VendorErr
}

// QPError tells ack_gen that a QP is in ERR and its receive queue has WQEs to
// flush (also after a doorbell in ERR): qpc to ack_gen.
type QPError struct {
	QPN QPN
}
