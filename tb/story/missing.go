package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rnic/roce"
)

// What should have happened and has not: it has no beat of its own, so that the last thing
// before it is where to look.

// upToEnd ends the text of an event of a QP that something was still to follow.
const upToEnd = " up to the end of the run"

// mostUnsent is how many PSNs of a QP that did not leave are remembered.
const mostUnsent = 64

// unsent notes a request that pkt_tx was asked for before one that has left: it was
// dropped there, as behind a rewind, or on its way to the wire.
func (q *qp) unsent(d *description) {
	if d.resp {
		return
	}
	if q.skipped = append(q.skipped, *d); len(q.skipped) > mostUnsent {
		q.skipped = append(q.skipped[:0], q.skipped[mostUnsent/2:]...)
	}
}

// mostUnheard is how many doorbells that qpc did not get are remembered.
const mostUnheard = 64

// overtaken notes doorbells that qpc did not get before a later one.
func (s *side) overtaken(l []mmio) {
	if s.lost = append(s.lost, l...); len(s.lost) > mostUnheard {
		s.lost = s.lost[:mostUnheard] // the first are what others may follow from
	}
}

// unheard tells of doorbells that are on PCIe and that qpc does not have.
func (s *side) unheard() {
	s.overtaken(s.writes)
	for _, w := range s.lost {
		if w.push || w.srq || s.qps[w.qpn] == nil {
			continue
		}
		queue := "sq"
		if w.rq {
			queue = "rq"
		}
		q := s.qps[w.qpn]
		s.event(q, w.at, "a doorbell says that work requests up to index %d of its %s are posted, and qpc does not have it%s", w.index, queue, upToEnd)
		slices.SortStableFunc(q.Events, func(a, b Event) int { return cmp.Compare(a.Ps, b.Ps) })
	}
}

// neverLeft tells sequence NAKs of what pkt_tx was asked for and has not sent before them.
func (s *side) neverLeft(peer *side, byID map[int]*sent) {
	sentOnce := map[[2]uint32]bool{} // QPN and PSN
	for _, p := range s.sent {
		if p.request {
			sentOnce[[2]uint32{p.QPN, p.PSN}] = true
		}
	}
	for _, nak := range peer.sent {
		because := byID[nak.Because]
		if because == nil || because.q == nil || !isSequenceNAK(&nak.Packet) || sentOnce[[2]uint32{because.QPN, nak.PSN}] {
			continue
		}
		for _, d := range because.q.skipped {
			if s.frames > 0 && d.at.Ps < s.sent[0].Ps {
				continue // it may have left, and be forgotten
			}
			if d.psn == roce.PSN(nak.PSN) && d.at.Ps < nak.Ps {
				nak.Why = append(nak.Why, Event{d.at, fmt.Sprintf("pkt_tx is asked for PSN %#x, which does not leave", nak.PSN)})
				break
			}
		}
	}
}

func isSequenceNAK(p *Packet) bool {
	return p.Cause == NAK && strings.HasPrefix(p.Syndrome, "NAK_SEQUENCE")
}

// leftKey is a PSN of a queue: the host that sends, the QP that it goes to.
type leftKey struct {
	host     string
	qpn, psn uint32
}

// left is when each PSN left first.
func (s *Story) left() map[leftKey]int64 {
	m := make(map[leftKey]int64, len(s.Packets))
	for _, p := range s.Packets {
		k := leftKey{p.Host, p.DestQPN, p.PSN}
		if _, is := m[k]; !is && !p.isAnswer() {
			m[k] = p.Ps
		}
	}
	return m
}

// missing says of a sequence NAK that what it misses has not left; "": it has, or that is
// not known.
func (s *Story) missing(nak *Packet, left map[leftKey]int64) string {
	because := s.Packet(nak.Because)
	if !isSequenceNAK(nak) || because == nil || s.Forgotten.Packets > 0 {
		return ""
	}
	if ps, is := left[leftKey{because.Host, because.DestQPN, nak.PSN}]; is && ps < nak.Ps {
		return ""
	}
	return fmt.Sprintf("what the NAK misses, PSN %#x, has not left %s before packet %d", nak.PSN, because.Host, because.ID)
}
