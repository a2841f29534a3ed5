package ether

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Recorder writes a recording: a text of lines that begin with a cycle,
//
//	rnic recording 1 seed=1 mac=… ipv4=… ipv6=… unit=0
//	CYCLE frame HEX      a frame, without FCS, came from outside
//	CYCLE line TEXT      a line was given
//	CYCLE end
//
// Cycles never fall. What stands in one cycle came in that order.
type Recorder struct {
	w   *bufio.Writer
	err error
}

const magic = "rnic recording 1"

// Record has the inputs of the coming Run written to w. Its Close tells errors.
func (s *Station) Record(w io.Writer) *Recorder {
	s.rec = &Recorder{w: bufio.NewWriter(w)}
	s.rec.print("%s %v\n", magic, &s.Config)
	return s.rec
}

func (r *Recorder) print(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}

func (r *Recorder) input(cycle uint64, in input) {
	switch {
	case r == nil:
	case in.frame != nil:
		r.print("%d frame %x\n", cycle, in.frame)
	default:
		r.print("%d line %s\n", cycle, in.line)
	}
}

func (r *Recorder) end(s *Station) {
	if r != nil {
		r.print("%d end\n", s.K.Cycle())
	}
}

// Close writes what is left. It does not close the file.
func (r *Recorder) Close() error { return errors.Join(r.err, r.w.Flush()) }

// Recording is a recording being read.
type Recording struct {
	Config Config // of the station that was recorded
	sc     *bufio.Scanner
}

// Open reads the head of a recording.
func Open(r io.Reader) (*Recording, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 4*maxFrame)
	if !sc.Scan() {
		return nil, fmt.Errorf("recording: %w", cmp.Or(sc.Err(), io.ErrUnexpectedEOF))
	}
	rest, ok := strings.CutPrefix(sc.Text(), magic+" ")
	if !ok {
		return nil, fmt.Errorf("recording: does not begin with %q", magic)
	}
	c, err := ParseConfig(rest)
	if err != nil {
		return nil, fmt.Errorf("recording: line 1: %w", err)
	}
	return &Recording{Config: c, sc: sc}, nil
}

// Replay repeats a recorded run on a fresh station of the recording's Config. What
// the program says goes to reply. Errors name the line of the recording that is
// wrong.
func (s *Station) Replay(r *Recording, reply func(string)) error {
	for n := 2; r.sc.Scan(); n++ {
		cycle, in, end, err := parse(r.sc.Text())
		if err == nil && cycle < s.K.Cycle() {
			err = fmt.Errorf("cycle %d comes after %d", cycle, s.K.Cycle())
		}
		if err != nil {
			return fmt.Errorf("recording: line %d: %w", n, err)
		}
		if err := s.run(cycle); err != nil {
			return err
		}
		s.flush(func([]byte) {}, reply)
		if end {
			return nil
		}
		s.take(in)
	}
	return cmp.Or(r.sc.Err(), errors.New("recording: ends without an end"))
}

// parse takes a line of a recording apart.
func parse(l string) (cycle uint64, in input, end bool, err error) {
	f := strings.SplitN(l, " ", 3)
	if cycle, err = strconv.ParseUint(f[0], 10, 48); err != nil {
		return 0, in, false, err
	}
	switch {
	case len(f) == 2 && f[1] == "end":
		return cycle, in, true, nil
	case len(f) == 3 && f[1] == "line":
		return cycle, input{line: f[2]}, false, nil
	case len(f) == 3 && f[1] == "frame":
		in.frame, err = hex.DecodeString(f[2])
		if err == nil && (len(in.frame) < 14 || len(in.frame) > maxFrame) {
			err = fmt.Errorf("a frame of %d bytes", len(in.frame))
		}
		return cycle, in, false, err
	}
	return 0, in, false, fmt.Errorf("neither frame nor line nor end: %.40q", l)
}
