package random

import (
	"errors"
	"fmt"

	"rnic/abi"
)

// settled checks a host at the end of a phase: everything has come, nothing is under
// way, memory is as it must be, and the QPs say so too.
func (s *side) settled() error {
	s.wire.Finish()
	err := errors.Join(append(s.wire.Errors(), s.board.Final(), s.rest.Check())...)
	if err != nil {
		return err
	}
	if err := s.release(); err != nil {
		return err
	}
	for _, e := range s.ends {
		m, err := e.qp.Query()
		if err != nil {
			return err
		}
		s.moves++
		extra := uint16(len(e.in.Extra))
		if m.State != abi.QPRTS || m.SQNext != m.SQProducer || m.SQConsumer != m.SQProducer ||
			m.UnackedPSN != m.NextPSN || m.RQConsumer+extra != m.RQProducer {
			return fmt.Errorf("pair %d, %d receives left: not at rest: %+v", e.i, extra, m)
		}
	}
	return nil
}

// verdict holds the counters against what port, memory and scoreboard saw.
func (s *side) verdict() error {
	w, rc := &s.wire.Counts, &s.h.Machine.RC.Stats
	want := map[abi.Counter]uint64{
		abi.TxPackets: w.TxPackets, abi.TxBytes: w.TxBytes,
		abi.RxPackets: w.RxPackets, abi.RxBytes: w.RxBytes, abi.AcksSent: w.TxAcks,
		abi.CQEsWritten: uint64(s.board.Got), abi.MSIXSent: rc.Messages,
		abi.DMAReads: rc.Reads, abi.DMAWrites: rc.Writes + rc.Messages,
	}
	skip := map[abi.Counter]bool{
		abi.EventsWritten: true, abi.Doorbells: true, abi.PushedWQEs: true, abi.PushedWQEsIgnored: true,
		abi.DMAReadBytes: true, abi.DMAWriteBytes: true, abi.WQEFetches: true, abi.AdminCommands: true,
	}
	errs := []error{}
	if rc.Stray != 0 {
		errs = append(errs, fmt.Errorf("%d stray writes", rc.Stray))
	}
	for _, c := range abi.Counters() {
		if skip[c] {
			continue
		}
		v, err := s.dev.Counter(c)
		if err != nil {
			return err
		}
		if v != want[c] { // all others count what must not be
			errs = append(errs, fmt.Errorf("counter %v is %d, must be %d", c, v, want[c]))
		}
	}
	return errors.Join(errs...)
}
