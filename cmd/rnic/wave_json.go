package main

import (
	"bufio"
	"encoding/json"
	"os"

	"rnic/waves/read"
	"rnic/waves/text"
)

// waveHead is what JSON begins with.
type waveHead struct {
	File      string       `json:"file"`
	Format    string       `json:"format"`
	Timescale string       `json:"timescale"`
	Clock     string       `json:"clock,omitempty"`
	Signals   []waveSignal `json:"signals"`
}

type waveSignal struct {
	Path  string `json:"path"`
	Type  string `json:"type"`
	Width int32  `json:"width,omitempty"`
	Range string `json:"range,omitempty"`
	Enum  string `json:"enum,omitempty"`
}

// waveSample is the values that are others than before.
type waveSample struct {
	Time   string            `json:"time"`
	Ticks  uint64            `json:"ticks"`
	Cycle  *uint64           `json:"cycle,omitempty"`
	Values map[string]string `json:"values"`
}

// head prints the signals; whole ends it there.
func (w *waveCmd) head(f *read.File, c *read.Clock, signals []int, whole bool) error {
	h := waveHead{File: w.File, Format: f.Format, Timescale: f.Timescale(), Signals: []waveSignal{}}
	if c != nil {
		h.Clock = c.Path
	}
	for _, i := range signals {
		v := &f.Vars[i]
		s := waveSignal{Path: f.Path(v), Type: v.Type, Width: v.Width, Range: v.Range}
		if v.Enum != nil {
			s.Enum = v.Enum.Name
		}
		h.Signals = append(h.Signals, s)
	}
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	if whole {
		_, err = os.Stdout.Write(append(b, '\n'))
		return err
	}
	_, err = os.Stdout.Write(append(b[:len(b)-2], ",\n  \"samples\": [\n"...))
	return err
}

// sample is one in JSON.
func (w *waveCmd) sample(f *read.File, x *text.Sample, win text.Window, all bool) ([]byte, error) {
	s := waveSample{Time: read.FormatTime(x.Time, f.Exponent), Ticks: x.Time, Values: map[string]string{}}
	if n, ok := win.Clock.Cycle(x.Time); ok {
		s.Cycle = &n
	}
	for i, v := range win.Signals {
		if all || x.Changed[i] {
			s.Values[f.Path(&f.Vars[v])] = x.Values[i]
		}
	}
	b, err := json.Marshal(s)
	return append([]byte("    "), b...), err
}

// values prints the values at a time.
func (w *waveCmd) values(f *read.File, x *text.Sample, win text.Window) error {
	b, err := w.sample(f, x, win, true)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(b[4:], '\n'))
	return err
}

// samples prints all, each as it is read: the first with all values.
func (w *waveCmd) samples(f *read.File, s *text.Sampler, win text.Window) error {
	x, err := s.Begin()
	if err != nil {
		return err
	}
	if err := w.head(f, win.Clock, win.Signals, false); err != nil {
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for first := true; x != nil; first = false {
		if !first {
			out.WriteString(",\n")
		}
		b, err := w.sample(f, x, win, first)
		if err != nil {
			return err
		}
		out.Write(b)
		if x, err = s.Next(); err != nil {
			return err
		}
	}
	out.WriteString("\n  ]\n}\n")
	if err := out.Flush(); err != nil {
		return err
	}
	return notes(f)
}
