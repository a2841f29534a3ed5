package host

// queue is a FIFO.
type queue[T any] struct {
	q    []T
	from int
}

func (f *queue[T]) len() int { return len(f.q) - f.from }

func (f *queue[T]) push(v T) { f.q = append(f.q, v) }

// head is the oldest, nil if there is none.
func (f *queue[T]) head() *T {
	if f.from == len(f.q) {
		return nil
	}
	return &f.q[f.from]
}

func (f *queue[T]) pop() T {
	var zero T
	v := f.q[f.from]
	f.q[f.from] = zero
	if f.from++; 2*f.from >= len(f.q) {
		n := copy(f.q, f.q[f.from:])
		clear(f.q[n:])
		f.q, f.from = f.q[:n], 0
	}
	return v
}
