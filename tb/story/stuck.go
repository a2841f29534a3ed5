package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Interrupted is the Failure of a run that its user ended in a cycle.
func Interrupted(cycle uint64) string { return fmt.Sprintf("%s %d", interruptedIn, cycle) }

const interruptedIn = "interrupted in cycle"

// WasInterrupted tells whether its user ended the run: what has not ended is no fault then.
func (s *Story) WasInterrupted() bool { return strings.HasPrefix(s.Failure, interruptedIn) }

// Hangs tells whether the run ended because it did not go on, so that what has not ended
// never will; else something else may have ended it.
func (s *Story) Hangs() bool { return strings.HasPrefix(s.Failure, "the run does not go on") }

// open tells whether a work request is one of a send queue that has not ended. Receives
// are posted to wait.
func (w *WR) open() bool { return w.Status == "" && w.Queue == "sq" }

// latest is the last thing that is known to have happened to a work request.
func (s *Story) latest(w *WR) (e Event) {
	later := func(a At, format string, args ...any) {
		if e.Signal == "" || a.Ps >= e.Ps {
			e = Event{a, fmt.Sprintf(format, args...)}
		}
	}
	for _, x := range w.Stages {
		later(x.At, "%s", x.Name)
	}
	for _, id := range w.Packets {
		if p := s.Packet(id); p != nil {
			later(p.at(), "packet %d leaves", p.ID)
			for _, x := range p.Why {
				later(x.At, "packet %d: %s", p.ID, x.Text)
			}
		}
	}
	return e
}

// sent is how many of the request packets of a work request have left, as "1 of 4 packets
// has left"; "": it is not known how many it has.
func (s *Story) sent(w *WR) string {
	seen := map[uint32]bool{}
	for _, id := range w.Packets {
		if p := s.Packet(id); p != nil && p.Host == w.Host {
			seen[p.PSN] = true
		}
	}
	if w.Needs == 0 || len(seen) > w.Needs {
		return ""
	}
	has := "have"
	if len(seen) == 1 {
		has = "has"
	}
	return fmt.Sprintf("%d of %s %s left", len(seen), plural(w.Needs, "packet"), has)
}

// unended says of a work request since when nothing happens to it.
func (s *Story) unended(w *WR) Statement {
	x := s.latest(w)
	before := plural(int((s.EndPs-x.Ps)/s.ClockPs), "cycle")
	text := fmt.Sprintf("it was under way when the run ended: the last that happened to it, %s before, is %s", before, x.Text)
	switch {
	case s.WasInterrupted():
		text = "it was under way when the run was interrupted: the last that happened to it is " + x.Text
	case s.Hangs():
		text = fmt.Sprintf("it is stuck since cycle %d, for %s up to the end of the run: the last that happened to it is %s", x.Cycle, before, x.Text)
	}
	if left := s.sent(w); left != "" {
		text += "; " + left
	}
	return Statement{text, x.At}
}

// failed says what ended the run, a line each.
func (e *Explanation) failed(failure string) {
	for i, l := range strings.Split(strings.TrimRight(failure, "\n"), "\n") {
		if l == "" {
			continue
		}
		if i == 0 && !strings.HasPrefix(l, interruptedIn) {
			l = "the run failed: " + l
		}
		e.say(At{}, "%s", l)
	}
}

// chain is the part of a failure that is of a QP: the line that names it and those, set
// in, that go on from there.
func (s *Story) chain(host string, qpn uint32) (l []string) {
	in := false
	for _, line := range strings.Split(s.Failure, "\n") {
		switch {
		case strings.HasPrefix(line, fmt.Sprintf("%s, QP %d:", host, qpn)):
			in = true
		case !strings.HasPrefix(line, "\t"):
			in = false
		}
		if in {
			l = append(l, line)
		}
	}
	return l
}

// starved tells which waits of a work request for credits are those of a peer without a
// receive, as of their beginning.
func (s *Story) starved(w *WR) func(ps int64) bool {
	q := s.QP(w.Host, w.QPN)
	if q == nil || s.Forgotten.WRs > 0 {
		return func(int64) bool { return false }
	}
	var free []span
	for _, r := range s.WRs {
		if r.Host == w.Host || r.Queue == "sq" || r.Queue == "rq" && r.QPN != q.Peer {
			continue
		}
		x := span{-1, s.EndPs + 1}
		if d := r.at(Doorbell); d != nil {
			x.from = d.Ps
		}
		if d := r.at(Entered); d != nil {
			x.to = d.Ps
		}
		free = append(free, x)
	}
	return func(ps int64) bool {
		return !slices.ContainsFunc(free, func(x span) bool { return x.from <= ps && ps < x.to })
	}
}

// plural is a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// stuck lists the work requests that have not ended, of a QP or, with no host, of all.
func (s *Story) stuck(host string, qpn uint32) (l []*WR) {
	for _, w := range s.WRs {
		if w.open() && len(w.Stages) > 0 && (host == "" || w.Host == host && w.QPN == qpn) {
			l = append(l, w)
		}
	}
	slices.SortStableFunc(l, func(a, b *WR) int { return cmp.Compare(a.begin(), b.begin()) })
	return l
}
