package roce

// Properties of an opcode, one bit each.
const (
	isValid uint32 = 1 << iota
	isFirst
	isMiddle
	isLast
	isOnly
	isSend
	isWrite
	isReadResponse
	isAtomic
	isResponse
	hasDETH
	hasRETH
	hasAtomicETH
	hasAETH
	hasAtomicAckETH
	hasImm
	hasIETH
	takesReceive
)

// operations are the properties of the low 5 bits as RC has them.
var operations = [32]uint32{
	0x00: isSend | isFirst | takesReceive,
	0x01: isSend | isMiddle,
	0x02: isSend | isLast,
	0x03: isSend | isLast | hasImm,
	0x04: isSend | isOnly | takesReceive,
	0x05: isSend | isOnly | hasImm | takesReceive,
	0x06: isWrite | isFirst | hasRETH,
	0x07: isWrite | isMiddle,
	0x08: isWrite | isLast,
	0x09: isWrite | isLast | hasImm | takesReceive,
	0x0A: isWrite | isOnly | hasRETH,
	0x0B: isWrite | isOnly | hasRETH | hasImm | takesReceive,
	0x0C: isOnly | hasRETH,
	0x0D: isResponse | isReadResponse | isFirst | hasAETH,
	0x0E: isResponse | isReadResponse | isMiddle,
	0x0F: isResponse | isReadResponse | isLast | hasAETH,
	0x10: isResponse | isReadResponse | isOnly | hasAETH,
	0x11: isResponse | isOnly | hasAETH,
	0x12: isResponse | isOnly | hasAETH | hasAtomicAckETH,
	0x13: isAtomic | isOnly | hasAtomicETH,
	0x14: isAtomic | isOnly | hasAtomicETH,
	0x16: isSend | isLast | hasIETH,
	0x17: isSend | isOnly | hasIETH | takesReceive,
}

type opInfo struct {
	flags  uint32
	header uint8 // bytes of BTH and extended headers
}

var opTable = func() (t [256]opInfo) {
	for i := range t {
		t[i].header = BTHSize
		flags := operations[i&opcodeOperationMask]
		switch tr := Transport(i >> 5); {
		case flags == 0:
			continue
		case tr == RC:
		case tr == UC && i&opcodeOperationMask <= 0x0B:
		case tr == UD && (Opcode(i) == UDSendOnly || Opcode(i) == UDSendOnlyImm):
			flags |= hasDETH
		default:
			continue
		}
		t[i] = opInfo{flags | isValid, uint8(BTHSize + extendedSize(flags))}
	}
	t[CNP].flags = isValid | isOnly
	return t
}()

func extendedSize(flags uint32) int {
	n := 0
	for _, h := range [...]struct {
		flag uint32
		size int
	}{
		{hasDETH, DETHSize}, {hasRETH, RETHSize}, {hasAtomicETH, AtomicETHSize}, {hasAETH, AETHSize},
		{hasAtomicAckETH, AtomicAckETHSize}, {hasImm, ImmDtSize}, {hasIETH, IETHSize},
	} {
		if flags&h.flag != 0 {
			n += h.size
		}
	}
	return n
}

func (o Opcode) is(f uint32) bool { return opTable[o].flags&f != 0 }

// Valid tells whether the opcode is one of the constants above. Of the others
// all predicates are false.
func (o Opcode) Valid() bool { return o.is(isValid) }

// IsFirst tells whether more packets of the same message follow the first.
func (o Opcode) IsFirst() bool { return o.is(isFirst) }

// IsMiddle tells whether the packet is neither first nor last of its message.
func (o Opcode) IsMiddle() bool { return o.is(isMiddle) }

// IsLast tells whether the packet ends a message of several packets.
func (o Opcode) IsLast() bool { return o.is(isLast) }

// IsOnly tells whether the packet is a whole message, READ and ATOMIC requests
// and acknowledges included.
func (o Opcode) IsOnly() bool { return o.is(isOnly) }

// Starts tells whether a message begins with this packet: first or only.
func (o Opcode) Starts() bool { return o.is(isFirst | isOnly) }

// Ends tells whether a message ends with this packet: last or only.
func (o Opcode) Ends() bool { return o.is(isLast | isOnly) }

// IsSend is true of all parts of a SEND, with immediate or invalidate too.
func (o Opcode) IsSend() bool { return o.is(isSend) }

// IsWrite is true of all parts of an RDMA WRITE, with immediate too.
func (o Opcode) IsWrite() bool { return o.is(isWrite) }

// IsReadRequest is true of the RDMA READ request.
func (o Opcode) IsReadRequest() bool { return o == RCReadRequest }

// IsReadResponse is true of all parts of a READ response.
func (o Opcode) IsReadResponse() bool { return o.is(isReadResponse) }

// IsAtomic is true of the two ATOMIC requests.
func (o Opcode) IsAtomic() bool { return o.is(isAtomic) }

// IsResponse is true of what a responder sends: acknowledges, READ responses.
func (o Opcode) IsResponse() bool { return o.is(isResponse) }

// IsRequest is true of what a requester sends. A CNP is neither.
func (o Opcode) IsRequest() bool { return o.Valid() && !o.IsResponse() && o != CNP }

// TakesReceive tells whether the packet claims a receive WQE: the first or only
// one of a SEND, the one with immediate of a WRITE.
func (o Opcode) TakesReceive() bool { return o.is(takesReceive) }

// HasDETH tells whether a DETH follows the BTH (UD).
func (o Opcode) HasDETH() bool { return o.is(hasDETH) }

// HasRETH tells whether a RETH follows the BTH.
func (o Opcode) HasRETH() bool { return o.is(hasRETH) }

// HasAtomicETH tells whether an AtomicETH follows the BTH.
func (o Opcode) HasAtomicETH() bool { return o.is(hasAtomicETH) }

// HasAETH tells whether an AETH follows the BTH.
func (o Opcode) HasAETH() bool { return o.is(hasAETH) }

// HasAtomicAckETH tells whether an AtomicAckETH follows the AETH.
func (o Opcode) HasAtomicAckETH() bool { return o.is(hasAtomicAckETH) }

// HasImm tells whether an ImmDt is the last of the headers.
func (o Opcode) HasImm() bool { return o.is(hasImm) }

// HasIETH tells whether an IETH is the last of the headers.
func (o Opcode) HasIETH() bool { return o.is(hasIETH) }

// HeaderSize is the length in bytes of the BTH and the extended headers, 12 to
// 40. For a reserved opcode it is the BTH's, 12.
func (o Opcode) HeaderSize() int { return int(opTable[o].header) }
