package pcie

// TLP is a header of any Kind, flat, so that it can travel in a stream.
type TLP struct {
	Kind   Kind
	Class  TrafficClass
	Attr   Attr
	Poison bool       // EP: the payload is known to be bad
	Len    DWords     // payload, or DWs asked for; 1..1024; Cpl: 0
	ID     ID         // of the requester
	Tag    Tag        // of the request, or of the one completed
	First  ByteEnable // requests: of the first DW
	Last   ByteEnable // requests: of the last DW; 0 if Len is 1
	Addr   uint64     // requests: byte address of the first DW, bits 1:0 are 0

	Completer ID        // completions
	Status    Status    // completions
	Count     ByteCount // completions: bytes left, with those of this one; 1..4096
	Lower     LowerAddr // completions: address of the first byte, bits 6:0
}

// BeatBytes is the width of the datapath, 512 bits.
const BeatBytes = 64

// Beat is one cycle of a stream of TLPs. A TLP without payload is one beat with
// Len 0. Otherwise Len is 64 on all beats but the last, where it is 1..64.
type Beat struct {
	Hdr   TLP             // on the first beat, void on the others
	Data  [BeatBytes]byte // payload, packed from the first enabled byte
	Len   uint8           // bytes valid, 0..64
	First bool
	Last  bool
}

// Sizes in bytes of what a TLP costs on the link beside its payload: header, 2
// of sequence number, 4 of LCRC and 2 of framing (at Gen3 4 with the sequence).
const (
	RequestOverhead    = 24 // 16 of header
	CompletionOverhead = 20 // 12 of header
)

// LinkBytes is what the TLP takes of the link: overhead and payload in whole DWs.
func (t *TLP) LinkBytes() int {
	n := CompletionOverhead
	if t.Kind.IsRequest() {
		n = RequestOverhead
	}
	if t.Kind.HasData() {
		n += int(t.Len) * 4
	}
	return n
}

// Limits, bytes.
const (
	PageSize   = 4096 // no request crosses a multiple of this
	RCB        = 64   // read completion boundary
	MaxRequest = 4096 // longest request or payload in any configuration
)

// Offset is the distance of the first meant byte from Addr, 0..3.
func (t *TLP) Offset() int { return lowZeros(t.First) }

// Start is the address of the first byte that a request means.
func (t *TLP) Start() uint64 { return t.Addr + uint64(t.Offset()) }

// Bytes is the number of bytes from the first to the last one that the TLP
// carries or asks for: 0..4096. It is 0 for a request without byte enables
// (a read that only flushes) and for Cpl.
func (t *TLP) Bytes() int {
	switch t.Kind {
	case MRd, MWr:
		switch {
		case t.First == 0:
			return 0
		case t.Len == 1:
			return 4 - lowZeros(t.First) - highZeros(t.First)
		}
		return int(t.Len)*4 - lowZeros(t.First) - highZeros(t.Last)
	case CplD:
		return max(0, min(int(t.Count), int(t.Len)*4-int(t.Lower&3)))
	}
	return 0
}

// lowZeros counts the bytes before the first enabled one, 0..3.
func lowZeros(e ByteEnable) int {
	switch {
	case e&1 != 0:
		return 0
	case e&2 != 0:
		return 1
	case e&4 != 0:
		return 2
	case e&8 != 0:
		return 3
	}
	return 0
}

// highZeros counts the bytes behind the last enabled one, 0..3.
func highZeros(e ByteEnable) int {
	switch {
	case e&8 != 0:
		return 0
	case e&4 != 0:
		return 1
	case e&2 != 0:
		return 2
	case e&1 != 0:
		return 3
	}
	return 0
}
