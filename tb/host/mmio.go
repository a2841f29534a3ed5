package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/hdl"
	"rnic/pcie"
)

const (
	mmioTags   = 32 // MMIO reads outstanding
	mmioPosted = 64 // MMIO requests between CPU and link
)

// Errors of MMIO.
var (
	ErrWidth    = errors.New("MMIO writes have 4, 8 or 64 bytes, naturally aligned (EINVAL)")
	ErrNoAnswer = errors.New("the NIC did not answer (EIO)")
	ErrRefused  = errors.New("the NIC refused the read (EIO)")
)

// mmioRead is a read of a CPU.
type mmioRead struct {
	busy, answered bool
	forsaken       bool // nobody waits any more
	status         pcie.Status
	value          uint32
	done           hdl.Event
}

// post queues an MMIO request of the CPU. False: no room now.
func (r *RootComplex) post(h pcie.TLP, data []byte) bool {
	if r.posted.len() >= mmioPosted {
		return false
	}
	p := r.packet(h)
	p.data = append(p.data, data...)
	p.due = r.Now() + r.cycles(r.mmioLat)
	r.posted.push(p)
	r.WakeAt(p.due)
	return true
}

// postWrite queues a write to BAR 0. The error wraps ErrWidth or
// ErrBounds.
func (r *RootComplex) postWrite(off uint32, b []byte) (bool, error) {
	if int64(off)+int64(len(b)) > abi.BARSize {
		return false, fmt.Errorf("%d bytes at offset %#x of BAR 0: %w", len(b), off, ErrBounds)
	}
	if n := len(b); n != 4 && n != 8 && n != 64 || int(off)%n != 0 {
		return false, fmt.Errorf("%d bytes at offset %#x: %w", n, off, ErrWidth)
	}
	return r.post(pcie.Request(pcie.MWr, BARBase+uint64(off), len(b)), b), nil
}

// startRead queues a read of 4 bytes of BAR 0 under a free tag; -1 if there is no
// room now.
func (r *RootComplex) startRead(off uint32) int {
	for i := range r.mmio {
		if m := &r.mmio[i]; !m.busy {
			h := pcie.Request(pcie.MRd, BARBase+uint64(off), 4)
			h.Tag = pcie.Tag(i)
			if !r.post(h, nil) {
				return -1
			}
			m.busy, m.answered, m.forsaken = true, false, false
			return i
		}
	}
	return -1
}

// answer takes the NIC's completion of an MMIO read.
func (r *RootComplex) answer(p *packet) {
	h := &p.hdr
	if int(h.Tag) >= len(r.mmio) || !r.mmio[h.Tag].busy || r.mmio[h.Tag].answered {
		r.Fail("a completion of no MMIO read: %+v", *h)
	}
	m := &r.mmio[h.Tag]
	m.status, m.value = h.Status, 0xFFFFFFFF
	if h.Kind == pcie.CplD && h.Status == pcie.Success {
		if len(p.data) != 4 || h.Count != 4 {
			r.Fail("a completion of %d bytes for an MMIO read of 4: %+v", len(p.data), *h)
		}
		m.value = binary.LittleEndian.Uint32(p.data)
	} else if h.Status == pcie.Success {
		m.status = pcie.UnsupportedRequest
	}
	m.answered = true
	if m.forsaken {
		r.release32(m)
	}
	m.done.Notify()
}

// release32 frees the tag of a read of the CPU.
func (r *RootComplex) release32(m *mmioRead) {
	m.busy = false
	r.room.Notify()
}
