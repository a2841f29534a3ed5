package latency

import (
	"encoding/binary"
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/host"
)

const (
	warmUp = 2              // messages before: the first brings receive WQEs on chip
	limit  = 15_000_000_000 // cycles, a minute of simulated time
)

// run is a measurement in progress.
type run struct {
	bench *tb.Bench
	mode  Mode
	op    abi.WQEOp
	size  int
	count int // messages after the warm-up
	sides [2]side
	bells []uint64 // cycles in which the CPU wrote the doorbell
	bell  uint64   // the last of them
}

// run sends the messages.
func (r *run) run() error {
	for i := range r.sides {
		s := &r.sides[i]
		s.h = r.bench.Hosts[i]
		s.bytes = r.size
		s.size, s.completes = r.lands(i)
		s.h.Machine.RC.OnWrite = s.landed
		s.h.Go("cpu", func(t *hdl.Thread, bus *host.Bus) {
			s.bus = &bellBus{Bus: bus, t: t}
			if s.err = s.open(t, r.mode, warmUp+r.count); s.err == nil {
				s.err = [...]func(*side, *hdl.Thread) error{r.send, r.receive}[i](s, t)
			}
		})
	}
	failed := func() error { return errors.Join(r.sides[a].err, r.sides[b].err) }
	err := r.bench.World.Run(func() bool { return failed() != nil || r.bench.Done() }, limit)
	return errors.Join(failed(), err)
}

// lands is what the NIC of host i writes for a message: bytes of payload, and
// whether a CQE behind them.
func (r *run) lands(i int) (bytes int, cqe bool) {
	switch {
	case r.op == abi.OpRead:
		return r.size * (1 - i), i == a
	case r.op == abi.OpFetchAdd:
		return r.size, i == a
	}
	return r.size * i, i == a || r.op == abi.OpSend
}

// send posts a message whenever the other host is ready for it.
func (r *run) send(s *side, t *hdl.Thread) error {
	data := payload(r.size)
	if r.op != abi.OpRead && r.op != abi.OpFetchAdd {
		if _, err := s.buf.WriteAt(data, 0); err != nil {
			return err
		}
	}
	wr := driver.SendWR{Op: r.op, Signaled: true}
	if r.op != abi.OpSend {
		wr.RemoteAddr, wr.RKey = s.peer.VA, s.peer.Key
	}
	if r.op == abi.OpFetchAdd {
		wr.SwapAdd = increment
	}
	if r.mode == Fetched || r.op == abi.OpRead || r.op == abi.OpFetchAdd {
		wr.SGEs = []driver.SGE{s.mr.SGE(0, len(data))}
	} else {
		wr.Inline = data
	}
	for i := range warmUp + r.count {
		s.h.OOB.Recv(t)
		if err := s.rest(t); err != nil {
			return err
		}
		if _, err := s.qp.PostSend(wr); err != nil {
			return err
		}
		r.bell = s.bus.bell
		r.bells = append(r.bells, r.bell)
		if err := s.completion(t); err != nil {
			return err
		}
		if err := r.compare(s, i); err != nil {
			return err
		}
		s.h.OOB.Send([]byte("done"))
	}
	return nil
}

// increment is what each fetch-and-add adds.
const increment = 0x0101_0000_0001

// receive lets the messages come, one at a time, and compares them.
func (r *run) receive(s *side, t *hdl.Thread) error {
	if r.op == abi.OpRead {
		if _, err := s.buf.WriteAt(payload(r.size), 0); err != nil {
			return err
		}
	}
	for range warmUp + r.count {
		if r.op != abi.OpSend {
			break
		}
		if _, err := s.qp.PostRecv(driver.RecvWR{SGEs: []driver.SGE{s.mr.SGE(0, max(r.size, mtu.Bytes()))}}); err != nil {
			return err
		}
	}
	for i := range warmUp + r.count {
		if err := s.rest(t); err != nil {
			return err
		}
		s.h.OOB.Send([]byte("ready"))
		if s.completes {
			if err := s.completion(t); err != nil {
				return err
			}
		}
		s.h.OOB.Recv(t) // host a is done with it
		s.note()
		if err := r.compare(s, i); err != nil {
			return err
		}
	}
	return nil
}

// compare demands the bytes of message i where they land.
func (r *run) compare(s *side, i int) error {
	if s.size == 0 {
		return nil
	}
	want, got := payload(r.size), make([]byte, r.size)
	if r.op == abi.OpFetchAdd { // host a gets what was there before
		binary.LittleEndian.PutUint64(want, uint64(i+s.h.Index-1)*increment)
	}
	if _, err := s.buf.ReadAt(got, 0); err != nil {
		return err
	}
	if string(got) != string(want) {
		return fmt.Errorf("%s: message %d is %x, must be %x", s.h.K.Name(), i, got, want)
	}
	return nil
}

// payload is what a message holds.
func payload(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i + 1)
	}
	return p
}
