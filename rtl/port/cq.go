package port

import "rnic/abi"

// CQEReq asks cq_writer for a completion: retrans (send side) or scatter
// (receive side). Everything that the completion promises has entered the
// posted queue before. Purge is the marker of Purge. LastWQE is no completion: it asks
// for the event QP_LAST_WQE_REACHED of QPN, behind the completions before it.
type CQEReq struct {
	Purge     bool
	LastWQE   bool
	RX        bool // with Purge: which pipeline's marker
	CQN       CQN
	QPN       QPN
	UnitIdx   uint16
	Opcode    abi.WCOpcode
	Status    abi.WCStatus
	Vendor    abi.VendorErr
	Flags     uint8
	SrcQPN    QPN
	ByteLen   uint32
	Imm       uint32
	Solicited bool
}

// CQDoorbell updates a CQ or EQ: csr to cq_writer. CI is the consumer index.
type CQDoorbell struct {
	EQ        bool
	CQN       CQN // or EQN
	CI        uint16
	Arm       bool
	Solicited bool // arm for solicited only
	Page      uint8
}

// EventReq asks cq_writer for an asynchronous event: qpc.
type EventReq struct {
	Type   abi.EventType
	Number uint32 // QPN, CQN, ...
	// Syndrome goes to the event as it is: an abi.VendorErr, or 0.
	Syndrome uint16
}

// CQAdminOp is what admin asks of cq_writer.
type CQAdminOp uint8

// Operations of admin on cq_writer.
const (
	CQCreate CQAdminOp = iota
	CQDestroy
	EQCreate
	EQDestroy
	IRQRaise // MSI-X Vector for an admin completion that has been posted
	CQModify // Count and Period
	CQResize // Base, LogSize and CI
)

// Width is 3 bits.
func (CQAdminOp) Width() int { return 3 }

func (o CQAdminOp) String() string {
	if int(o) < len(cqAdminNames) {
		return cqAdminNames[o]
	}
	return "RESERVED"
}

var cqAdminNames = [...]string{"CQ_CREATE", "CQ_DESTROY", "EQ_CREATE", "EQ_DESTROY", "IRQ_RAISE", "CQ_MODIFY", "CQ_RESIZE"}

// CQAdmin is an operation on a completion or event queue.
type CQAdmin struct {
	Op      CQAdminOp
	Number  uint32 // CQN or EQN; IRQRaise: vector
	Base    BusAddr
	LogSize uint8
	EQN     EQN
	Vector  uint8
	Page    uint8
	Count   uint16 // moderation, as in abi.CQMailbox
	Period  uint16
	CI      uint16 // consumed up to here
}

// CQAdminRes answers CQAdmin (not IRQRaise). Index, of CQResize, is that of the
// first CQE in the new ring.
type CQAdminRes struct {
	Status   abi.AdminStatus
	Syndrome uint8
	Index    uint16
}

// MsixReq asks csr for the message of a vector: cq_writer to csr. Masked
// vectors become pending there and are raised again by MsixFire.
type MsixReq struct {
	Vector uint8
}

// MsixRes answers MsixReq. Send false: masked or unset.
type MsixRes struct {
	Send bool
	Addr BusAddr
	Data uint32
}

// MsixFire says that a pending vector was unmasked: csr to cq_writer.
type MsixFire struct {
	Vector uint8
}
