package story

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"rnic/tb/whole"
)

// Write writes a story as JSON: as a whole, or not at all.
func Write(path string, s *Story) error {
	b, err := s.JSON()
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	if err := whole.Write(path, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return fmt.Errorf("story: %w", err)
	}
	return nil
}

// JSON is the bytes of the file: one WR, packet or event a line.
func (s *Story) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// mostBytes is more than the file of the largest story that a Recorder keeps has.
const mostBytes = 1 << 30

// Read reads what Write wrote. An error names the byte, or the entry of a list, that is
// not as a run leaves it.
func Read(path string) (*Story, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("story: %w", err)
	}
	defer f.Close()
	if i, err := f.Stat(); err == nil && i.Size() > mostBytes {
		return nil, fmt.Errorf("story: %s: %d bytes: no story has over %d", path, i.Size(), mostBytes)
	}
	s, err := Decode(f)
	if err != nil {
		return nil, fmt.Errorf("story: %s: %w", path, err)
	}
	return s, nil
}

// Decode is Read of something that is open.
func Decode(r io.Reader) (*Story, error) {
	n := &counter{r: r}
	d := json.NewDecoder(n)
	d.DisallowUnknownFields()
	s := &Story{}
	err := d.Decode(s)
	if err == nil {
		if _, e := d.Token(); e != io.EOF {
			err = errors.New("something follows the story")
		}
	}
	if err != nil {
		at := d.InputOffset()
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = e.Offset
		} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			at = e.Offset
		} else if errors.Is(err, io.ErrUnexpectedEOF) {
			at = n.bytes
		}
		return nil, fmt.Errorf("byte %d: %w", at, err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// counter counts what is read.
type counter struct {
	r     io.Reader
	bytes int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.bytes += int64(n)
	return n, err
}

// mostPs is beyond any run, and leaves room for sums.
const mostPs = 1 << 58

// check refuses what no run leaves, so that readers need not ask.
func (s *Story) check() error {
	if s.ClockPs <= 0 || s.ClockPs > mostPs || s.EndPs < 0 || s.EndPs > mostPs || len(s.Hosts) == 0 || len(s.Hosts) > 2 {
		return fmt.Errorf("no story: clock_ps %d, end_ps %d, %d hosts", s.ClockPs, s.EndPs, len(s.Hosts))
	}
	host := func(h string) error {
		if !slices.Contains(s.Hosts, h) {
			return fmt.Errorf("%q is no host of the run", h)
		}
		return nil
	}
	time := func(names string, ps ...int64) error {
		for _, t := range ps {
			if t < -1 || t > mostPs {
				return fmt.Errorf("%s: %d ps is no time", names, t)
			}
		}
		return nil
	}
	at := func(err error, list string, i int) error {
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", list, i, err)
		}
		return nil
	}
	for i, w := range s.WRs {
		if w == nil {
			return fmt.Errorf("wrs[%d] is null", i)
		}
		err := host(w.Host)
		for _, x := range w.Stages {
			err = cmp.Or(err, time("stages", x.Ps))
		}
		for _, x := range w.Waits {
			err = cmp.Or(err, time("waits", x.Ps, x.FromPs, x.ToPs))
		}
		if err := at(err, "wrs", i); err != nil {
			return err
		}
	}
	for i, p := range s.Packets {
		if p == nil {
			return fmt.Errorf("packets[%d] is null", i)
		}
		err := cmp.Or(host(p.Host), time("ps, end_ps, arrive_ps", p.Ps, p.EndPs, p.ArrivePs))
		for _, x := range p.Why {
			err = cmp.Or(err, time("why", x.Ps))
		}
		if err := at(err, "packets", i); err != nil {
			return err
		}
	}
	for i, q := range s.QPs {
		if q == nil {
			return fmt.Errorf("qps[%d] is null", i)
		}
		err := host(q.Host)
		for _, x := range q.Events {
			err = cmp.Or(err, time("events", x.Ps))
		}
		for _, l := range [][][2]int64{q.Outstanding, q.SQDepth} {
			for _, x := range l {
				err = cmp.Or(err, time("series", x[0]))
			}
		}
		if err := at(err, "qps", i); err != nil {
			return err
		}
	}
	for i, b := range s.Bandwidth {
		if err := at(cmp.Or(host(b.Host), time("ps", b.Ps)), "bandwidth", i); err != nil {
			return err
		}
	}
	for _, h := range slices.Sorted(maps.Keys(s.Spent)) {
		if err := host(h); err != nil {
			return fmt.Errorf("spent: %w", err)
		}
	}
	return nil
}

// index is where packets and work requests are found by their IDs.
type index struct {
	packets map[int]*Packet
	wrs     map[int]*WR
}

// find makes the index when it is first asked for.
func (s *Story) find() *index {
	if s.index == nil {
		s.index = &index{make(map[int]*Packet, len(s.Packets)), make(map[int]*WR, len(s.WRs))}
		for _, p := range s.Packets {
			s.index.packets[p.ID] = p
		}
		for _, w := range s.WRs {
			s.index.wrs[w.ID] = w
		}
	}
	return s.index
}

// WR is the work request of an ID; nil: there is none. The lists of a story must not be
// changed after it was asked for one.
func (s *Story) WR(id int) *WR { return s.find().wrs[id] }

// Packet is the packet of an ID; nil: there is none.
func (s *Story) Packet(id int) *Packet { return s.find().packets[id] }

// QP is a queue pair; nil: there is none.
func (s *Story) QP(host string, qpn uint32) *QP {
	for _, q := range s.QPs {
		if q.Host == host && q.QPN == qpn {
			return q
		}
	}
	return nil
}
