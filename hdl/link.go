package hdl

import "fmt"

// Link carries messages one way from a kernel to another, or to itself, in a
// fixed number of cycles. Agents and threads of the one send, of the other
// receive. It holds capacity messages, in flight or not received; those that were
// received free their place at the next barrier. It allocates nothing.
type Link[T any] struct {
	from, to  *Kernel
	latency   uint64
	msgs      []message[T]
	receiver  *Behave
	sentEnd   uint64 // sender: messages sent so far
	freed     uint64 // sender: of them received, as of the last barrier
	_         [64]byte
	taken     uint64 // receiver: messages received so far
	published uint64 // receiver: of those sent, as of the last barrier
}

type message[T any] struct {
	due uint64
	v   T
}

// NewLink adds a link to a world. The latency is at least the world's lookahead;
// less is a mistake in the program and panics.
func NewLink[T any](w *World, from, to *Kernel, latency uint64, capacity int) *Link[T] {
	if latency < w.lookahead {
		panic(fmt.Sprintf("hdl: link latency %d below the lookahead %d", latency, w.lookahead))
	}
	l := &Link[T]{from: from, to: to, latency: latency, msgs: make([]message[T], max(1, capacity))}
	w.links = append(w.links, l)
	return l
}

// Attach names the agent of the receiving kernel that is woken at delivery.
func (l *Link[T]) Attach(b *Behave) { l.receiver = b }

// Space is the number of messages that can be sent.
func (l *Link[T]) Space() int { return len(l.msgs) - int(l.sentEnd-l.freed) }

// Send has v received latency cycles from the sender's present cycle. Sending
// without Space is a Fault of the sender.
func (l *Link[T]) Send(v T) {
	if l.Space() == 0 {
		panic(&Fault{l.from.running(), l.from.cycle, fmt.Sprintf("link to %s is full with %d messages", l.to.name, len(l.msgs))})
	}
	l.msgs[l.sentEnd%uint64(len(l.msgs))] = message[T]{l.from.cycle + l.latency, v}
	l.sentEnd++
}

// Peek is the oldest message that has arrived.
func (l *Link[T]) Peek() (v T, ok bool) {
	if l.taken == l.published {
		return v, false
	}
	m := &l.msgs[l.taken%uint64(len(l.msgs))]
	if m.due > l.to.cycle {
		return v, false
	}
	return m.v, true
}

// Recv takes the oldest message that has arrived.
func (l *Link[T]) Recv() (v T, ok bool) {
	if v, ok = l.Peek(); ok {
		l.taken++
	}
	return v, ok
}

// exchange, at a barrier, shows each side what the other did in the window.
func (l *Link[T]) exchange() {
	if l.receiver != nil {
		for i := l.published; i < l.sentEnd; i++ {
			l.receiver.WakeAt(l.msgs[i%uint64(len(l.msgs))].due)
		}
	}
	l.published, l.freed = l.sentEnd, l.taken
}
