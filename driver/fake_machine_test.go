package driver_test

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// machine is a host with a behavioural device, in simulated time: what is written
// to the device arrives later, and so does what it answers. The device reads and
// writes memory by the layouts of abi alone, and notes what a driver must not do.
type machine struct {
	now    int64
	events eventHeap
	order  int

	frames    map[uint64]*[4096]byte
	nextDMA   uint64
	nextFrame uint64
	dma       map[uint64]int // bytes, by address
	pages     map[uint64]bool
	noMem     bool // allocations fail

	irqs    [abi.MSIXCount]int
	woken   [abi.MSIXCount]int // by Wake
	reads   int
	writes  []mmio
	posted  int // writes on their way
	room    int // writes that may be on their way; 0: any number
	faults  []string
	threads []*thread
	shuffle *rand.Rand // which of several threads goes on first; nil: in order

	*device
}

// mmio is a write that the driver has posted.
type mmio struct {
	off uint32
	n   int
}

const (
	mmioLatency = 250_000 // ps, one way
	dmaLatency  = 500_000
)

func newMachine() *machine {
	m := &machine{
		frames: map[uint64]*[4096]byte{}, nextDMA: 0x10_0000, nextFrame: 0x4000_0000,
		dma: map[uint64]int{}, pages: map[uint64]bool{},
	}
	m.device = newDevice(m)
	return m
}

// start makes a machine, checks at the end of the test that the device found
// nothing to complain of, and opens the device for a thread that is alone.
func start(t testing.TB, cfg driver.Config) (*machine, *driver.Device) {
	m := newMachine()
	t.Cleanup(func() { require.Empty(t, m.faults) })
	cfg.MAC, cfg.IPv4 = [6]byte{2, 0, 0, 0, 0, 1}, [4]byte{10, 0, 0, 1}
	d, err := driver.Open(m.bus(), cfg)
	require.NoError(t, err)
	return m, d
}

func (m *machine) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

// Time.

type event struct {
	at    int64
	order int
	do    func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	e := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return e
}

// after does something later.
func (m *machine) after(ps int64, do func()) {
	m.order++
	heap.Push(&m.events, event{m.now + ps, m.order, do})
}

// step does what is due next, if it is due by until.
func (m *machine) step(until int64) bool {
	if len(m.events) == 0 || m.events[0].at > until {
		return false
	}
	e := heap.Pop(&m.events).(event)
	m.now = max(m.now, e.at)
	e.do()
	return true
}

// thread is a coroutine of the host.
type thread struct {
	resume func() (struct{}, bool)
	done   bool
	ready  func() bool
	until  int64
}

// bus is the machine as a thread sees it; yield is nil for a thread that is alone.
type bus struct {
	m     *machine
	seen  [abi.MSIXCount]int
	th    *thread
	yield func(struct{}) bool
}

func (m *machine) bus() *bus { return &bus{m: m} }

// spawn adds a thread that run will run.
func (m *machine) spawn(fn func(b *bus)) {
	th := &thread{ready: func() bool { return true }}
	b := &bus{m: m, th: th}
	th.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		b.yield = yield
		fn(b)
	})
	m.threads = append(m.threads, th)
}

// run runs all threads to their end. It returns false if they wait for what never
// comes.
func (m *machine) run() bool {
	for {
		alive, next := false, int64(math.MaxInt64)
		first := 0
		if m.shuffle != nil {
			first = m.shuffle.IntN(len(m.threads))
		}
		for i := range m.threads {
			th := m.threads[(first+i)%len(m.threads)]
			for !th.done && (th.ready() || th.until <= m.now) {
				_, ok := th.resume()
				th.done = !ok
			}
			if !th.done {
				alive, next = true, min(next, th.until)
			}
		}
		switch {
		case !alive:
			return true
		case m.step(next):
		case next == math.MaxInt64:
			return false
		default:
			m.now = next
		}
	}
}

// wait lets time pass until ready, or until a time.
func (b *bus) wait(ready func() bool, until int64) {
	if b.yield != nil {
		b.th.ready, b.th.until = ready, until
		b.yield(struct{}{})
		return
	}
	for !ready() {
		if !b.m.step(until) {
			if until == math.MaxInt64 {
				b.m.fault("the thread waits for ever")
				panic("the thread waits for ever")
			}
			b.m.now = max(b.m.now, until)
			return
		}
	}
}

// The Bus.

var never = func() bool { return false }

func (b *bus) Now() int64 { return b.m.now }

func (b *bus) Spend(ps int64) {
	if ps <= 0 {
		b.m.fault("work that takes %d ps", ps)
	}
	b.wait(never, b.m.now+ps)
}

const mostMemory = 1 << 34 // bytes handed out at once

func (b *bus) AllocDMA(size, align int) (uint64, error) {
	m := b.m
	if m.noMem || size > mostMemory || align > mostMemory {
		return 0, driver.ErrNoMemory
	}
	a := (m.nextDMA + uint64(align) - 1) &^ (uint64(align) - 1)
	m.nextDMA = a + uint64(size) + 4096
	m.dma[a] = size
	return a, nil
}

func (b *bus) FreeDMA(addr uint64) {
	if _, ok := b.m.dma[addr]; !ok {
		b.m.fault("%#x freed, but not allocated", addr)
	}
	delete(b.m.dma, addr)
}

func (b *bus) AllocPages(n int) (addrs []uint64, err error) {
	if b.m.noMem || n < 0 || n > mostMemory/4096 {
		return nil, driver.ErrNoMemory
	}
	for i := range n {
		b.m.nextFrame += uint64(3+(i*7)%5) * 4096
		b.m.pages[b.m.nextFrame] = true
		addrs = append(addrs, b.m.nextFrame)
	}
	for i := 0; i+2 < n; i += 2 { // in no order
		addrs[i], addrs[i+2] = addrs[i+2], addrs[i]
	}
	return addrs, nil
}

func (b *bus) FreePages(addrs []uint64) {
	for _, a := range addrs {
		if !b.m.pages[a] {
			b.m.fault("page %#x freed, but not allocated", a)
		}
		delete(b.m.pages, a)
	}
}

func (b *bus) ReadMem(addr uint64, p []byte) error  { b.m.read(addr, p); return nil }
func (b *bus) WriteMem(addr uint64, p []byte) error { b.m.write(addr, p); return nil }

func (m *machine) read(addr uint64, p []byte) {
	for len(p) > 0 {
		n := min(len(p), int(4096-addr%4096))
		if f := m.frames[addr/4096]; f != nil {
			copy(p[:n], f[addr%4096:])
		} else {
			clear(p[:n])
		}
		p, addr = p[n:], addr+uint64(n)
	}
}

func (m *machine) write(addr uint64, p []byte) {
	for len(p) > 0 {
		f := m.frames[addr/4096]
		if f == nil {
			f = new([4096]byte)
			m.frames[addr/4096] = f
		}
		n := copy(f[addr%4096:], p)
		p, addr = p[n:], addr+uint64(n)
	}
}

func (b *bus) WaitIRQ(v int, until int64) (bool, error) {
	if woken := b.m.woken[v]; b.m.irqs[v] == b.seen[v] && until > b.m.now {
		b.wait(func() bool { return b.m.irqs[v] != b.seen[v] || b.m.woken[v] != woken }, until)
	}
	fired := b.m.irqs[v] != b.seen[v]
	b.seen[v] = b.m.irqs[v]
	return fired, nil
}

func (b *bus) Wake(v int) { b.m.after(1000, func() { b.m.woken[v]++ }) }

func (b *bus) Read32(off uint32) (v uint32, err error) {
	b.m.reads++
	done := false
	b.m.after(mmioLatency, func() {
		w := b.m.readReg(off)
		b.m.after(mmioLatency, func() { v, done = w, true })
	})
	b.wait(func() bool { return done }, math.MaxInt64)
	return v, nil
}

func (b *bus) Write(off uint32, p []byte) error {
	m := b.m
	if n := len(p); n != 4 && n != 8 && n != 64 || off%uint32(n) != 0 {
		m.fault("a write of %d bytes to %#x", n, off)
	}
	var data [64]byte
	copy(data[:], p)
	n := len(p)
	for m.room > 0 && m.posted >= m.room {
		b.wait(func() bool { return m.posted < m.room }, math.MaxInt64)
	}
	m.writes = append(m.writes, mmio{off, n})
	m.posted++
	m.after(mmioLatency, func() {
		m.posted--
		m.mmioWrite(off, data[:n])
	})
	return nil
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

var _ interface {
	driver.Bus
	driver.Waker
} = (*bus)(nil)
