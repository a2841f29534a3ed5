package abi

// QPAttr is a set of QP attributes, with the bits of verbs.
type QPAttr uint32

const (
	AttrState           QPAttr = 1 << 0
	AttrCurState        QPAttr = 1 << 1
	AttrSQDAsyncNotify  QPAttr = 1 << 2
	AttrAccessFlags     QPAttr = 1 << 3
	AttrPKeyIndex       QPAttr = 1 << 4
	AttrPort            QPAttr = 1 << 5
	AttrQKey            QPAttr = 1 << 6
	AttrAV              QPAttr = 1 << 7
	AttrPathMTU         QPAttr = 1 << 8
	AttrTimeout         QPAttr = 1 << 9
	AttrRetryCnt        QPAttr = 1 << 10
	AttrRNRRetry        QPAttr = 1 << 11
	AttrRQPSN           QPAttr = 1 << 12
	AttrMaxRdAtomic     QPAttr = 1 << 13
	AttrMinRNRTimer     QPAttr = 1 << 15
	AttrSQPSN           QPAttr = 1 << 16
	AttrMaxDestRdAtomic QPAttr = 1 << 17
	AttrDestQPN         QPAttr = 1 << 20
)

var qpAttrs = newMask("ATTR",
	enumValue[QPAttr]{AttrState, "STATE", ""},
	enumValue[QPAttr]{AttrCurState, "CUR_STATE", ""},
	enumValue[QPAttr]{AttrSQDAsyncNotify, "EN_SQD_ASYNC_NOTIFY", ""},
	enumValue[QPAttr]{AttrAccessFlags, "ACCESS_FLAGS", ""},
	enumValue[QPAttr]{AttrPKeyIndex, "PKEY_INDEX", ""},
	enumValue[QPAttr]{AttrPort, "PORT", ""},
	enumValue[QPAttr]{AttrQKey, "QKEY", ""},
	enumValue[QPAttr]{AttrAV, "AV", ""},
	enumValue[QPAttr]{AttrPathMTU, "PATH_MTU", ""},
	enumValue[QPAttr]{AttrTimeout, "TIMEOUT", ""},
	enumValue[QPAttr]{AttrRetryCnt, "RETRY_CNT", ""},
	enumValue[QPAttr]{AttrRNRRetry, "RNR_RETRY", ""},
	enumValue[QPAttr]{AttrRQPSN, "RQ_PSN", ""},
	enumValue[QPAttr]{AttrMaxRdAtomic, "MAX_RD_ATOMIC", "depth as initiator"},
	enumValue[QPAttr]{AttrMinRNRTimer, "MIN_RNR_TIMER", ""},
	enumValue[QPAttr]{AttrSQPSN, "SQ_PSN", ""},
	enumValue[QPAttr]{AttrMaxDestRdAtomic, "MAX_DEST_RD_ATOMIC", "depth as responder"},
	enumValue[QPAttr]{AttrDestQPN, "DEST_QPN", ""},
)

// Width is the number of bits of a QPAttr.
func (QPAttr) Width() int { return 32 }

// String joins the names of the attributes.
func (m QPAttr) String() string { return qpAttrs.text(uint32(m)) }

// Transition returns the attributes that a QP of type t needs to go from one
// state to another (or to stay in it, from == to), and those that it may change
// on the way; STATE is in neither, and always allowed. ok is false if there is
// no such transition by request. InfiniBand volume 1, section 11.2.5.2.
func Transition(t QPType, from, to QPState) (required, optional QPAttr, ok bool) {
	if to == QPReset || to == QPErr {
		return 0, 0, t >= QPTypeRC && t <= QPTypeRaw && from <= QPErr
	}
	switch t {
	case QPTypeRC:
		return transitionRC(from, to)
	case QPTypeUC:
		return transitionUC(from, to)
	case QPTypeUD:
		return transitionUD(from, to)
	case QPTypeRaw:
		return transitionRaw(from, to)
	}
	return 0, 0, false
}

// edge packs two states, to switch on both.
func edge(from, to QPState) uint8 { return uint8(from)<<4 | uint8(to) }

const (
	resetToInit = uint8(QPReset)<<4 | uint8(QPInit)
	initToInit  = uint8(QPInit)<<4 | uint8(QPInit)
	initToRTR   = uint8(QPInit)<<4 | uint8(QPRTR)
	rtrToRTS    = uint8(QPRTR)<<4 | uint8(QPRTS)
	rtsToRTS    = uint8(QPRTS)<<4 | uint8(QPRTS)
	rtsToSQD    = uint8(QPRTS)<<4 | uint8(QPSQD)
	sqdToSQD    = uint8(QPSQD)<<4 | uint8(QPSQD)
	sqdToRTS    = uint8(QPSQD)<<4 | uint8(QPRTS)
	sqeToRTS    = uint8(QPSQE)<<4 | uint8(QPRTS)
)

func transitionRC(from, to QPState) (required, optional QPAttr, ok bool) {
	const toRTS = AttrCurState | AttrAccessFlags | AttrMinRNRTimer
	switch edge(from, to) {
	case resetToInit:
		return AttrPKeyIndex | AttrPort | AttrAccessFlags, 0, true
	case initToInit:
		return 0, AttrPKeyIndex | AttrPort | AttrAccessFlags, true
	case initToRTR:
		return AttrAV | AttrPathMTU | AttrDestQPN | AttrRQPSN | AttrMaxDestRdAtomic | AttrMinRNRTimer,
			AttrAccessFlags | AttrPKeyIndex, true
	case rtrToRTS:
		return AttrTimeout | AttrRetryCnt | AttrRNRRetry | AttrSQPSN | AttrMaxRdAtomic, toRTS, true
	case rtsToRTS, sqdToRTS:
		return 0, toRTS, true
	case rtsToSQD:
		return 0, AttrSQDAsyncNotify, true
	case sqdToSQD:
		return 0, AttrPort | AttrAV | AttrTimeout | AttrRetryCnt | AttrRNRRetry | AttrMaxRdAtomic |
			AttrMaxDestRdAtomic | AttrAccessFlags | AttrPKeyIndex | AttrMinRNRTimer, true
	}
	return 0, 0, false
}

func transitionUC(from, to QPState) (required, optional QPAttr, ok bool) {
	const toRTS = AttrCurState | AttrAccessFlags
	switch edge(from, to) {
	case resetToInit:
		return AttrPKeyIndex | AttrPort | AttrAccessFlags, 0, true
	case initToInit:
		return 0, AttrPKeyIndex | AttrPort | AttrAccessFlags, true
	case initToRTR:
		return AttrAV | AttrPathMTU | AttrDestQPN | AttrRQPSN, AttrAccessFlags | AttrPKeyIndex, true
	case rtrToRTS:
		return AttrSQPSN, toRTS, true
	case rtsToRTS, sqdToRTS, sqeToRTS:
		return 0, toRTS, true
	case rtsToSQD:
		return 0, AttrSQDAsyncNotify, true
	case sqdToSQD:
		return 0, AttrAV | AttrAccessFlags | AttrPKeyIndex, true
	}
	return 0, 0, false
}

func transitionUD(from, to QPState) (required, optional QPAttr, ok bool) {
	const toRTS = AttrCurState | AttrQKey
	switch edge(from, to) {
	case resetToInit:
		return AttrPKeyIndex | AttrPort | AttrQKey, 0, true
	case initToInit:
		return 0, AttrPKeyIndex | AttrPort | AttrQKey, true
	case initToRTR:
		return 0, AttrPKeyIndex | AttrQKey, true
	case rtrToRTS:
		return AttrSQPSN, toRTS, true
	case rtsToRTS, sqdToRTS, sqeToRTS:
		return 0, toRTS, true
	case rtsToSQD:
		return 0, AttrSQDAsyncNotify, true
	case sqdToSQD:
		return 0, AttrPKeyIndex | AttrQKey, true
	}
	return 0, 0, false
}

func transitionRaw(from, to QPState) (required, optional QPAttr, ok bool) {
	switch edge(from, to) {
	case resetToInit:
		return AttrPort, 0, true
	case initToInit:
		return 0, AttrPort, true
	case initToRTR, rtsToSQD, sqdToSQD:
		return 0, 0, true
	case rtrToRTS, rtsToRTS, sqdToRTS, sqeToRTS:
		return 0, AttrCurState, true
	}
	return 0, 0, false
}
