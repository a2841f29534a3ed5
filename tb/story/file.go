package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"rnic/tb/whole"
)

// Write writes a story as JSON: as a whole, or not at all.
func Write(path string, s *Story) error {
	b, err := s.JSON()
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	if err := whole.WriteBytes(path, b); err != nil {
		return fmt.Errorf("story: %w", err)
	}
	return nil
}

// JSON is the bytes of the file, one line.
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

// Read reads what Write wrote, and nothing else. An error names the byte, or the entry of a
// list and its ID, that is not as a run leaves it.
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
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	s := &Story{}
	err = d.Decode(s)
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
			at = int64(len(b))
		}
		return nil, fmt.Errorf("byte %d: %w", at, err)
	}
	if err := keysOf(b); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
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
