package roce

import "fmt"

// Syndrome is the first byte of the AETH: bit 7 is 0, bits 6:5 are the kind,
// bits 4:0 its value (IBA chapter 9, "AETH syndrome").
type Syndrome uint8

// SyndromeKind is bits 6:5 of the syndrome.
type SyndromeKind uint8

const (
	KindACK      SyndromeKind = 0 // value: credit count code
	KindRNR      SyndromeKind = 1 // receiver not ready; value: timer code
	KindReserved SyndromeKind = 2 // the packet is ignored
	KindNAK      SyndromeKind = 3 // value: NAKCode
)

// NAKCode is the value of a NAK.
type NAKCode uint8

const (
	NAKSequence        NAKCode = 0 // PSN sequence error
	NAKInvalidRequest  NAKCode = 1
	NAKRemoteAccess    NAKCode = 2
	NAKRemoteOperation NAKCode = 3
	NAKInvalidRD       NAKCode = 4 // not in RC
)

// NoCredits is the credit code that gives no credits: flow control is off. It
// is always sent with an SRQ, and may always be.
const NoCredits = 31

// Width is 8 bits.
func (Syndrome) Width() int { return 8 }

// Width is 2 bits.
func (SyndromeKind) Width() int { return 2 }

// Width is 5 bits.
func (NAKCode) Width() int { return 5 }

// ACKSyndrome is an acknowledge with a credit code of 0..31 (see Credits).
func ACKSyndrome(code uint8) Syndrome { return Syndrome(code & 31) }

// RNRSyndrome is a receiver-not-ready NAK with a timer code of 0..31.
func RNRSyndrome(timer uint8) Syndrome { return Syndrome(KindRNR)<<5 | Syndrome(timer&31) }

// NAKSyndrome is a NAK.
func NAKSyndrome(code NAKCode) Syndrome { return Syndrome(KindNAK)<<5 | Syndrome(code&31) }

// Kind returns bits 6:5; with bit 7 set the syndrome is reserved.
func (s Syndrome) Kind() SyndromeKind {
	if s&0x80 != 0 {
		return KindReserved
	}
	return SyndromeKind(s >> 5)
}

// Value returns bits 4:0.
func (s Syndrome) Value() uint8 { return uint8(s & 31) }

// Valid is false of reserved kinds and NAK codes: such a packet is ignored.
func (s Syndrome) Valid() bool {
	switch s.Kind() {
	case KindReserved:
		return false
	case KindNAK:
		return NAKCode(s.Value()) <= NAKInvalidRD
	}
	return true
}

// String returns, for example, "ACK_31", "RNR_14" or "NAK_SEQUENCE".
func (s Syndrome) String() string {
	switch {
	case !s.Valid():
		return fmt.Sprintf("SYNDROME_%#02x", uint8(s))
	case s.Kind() == KindNAK:
		return "NAK_" + NAKCode(s.Value()).String()
	}
	return fmt.Sprintf("%v_%d", s.Kind(), s.Value())
}

// String returns "ACK", "RNR", "RESERVED" or "NAK".
func (k SyndromeKind) String() string {
	return [...]string{"ACK", "RNR", "RESERVED", "NAK"}[k&3]
}

// String returns, for example, "REMOTE_ACCESS".
func (c NAKCode) String() string {
	if c <= NAKInvalidRD {
		return [...]string{"SEQUENCE", "INVALID_REQUEST", "REMOTE_ACCESS", "REMOTE_OPERATION", "INVALID_RD"}[c]
	}
	return fmt.Sprintf("CODE_%d", uint8(c))
}

// creditTable is the number of receive WQEs for each credit code 0..30.
var creditTable = [31]uint16{
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
}

// Credits is the number of receive WQEs that a credit code stands for; ok is
// false for NoCredits, 31, and above.
func Credits(code uint8) (wqes int, ok bool) {
	if code >= NoCredits {
		return 0, false
	}
	return int(creditTable[code]), true
}

// CreditCode is the code for the most credits that do not exceed wqes (>= 0).
func CreditCode(wqes int) uint8 {
	code := uint8(0)
	for code < NoCredits-1 && int(creditTable[code+1]) <= wqes {
		code++
	}
	return code
}

// rnrTable is the RNR timer for each code, in units of 10 us.
var rnrTable = [32]uint32{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// RNRDelay is the least wait that an RNR timer code of 0..31 asks for, in units
// of 10 us: 1 (code 1) to 65536 (code 0, 655.36 ms).
func RNRDelay(code uint8) uint32 { return rnrTable[code&31] }
