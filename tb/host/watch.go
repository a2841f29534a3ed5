package host

import (
	"slices"

	"rnic/hdl"
)

// Watch sees the NIC's writes to a range of memory.
type Watch struct {
	Written hdl.Event // notified when a write touches the range, after it is there
	Count   uint64    // such writes so far
	addr    uint64
	n       int
}

// Watch starts to watch n bytes (at least 1) at addr.
func (m *Memory) Watch(addr uint64, n int) *Watch {
	w := &Watch{addr: addr, n: n}
	for no := addr / FrameSize; no <= (addr+uint64(n)-1)/FrameSize; no++ {
		m.watches[no] = append(m.watches[no], w)
	}
	return w
}

// Unwatch ends a Watch.
func (m *Memory) Unwatch(w *Watch) {
	for no := w.addr / FrameSize; no <= (w.addr+uint64(w.n)-1)/FrameSize; no++ {
		m.watches[no] = slices.DeleteFunc(m.watches[no], func(o *Watch) bool { return o == w })
	}
}

// DMAWrite is a Write by a device: watches see it.
func (m *Memory) DMAWrite(addr uint64, b []byte) error {
	if err := m.Write(addr, b); err != nil || len(b) == 0 {
		return err
	}
	end := addr + uint64(len(b))
	for no := addr / FrameSize; no <= (end-1)/FrameSize; no++ {
		for _, w := range m.watches[no] {
			// A write across frames counts once: where the two first meet.
			if a := max(w.addr, addr); a/FrameSize == no && a < end && a-w.addr < uint64(w.n) {
				w.Count++
				w.Written.Notify()
			}
		}
	}
	return nil
}
