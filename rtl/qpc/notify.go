package qpc

import (
	"strings"

	"rnic/abi"
	"rnic/rtl/port"
)

// Note is a set of things that a QP has to tell its neighbours.
//
// An operation does not tell them itself: it would have to wait for room, and the
// neighbour may be waiting for this very operation. It leaves a note in the
// context and the QP in a queue, in which each QP is at most once; so the queue
// is never full and no operation ever waits for room of Event, QPErr and Async.
// What is told is true when it is told.
type Note uint16

// Notes.
const (
	NoteEvent     Note = 1 << iota // the send queue has failed
	NoteFlushRQ                    // the receive queue has WQEs to flush
	NoteActivate                   // wqe_sched has something to do
	NoteCommEst                    // COMM_EST
	NoteReqErr                     // QP_REQ_ERR
	NoteAccessErr                  // QP_ACCESS_ERR
	NoteFatal                      // QP_FATAL
	NoteSQDrained                  // SQ_DRAINED
	NoteRewind                     // retrans is to say where to go on
)

// Width is 9 bits.
func (Note) Width() int { return 9 }

var noteNames = [...]string{"EVENT", "FLUSH_RQ", "ACTIVATE", "COMM_EST", "REQ_ERR", "ACCESS_ERR", "FATAL", "SQ_DRAINED", "REWIND"}

func (n Note) String() string {
	var names []string
	for i, name := range noteNames {
		if n>>i&1 != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "NONE"
	}
	return strings.Join(names, "|")
}

// note leaves a note.
func (c *Context) note(n Note) { c.Common.Pending |= n }

// asyncNotes are the notes that become asynchronous events, first things first.
var asyncNotes = [...]struct {
	note Note
	typ  abi.EventType
}{
	{NoteCommEst, abi.EventCommEst},
	{NoteReqErr, abi.EventQPReqErr},
	{NoteAccessErr, abi.EventQPAccessErr},
	{NoteFatal, abi.EventQPFatal},
	{NoteSQDrained, abi.EventSQDrained},
}

// Told is what one turn of a QP in the queue tells.
type Told struct {
	Notes Note // NoteEvent (a rewind included), NoteFlushRQ, NoteActivate
	Write Bank
	Event port.AckEvent
	Async port.EventReq
	Has   bool // Async is valid
}

// tell takes what the QP has to tell out of its context. There is one place for
// asynchronous events: more of them need another turn, for which the QP joins the queue again.
func (c *Context) tell(qpn port.QPN, e *Env) (t Told) {
	cm := &c.Common
	const direct = NoteEvent | NoteFlushRQ | NoteActivate
	t.Notes = cm.Pending & direct
	rewind := cm.Pending&NoteRewind != 0
	cm.Pending &^= direct | NoteRewind
	if rewind && c.runs() {
		t.Notes |= NoteEvent
		t.Event = c.early(qpn, e)
		c.question(&t.Event, e)
		t.Write = InRequester
	} else if t.Notes&NoteEvent != 0 {
		t.Event = c.early(qpn, e)
	}
	for _, a := range asyncNotes {
		if cm.Pending&a.note != 0 {
			cm.Pending &^= a.note
			t.Async, t.Has = port.EventReq{Type: a.typ, Number: uint32(qpn)}, true
			if a.note&(NoteReqErr|NoteAccessErr|NoteFatal) != 0 {
				t.Async.Syndrome = uint16(c.Requester.Vendor)
			}
			break
		}
	}
	cm.Queued = false
	return t
}
