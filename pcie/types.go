package pcie

import "fmt"

// Kind is the type of a TLP.
type Kind uint8

const (
	MRd  Kind = iota // memory read request, 64-bit address
	MWr              // memory write request, 64-bit address, posted
	Cpl              // completion without data: an error
	CplD             // completion with data
)

// Width is 2 bits.
func (Kind) Width() int { return 2 }

// String returns the specification's short name.
func (k Kind) String() string { return [...]string{"MRd", "MWr", "Cpl", "CplD"}[k&3] }

// IsRequest tells requests from completions.
func (k Kind) IsRequest() bool { return k <= MWr }

// HasData tells whether payload follows the header.
func (k Kind) HasData() bool { return k == MWr || k == CplD }

// Status is the completion status.
type Status uint8

const (
	Success            Status = 0 // SC
	UnsupportedRequest Status = 1 // UR
	ConfigRetry        Status = 2 // CRS, only of configuration requests
	CompleterAbort     Status = 4 // CA
)

// Width is 3 bits.
func (Status) Width() int { return 3 }

// String returns the specification's short name.
func (s Status) String() string {
	switch s {
	case Success:
		return "SC"
	case UnsupportedRequest:
		return "UR"
	case ConfigRetry:
		return "CRS"
	case CompleterAbort:
		return "CA"
	}
	return fmt.Sprintf("RESERVED_%d", uint8(s))
}

// ID is a requester or completer: bus 15:8, device 7:3, function 2:0.
type ID uint16

// String returns "01:00.0".
func (i ID) String() string { return fmt.Sprintf("%02x:%02x.%d", uint16(i)>>8, uint16(i)>>3&31, i&7) }

// TrafficClass is the class of service; a device with one queue uses 0.
type TrafficClass uint8

// Width is 3 bits.
func (TrafficClass) Width() int { return 3 }

// Tag tells the outstanding reads of a requester apart, 8 bits.
type Tag uint8

// DWords is a length in DWs of 4 bytes, 1..1024. The header carries 1024 as 0.
type DWords uint16

// Width is 11 bits.
func (DWords) Width() int { return 11 }

// ByteEnable has bit k set if byte k of a DW is meant.
type ByteEnable uint8

// Width is 4 bits.
func (ByteEnable) Width() int { return 4 }

// ByteCount is the number of bytes that a completion and those after it carry,
// 1..4096. The header carries 4096 as 0.
type ByteCount uint16

// Width is 13 bits.
func (ByteCount) Width() int { return 13 }

// LowerAddr is bits 6:0 of the address of a completion's first byte.
type LowerAddr uint8

// Width is 7 bits.
func (LowerAddr) Width() int { return 7 }

// Attr are the attributes of a TLP.
type Attr struct {
	IDOrder bool `doc:"ID-based ordering"`
	Relaxed bool `doc:"relaxed ordering"`
	NoSnoop bool `doc:"the host's caches need not be asked"`
}
