package rows

import (
	"rnic/roce"
)

// Kind is what an Event is.
type Kind uint8

// Kinds of events.
const (
	Packet   Kind = iota // a packet begins to leave: QPN is the one that it goes to
	NAK                  // so does a NAK, but RNR
	RNR                  // so does an RNR NAK
	Retry                // a QP is rewound, to send again
	Timeout              // an ACK timer has expired
	CQEError             // a CQE in error is written
	Drop                 // a frame is lost, or a packet dropped, or answered with a NAK instead of placed
)

// String is the name by which a person asks for it.
func (k Kind) String() string {
	return [...]string{"packet", "nak", "rnr", "retry", "timeout", "cqe-error", "drop"}[k]
}

// Event is something that a window of waves may be put around. What a beat of a stream
// tells of happens in the cycle in which the beat is taken: fire is 1 then, and the head
// still shows it.
type Event struct {
	Kind Kind
	Host string // name of the kernel
	Ps   int64
	Text string
	QPN  uint32
	PSN  roce.PSN
}

// event tells of an event at a time, or, if a beat has come to the head of a stream, when
// that is taken.
func (s *side) event(k Kind, ps int64, text string, qpn uint32, psn roce.PSN) {
	if s.o.Event == nil {
		return
	}
	e := Event{Kind: k, Host: s.name, Ps: ps, Text: text, QPN: qpn, PSN: psn}
	if s.at != nil {
		s.at.told = append(s.at.told, e)
		return
	}
	s.o.Event(e)
}
