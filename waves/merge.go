package waves

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
)

const (
	writeSize = 1 << 20   // bytes a write
	aheadSize = 256 << 20 // bytes of changes that wait for a kernel that lags
)

var errAhead = errors.New("waves: a kernel is far ahead of another: run them in one World")

// merger joins the changes of all kernels in order of (time, kernel) and writes them,
// in a goroutine of its own. What it writes depends on the blocks of each kernel and
// not on when they come.
type merger struct {
	w      io.Writer
	in     chan *block
	free   chan *block
	queues []queue
	out    []byte
	now    int64 // last time stamp written
	begun  bool
	held   int // bytes in queues
	ahead  int // the most that may be held
	failed atomic.Pointer[error]
	done   chan struct{}
}

// queue is the blocks of one kernel that are not merged yet.
type queue struct {
	blocks []*block
	part   int // of blocks[0]
	upto   int64
	final  int64
}

func newMerger(w io.Writer, kernels int, head []byte) *merger {
	m := &merger{
		w: w, out: head, ahead: aheadSize, queues: make([]queue, kernels), now: -1,
		in: make(chan *block, 4), free: make(chan *block, 8+kernels), done: make(chan struct{}),
	}
	return m
}

// block is an empty block, for a tracer to fill.
func (m *merger) block() *block {
	select {
	case b := <-m.free:
		b.buf, b.parts = b.buf[:0], b.parts[:0]
		return b
	default:
		return &block{buf: make([]byte, 0, blockSize+blockSlack)}
	}
}

// run takes blocks until every kernel's last has come. After an error it goes on
// taking them, so that nobody waits for ever.
func (m *merger) run() {
	defer close(m.done)
	for open := len(m.queues); open > 0; {
		b := <-m.in
		q := &m.queues[b.src]
		q.upto = b.upto
		if b.last {
			q.final = b.final
			open--
		}
		if m.failed.Load() != nil {
			continue
		}
		m.held += len(b.buf)
		q.blocks = append(q.blocks, b)
		if len(b.parts) == 0 {
			m.drop(q, len(q.blocks)-1)
		}
		m.merge()
		if m.held > m.ahead {
			m.fail(errAhead)
		}
	}
	if m.failed.Load() == nil {
		final := m.now
		for i := range m.queues {
			final = max(final, m.queues[i].final)
		}
		m.stamp(final)
		m.flush()
	}
}

// merge writes all that no kernel can precede any more.
func (m *merger) merge() {
	safe := int64(never)
	for i := range m.queues {
		safe = min(safe, m.queues[i].upto)
	}
	if !m.begun && safe > 0 {
		if !m.dump() {
			return
		}
	}
	for {
		first := -1
		at := safe
		for i := range m.queues {
			if t, ok := m.queues[i].peek(); ok && t < at {
				first, at = i, t
			}
		}
		if first < 0 {
			return
		}
		m.stamp(at)
		m.take(first)
	}
}

// dump writes the first part of every kernel: the values at the beginning.
func (m *merger) dump() bool {
	for i := range m.queues {
		if len(m.queues[i].blocks) == 0 {
			return false
		}
	}
	m.begun = true
	t, _ := m.queues[0].peek()
	m.stamp(t)
	m.out = append(m.out, "$dumpvars\n"...)
	for i := range m.queues {
		m.take(i)
	}
	m.out = append(m.out, "$end\n"...)
	return true
}

// peek is the time of a queue's next part.
func (q *queue) peek() (int64, bool) {
	if len(q.blocks) == 0 {
		return 0, false
	}
	return q.blocks[0].parts[q.part].t, true
}

// take writes a queue's next part.
func (m *merger) take(i int) {
	q := &m.queues[i]
	b := q.blocks[0]
	start := 0
	if q.part > 0 {
		start = b.parts[q.part-1].end
	}
	m.out = append(m.out, b.buf[start:b.parts[q.part].end]...)
	if len(m.out) >= writeSize {
		m.flush()
	}
	if q.part++; q.part == len(b.parts) {
		q.part = 0
		m.drop(q, 0)
	}
}

// drop recycles a block of a queue.
func (m *merger) drop(q *queue, i int) {
	b := q.blocks[i]
	m.held -= len(b.buf)
	q.blocks = append(q.blocks[:i], q.blocks[i+1:]...)
	select {
	case m.free <- b:
	default:
	}
}

func (m *merger) stamp(t int64) {
	if t != m.now {
		m.now = t
		m.out = append(m.out, '#')
		m.out = strconv.AppendInt(m.out, t, 10)
		m.out = append(m.out, '\n')
	}
}

func (m *merger) flush() {
	if m.failed.Load() == nil {
		if _, err := m.w.Write(m.out); err != nil {
			m.fail(fmt.Errorf("waves: %w", err))
		}
	}
	m.out = m.out[:0]
}

func (m *merger) fail(err error) { m.failed.CompareAndSwap(nil, &err) }
