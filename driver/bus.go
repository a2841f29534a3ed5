package driver

// Bus is the machine as one thread of the driver sees it. Bus addresses and
// offsets in BAR 0 are in bytes, times in picoseconds. It may be a Tracer too.
type Bus interface {
	// Read32 reads a register of BAR 0 and waits for the answer.
	Read32(off uint32) (uint32, error)
	// Write posts 4, 8 or 64 bytes, naturally aligned, to BAR 0.
	Write(off uint32, b []byte) error

	// AllocDMA hands out size bytes of consecutive bus addresses, zeroed.
	AllocDMA(size, align int) (uint64, error)
	FreeDMA(addr uint64)
	// AllocPages hands out n frames of 4 KiB, zeroed, in no order.
	AllocPages(n int) ([]uint64, error)
	FreePages(addrs []uint64)
	ReadMem(addr uint64, b []byte) error
	WriteMem(addr uint64, b []byte) error

	// WaitIRQ waits until the given time for an interrupt of a vector that it has
	// not reported yet, and tells whether there was one.
	WaitIRQ(vector int, until int64) (bool, error)
	Now() int64
	// Spend lets time pass.
	Spend(ps int64)
}
