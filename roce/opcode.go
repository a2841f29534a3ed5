package roce

import "fmt"

// Opcode is the first byte of the BTH: transport in bits 7:5, operation in 4:0.
type Opcode uint8

// Width is 8 bits.
func (Opcode) Width() int { return 8 }

// The opcodes of the transports that the NIC speaks (IBA chapter 9, table of
// operation codes), and the congestion notification packet (annex A17).
const (
	RCSendFirst      Opcode = 0x00
	RCSendMiddle     Opcode = 0x01
	RCSendLast       Opcode = 0x02
	RCSendLastImm    Opcode = 0x03
	RCSendOnly       Opcode = 0x04
	RCSendOnlyImm    Opcode = 0x05
	RCWriteFirst     Opcode = 0x06
	RCWriteMiddle    Opcode = 0x07
	RCWriteLast      Opcode = 0x08
	RCWriteLastImm   Opcode = 0x09
	RCWriteOnly      Opcode = 0x0A
	RCWriteOnlyImm   Opcode = 0x0B
	RCReadRequest    Opcode = 0x0C
	RCReadRespFirst  Opcode = 0x0D
	RCReadRespMiddle Opcode = 0x0E
	RCReadRespLast   Opcode = 0x0F
	RCReadRespOnly   Opcode = 0x10
	RCAck            Opcode = 0x11
	RCAtomicAck      Opcode = 0x12
	RCCmpSwap        Opcode = 0x13
	RCFetchAdd       Opcode = 0x14
	RCSendLastInv    Opcode = 0x16
	RCSendOnlyInv    Opcode = 0x17
	UCSendFirst      Opcode = 0x20
	UCSendMiddle     Opcode = 0x21
	UCSendLast       Opcode = 0x22
	UCSendLastImm    Opcode = 0x23
	UCSendOnly       Opcode = 0x24
	UCSendOnlyImm    Opcode = 0x25
	UCWriteFirst     Opcode = 0x26
	UCWriteMiddle    Opcode = 0x27
	UCWriteLast      Opcode = 0x28
	UCWriteLastImm   Opcode = 0x29
	UCWriteOnly      Opcode = 0x2A
	UCWriteOnlyImm   Opcode = 0x2B
	UDSendOnly       Opcode = 0x64
	UDSendOnlyImm    Opcode = 0x65
	CNP              Opcode = 0x81
)

// CNPPayloadSize is the payload of a CNP, bytes, all 0.
const CNPPayloadSize = 16

const opcodeOperationMask = 0x1F

// Transport is the service of an opcode, bits 7:5.
type Transport uint8

const (
	RC  Transport = 0 // reliable connection
	UC  Transport = 1 // unreliable connection
	RD  Transport = 2 // reliable datagram: not spoken by RoCE NICs
	UD  Transport = 3 // unreliable datagram
	XRC Transport = 5 // extended reliable connection: not spoken here
)

// Width is 3 bits.
func (Transport) Width() int { return 3 }

// String returns "RC", "UC" and so on; reserved ones are "T4", "T6", "T7".
func (t Transport) String() string {
	switch t {
	case RC:
		return "RC"
	case UC:
		return "UC"
	case RD:
		return "RD"
	case UD:
		return "UD"
	case XRC:
		return "XRC"
	}
	return fmt.Sprintf("T%d", uint8(t))
}

// Transport returns bits 7:5. The CNP's (4) is no transport of a QP.
func (o Opcode) Transport() Transport { return Transport(o >> 5) }

// operationNames are the names of the low 5 bits.
var operationNames = [32]string{
	"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM",
	"WRITE_FIRST", "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM",
	"READ_REQ", "READ_RESP_FIRST", "READ_RESP_MIDDLE", "READ_RESP_LAST", "READ_RESP_ONLY",
	"ACK", "ATOMIC_ACK", "CMP_SWAP", "FETCH_ADD", "", "SEND_LAST_INV", "SEND_ONLY_INV",
}

// String returns, for example, "RC_SEND_ONLY", "CNP" or, if reserved, "OP_0x15".
func (o Opcode) String() string {
	switch {
	case o == CNP:
		return "CNP"
	case !o.Valid():
		return fmt.Sprintf("OP_%#02x", uint8(o))
	}
	return o.Transport().String() + "_" + operationNames[o&opcodeOperationMask]
}
