package story

import (
	"fmt"
	"strings"
)

// Lead is where to begin with a run in which something went wrong: what failed, and what
// was to follow and did not.
type Lead struct {
	Statement
	WR     int `json:"wr"`     // that it is of; -1: none
	Packet int `json:"packet"` // likewise
}

// Leads are at most 8 of each kind: the first work request that failed, faults of PCIe, packets that
// nobody answered, PSNs that never left, doorbells that qpc never got, work requests that
// have not ended.
func (s *Story) Leads() (l []Lead) {
	for _, w := range s.WRs {
		if w.Status != "" && w.Status != "SUCCESS" && len(w.Stages) > 0 {
			l = append(l, Lead{Statement{w.failed(), s.failedAt(w)}, w.ID, -1})
			break // the first: others are flushed behind it
		}
	}
	for _, x := range s.PCIe[:min(longest, len(s.PCIe))] {
		l = append(l, Lead{Statement{x.Text, x.At}, -1, -1})
	}
	var silent, missing []Lead
	left := s.left()
	for _, p := range s.Packets {
		if x := p.silent(); x != nil && len(silent) < longest {
			silent = append(silent, Lead{Statement{fmt.Sprintf("packet %d: %s", p.ID, x.Text), x.At}, -1, p.ID})
		}
		if len(missing) < longest && isSequenceNAK(p) {
			if text := s.missing(p, left); text != "" {
				missing = append(missing, Lead{Statement{fmt.Sprintf("packet %d: %s", p.ID, text), p.at()}, -1, p.ID})
			}
		}
	}
	l = append(append(l, silent...), missing...)
	n := len(l)
	for _, q := range s.QPs {
		for _, x := range q.Events {
			if len(l) < n+longest && strings.HasSuffix(x.Text, upToEnd) {
				l = append(l, Lead{Statement{fmt.Sprintf("%s QP %d: %s", q.Host, q.QPN, x.Text), x.At}, -1, -1})
			}
		}
	}
	return l
}

// failed says how a work request has ended.
func (w *WR) failed() string {
	return fmt.Sprintf("%s ends with %s, %s", w.Label(), w.Status, w.Vendor)
}

// failedAt is where its status is, or else its end.
func (s *Story) failedAt(w *WR) At {
	if q := s.QP(w.Host, w.QPN); q != nil {
		for _, x := range q.Events {
			if x.Text == w.failed() {
				return x.At
			}
		}
	}
	return w.Stages[len(w.Stages)-1].At
}

// Open are the leads of the work requests that have not ended, the first 8.
func (s *Story) Open() (l []Lead) {
	for _, w := range s.stuck("", 0) {
		if len(l) == longest {
			break
		}
		x := s.unended(w)
		l = append(l, Lead{Statement{fmt.Sprintf("%s has not ended: %s", w.Label(), x.Text), x.At}, w.ID, -1})
	}
	return l
}
