package retrans

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// newsKind says what has become of a QP.
type newsKind uint8

const (
	newsNone   newsKind = iota
	newsSent            // a message was entered into an empty list
	newsEvent           // qpc spoke of acknowledgements
	newsFail            // and the QP has failed
	newsRewind          // the QP is to send again
	newsAnswer          // it may
	newsPurge           // it is forgotten
	newsLeft            // a request has left
	newsGone            // Lists can be told of those that have left unanswered
	newsDue             // its alarm has come
)

// Width is 4 bits.
func (newsKind) Width() int { return 4 }

func (k newsKind) String() string {
	if k > newsDue {
		return "RESERVED"
	}
	return [...]string{"NONE", "SENT", "EVENT", "FAIL", "REWIND", "ANSWER", "PURGE", "LEFT", "GONE", "DUE"}[k]
}

// news is what Clock learns of a QP.
type news struct {
	Kind newsKind
	QPN  port.QPN
	Una  roce.PSN // SENT, EVENT, FAIL, REWIND: oldest PSN not acknowledged
	End  roce.PSN // LEFT: PSN after what has left; FAIL: where the QP failed; REWIND: where it goes on
	Arm  uint64   // SENT, EVENT, FAIL, REWIND: ACK timeout in cycles, 0: none
	Wait uint64   // REWIND: cycles before it may send again
	Gen  uint8    // REWIND: of the AckEvent

	Unacked bool // LEFT: nobody answers
}

// gone tells that all packets of a QP that nobody answers have left, up to End.
type gone struct {
	QPN port.QPN
	End roce.PSN // PSN after the last one
}

// expiry is what Clock reports of a QP: an ACK timeout, or the end of a wait.
type expiry struct {
	QPN    port.QPN
	Waited bool
	Gen    uint8    // with Waited: of the rewind that was to wait
	Una    roce.PSN // timeout: that no answer came to
}
