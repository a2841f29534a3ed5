package random

import (
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/accept"
)

// settled checks a host at the end of a phase: everything has come, nothing is under
// way, memory is as it must be, and the QPs say so too.
func (s *side) settled() error {
	s.accept.Settle(s.cycle())
	err := errors.Join(append(s.accept.Errors(), s.board.Final(), s.rest.Check())...)
	if err != nil {
		return err
	}
	if err := s.release(); err != nil {
		return err
	}
	for _, e := range s.ends {
		if e.life == gone {
			continue
		}
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
	if s.guests == nil || s.s.Unreadable != 0 { // then they may have failed
		return nil
	}
	return s.guests.settled()
}

// counted are the counters of what is no error.
var counted = map[abi.Counter]bool{
	abi.TxPackets: true, abi.TxBytes: true, abi.RxPackets: true, abi.RxBytes: true, abi.AcksSent: true,
	abi.CQEsWritten: true, abi.EventsWritten: true, abi.MSIXSent: true, abi.Doorbells: true, abi.PushedWQEs: true,
	abi.PushedWQEsIgnored: true, abi.DMAReads: true, abi.DMAReadBytes: true, abi.DMAWrites: true, abi.DMAWriteBytes: true,
	abi.WQEFetches: true, abi.AdminCommands: true,
}

// cutMay are the counters that a cut may leave at any value: of completions that were
// flushed or purged, and of what else ends a connection.
var cutMay = map[abi.Counter]bool{
	abi.DMAReadErrors: true, abi.ReqCQEError: true, abi.RespCQEError: true, abi.CQEsWritten: true,
	abi.ReqRemoteInvalidRequest: true, abi.ReqRemoteOperational: true, abi.RespRemoteInvalidRequest: true,
	abi.RespLocalLengthError: true, abi.RespLocalProtectionErrors: true,
	abi.ReqRemoteAccessErrors: true, abi.RespRemoteAccessErrors: true,
}

// wasCut tells whether a QP was stopped in the middle of its traffic.
func (s *side) wasCut() bool {
	for _, p := range s.s.Phases {
		if len(p.Cuts[s.n]) > 0 {
			return true
		}
	}
	return false
}

// hear takes the asynchronous events that have come: before a QP goes, for the driver
// forgets its events then.
func (s *side) hear(dev *driver.Device) error {
	events, err := dev.AsyncEvents()
	for _, e := range events {
		s.events = append(s.events, accept.Event{Type: e.Type, Number: e.Number})
	}
	return err
}

// verdict holds the counters against what acceptor, memory and scoreboard saw.
func (s *side) verdict() error {
	rc := &s.h.Machine.RC.Stats
	want := map[abi.Counter]uint64{
		abi.CQEsWritten: uint64(s.board.Got + s.foreign), abi.RespCQEError: uint64(s.foreign), abi.MSIXSent: rc.Messages,
		abi.DMAReads: rc.Reads, abi.DMAWrites: rc.Writes + rc.Messages,
	}
	errs := []error{s.accept.Counters(s.dev.Counter)}
	cut := s.wasCut() || s.guests != nil
	if rc.Stray != 0 {
		errs = append(errs, fmt.Errorf("%d stray writes", rc.Stray))
	}
	if err := s.hear(s.dev); err != nil {
		return err
	}
	s.accept.Events(s.events)
	errs = append(errs, s.accept.Errors()...)
	for _, c := range abi.Counters() {
		v, err := s.dev.Counter(c)
		if err != nil {
			return err
		}
		if cut && cutMay[c] || s.accept.Judges(c) {
			continue
		}
		if v != want[c] && (want[c] != 0 || !counted[c]) { // all others count what must not be
			errs = append(errs, fmt.Errorf("counter %v is %d, must be %d", c, v, want[c]))
		}
	}
	return errors.Join(errs...)
}
