package waves

import (
	"fmt"
	"io"
	"strconv"
)

// sink is a format of file: it takes all changes in order of time, from the merger's
// goroutine. Its first error stays, and it takes and drops what comes after.
type sink interface {
	// time begins the changes of a time, later than the one before.
	time(ps int64) error
	// dump brackets the values at the beginning.
	dump(begins bool)
	// passed tells that all changes before a time are given, and some later ones may be.
	passed(ps int64) error
	// changes takes changes of one kernel as its tracer rendered them for this format.
	changes(b []byte) error
	// end completes the file, and is called once.
	end() error
}

// vcdSink writes changes as they come: tracers render them as lines.
type vcdSink struct {
	w   io.Writer
	out []byte
	err error
}

// writeSize is the bytes of a write.
const writeSize = 1 << 20

func (s *vcdSink) time(ps int64) error {
	s.out = append(s.out, '#')
	s.out = strconv.AppendInt(s.out, ps, 10)
	s.out = append(s.out, '\n')
	return s.err
}

func (s *vcdSink) dump(begins bool) {
	if begins {
		s.out = append(s.out, "$dumpvars\n"...)
	} else {
		s.out = append(s.out, "$end\n"...)
	}
}

func (s *vcdSink) changes(b []byte) error {
	s.out = append(s.out, b...)
	if len(s.out) >= writeSize {
		return s.end()
	}
	return s.err
}

func (s *vcdSink) passed(int64) error { return s.err }

func (s *vcdSink) end() error {
	if s.err == nil {
		if _, err := s.w.Write(s.out); err != nil {
			s.err = fmt.Errorf("waves: %w", err)
		}
	}
	s.out = s.out[:0]
	return s.err
}
