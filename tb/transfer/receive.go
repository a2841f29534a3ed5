package transfer

import (
	"bytes"
	"fmt"
	"math"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
)

// coordinateReceiver sets host b up and tells host a when a round can begin.
func (r *run) coordinateReceiver(t *hdl.Thread, bus *host.Bus) error {
	s := &r.b
	if err := s.setup(bus); err != nil {
		s.h.OOB.Send([]byte(err.Error()))
		return err
	}
	if err := s.connect(t); err != nil {
		return err
	}
	t.Sleep(settle)
	r.settled(s)
	for round := 1; round <= r.rounds; round++ {
		if err := r.prepare(round); err != nil {
			return err
		}
		s.round = round
		s.begin.Notify()
		if err := s.gather(t, &s.posted, round); err != nil {
			return err
		}
		s.h.OOB.Send([]byte("go"))
		s.h.OOB.Recv(t) // host a has sent all
		if r.j.unreliable() {
			r.calm(t, s)
			s.drained = round
		}
		if !r.j.received() && r.j.Op != abi.OpRead {
			for i := (round - 1) * r.j.round(); i < min(round*r.j.round(), r.messages); i++ {
				if err := r.landed(s, i); err != nil {
					return err
				}
			}
		}
		if err := s.gather(t, &s.done, round); err != nil {
			return err
		}
	}
	s.h.OOB.Send([]byte("done"))
	r.calm(t, s)
	return s.counters()
}

// prepare puts the round's messages into the buffer for READs, their complement where
// WRITEs may be lost, else zeros; receive buffers of which some may be posted are left.
func (r *run) prepare(round int) error {
	switch {
	case r.j.Op == abi.OpRead:
		return r.load(&r.b, 0, round)
	case !r.j.unreliable():
		_, err := r.b.buf.WriteAt(make([]byte, r.j.bufferSize()), 0)
		return err
	case r.j.Op != abi.OpWrite && r.j.Op != abi.OpWriteImm:
		return nil
	}
	for i := (round - 1) * r.j.round(); i < min(round*r.j.round(), r.messages); i++ {
		m, err := r.j.message(i)
		if err != nil {
			return err
		}
		for k := range m {
			m[k] = ^m[k]
		}
		if _, err := r.b.buf.WriteAt(m, int64(r.j.slot(i))); err != nil {
			return err
		}
	}
	return nil
}

// receiver posts the buffers of one QP for a round, and takes what comes.
func (r *run) receiver(t *hdl.Thread, bus *host.Bus, n int) error {
	s, per := &r.b, r.j.round()
	wcs := make([]driver.WC, 16)
	for round := 1; round <= r.rounds; round++ {
		if !s.await(t, round) {
			return nil
		}
		in := inbox{r: r, n: n, dev: s.dev.On(bus), round: round}
		in.qp, in.cq = s.qps[n].On(in.dev), s.cqs[n].On(in.dev)
		if err := in.post(in.slots()...); err != nil {
			return err
		}
		s.count(&s.posted)
		if r.j.unreliable() {
			if err := in.drain(bus, wcs); err != nil {
				return err
			}
			s.count(&s.done)
			continue
		}
		first := (round - 1) * per
		first += (n - first%r.j.QPs + r.j.QPs) % r.j.QPs
		end := min(round*per, r.messages)
		if !r.j.received() {
			end = first
		}
		for i := first; i < end; {
			k, err := in.cq.Wait(wcs, math.MaxInt64)
			if err != nil {
				return err
			}
			for _, wc := range wcs[:k] {
				if err := in.complete(&wc, i); err != nil {
					return err
				}
				i += r.j.QPs
			}
		}
		s.count(&s.done)
	}
	return nil
}

// compare judges the bytes of message i in the memory of the host that it goes to,
// in its place in the buffer at off, and counts it.
func (r *run) compare(s *side, off, i int) error {
	if err := r.equal(s, off+r.j.slot(i), i); err != nil {
		return err
	}
	s.arrived++
	return nil
}

// equal judges the bytes of message i at an offset of a buffer.
func (r *run) equal(s *side, at, i int) error {
	want, err := r.j.message(i)
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	// The element list cuts the space of a message, and it is filled in order.
	if _, err := s.buf.ReadAt(got, int64(at)); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		k := 0
		for got[k] == want[k] {
			k++
		}
		if r.j.unreliable() {
			return fmt.Errorf("message %d: byte %d is %#02x, sent %#02x", i, k, got[k], want[k])
		}
		mtu := r.j.MTU.Bytes()
		return fmt.Errorf("message %d, the %s of QP %d: byte %d, in its %s packet of %d bytes, is %#02x, sent %#02x",
			i, ordinal(i/r.j.QPs+1), s.qps[i%r.j.QPs].Number(), k, ordinal(k/mtu+1), mtu, got[k], want[k])
	}
	return nil
}

// ordinal is a number as 1st, 2nd, 11th.
func ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, end)
}
