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
		if !r.j.received() && r.j.Op != abi.OpRead {
			for i := (round - 1) * r.j.round(); i < min(round*r.j.round(), r.messages); i++ {
				if err := r.compare(s, 0, i); err != nil {
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

// prepare puts the round's messages into the buffer for READs, else zeros.
func (r *run) prepare(round int) error {
	if r.j.Op == abi.OpRead {
		return r.load(&r.b, 0, round)
	}
	_, err := r.b.buf.WriteAt(make([]byte, r.j.bufferSize()), 0)
	return err
}

// receiver posts the buffers of one QP for a round, and takes what comes.
func (r *run) receiver(t *hdl.Thread, bus *host.Bus, n int) error {
	s, per := &r.b, r.j.round()
	wcs := make([]driver.WC, 16)
	for round := 1; round <= r.rounds; round++ {
		if !s.await(t, round) {
			return nil
		}
		dev := s.dev.On(bus)
		qp, cq := s.qps[n].On(dev), s.cqs[n].On(dev)
		first := (round - 1) * per
		first += (n - first%r.j.QPs + r.j.QPs) % r.j.QPs
		end := min(round*per, r.messages)
		if !r.j.received() {
			end = first
		}
		for i := first; i < end; i += r.j.QPs {
			wr := driver.RecvWR{ID: uint64(i), SGEs: s.sges(nil, i, r.j.MsgSize)}
			if _, err := qp.PostRecv(wr); err != nil {
				return err
			}
		}
		s.count(&s.posted)
		for i := first; i < end; {
			k, err := cq.Wait(wcs, math.MaxInt64)
			if err != nil {
				return err
			}
			for _, wc := range wcs[:k] {
				if err := r.complete(&wc, qp, i); err != nil {
					return err
				}
				i += r.j.QPs
			}
		}
		s.count(&s.done)
	}
	return nil
}

// complete judges the completion of a received message, and its bytes.
func (r *run) complete(wc *driver.WC, qp *driver.QP, i int) error {
	opcode, flags := abi.WCRecv, abi.CQEFlags(0)
	if r.j.Op == abi.OpWriteImm {
		opcode = abi.WCRecvWithImm
	}
	if r.j.Op != abi.OpSend {
		flags = abi.CQEWithImm
	}
	switch n := r.j.length(i); {
	case wc.Status != abi.StatusSuccess:
		return fmt.Errorf("message %d: %v (%v)", i, wc.Status, wc.VendorErr)
	case wc.ID != uint64(i) || wc.Opcode != opcode || wc.QPN != qp.Number() || int(wc.ByteLen) != n,
		wc.Flags != flags, flags != 0 && wc.Imm != uint32(i):
		return fmt.Errorf("QP %d: message %d of %d bytes completes as message %d of %d bytes: %v, QP %d, %v, immediate data %d",
			qp.Number(), i, n, wc.ID, wc.ByteLen, wc.Opcode, wc.QPN, wc.Flags, wc.Imm)
	}
	return r.compare(&r.b, 0, i)
}

// compare judges the bytes of message i in the memory of the host that it goes to,
// in the buffer at off.
func (r *run) compare(s *side, off, i int) error {
	want, err := r.j.message(i)
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	// The element list cuts the space of a message, and it is filled in order.
	if _, err := s.buf.ReadAt(got, int64(off+r.j.slot(i))); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		k := 0
		for got[k] == want[k] {
			k++
		}
		return fmt.Errorf("message %d: byte %d is %#02x, sent %#02x", i, k, got[k], want[k])
	}
	s.arrived++
	return nil
}
