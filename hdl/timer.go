package hdl

const never = ^uint64(0)

// timers holds the cycles at which blocks asked to be woken: for each block its
// cycles in order, and a heap of blocks by their first.
type timers struct {
	first uint64 // earliest deadline, never if none
	of    []deadlines
	heap  []int32
}

type deadlines struct {
	at   []uint64 // ascending, from head on
	head int
	pos  int // in the heap, -1 if absent
}

func (d *deadlines) min() uint64 { return d.at[d.head] }

// grow makes room for blocks 0..n-1.
func (t *timers) grow(n int) {
	for len(t.of) < n {
		t.of = append(t.of, deadlines{pos: -1})
	}
	if len(t.heap) == 0 {
		t.first = never
	}
}

// add records a deadline of a block, once.
func (t *timers) add(idx int32, cycle uint64) {
	d := &t.of[idx]
	if d.head == len(d.at) {
		d.at, d.head = d.at[:0], 0
	}
	i := len(d.at)
	for i > d.head && d.at[i-1] > cycle {
		i--
	}
	if i > d.head && d.at[i-1] == cycle {
		return
	}
	if len(d.at) == cap(d.at) && d.head > len(d.at)/2 {
		n := copy(d.at, d.at[d.head:])
		d.at, i, d.head = d.at[:n], i-d.head, 0
	}
	d.at = append(d.at, 0)
	copy(d.at[i+1:], d.at[i:])
	d.at[i] = cycle
	if i != d.head {
		return
	}
	if d.pos < 0 {
		d.pos = len(t.heap)
		t.heap = append(t.heap, idx)
	}
	t.up(d.pos)
	t.first = t.of[t.heap[0]].min()
}

// cancel forgets all deadlines of a block.
func (t *timers) cancel(idx int32) {
	d := &t.of[idx]
	d.at, d.head = d.at[:0], 0
	if d.pos >= 0 {
		t.remove(d.pos)
	}
}

// fire wakes the blocks that are due.
func (t *timers) fire(k *Kernel) {
	for len(t.heap) > 0 {
		idx := t.heap[0]
		d := &t.of[idx]
		if d.min() > k.cycle {
			break
		}
		for d.head < len(d.at) && d.at[d.head] <= k.cycle {
			d.head++
		}
		k.wake(idx)
		if d.head == len(d.at) {
			t.remove(0)
		} else {
			t.down(0)
		}
	}
	t.first = never
	if len(t.heap) > 0 {
		t.first = t.of[t.heap[0]].min()
	}
}

func (t *timers) remove(pos int) {
	last := len(t.heap) - 1
	t.swap(pos, last)
	t.of[t.heap[last]].pos = -1
	t.heap = t.heap[:last]
	if pos < last {
		t.down(pos)
		t.up(pos)
	}
	t.first = never
	if last > 0 {
		t.first = t.of[t.heap[0]].min()
	}
}

func (t *timers) less(i, j int) bool {
	a, b := t.of[t.heap[i]].min(), t.of[t.heap[j]].min()
	return a < b || a == b && t.heap[i] < t.heap[j]
}

func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.of[t.heap[i]].pos, t.of[t.heap[j]].pos = i, j
}

func (t *timers) up(i int) {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (t *timers) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(t.heap) {
			return
		}
		if c+1 < len(t.heap) && t.less(c+1, c) {
			c++
		}
		if !t.less(c, i) {
			return
		}
		t.swap(i, c)
		i = c
	}
}
