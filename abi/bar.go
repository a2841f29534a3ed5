package abi

// The map of BAR0, in bytes.
const (
	BARSize       = 2 << 20
	GlobalBase    = 0x0000
	CountersBase  = 0x1000
	MSIXTableBase = 0x2000
	MSIXPBABase   = 0x3000
	UARBase       = 0x100000

	PageSize   = 4096
	UARPages   = 256
	MSIXCount  = 16
	PushOffset = 0x800 // of the pushed-WQE window in a doorbell page
	PushSize   = 64
)

// Region is a part of BAR0.
type Region uint8

const (
	RegionUnmapped  Region = iota
	RegionGlobal           // 32-bit registers; whether one exists at an offset, RegisterAt tells
	RegionCounters         // 64-bit counters that exist
	RegionMSIXTable        // 16 entries of MSIXEntry
	RegionMSIXPBA          // 8 bytes of pending bits
	RegionDoorbell         // the 8 bytes of a page's doorbell
	RegionPush             // the 64 bytes of a page's pushed-WQE window
)

// Width is the number of bits of a Region.
func (Region) Width() int { return 3 }

// String returns a short lower-case name.
func (r Region) String() string {
	names := [...]string{"unmapped", "global", "counters", "msix_table", "msix_pba", "doorbell", "push"}
	if int(r) < len(names) {
		return names[r]
	}
	return "invalid"
}

// Locate returns the region of BAR0 that holds byte offset off, the doorbell
// page (0 elsewhere) and the offset inside the region.
func Locate(off uint32) (r Region, page uint8, rel uint32) {
	if off >= UARBase && off < UARBase+UARPages*PageSize {
		page, rel = uint8((off-UARBase)/PageSize), off%PageSize
		switch {
		case rel < 8:
			return RegionDoorbell, page, rel
		case rel >= PushOffset && rel < PushOffset+PushSize:
			return RegionPush, page, rel - PushOffset
		}
		return RegionUnmapped, page, rel
	}
	rel = off % PageSize
	switch off - rel {
	case GlobalBase:
		return RegionGlobal, 0, rel
	case CountersBase:
		if rel < NumCounters*8 {
			return RegionCounters, 0, rel
		}
	case MSIXTableBase:
		if rel < MSIXCount*16 {
			return RegionMSIXTable, 0, rel
		}
	case MSIXPBABase:
		if rel < 8 {
			return RegionMSIXPBA, 0, rel
		}
	}
	return RegionUnmapped, 0, rel
}

// DoorbellAddr is the BAR0 offset of a page's doorbell.
func DoorbellAddr(page uint8) uint32 { return UARBase + uint32(page)*PageSize }

// PushAddr is the BAR0 offset of a page's pushed-WQE window.
func PushAddr(page uint8) uint32 { return DoorbellAddr(page) + PushOffset }

// CounterAddr is the BAR0 offset of a counter's low word; the high word is at +4.
func CounterAddr(c Counter) uint32 { return CountersBase + 8*uint32(c) }
