package interop

import (
	"sync"

	"rnic/roce"
	"rnic/tb/ether"
)

// side is an end of the wire.
type side int

const (
	model side = iota
	linux
)

func (s side) String() string { return [...]string{"model", "linux"}[s] }

// fault says what arrives of a RoCE frame of one side: nothing, itself, or others.
type fault func(p *roce.Packet, frame []byte) [][]byte

// hub is the wire between model and guest, where frames can go wrong.
type hub struct {
	inner  ether.Wire
	frames chan []byte
	sent   func(from side, frame []byte) // sees frames as they were sent

	mu     sync.Mutex
	faults [2]fault // by sender
	cut    bool     // no RoCE frame of the model gets out
}

func newHub(inner ether.Wire, sent func(side, []byte)) *hub {
	h := &hub{inner: inner, frames: make(chan []byte, 1024), sent: sent}
	go func() {
		for f := range inner.Frames() {
			for _, g := range h.judge(linux, f) {
				h.frames <- g
			}
		}
	}()
	return h
}

// judge returns what arrives of a frame.
func (h *hub) judge(from side, f []byte) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent(from, f)
	p, err := roce.ParseFrame(append([]byte(nil), f...))
	switch {
	case err != nil:
		return [][]byte{f}
	case h.cut && from == model:
		return nil
	case h.faults[from] != nil:
		return h.faults[from](&p, f)
	}
	return [][]byte{f}
}

// set has a fault strike the frames of a side; nil ends that.
func (h *hub) set(from side, f fault) {
	h.mu.Lock()
	h.faults[from] = f
	h.mu.Unlock()
}

func (h *hub) Send(f []byte) {
	for _, g := range h.judge(model, f) {
		h.inner.Send(g)
	}
}

func (h *hub) Frames() <-chan []byte { return h.frames }

func (h *hub) Close() error { return h.inner.Close() }
