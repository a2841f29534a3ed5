package wqesched

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// wqeKind says what Exec does with a WQE.
type wqeKind uint8

const (
	kindSend   wqeKind = iota // SEND, WRITE: packets with payload
	kindRead                  // READ, atomics: one request packet, the data comes back
	kindLocal                 // an entry with Status: NOP, flushed
	kindFault                 // an entry with Status, and the service ends with Fault
	kindMemory                // an entry with what mpt says, and if that is bad Fault
	kindEnd                   // no WQE: further units of the next are not there yet
)

// Width is 3 bits.
func (wqeKind) Width() int { return 3 }

func (k wqeKind) String() string {
	return [...]string{"SEND", "READ", "LOCAL", "FAULT", "MEMORY", "END", "RESERVED", "RESERVED"}[k&7]
}

// maxInline is the inline data that the hardware takes: one beat.
const maxInline = port.BeatBytes

// heldUnits is the number of units that are held until the last one of a WQE has
// been read: 16 elements take 5 units.
const heldUnits = 4

// unit is one unit of a send queue.
type unit [abi.UnitSize]byte

// wqe is a WQE as Fetch hands it to Exec.
type wqe struct {
	Kind      wqeKind
	Units     uint8 // that ExecIdx moves by
	Op        abi.WQEOp
	Signaled  bool
	Solicited bool // and the operation has an event at the peer
	Fence     bool
	Takes     bool // a receive WQE of the peer
	Imm       uint32
	Len       uint32    // of the message, bytes
	Remote    port.Reth // RDMA and atomics
	AH        port.AHN  // UD: where it goes
	DestQPN   port.QPN
	QKey      uint32
	Inline    bool
	Mem       port.MemOp            // BIND_MW, LOCAL_INV, FAST_REG
	SGE       [port.MaxSGE]port.SGE // FAST_REG: two page addresses each
	Data      [maxInline]byte
	Status    abi.WCStatus
	Vendor    abi.VendorErr
	Last      bool    // of the service
	Outcome   outcome // Last
}

// fault makes a WQE one that can't be executed.
func (w *wqe) fault(s abi.WCStatus, v abi.VendorErr) {
	w.Kind, w.Status, w.Vendor, w.Fence = kindFault, s, v, false
}

// flush makes any WQE one that ends flushed.
func (w *wqe) flush() {
	w.Kind, w.Status, w.Vendor, w.Fence = kindLocal, abi.StatusWRFlush, abi.VendorFlush, false
}
