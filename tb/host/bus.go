package host

import (
	"fmt"
	"math"

	"rnic/abi"
	"rnic/hdl"
)

// Bus is the machine as one thread of a driver sees it. Each thread has its own.
//
// Memory accesses and posted writes take no time of their own: what they cost a
// CPU is the caller's to Spend. Only Read32, WaitIRQ, WaitWrite, Spend, and Write
// when 64 MMIO requests are on their way, let time pass.
type Bus struct {
	t     *hdl.Thread
	h     *Host
	ahead int64    // picoseconds spent beyond the present cycle, less than one cycle
	seen  []uint64 // interrupts that WaitIRQ has reported, by vector
}

// NewBus makes the Bus of a thread.
func (h *Host) NewBus(t *hdl.Thread) *Bus {
	return &Bus{t: t, h: h, seen: make([]uint64, h.RC.Params.Vectors)}
}

// Now is the simulated time in picoseconds.
func (b *Bus) Now() int64 { return int64(b.t.Now())*b.h.RC.Params.PeriodPs + b.ahead }

// Spend lets ps picoseconds pass. What is less than a cycle is kept for later.
func (b *Bus) Spend(ps int64) {
	if ps <= 0 {
		return
	}
	total := b.ahead + ps
	b.ahead = total % b.h.RC.Params.PeriodPs
	if n := total / b.h.RC.Params.PeriodPs; n > 0 {
		b.t.Sleep(uint64(n))
	}
}

// Write posts 4, 8 or 64 bytes, naturally aligned, to BAR 0. They arrive at the
// NIC after the MMIO latency, whole and in order. Other widths are refused with
// ErrWidth.
func (b *Bus) Write(off uint32, data []byte) error {
	for {
		ok, err := b.h.RC.postWrite(off, data)
		if ok || err != nil {
			return err
		}
		b.t.Wait(&b.h.RC.room, 0)
	}
}

// Read32 reads a register of BAR 0, after all earlier Writes, and waits for the
// answer. With ErrRefused or ErrNoAnswer the value is all ones.
func (b *Bus) Read32(off uint32) (uint32, error) {
	rc := &b.h.RC
	if off%4 != 0 || off >= abi.BARSize {
		return 0xFFFFFFFF, fmt.Errorf("read at offset %#x of BAR 0: %w", off, ErrBounds)
	}
	silent := fmt.Errorf("read at offset %#x: %w", off, ErrNoAnswer)
	limit := b.t.Now() + rc.cycles(rc.Params.MMIOTimeout)
	tag := rc.startRead(off)
	for ; tag < 0; tag = rc.startRead(off) {
		if !b.t.Wait(&rc.room, limit) {
			return 0xFFFFFFFF, silent
		}
	}
	m := &rc.mmio[tag]
	if !b.t.Wait(&m.done, limit) {
		m.forsaken = true
		return 0xFFFFFFFF, silent
	}
	rc.release32(m)
	if m.status != 0 {
		return 0xFFFFFFFF, fmt.Errorf("read at offset %#x: %s: %w", off, m.status, ErrRefused)
	}
	return m.value, nil
}

// ReadMem copies host memory into p. The error wraps ErrBounds.
func (b *Bus) ReadMem(addr uint64, p []byte) error { return b.h.Mem.Read(addr, p) }

// WriteMem copies p into host memory. The error wraps ErrBounds.
func (b *Bus) WriteMem(addr uint64, p []byte) error { return b.h.Mem.Write(addr, p) }

// AllocDMA hands out size bytes of consecutive bus addresses, zeroed, aligned to
// align. The error wraps ErrNoMem or ErrAlign.
func (b *Bus) AllocDMA(size, align int) (uint64, error) { return b.h.Mem.Alloc(size, align) }

// FreeDMA takes back what AllocDMA handed out.
func (b *Bus) FreeDMA(addr uint64) { b.h.Mem.Free(addr) }

// AllocPages hands out n frames of 4 KiB from all over memory, zeroed.
func (b *Bus) AllocPages(n int) ([]uint64, error) { return b.h.Mem.AllocFrames(n) }

// FreePages takes back what AllocPages handed out.
func (b *Bus) FreePages(addrs []uint64) { b.h.Mem.FreeFrames(addrs) }

// WaitIRQ waits for an interrupt of a vector that it has not reported yet, at most
// until the given time (ps; math.MaxInt64: for ever), and tells whether there was one. Several that came
// since are one.
func (b *Bus) WaitIRQ(v int, until int64) (bool, error) {
	if v < 0 || v >= len(b.seen) {
		return false, fmt.Errorf("interrupt vector %d of %d: %w", v, len(b.seen), ErrBounds)
	}
	irq := &b.h.RC.vectors[v]
	if irq.count == b.seen[v] {
		b.wait(&irq.fired, until)
	}
	fired := irq.count != b.seen[v]
	b.seen[v] = irq.count
	return fired, nil
}

// Wake ends every WaitIRQ of a vector that is under way: it returns false, if there was no
// interrupt.
func (b *Bus) Wake(v int) {
	if v >= 0 && v < len(b.seen) {
		b.h.RC.vectors[v].fired.Notify()
	}
}

// WaitWrite waits until w has counted more than seen writes, at most until the
// given time (ps), and returns the count.
func (b *Bus) WaitWrite(w *Watch, seen uint64, until int64) uint64 {
	if w.Count == seen {
		b.wait(&w.Written, until)
	}
	return w.Count
}

func (b *Bus) wait(ev *hdl.Event, until int64) {
	if until <= b.Now() {
		return
	}
	limit := uint64(0) // none
	if until != math.MaxInt64 {
		limit = max(b.t.Now()+1, b.h.RC.cycles(until))
	}
	b.ahead = 0
	b.t.Wait(ev, limit)
}
