package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Write writes a story as JSON.
func Write(path string, s *Story) error {
	b, err := s.JSON()
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
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

// Read reads what Write wrote.
func Read(path string) (*Story, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("story: %w", err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	s := &Story{}
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("story: %s: %w", path, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("story: %s: %w", path, err)
	}
	return s, nil
}

// check refuses what no run leaves, so that readers need not ask.
func (s *Story) check() error {
	if s.ClockPs <= 0 || s.EndPs < 0 || len(s.Hosts) == 0 {
		return fmt.Errorf("no story: clock_ps %d, end_ps %d, %d hosts", s.ClockPs, s.EndPs, len(s.Hosts))
	}
	for i, w := range s.WRs {
		if w == nil {
			return fmt.Errorf("wrs[%d] is null", i)
		}
	}
	for i, p := range s.Packets {
		if p == nil {
			return fmt.Errorf("packets[%d] is null", i)
		}
	}
	for i, q := range s.QPs {
		if q == nil {
			return fmt.Errorf("qps[%d] is null", i)
		}
	}
	return nil
}

// WR is the work request of an ID; nil: there is none.
func (s *Story) WR(id int) *WR {
	for _, w := range s.WRs {
		if w.ID == id {
			return w
		}
	}
	return nil
}

// Packet is the packet of an ID; nil: there is none.
func (s *Story) Packet(id int) *Packet {
	for _, p := range s.Packets {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// QP is a queue pair; nil: there is none.
func (s *Story) QP(host string, qpn uint32) *QP {
	for _, q := range s.QPs {
		if q.Host == host && q.QPN == qpn {
			return q
		}
	}
	return nil
}
