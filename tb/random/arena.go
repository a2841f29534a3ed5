package random

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/host"
)

// arena is an Arena that is there, and what its bytes must be.
type arena struct {
	*Arena
	buf    *driver.Buffer
	mr     *driver.MR
	image  []byte
	guards []uint64
}

// allocate makes the memory of a phase: random bytes, and what is sent.
func (s *side) allocate(phase int) error {
	p := &s.s.Phases[phase]
	r := s.rand(forMemory, phase)
	s.arenas = nil
	for i := range p.Arenas[s.n] {
		a := &arena{Arena: &p.Arenas[s.n][i]}
		a.image = make([]byte, a.Size)
		for k := range a.image {
			a.image[k] = byte(r.Uint32())
		}
		s.arenas = append(s.arenas, a)
	}
	for q := range p.Flows[s.n] {
		for i := range p.Flows[s.n][q].Messages {
			m := &p.Flows[s.n][q].Messages[i]
			if !m.fetches() {
				s.store(m.Src, m.Data)
			}
		}
	}
	s.fill(p)
	for _, a := range s.arenas {
		if err := a.register(s, r); err != nil {
			return err
		}
	}
	return s.victimise(p)
}

// register makes the buffer, its guards and the region.
func (a *arena) register(s *side, r *rand.Rand) (err error) {
	if a.Contiguous {
		a.buf, err = s.dev.AllocContiguous(a.Size, 4096<<r.IntN(10))
	} else {
		a.buf, err = s.dev.AllocBuffer(a.Size, a.InPage)
	}
	if err != nil {
		return err
	}
	if _, err := a.buf.WriteAt(a.image, 0); err != nil {
		return err
	}
	mem := s.h.Machine.Mem
	at := -a.InPage
	for _, sp := range a.Spans {
		a.guard(mem, at, sp.Off)
		at = sp.Off + sp.Len
	}
	a.guard(mem, at, len(a.buf.Pages())*host.FrameSize-a.InPage)
	access := abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic
	if a.ReadOnly {
		access = abi.AccessRemoteRead
	}
	a.mr, err = s.pds[a.PD].RegMRRange(a.buf, a.From, a.Len, access)
	if err == nil {
		s.tellRegion(a.PD, a.mr, a.buf, a.From, access)
	}
	return err
}

// guard guards the bytes between two offsets of the buffer, frame by frame.
func (a *arena) guard(mem *host.Memory, from, to int) {
	for from < to {
		at := from + a.InPage
		n := min(to-from, host.FrameSize-at%host.FrameSize)
		addr := a.buf.Pages()[at/host.FrameSize] + uint64(at%host.FrameSize)
		mem.Guard(addr, n)
		a.guards = append(a.guards, addr)
		from += n
	}
}

// partly holds memory that a message may have come to, or not, against both.
func (s *side) partly(m *Message, spans []Span, data []byte) error {
	for _, sp := range spans {
		if sp.Len == 0 {
			continue
		}
		if sp.Bad {
			data = data[min(sp.Len, len(data)):]
			continue
		}
		a, got := s.arenas[sp.Arena], make([]byte, sp.Len)
		if _, err := a.buf.ReadAt(got, int64(sp.Off)); err != nil {
			return err
		}
		for i, b := range got {
			if b != a.image[sp.Off+i] && (i >= len(data) || b != data[i]) {
				return fmt.Errorf("message %#x, cut short: byte %d of arena %d is %#02x", m.ID, sp.Off+i, sp.Arena, b)
			}
		}
		copy(a.image[sp.Off:], got)
		data = data[min(sp.Len, len(data)):]
	}
	return nil
}

// release checks all bytes of the phase's memory, and gives it back.
func (s *side) release() error {
	if err := s.h.Machine.Mem.CheckGuards(); err != nil {
		return err
	}
	for _, m := range s.loose {
		if err := s.partly(m, m.Dst, m.scattered()); err != nil {
			return err
		}
	}
	s.loose = nil
	if err := s.settleRemote(); err != nil {
		return err
	}
	for _, a := range s.arenas {
		if err := s.compare(a.Spans); err != nil {
			return err
		}
		for _, g := range a.guards {
			s.h.Machine.Mem.Unguard(g)
		}
		if err := s.deregister(a.mr); err != nil {
			return err
		}
		if err := a.buf.Free(); err != nil {
			return err
		}
	}
	return nil
}

// sges are the elements of a work request.
func (s *side) sges(spans []Span) (l []driver.SGE) {
	for _, sp := range spans {
		a := s.arenas[sp.Arena]
		switch {
		case sp.Bad:
			l = append(l, s.badSGE(a, sp))
		case sp.Garbage:
			l = append(l, driver.SGE{Addr: 0xdead_0000_0000 + uint64(sp.Off), LKey: ^a.mr.LKey})
		default:
			l = append(l, a.mr.SGE(sp.Off-a.From, sp.Len))
		}
	}
	return l
}

// badSGE is an element of which the device must not touch a byte: the key is none,
// or another's, or the address is outside the region.
func (s *side) badSGE(a *arena, sp Span) driver.SGE {
	e := a.mr.SGE(sp.Off-a.From, sp.Len)
	switch sp.Off % 4 {
	case 0:
		e.LKey = ^e.LKey
	case 1:
		e.LKey ^= 1 // of an older region in the same place
	case 2:
		e.Addr = a.mr.Addr + a.mr.Length
	case 3:
		e.Addr = a.mr.Addr - 1
		for _, b := range s.arenas {
			if b.PD != a.PD {
				e = b.mr.SGE(0, sp.Len)
			}
		}
	}
	return e
}

// store puts data into the images, element by element.
func (s *side) store(spans []Span, data []byte) {
	for _, sp := range spans {
		if sp.Len == 0 {
			continue
		}
		n := copy(s.arenas[sp.Arena].image[sp.Off:][:sp.Len], data)
		data = data[n:]
	}
}

// land puts a received message into the images, and demands that memory is the
// same, also where the receive was longer than the message.
func (s *side) land(m *Message) error {
	return s.landed(m, m.Dst, m.scattered())
}

// landed puts what a message brought to some memory into the images, and demands
// that memory is the same.
func (s *side) landed(m *Message, spans []Span, data []byte) error {
	s.store(spans, data)
	if err := s.compare(spans); err != nil {
		return fmt.Errorf("message %#x, %s of %d bytes to %v: %w", m.ID, m.Op, len(m.Data), spans, err)
	}
	return nil
}

// compare holds memory against the images.
func (s *side) compare(spans []Span) error {
	for _, sp := range spans {
		if sp.Len == 0 {
			continue
		}
		a := s.arenas[sp.Arena]
		want, got := a.image[sp.Off:][:sp.Len], make([]byte, sp.Len)
		if _, err := a.buf.ReadAt(got, int64(sp.Off)); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			k := 0
			for got[k] == want[k] {
				k++
			}
			return fmt.Errorf("arena %d: byte %d of the %d at %d is %#02x, not %#02x", sp.Arena, k, sp.Len, sp.Off, got[k], want[k])
		}
	}
	return nil
}
