package driver

// Bus is the machine as one thread of the driver sees it. Bus addresses and
// offsets in BAR 0 are in bytes, times in picoseconds. It may be a Tracer and a Waker too.
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

// Waker is what a Bus may be besides: it wakes threads that wait for what will not come
// any more. Without it they sleep until the next interrupt, or their time is over.
type Waker interface {
	// Wake has every WaitIRQ of a vector that is under way return, with false.
	Wake(vector int)
}

// wake wakes the threads that sleep on an event queue.
func (d *Device) wake(q *eventQueue) {
	if w, ok := d.bus.(Waker); ok && q.sleeping > 0 {
		w.Wake(int(q.num))
	}
}

// sleep waits for an interrupt of an event queue.
func (d *Device) sleep(q *eventQueue, until int64) (bool, error) {
	q.sleeping++
	defer func() { q.sleeping-- }()
	return d.bus.WaitIRQ(int(q.num), until)
}
