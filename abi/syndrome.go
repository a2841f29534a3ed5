package abi

import mathbits "math/bits"

// AdminSyndrome says what was wrong with a command. For an attribute of a QP it
// is 1 + the number of its bit in QPAttr.
type AdminSyndrome uint8

const (
	SynNone            AdminSyndrome = 0
	SynState           AdminSyndrome = 1
	SynCurState        AdminSyndrome = 2
	SynSQDAsyncNotify  AdminSyndrome = 3
	SynAccessFlags     AdminSyndrome = 4
	SynPKeyIndex       AdminSyndrome = 5
	SynPort            AdminSyndrome = 6
	SynQKey            AdminSyndrome = 7
	SynAV              AdminSyndrome = 8
	SynPathMTU         AdminSyndrome = 9
	SynTimeout         AdminSyndrome = 10
	SynRetryCnt        AdminSyndrome = 11
	SynRNRRetry        AdminSyndrome = 12
	SynRQPSN           AdminSyndrome = 13
	SynMaxRdAtomic     AdminSyndrome = 14
	SynMinRNRTimer     AdminSyndrome = 16
	SynSQPSN           AdminSyndrome = 17
	SynMaxDestRdAtomic AdminSyndrome = 18
	SynDestQPN         AdminSyndrome = 21

	SynMailbox    AdminSyndrome = 64
	SynBase       AdminSyndrome = 65
	SynLogSize    AdminSyndrome = 66
	SynVector     AdminSyndrome = 67
	SynEQN        AdminSyndrome = 68
	SynUARPage    AdminSyndrome = 69
	SynQPType     AdminSyndrome = 70
	SynPD         AdminSyndrome = 71
	SynSendCQN    AdminSyndrome = 72
	SynRecvCQN    AdminSyndrome = 73
	SynSQ         AdminSyndrome = 74
	SynRQ         AdminSyndrome = 75
	SynMaxSGE     AdminSyndrome = 76
	SynMaxInline  AdminSyndrome = 77
	SynSRQ        AdminSyndrome = 78
	SynTransition AdminSyndrome = 79
	SynDraining   AdminSyndrome = 80
	SynAddr       AdminSyndrome = 81
	SynLength     AdminSyndrome = 82
	SynPageSize   AdminSyndrome = 83
	SynNumPages   AdminSyndrome = 84
	SynPageList   AdminSyndrome = 85
	SynObject     AdminSyndrome = 86
	SynModeration AdminSyndrome = 87
	SynKeyKind    AdminSyndrome = 88
	SynLimit      AdminSyndrome = 89
)

var adminSyndromes = newEnum("SYN",
	enumValue[AdminSyndrome]{SynNone, "NONE", ""},
	enumValue[AdminSyndrome]{SynState, "STATE", "attribute missing, not allowed here, or out of range; so for all up to DEST_QPN"},
	enumValue[AdminSyndrome]{SynCurState, "CUR_STATE", "also: not the QP's state"},
	enumValue[AdminSyndrome]{SynSQDAsyncNotify, "EN_SQD_ASYNC_NOTIFY", ""},
	enumValue[AdminSyndrome]{SynAccessFlags, "ACCESS_FLAGS", "REG_MR: remote write or atomic without local write"},
	enumValue[AdminSyndrome]{SynPKeyIndex, "PKEY_INDEX", ""},
	enumValue[AdminSyndrome]{SynPort, "PORT", ""},
	enumValue[AdminSyndrome]{SynQKey, "QKEY", ""},
	enumValue[AdminSyndrome]{SynAV, "AV", ""},
	enumValue[AdminSyndrome]{SynPathMTU, "PATH_MTU", ""},
	enumValue[AdminSyndrome]{SynTimeout, "TIMEOUT", ""},
	enumValue[AdminSyndrome]{SynRetryCnt, "RETRY_CNT", ""},
	enumValue[AdminSyndrome]{SynRNRRetry, "RNR_RETRY", ""},
	enumValue[AdminSyndrome]{SynRQPSN, "RQ_PSN", ""},
	enumValue[AdminSyndrome]{SynMaxRdAtomic, "MAX_RD_ATOMIC", ""},
	enumValue[AdminSyndrome]{SynMinRNRTimer, "MIN_RNR_TIMER", ""},
	enumValue[AdminSyndrome]{SynSQPSN, "SQ_PSN", ""},
	enumValue[AdminSyndrome]{SynMaxDestRdAtomic, "MAX_DEST_RD_ATOMIC", ""},
	enumValue[AdminSyndrome]{SynDestQPN, "DEST_QPN", ""},
	enumValue[AdminSyndrome]{SynMailbox, "MAILBOX", "mailbox address missing or not aligned, or the mailbox could not be read or written"},
	enumValue[AdminSyndrome]{SynBase, "BASE", "ring address not aligned"},
	enumValue[AdminSyndrome]{SynLogSize, "LOG_SIZE", "ring too large; SRQ: or of one slot, or smaller than before; RESIZE_CQ: or too small for the CQEs that are not consumed"},
	enumValue[AdminSyndrome]{SynVector, "VECTOR", "no such MSI-X vector"},
	enumValue[AdminSyndrome]{SynEQN, "EQN", "no such event queue"},
	enumValue[AdminSyndrome]{SynUARPage, "UAR_PAGE", "no such doorbell page"},
	enumValue[AdminSyndrome]{SynQPType, "QP_TYPE", ""},
	enumValue[AdminSyndrome]{SynPD, "PD", ""},
	enumValue[AdminSyndrome]{SynSendCQN, "SEND_CQN", "no such completion queue"},
	enumValue[AdminSyndrome]{SynRecvCQN, "RECV_CQN", "no such completion queue"},
	enumValue[AdminSyndrome]{SynSQ, "SQ", "send queue: base not aligned, or too large"},
	enumValue[AdminSyndrome]{SynRQ, "RQ", "receive queue: base not aligned, too large, or stride too small; SRQ: stride"},
	enumValue[AdminSyndrome]{SynMaxSGE, "MAX_SGE", "more elements than the device does"},
	enumValue[AdminSyndrome]{SynMaxInline, "MAX_INLINE", "more inline bytes than the device does"},
	enumValue[AdminSyndrome]{SynSRQ, "SRQ", "no such shared receive queue; MODIFY_SRQ: an attribute that there is not"},
	enumValue[AdminSyndrome]{SynTransition, "TRANSITION", "no such transition from the QP's state"},
	enumValue[AdminSyndrome]{SynDraining, "DRAINING", "the send queue is not yet drained"},
	enumValue[AdminSyndrome]{SynAddr, "ADDR", "address range wraps"},
	enumValue[AdminSyndrome]{SynLength, "LENGTH", ""},
	enumValue[AdminSyndrome]{SynPageSize, "PAGE_SIZE", ""},
	enumValue[AdminSyndrome]{SynNumPages, "NUM_PAGES", "not as many pages as address and length need, or no room for them"},
	enumValue[AdminSyndrome]{SynPageList, "PAGE_LIST", "list not aligned, unreadable, or a page in it not aligned"},
	enumValue[AdminSyndrome]{SynObject, "OBJECT", "object number"},
	enumValue[AdminSyndrome]{SynKeyKind, "KEY_KIND", "no such kind of key"},
	enumValue[AdminSyndrome]{SynLimit, "LIMIT", "limit above the WQEs of the queue"},
	enumValue[AdminSyndrome]{SynModeration, "MODERATION", "period too long, or a count above 1 without a period"},
)

// Width is the number of bits of an AdminSyndrome.
func (AdminSyndrome) Width() int { return 8 }

// String returns the syndrome's name.
func (s AdminSyndrome) String() string { return adminSyndromes.text(uint32(s)) }

// Syndrome names the lowest attribute in m, NONE if m is empty.
func (m QPAttr) Syndrome() AdminSyndrome {
	if m == 0 {
		return SynNone
	}
	return AdminSyndrome(1 + mathbits.TrailingZeros32(uint32(m)))
}
