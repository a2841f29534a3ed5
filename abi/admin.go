package abi

import (
	"syscall"

	"rnic/bits"
)

// Sizes of the admin interface, bytes.
const (
	AdminCommandSize    = 64
	AdminCompletionSize = 32
	MailboxSize         = 256
)

// AdminCommand is an entry of the admin command ring. Commands are executed one
// at a time and complete in order.
type AdminCommand struct {
	Op      AdminOp `doc:"what to do"`
	Flags   uint8   `doc:"none defined: 0"`
	ID      uint16  `doc:"returned in the completion"`
	Object  uint32  `doc:"EQN, CQN, QPN, SRQN, AHN or key index, chosen by the driver"`
	Mailbox uint64  `doc:"bus address of a 256-byte mailbox, 256-byte aligned; 0 where the command has none"`
	Param0  uint32  `doc:"none defined: 0"`
	Param1  uint32  `doc:"none defined: 0"`
	Param2  uint64  `doc:"none defined: 0"`
	Param3  uint64  `doc:"none defined: 0"`
	_       [24]byte
}

// AdminCompletion is an entry of the admin completion ring.
type AdminCompletion struct {
	ID       uint16        `doc:"of the command"`
	Status   AdminStatus   `doc:"how it ended; with another than OK nothing has changed"`
	Syndrome AdminSyndrome `doc:"what was wrong"`
	Object   uint32        `doc:"of the command"`
	Result   uint64        `doc:"RESIZE_CQ: index of the first CQE in the new ring; of other commands 0"`
	_        [15]byte
	Phase    bool     `doc:"see RingPhase"`
	_        struct{} `bits:"7"`
}

// Encodings of the admin rings.
var (
	AdminCommandLayout    = bits.MustLayout[AdminCommand]("admin_command", bits.Little, AdminCommandSize)
	AdminCompletionLayout = bits.MustLayout[AdminCompletion]("admin_completion", bits.Little, AdminCompletionSize)
)

// AdminOp is an admin command.
type AdminOp uint8

const (
	AdminNop         AdminOp = 0
	AdminQueryDevice AdminOp = 1
	AdminCreateEQ    AdminOp = 2
	AdminDestroyEQ   AdminOp = 3
	AdminCreateCQ    AdminOp = 4
	AdminDestroyCQ   AdminOp = 5
	AdminCreateQP    AdminOp = 6
	AdminModifyQP    AdminOp = 7
	AdminQueryQP     AdminOp = 8
	AdminDestroyQP   AdminOp = 9
	AdminRegMR       AdminOp = 10
	AdminDeregMR     AdminOp = 11
	AdminModifyCQ    AdminOp = 12
	AdminResizeCQ    AdminOp = 13
	AdminCreateAH    AdminOp = 14
	AdminDestroyAH   AdminOp = 15
	AdminCreateSRQ   AdminOp = 16
	AdminModifySRQ   AdminOp = 17
	AdminQuerySRQ    AdminOp = 18
	AdminDestroySRQ  AdminOp = 19

	// NumAdminOps is one more than the last.
	NumAdminOps = 20
)

var adminOps = newEnum("ADMIN",
	enumValue[AdminOp]{AdminNop, "NOP", "does nothing"},
	enumValue[AdminOp]{AdminQueryDevice, "QUERY_DEVICE", "writes a DeviceMailbox"},
	enumValue[AdminOp]{AdminCreateEQ, "CREATE_EQ", "object: EQN; reads an EQMailbox"},
	enumValue[AdminOp]{AdminDestroyEQ, "DESTROY_EQ", "object: EQN; BUSY while a CQ uses it"},
	enumValue[AdminOp]{AdminCreateCQ, "CREATE_CQ", "object: CQN; reads a CQMailbox"},
	enumValue[AdminOp]{AdminDestroyCQ, "DESTROY_CQ", "object: CQN; BUSY while a QP uses it"},
	enumValue[AdminOp]{AdminCreateQP, "CREATE_QP", "object: QPN, not 0; reads the first part of a QPMailbox; the QP is in RESET"},
	enumValue[AdminOp]{AdminModifyQP, "MODIFY_QP", "object: QPN; reads the attributes of a QPMailbox that AttrMask names; to RESET it completes when nothing of the QP is in flight"},
	enumValue[AdminOp]{AdminQueryQP, "QUERY_QP", "object: QPN; writes a QPMailbox"},
	enumValue[AdminOp]{AdminDestroyQP, "DESTROY_QP", "object: QPN; completes when nothing of the QP is in flight"},
	enumValue[AdminOp]{AdminRegMR, "REG_MR", "object: key index; reads an MRMailbox: a region, room for one that FAST_REG fills, or a memory window"},
	enumValue[AdminOp]{AdminDeregMR, "DEREG_MR", "object: key index; completes when no access to it is in flight; BUSY while windows are bound to the region"},
	enumValue[AdminOp]{AdminModifyCQ, "MODIFY_CQ", "object: CQN; reads Count and Period of a CQMailbox; an event that is held back comes at once"},
	enumValue[AdminOp]{AdminResizeCQ, "RESIZE_CQ", "object: CQN; reads Base, LogSize and CI of a CQMailbox; result: index of the first CQE in the new ring"},
	enumValue[AdminOp]{AdminCreateAH, "CREATE_AH", "object: AHN; reads an AHMailbox"},
	enumValue[AdminOp]{AdminDestroyAH, "DESTROY_AH", "object: AHN; a WQE that names it later fails"},
	enumValue[AdminOp]{AdminCreateSRQ, "CREATE_SRQ", "object: SRQN; reads an SRQMailbox"},
	enumValue[AdminOp]{AdminModifySRQ, "MODIFY_SRQ", "object: SRQN; reads Mask and what it names of an SRQMailbox"},
	enumValue[AdminOp]{AdminQuerySRQ, "QUERY_SRQ", "object: SRQN; writes an SRQMailbox"},
	enumValue[AdminOp]{AdminDestroySRQ, "DESTROY_SRQ", "object: SRQN; BUSY while a QP uses it"},
)

// Width is the number of bits of an AdminOp.
func (AdminOp) Width() int { return 8 }

// String returns the command's name.
func (o AdminOp) String() string { return adminOps.text(uint32(o)) }

// AdminStatus is how a command ended.
type AdminStatus uint8

const (
	AdminOK           AdminStatus = 0
	AdminBadOpcode    AdminStatus = 1
	AdminNotSupported AdminStatus = 2
	AdminBadParam     AdminStatus = 3
	AdminBadState     AdminStatus = 4
	AdminNoResource   AdminStatus = 5
	AdminBusy         AdminStatus = 6
	AdminBadObject    AdminStatus = 7
	AdminExists       AdminStatus = 8
	AdminDMAError     AdminStatus = 9
)

var adminStatuses = newEnum("ADMIN_STATUS",
	enumValue[AdminStatus]{AdminOK, "OK", ""},
	enumValue[AdminStatus]{AdminBadOpcode, "BAD_OPCODE", "ENOSYS: no such command"},
	enumValue[AdminStatus]{AdminNotSupported, "NOT_SUPPORTED", "EOPNOTSUPP: a legal request that this device does not do"},
	enumValue[AdminStatus]{AdminBadParam, "BAD_PARAM", "EINVAL: see the syndrome"},
	enumValue[AdminStatus]{AdminBadState, "BAD_STATE", "EINVAL: not allowed in the object's state"},
	enumValue[AdminStatus]{AdminNoResource, "NO_RESOURCE", "ENOMEM: a table of the device is full"},
	enumValue[AdminStatus]{AdminBusy, "BUSY", "EBUSY: the object is in use by another"},
	enumValue[AdminStatus]{AdminBadObject, "BAD_OBJECT", "ENOENT: no such object, or its number is out of range"},
	enumValue[AdminStatus]{AdminExists, "EXISTS", "EEXIST: an object of this number exists"},
	enumValue[AdminStatus]{AdminDMAError, "DMA_ERROR", "EIO: mailbox or page list could not be read or written"},
)

// Width is the number of bits of an AdminStatus.
func (AdminStatus) Width() int { return 8 }

// String returns the status' name.
func (s AdminStatus) String() string { return adminStatuses.text(uint32(s)) }

// Errno is the meaning of s as an error number, 0 for OK; EIO for a status that
// is not defined.
func (s AdminStatus) Errno() syscall.Errno {
	switch s {
	case AdminOK:
		return 0
	case AdminBadOpcode:
		return syscall.ENOSYS
	case AdminNotSupported:
		return syscall.EOPNOTSUPP
	case AdminBadParam, AdminBadState:
		return syscall.EINVAL
	case AdminNoResource:
		return syscall.ENOMEM
	case AdminBusy:
		return syscall.EBUSY
	case AdminBadObject:
		return syscall.ENOENT
	case AdminExists:
		return syscall.EEXIST
	}
	return syscall.EIO
}
