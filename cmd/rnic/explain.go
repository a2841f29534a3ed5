package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rnic/tb/story"
)

// explainCmd answers questions about a run that was told with --story.
type explainCmd struct {
	File   string `arg:"" help:"story.json, or the folder of the run that has it."`
	WR     *int   `name:"wr" placeholder:"N" help:"A work request: its stages, and what it waited for."`
	QP     string `name:"qp" placeholder:"HOST:QPN" help:"A QP: its states, its retries and who caused them, as host_a:2 or a:2."`
	Packet *int   `placeholder:"N" help:"A packet: who caused it, back to the first cause, and what became of it."`
	Whole  bool   `name:"run" help:"The run: where the time went. So without any of these."`
	JSON   bool   `help:"Print as JSON."`
}

// Run prints the explanation.
func (c *explainCmd) Run() error {
	path := c.File
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		path = filepath.Join(path, storyFile)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: no %s in it: rnic run --story writes one", c.File, storyFile)
		}
	}
	s, err := story.Read(path)
	if err != nil {
		return err
	}
	e, err := c.answer(s)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if c.JSON {
		j := json.NewEncoder(os.Stdout)
		j.SetEscapeHTML(false)
		j.SetIndent("", "  ")
		return j.Encode(e)
	}
	return explainText(os.Stdout, e)
}

func (c *explainCmd) answer(s *story.Story) (*story.Explanation, error) {
	asked := 0
	for _, is := range []bool{c.WR != nil, c.QP != "", c.Packet != nil, c.Whole} {
		if is {
			asked++
		}
	}
	switch {
	case asked > 1:
		return nil, errors.New("one of --wr, --qp, --packet and --run")
	case c.WR != nil:
		return s.ExplainWR(*c.WR)
	case c.Packet != nil:
		return s.ExplainPacket(*c.Packet)
	case c.QP != "":
		host, number, _ := strings.Cut(c.QP, ":")
		n, err := number24(number)
		if err != nil {
			return nil, fmt.Errorf("--qp %s: must be HOST:QPN, as host_a:2", c.QP)
		}
		for _, h := range s.Hosts {
			if h == "host_"+host {
				host = h
			}
		}
		return s.ExplainQP(host, uint32(n))
	}
	return s.ExplainRun(), nil
}

// explainText prints statements, each with the line to look it up at: time, cycle,
// signal and value.
func explainText(w io.Writer, e *story.Explanation) error {
	var b strings.Builder
	fmt.Fprintln(&b, e.Of)
	for _, x := range e.Statements {
		if x.Signal == "" {
			fmt.Fprintf(&b, "  %s\n", x.Text)
			continue
		}
		fmt.Fprintf(&b, "  %s, cycle %d: %s\n      %s = %s\n", story.Time(x.Ps), x.Cycle, x.Text, x.Signal, x.Value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
