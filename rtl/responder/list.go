package responder

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// entry is a job that waits, or what is left of one.
type entry struct {
	Kind     port.JobKind
	Begun    bool     // a response of this READ has left
	Again    bool     // answers a duplicate
	PSN      roce.PSN // of the next packet
	Syndrome uint8
	MSN      port.MSN
	VA       port.VA
	Key      port.Key
	Len      uint32 // bytes left
	MTU      uint16
}

// slots is how many results of atomics a QP has room for, and the most READs and
// atomics that it may have outstanding.
const slots = 16

// slot is the place of a result among those of its QP.
type slot uint8

// Width is 4 bits.
func (slot) Width() int { return 4 }

// value is the result of the atomic with a PSN.
type value struct {
	PSN      roce.PSN
	Original uint64
	Err      bool // the memory could not be read
}

// lacks tells whether there is nothing to tell a duplicate of the atomic with a PSN.
func (v *value) lacks(psn roce.PSN) bool { return v.Err || v.PSN != psn }

// ref names an entry, the PSN of its next packet, and, if it is an atomic, where its
// result is. Each entry has the ref of the one behind it, and the QP that of its first.
type ref struct {
	Index uint16
	PSN   roce.PSN
	Slot  slot
}

// list is what the block knows of a QP: its jobs, oldest first, and how many
// results of atomics have come and been used, both modulo 256.
type list struct {
	Count      uint16
	First      ref    // when Count > 0
	Last       uint16 // index of the last entry, when Count > 0
	Ack        bool   // the last job is an acknowledgement, not a NAK
	Queued     bool   // the QP has a turn
	Waits      bool   // the first job is an atomic without a result: no turn until it comes
	Come, Used uint8
}

// turn is a QP's turn. First and Slot say what the list said of its first job;
// after a purge they may be out of date.
type turn struct {
	QPN   port.QPN
	First uint16
	Slot  slot
}

// turn is the QP's turn as the list stands.
func (l *list) turn(n port.QPN) turn { return turn{QPN: n, First: l.First.Index, Slot: l.First.Slot} }

// push adds an entry and returns the index of the one before it, if there is one.
func (l *list) push(r ref, ack bool) (before uint16, linked bool) {
	before, linked = l.Last, l.Count > 0
	if !linked {
		l.First = r
	}
	l.Count++
	l.Last = r.Index
	l.Ack = ack
	return before, linked
}

// pop removes the first entry; next is the one behind it.
func (l *list) pop(next *ref) {
	l.Count--
	l.First = *next
}

// enter is the entry of a job.
func enter(j *port.Job) entry {
	return entry{
		Kind:     j.Kind,
		Again:    j.Again,
		PSN:      j.PSN,
		Syndrome: j.Syndrome,
		MSN:      j.MSN,
		VA:       j.VA,
		Key:      j.Key,
		Len:      j.Len,
		MTU:      j.MTU,
	}
}

// isAck tells whether a job may be replaced by a later one that isAck too.
func isAck(j *port.Job) bool { return kind(j) == roce.KindACK }

// isFatal tells whether the QP ends with a job: nothing from its PSN on is answered.
func isFatal(j *port.Job) bool {
	return kind(j) == roce.KindNAK && roce.NAKCode(roce.Syndrome(j.Syndrome).Value()) != roce.NAKSequence
}

// kind is that of an acknowledgement or NAK.
func kind(j *port.Job) roce.SyndromeKind {
	if j.Kind != port.JobAck {
		return roce.KindReserved
	}
	return roce.Syndrome(j.Syndrome).Kind()
}
