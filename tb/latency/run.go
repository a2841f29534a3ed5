package latency

import (
	"bytes"
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
	size  int
	sides [2]side
	bell  uint64 // cycle in which the CPU wrote the doorbell
}

// run sends the messages.
func (r *run) run() error {
	for i := range r.sides {
		s := &r.sides[i]
		s.h, s.size = r.bench.Hosts[i], i*r.size
		s.h.Machine.RC.OnWrite = s.landed
		s.h.Go("cpu", func(t *hdl.Thread, bus *host.Bus) {
			s.bus = &bellBus{Bus: bus, t: t}
			if s.err = s.open(t, r.mode); s.err == nil {
				s.err = [...]func(*side, *hdl.Thread) error{r.send, r.receive}[i](s, t)
			}
		})
	}
	failed := func() error { return errors.Join(r.sides[a].err, r.sides[b].err) }
	err := r.bench.World.Run(func() bool { return failed() != nil || r.bench.Done() }, limit)
	return errors.Join(failed(), err)
}

// send posts a message whenever the receiver is ready for it.
func (r *run) send(s *side, t *hdl.Thread) error {
	data := payload(r.size)
	if _, err := s.buf.WriteAt(data, 0); err != nil {
		return err
	}
	wr := driver.SendWR{Op: abi.OpSend, Signaled: true}
	if r.mode == Fetched {
		wr.SGEs = []driver.SGE{s.mr.SGE(0, len(data))}
	} else {
		wr.Inline = data
	}
	for range warmUp + 1 {
		s.h.OOB.Recv(t)
		if err := s.rest(t); err != nil {
			return err
		}
		if _, err := s.qp.PostSend(wr); err != nil {
			return err
		}
		r.bell = s.bus.bell
		if _, err := s.completion(t); err != nil {
			return err
		}
	}
	return nil
}

// receive takes the messages and compares them.
func (r *run) receive(s *side, t *hdl.Thread) error {
	want := payload(r.size)
	for range warmUp + 1 {
		if _, err := s.qp.PostRecv(driver.RecvWR{SGEs: []driver.SGE{s.mr.SGE(0, mtu.Bytes())}}); err != nil {
			return err
		}
	}
	for range warmUp + 1 {
		if err := s.rest(t); err != nil {
			return err
		}
		s.h.OOB.Send([]byte("ready"))
		wc, err := s.completion(t)
		if err != nil {
			return err
		}
		got := make([]byte, wc.ByteLen)
		if _, err := s.buf.ReadAt(got, 0); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("received %x, sent was %x", got, want)
		}
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
