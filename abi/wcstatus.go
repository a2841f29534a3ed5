package abi

// WCStatus is how a work request ended, with the values of verbs.
type WCStatus uint8

const (
	StatusSuccess     WCStatus = 0
	StatusLocLen      WCStatus = 1
	StatusLocQPOp     WCStatus = 2
	StatusLocProt     WCStatus = 4
	StatusWRFlush     WCStatus = 5
	StatusMWBind      WCStatus = 6
	StatusBadResp     WCStatus = 7
	StatusLocAccess   WCStatus = 8
	StatusRemInvReq   WCStatus = 9
	StatusRemAccess   WCStatus = 10
	StatusRemOp       WCStatus = 11
	StatusRetryExc    WCStatus = 12
	StatusRNRRetryExc WCStatus = 13
	StatusFatal       WCStatus = 19
	StatusGeneral     WCStatus = 21
)

var wcStatuses = newEnum("WC_STATUS",
	enumValue[WCStatus]{StatusSuccess, "SUCCESS", ""},
	enumValue[WCStatus]{StatusLocLen, "LOC_LEN_ERR", "message too long for the receive WQE, or of a wrong length"},
	enumValue[WCStatus]{StatusLocQPOp, "LOC_QP_OP_ERR", "malformed WQE, or one that the QP cannot do"},
	enumValue[WCStatus]{StatusLocProt, "LOC_PROT_ERR", "local key, bounds or access"},
	enumValue[WCStatus]{StatusWRFlush, "WR_FLUSH_ERR", "the QP was in ERR"},
	enumValue[WCStatus]{StatusMWBind, "MW_BIND_ERR", "bind or invalidate refused"},
	enumValue[WCStatus]{StatusBadResp, "BAD_RESP_ERR", "response of an unexpected opcode"},
	enumValue[WCStatus]{StatusLocAccess, "LOC_ACCESS_ERR", "incoming access refused while a receive WQE was held"},
	enumValue[WCStatus]{StatusRemInvReq, "REM_INV_REQ_ERR", "NAK invalid request"},
	enumValue[WCStatus]{StatusRemAccess, "REM_ACCESS_ERR", "NAK remote access error"},
	enumValue[WCStatus]{StatusRemOp, "REM_OP_ERR", "NAK remote operational error"},
	enumValue[WCStatus]{StatusRetryExc, "RETRY_EXC_ERR", "no answer within all retries"},
	enumValue[WCStatus]{StatusRNRRetryExc, "RNR_RETRY_EXC_ERR", "receiver not ready within all retries"},
	enumValue[WCStatus]{StatusFatal, "FATAL_ERR", "the device failed"},
	enumValue[WCStatus]{StatusGeneral, "GENERAL_ERR", "none of the others"},
)

// Width is the number of bits of a WCStatus.
func (WCStatus) Width() int { return 8 }

// String returns the status as verbs names it.
func (s WCStatus) String() string { return wcStatuses.text(uint32(s)) }

// VendorErr says where in the device, and why, a work request failed.
type VendorErr uint8

const (
	VendorNone VendorErr = iota
	VendorFlush
	VendorWQERead
	VendorWQEStale
	VendorWQEFormat
	VendorWQEOp
	VendorWQELength
	VendorLKeyUnknown
	VendorLKeyPD
	VendorLKeyBounds
	VendorLKeyAccess
	VendorRKeyUnknown
	VendorRKeyPD
	VendorRKeyBounds
	VendorRKeyAccess
	VendorDMARead
	VendorDMAWrite
	VendorRecvTooLong
	VendorRecvSequence
	VendorRecvLength
	VendorRecvOp
	VendorNAKSequence
	VendorNAKInvalid
	VendorNAKAccess
	VendorNAKOperational
	VendorRNRNAK
	VendorTimeout
	VendorRespOp
	VendorRespLength
	VendorInvalidate
	VendorBind
	VendorCQOverrun
	VendorAtomicAlign
	VendorAH
)

var vendorErrs = newEnum("VENDOR_ERR",
	enumValue[VendorErr]{VendorNone, "NONE", ""},
	enumValue[VendorErr]{VendorFlush, "FLUSH", "never started: the QP was in ERR"},
	enumValue[VendorErr]{VendorWQERead, "WQE_READ", "the WQE could not be read"},
	enumValue[VendorErr]{VendorWQEStale, "WQE_STALE", "the slot holds another index"},
	enumValue[VendorErr]{VendorWQEFormat, "WQE_FORMAT", "units, SGEs and inline length disagree, or exceed the QP's"},
	enumValue[VendorErr]{VendorWQEOp, "WQE_OP", "an operation that does not exist or is not supported here"},
	enumValue[VendorErr]{VendorWQELength, "WQE_LENGTH", "longer than 2^31 bytes, or an atomic not of 8"},
	enumValue[VendorErr]{VendorLKeyUnknown, "LKEY_UNKNOWN", "no such local key"},
	enumValue[VendorErr]{VendorLKeyPD, "LKEY_PD", "local key of another protection domain"},
	enumValue[VendorErr]{VendorLKeyBounds, "LKEY_BOUNDS", "SGE reaches outside its region"},
	enumValue[VendorErr]{VendorLKeyAccess, "LKEY_ACCESS", "no local write permission"},
	enumValue[VendorErr]{VendorRKeyUnknown, "RKEY_UNKNOWN", "no such remote key"},
	enumValue[VendorErr]{VendorRKeyPD, "RKEY_PD", "remote key of another protection domain"},
	enumValue[VendorErr]{VendorRKeyBounds, "RKEY_BOUNDS", "access reaches outside its region"},
	enumValue[VendorErr]{VendorRKeyAccess, "RKEY_ACCESS", "no permission for this access"},
	enumValue[VendorErr]{VendorDMARead, "DMA_READ", "host memory could not be read"},
	enumValue[VendorErr]{VendorDMAWrite, "DMA_WRITE", "host memory could not be written"},
	enumValue[VendorErr]{VendorRecvTooLong, "RECV_TOO_LONG", "message longer than the receive WQE"},
	enumValue[VendorErr]{VendorRecvSequence, "RECV_SEQUENCE", "first, middle, last out of sequence"},
	enumValue[VendorErr]{VendorRecvLength, "RECV_LENGTH", "payload of a wrong length for its opcode"},
	enumValue[VendorErr]{VendorRecvOp, "RECV_OP", "request that is not supported or not enabled"},
	enumValue[VendorErr]{VendorNAKSequence, "NAK_SEQUENCE", "PSN sequence error, and no retry left"},
	enumValue[VendorErr]{VendorNAKInvalid, "NAK_INVALID", "the peer sent NAK invalid request"},
	enumValue[VendorErr]{VendorNAKAccess, "NAK_ACCESS", "the peer sent NAK remote access error"},
	enumValue[VendorErr]{VendorNAKOperational, "NAK_OPERATIONAL", "the peer sent NAK remote operational error"},
	enumValue[VendorErr]{VendorRNRNAK, "RNR_NAK", "receiver not ready, and no retry left"},
	enumValue[VendorErr]{VendorTimeout, "TIMEOUT", "no answer, and no retry left"},
	enumValue[VendorErr]{VendorRespOp, "RESP_OP", "response of an unexpected opcode"},
	enumValue[VendorErr]{VendorRespLength, "RESP_LENGTH", "response of a wrong length"},
	enumValue[VendorErr]{VendorInvalidate, "INVALIDATE", "key that cannot be invalidated"},
	enumValue[VendorErr]{VendorBind, "BIND", "window that cannot be bound"},
	enumValue[VendorErr]{VendorCQOverrun, "CQ_OVERRUN", "the completion queue was full"},
	enumValue[VendorErr]{VendorAH, "AH", "no such address handle, or one of another protection domain"},
	enumValue[VendorErr]{VendorAtomicAlign, "ATOMIC_ALIGN", "remote address of an atomic not a multiple of 8"},
)

// Width is the number of bits of a VendorErr.
func (VendorErr) Width() int { return 8 }

// String returns the reason's name.
func (e VendorErr) String() string { return vendorErrs.text(uint32(e)) }
