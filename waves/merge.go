package waves

import (
	"errors"
	"sync/atomic"
)

// aheadSize is the bytes of changes that may wait for a kernel that lags.
const aheadSize = 256 << 20

var errAhead = errors.New("waves: a kernel is far ahead of another: run them in one World")

// merger joins the changes of all sources in order of (time, source) and gives them to
// a sink, in a goroutine of its own. Sources are the kernels, then the rows of kernels.
// What it gives depends on the blocks of each source and not on when they come.
type merger struct {
	sink   sink
	in     chan *block
	free   chan *block
	queues []queue
	now    int64 // last time given
	begun  bool
	held   int // bytes in queues
	ahead  int // the most that may be held
	failed atomic.Pointer[error]
	done   chan struct{}
}

// queue is the blocks of one source that are not merged yet.
type queue struct {
	blocks []*block
	part   int // of blocks[0]
	upto   int64
	final  int64
}

func newMerger(s sink, sources int) *merger {
	return &merger{
		sink: s, ahead: aheadSize, queues: make([]queue, sources), now: -1,
		in: make(chan *block, 4), free: make(chan *block, 8+sources), done: make(chan struct{}),
	}
}

// block is an empty block, for a tracer to fill.
func (m *merger) block() *block {
	select {
	case b := <-m.free:
		b.buf, b.parts, b.last = b.buf[:0], b.parts[:0], false
		return b
	default:
		return &block{buf: make([]byte, 0, blockSize+blockSlack)}
	}
}

// run takes blocks until every source's last has come. After an error it goes on
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
	}
	m.check(m.sink.end())
}

// merge passes on all that no source can precede any more.
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
	for m.failed.Load() == nil {
		first := -1
		at := safe
		for i := range m.queues {
			if t, ok := m.queues[i].peek(); ok && t < at {
				first, at = i, t
			}
		}
		if first < 0 {
			if safe < never {
				m.check(m.sink.passed(safe))
			}
			return
		}
		m.stamp(at)
		m.take(first)
	}
}

// dump passes on the first part of every source: the values at the beginning.
func (m *merger) dump() bool {
	for i := range m.queues {
		if len(m.queues[i].blocks) == 0 {
			return false
		}
	}
	m.begun = true
	t, _ := m.queues[0].peek()
	m.stamp(t)
	m.sink.dump(true)
	for i := range m.queues {
		m.take(i)
	}
	m.sink.dump(false)
	return true
}

// peek is the time of a queue's next part.
func (q *queue) peek() (int64, bool) {
	if len(q.blocks) == 0 {
		return 0, false
	}
	return q.blocks[0].parts[q.part].t, true
}

// take passes on a queue's next part.
func (m *merger) take(i int) {
	q := &m.queues[i]
	b := q.blocks[0]
	start := 0
	if q.part > 0 {
		start = b.parts[q.part-1].end
	}
	m.check(m.sink.changes(b.buf[start:b.parts[q.part].end]))
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
		m.check(m.sink.time(t))
	}
}

func (m *merger) check(err error) {
	if err != nil {
		m.fail(err)
	}
}

func (m *merger) fail(err error) { m.failed.CompareAndSwap(nil, &err) }
