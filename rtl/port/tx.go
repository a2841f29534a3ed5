package port

import (
	"rnic/abi"
	"rnic/roce"
)

// TxPkt describes one packet to pkt_tx; its payload follows as NumPieces
// TxPieces on the stream beside it. Headers that come from the QP context are
// looked up by pkt_tx itself.
type TxPkt struct {
	Purge     bool  // marker only: see Purge
	QPN       QPN   // local QP
	Resp      bool  // ACK, NAK, READ response: the responder's
	Gen       uint8 // requests: SQCtx.Gen
	Again     bool  // READ response: answers a duplicate; if it can't be read it is lost without a word
	Opcode    roce.Opcode
	PSN       roce.PSN
	LastPSN   roce.PSN // requests: PSN, of a READ that of its last response
	AckReq    bool     // the packet asks for an answer; READs and atomics always do
	Solicited bool
	Len       uint16 // payload bytes, 0..4096
	NumPieces uint8
	Imm       uint32 // ImmDt or IETH, when the opcode has one
	Syndrome  uint8  // AETH, when the opcode has one
	MSN       MSN
	Reth      Reth   // RETH / AtomicETH, when the opcode has one; AtomicAckETH: Swap is the original value
	WQEIdx    uint16 // unit index of the WQE, for traces
	Unread    bool   // result of an atomic whose memory could not be read: reported, not sent
	Unacked   bool   // UC, UD, raw: nobody answers; what has left is done
	Raw       bool   // the payload is the whole frame, of 14 to 4096 bytes: no headers, no ICRC
	UD        bool   // AH, DestQPN and QKey say where it goes
	AH        AHN
	DestQPN   QPN
	QKey      uint32 // with the top bit set: the QP's own
}

// Reth is the remote side of an RDMA or atomic request.
type Reth struct {
	VA      VA
	RKey    Key
	Len     uint32
	Swap    uint64
	Compare uint64
}

// TxPiece is a run of payload bytes of the packet described last: Len bytes
// (1..4096) at VA under Key, or up to 64 inline bytes in Data. Access is what the
// key must allow (0: local read; remote read for a READ response).
type TxPiece struct {
	Inline bool
	Access uint8
	Key    Key
	VA     VA
	Len    uint16
	Data   [BeatBytes]byte
}

// SentKind says how an outstanding entry ends.
type SentKind uint8

// Kinds of outstanding entries.
const (
	SentWire  SentKind = iota // ends when LastPSN is acknowledged
	SentLocal                 // needs no answer: ends in its turn with Status
)

// Width is 1 bit.
func (SentKind) Width() int { return 1 }

func (k SentKind) String() string { return [...]string{"WIRE", "LOCAL"}[k&1] }

// Sent is one message put into the outstanding table: wqe_sched to retrans,
// in posting order, pushed before the message's first packet is described. One
// that comes after its QP has failed is flushed in its turn, whatever its kind.
type Sent struct {
	QPN      QPN
	Gen      uint8 // SQCtx.Gen: a failure is of those up to its own generation
	Kind     SentKind
	UnitIdx  uint16 // unit index of the WQE
	Op       abi.WQEOp
	Signaled bool
	SendCQN  CQN
	Arm      uint64 // ACK timeout in cycles, 0: none; it runs from when a request has left
	FirstPSN roce.PSN
	LastPSN  roce.PSN // READ: of its last response
	ByteLen  uint32
	Status   abi.WCStatus // SentLocal: success (NOP), flushed, or the fault
	Vendor   abi.VendorErr
}

// SentFree returns entries of the shared outstanding table: retrans to
// wqe_sched.
type SentFree struct {
	N uint8
}

// AckEvent is what an acknowledgement, a response, a fault or a state change means
// for the send queue of a QP: qpc to retrans; for packets by way of ack_gen and
// scatter, so that a READ is done only when its data has been posted. All
// entries whose LastPSN is before Una are done. With Fail, entries before the
// one that holds FailPSN still wait for their acknowledgement; that one ends
// with Status, all later ones are flushed. With Flush alone, all that Una leaves
// are flushed. An event that comes by way of scatter has the context's present
// Una. One straight from qpc stops before a READ or atomic whose data may still be
// on its way through scatter. So two streams of events need no common order: the
// newest Una and the oldest FailPSN count. A failure holds for messages of its Gen and
// older: the send queue of a UC or UD QP goes on with a newer one.
type AckEvent struct {
	QPN     QPN
	Una     roce.PSN // oldest PSN not acknowledged
	Fail    bool
	FailPSN roce.PSN
	Flush   bool
	Status  abi.WCStatus
	Vendor  abi.VendorErr
	// Arm is the ACK timeout in cycles (0: no timer), restarted by this event if it is
	// progress and a request that has left is still not answered.
	Arm uint64

	Gen uint8 // with Fail, Flush and Rewind: the present generation

	// Rewind: the QP is to send again from At on, the oldest PSN that is not
	// acknowledged as qpc knows; in Wait cycles at the earliest (RNR; 0: at once). The
	// answer is one Retire REWIND with the same Gen, when all messages before At have
	// ended; a newer Rewind, a failure or a marker takes the place of one that has
	// no answer yet. Until requests leave again no ACK timer runs.
	Rewind bool
	At     roce.PSN
	Wait   uint64
}
