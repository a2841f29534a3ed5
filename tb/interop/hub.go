package interop

import (
	"bytes"
	"context"
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
	cut    bool     // no frame passes
	struck int      // frames that faults did something to
	good   [2]int   // RoCE frames that arrived as they should be, by sender
	bad    [2]int   // RoCE frames that arrived damaged
}

func newHub(ctx context.Context, inner ether.Wire, sent func(side, []byte)) *hub {
	h := &hub{inner: inner, frames: make(chan []byte, 1024), sent: sent}
	go h.pass(ctx)
	return h
}

// pass hands on what the guest sends.
func (h *hub) pass(ctx context.Context) {
	for {
		select {
		case f := <-h.inner.Frames():
			for _, g := range h.judge(linux, f) {
				select {
				case h.frames <- g:
				case <-ctx.Done():
					return
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// judge returns what arrives of a frame, and counts it.
func (h *hub) judge(from side, f []byte) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cut {
		return nil
	}
	h.sent(from, f)
	p, err := roce.ParseFrame(append([]byte(nil), f...))
	if err != nil {
		return [][]byte{f}
	}
	out := [][]byte{f}
	if h.faults[from] != nil {
		out = h.faults[from](&p, f)
		if len(out) != 1 || !bytes.Equal(out[0], f) {
			h.struck++
		}
	}
	for _, g := range out {
		if _, err := roce.ParseFrame(append([]byte(nil), g...)); err != nil {
			h.bad[from]++
		} else {
			h.good[from]++
		}
	}
	return out
}

// counts returns the frames that arrived, and those that faults struck.
func (h *hub) counts() (good, bad [2]int, struck int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.good, h.bad, h.struck
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
