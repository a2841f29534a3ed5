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
	CQEError             // a completion in error is asked for
	Drop                 // a frame is lost, or a packet dropped
)

// String is the name by which a person asks for it.
func (k Kind) String() string {
	return [...]string{"packet", "nak", "rnr", "retry", "timeout", "cqe-error", "drop"}[k]
}

// Event is something that a window of waves may be put around.
type Event struct {
	Kind Kind
	Host string // name of the kernel
	Ps   int64
	Text string
	QPN  uint32
	PSN  roce.PSN
}

func (s *side) event(k Kind, ps int64, text string, qpn uint32, psn roce.PSN) {
	if s.o.Event != nil {
		s.o.Event(Event{Kind: k, Host: s.name, Ps: ps, Text: text, QPN: qpn, PSN: psn})
	}
}
