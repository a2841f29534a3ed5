package retrans

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// failure says how the entries of a QP end that are not acknowledged.
type failure uint8

const (
	failNone  failure = iota // they wait
	failAt                   // the one that holds FailPSN fails, then as failFlush
	failFlush                // they are flushed, as is all that is pushed later
	failDrop                 // they go without a completion: the QP is being purged
)

// Width is 2 bits.
func (failure) Width() int { return 2 }

func (f failure) String() string { return [...]string{"NONE", "AT", "FLUSH", "DROP"}[f&3] }

// ref names an entry, with what must be known to tell whether it is done. Each
// entry has the ref of the one behind it, and the QP that of its first.
type ref struct {
	Index   uint16
	UnitIdx uint16 // of the WQE
	Local   bool   // needs no answer
	LastPSN roce.PSN
}

// entry is what the completion of a message will tell.
type entry struct {
	Opcode   abi.WCOpcode
	Signaled bool
	CQN      port.CQN
	ByteLen  uint32
	Status   abi.WCStatus // of an entry that needs no answer
	Vendor   abi.VendorErr
}

// list is what the block knows of a QP: its entries, oldest first, how far they
// are acknowledged, how they fail, and the rewind that has no answer yet.
type list struct {
	Count uint16
	First ref      // when Count > 0
	Tail  uint16   // index of the last entry, when Count > 0
	Start roce.PSN // of the first packet of the oldest entry of the wire, when there is one

	Known   bool // Una is valid
	Una     roce.PSN
	Fail    failure
	FailPSN roce.PSN
	Newest  uint8        // generation, of the messages, rewinds and failures since the last marker
	Status  abi.WCStatus // failAt
	Vendor  abi.VendorErr

	Rewind  bool // the QP is to send again
	Wait    bool // but not yet
	At      roce.PSN
	Rewound bool  // since the last marker, and so Gen is valid
	Gen     uint8 // of the newest rewind

	Queued bool // the QP is in the queue of those with something to do
	Purged bool // no message has come since
}

// acked tells whether a PSN is acknowledged.
func (l *list) acked(p roce.PSN) bool { return l.Known && l.Una.After(p) }

// ends tells whether the first entry is done.
func (l *list) ends() bool {
	f := &l.First
	return l.Count > 0 &&
		(f.Local || l.Fail >= failFlush || l.acked(f.LastPSN) || l.Fail == failAt && !f.LastPSN.Before(l.FailPSN))
}

// answers tells whether the QP may send again: the wait is over, and all messages
// before the PSN to go on with have ended. The first entry is then one of the wire.
func (l *list) answers() bool {
	return l.Rewind && !l.Wait && !l.ends() && (l.Count == 0 || !l.First.LastPSN.Before(l.At))
}

// push adds an entry and returns the index of the one before it, if there is one. If
// its generation is newer than a failure, all of that has ended, and the queue goes on
// (SQE to RTS).
func (l *list) push(s *port.Sent, index uint16) (before uint16, linked bool, r ref) {
	r = ref{Index: index, UnitIdx: s.UnitIdx, Local: s.Kind == port.SentLocal, LastPSN: s.LastPSN}
	before, linked = l.Tail, l.Count > 0
	if !linked {
		l.First, l.Start = r, s.FirstPSN
	}
	switch {
	case l.Purged && l.Fail == failNone:
		l.Newest = s.Gen
	case newer(s.Gen, l.Newest):
		l.Newest = s.Gen
		if l.Fail != failNone {
			l.Fail, l.Known = failNone, false
		}
	}
	l.Count++
	l.Tail = index
	if !l.Known {
		l.Known, l.Una = true, s.FirstPSN
	}
	l.Purged = false
	return before, linked, r
}

// learn takes what an event says. Una, failures and generations only ever get
// older, worse or newer, so the order of events does not matter: of two failures the
// one at the older PSN counts, and none once all is flushed; of two rewinds the newer,
// and none once the QP has failed. Una may move by all of the 2^23 PSNs that a READ
// can take. It tells whether this is a rewind that counts.
func (l *list) learn(e *port.AckEvent) (rewind bool) {
	if !l.Known || l.Una.Before(e.Una) {
		l.Known, l.Una = true, e.Una
	}
	if e.Fail || e.Flush {
		l.fail(e)
	}
	switch {
	case l.Fail != failNone:
		l.Rewind = false
	case e.Rewind && (!l.Rewound || int8(e.Gen-l.Gen) > 0):
		l.Rewound, l.Rewind, l.Wait, l.At, l.Gen = true, true, e.Wait != 0, e.At, e.Gen
		l.Newest = e.Gen
		return true
	}
	return false
}

// fail takes a failure. Of an older generation it comes too late: the queue went on.
// Of a newer one it takes the place of one whose messages have all ended.
func (l *list) fail(e *port.AckEvent) {
	switch {
	case l.Fail == failDrop || !l.Purged && newer(l.Newest, e.Gen):
		return
	case newer(e.Gen, l.Newest):
		l.Fail = failNone
	}
	l.Newest = e.Gen
	switch {
	case l.Fail == failFlush:
	case !e.Fail:
		l.Fail = failFlush
	case l.Fail == failNone || e.FailPSN.Before(l.FailPSN):
		l.Fail, l.FailPSN, l.Status, l.Vendor = failAt, e.FailPSN, e.Status, e.Vendor
	}
}

// leave takes that all up to a PSN has left, which nobody answers, and tells whether qpc
// must hear of it though no message has ended: 2^16 PSNs have gone by.
func (l *list) leave(end roce.PSN) (tell bool) {
	if l.Known && !l.Una.Before(end) {
		return false
	}
	tell = l.Known && (l.Una^end)>>16 != 0
	l.Known, l.Una = true, end
	return tell && !l.ends()
}

// newer compares generations, modulo 2^8.
func newer(a, b uint8) bool { return int8(a-b) > 0 }

// pop removes the first entry, which is done, and returns how it ends. next is
// the entry behind it.
func (l *list) pop(e *entry, next *ref) (status abi.WCStatus, vendor abi.VendorErr) {
	f := &l.First
	switch {
	case f.Local && (l.Fail < failFlush || l.acked(f.LastPSN)):
		status, vendor = e.Status, e.Vendor
	case l.acked(f.LastPSN):
		status, vendor = abi.StatusSuccess, abi.VendorNone
	case l.Fail == failAt:
		status, vendor = l.Status, l.Vendor
		l.Fail = failFlush
	default:
		status, vendor = abi.StatusWRFlush, abi.VendorFlush
	}
	if !f.Local {
		l.Start = f.LastPSN.Add(1)
	}
	l.Count--
	l.First = ref{}
	if l.Count > 0 {
		l.First = *next
	}
	return status, vendor
}
