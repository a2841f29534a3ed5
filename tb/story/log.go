package story

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Line is a line of a log.
type Line struct {
	At
	Text string
}

// Lines are all that happened, in order of time.
func (s *Story) Lines() (l []Line) {
	own := s.ofPackets()
	for _, q := range s.QPs {
		for _, e := range q.Events {
			if own[e] {
				continue // the line of its packet says it
			}
			l = append(l, Line{e.At, fmt.Sprintf("QP %d: %s", q.QPN, e.Text)})
		}
	}
	for _, x := range s.PCIe {
		l = append(l, Line(x))
	}
	for _, w := range s.WRs {
		for _, x := range w.Stages {
			l = append(l, Line{x.At, fmt.Sprintf("%s: %s", w.Label(), x.Name)})
		}
		for _, x := range w.Waits {
			l = append(l, Line{x.At, fmt.Sprintf("%s: %s", w.Label(), x.text())})
		}
	}
	for _, p := range s.Packets {
		text := p.Label() + " leaves: " + p.Cause
		if p.Because >= 0 {
			text += fmt.Sprintf(" because of packet %d", p.Because)
		}
		l = append(l, Line{At{p.Ps, p.Cycle, p.Signal, p.Value}, text + "; " + p.Fate})
		for _, e := range p.Why {
			l = append(l, Line{e.At, fmt.Sprintf("packet %d: %s", p.ID, e.Text)})
		}
	}
	slices.SortStableFunc(l, func(a, b Line) int { return cmp.Compare(a.Ps, b.Ps) })
	return l
}

// ofPackets are the events of QPs that packets have too, as a key that mpt refuses.
func (s *Story) ofPackets() map[Event]bool {
	own := map[Event]bool{}
	for _, q := range s.QPs {
		for _, e := range q.Events {
			own[e] = false
		}
	}
	for _, p := range s.Packets {
		for _, e := range p.Why {
			if _, is := own[e]; is {
				own[e] = true
			}
		}
	}
	return own
}

func (w *Wait) text() string {
	return fmt.Sprintf("waits %s for %s, from %s to %s", Time(w.ToPs-w.FromPs), w.For, Time(w.FromPs), Time(w.ToPs))
}

// Time is ps as whole ns, or as ps.
func Time(ps int64) string {
	if ps%1000 == 0 {
		return fmt.Sprintf("%d ns", ps/1000)
	}
	return fmt.Sprintf("%d ps", ps)
}

// WriteLog writes the lines as "123 ns host_a.nic.qpc.bell.head.index=0x1: text", which
// viewers of waves take for links.
func (s *Story) WriteLog(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, l := range s.Lines() {
		fmt.Fprintf(b, "%s %s=%s: %s\n", Time(l.Ps), l.Signal, l.Value, l.Text)
	}
	return b.Flush()
}
