package accept

import (
	"maps"
	"slices"

	"rnic/abi"
)

// told is an asynchronous event of a QP number.
type told struct {
	qpn uint32
	typ abi.EventType
}

// alarm is the asynchronous event that goes with a fatal NAK which no receive can carry
// (roce.md, Responder; verbs-semantics.md, Async events).
type alarm struct {
	typ abi.EventType // QP_REQ_ERR, QP_ACCESS_ERR; 0: none is due
	at  uint64        // cycle in which the NAK left; 0: it has not
}

// alarmOf is the one of a NAK code.
func alarmOf(code uint8) alarm {
	if code == accessError {
		return alarm{typ: abi.EventQPAccessErr}
	}
	return alarm{typ: abi.EventQPReqErr}
}

// events adds what a life of the QP must have told by now. What was about to be told
// when the QP was stopped may not have been.
func (q *qp) events(to map[told]span) {
	add := func(typ abi.EventType, s span) {
		k := told{q.qpn, typ}
		o := to[k]
		o.add(s)
		to[k] = o
	}
	if q.shared != nil && (q.failed != 0 || q.erred != 0 || q.phase == stopping) {
		s := span{0, 1}
		if q.erred != 0 && (!q.reset || q.since > q.erred+q.a.p.Inside) {
			s.lo = 1
		}
		add(abi.EventQPLastWQEReached, s)
	}
	if q.greeted {
		add(abi.EventCommEst, span{0, 1})
	}
	for _, typ := range []abi.EventType{abi.EventQPReqErr, abi.EventQPAccessErr} {
		s := span{1, 0}
		for _, st := range q.responds.states {
			due := st.alarm.typ == typ
			if !due || st.alarm.at == 0 || q.reset && q.since <= st.alarm.at+q.a.p.Inside {
				s.lo = 0
			}
			if due {
				s.hi = 1
			}
		}
		s.lo = min(s.lo, s.hi)
		if q.broken {
			s = span{0, 1}
		}
		if s.hi > 0 {
			add(typ, s)
		}
	}
}

// Event is an asynchronous event of a QP.
type Event struct {
	Type   abi.EventType
	Number uint32
}

// Events judges all asynchronous events since the beginning, when all is at rest.
func (a *Acceptor) Events(all []Event) {
	due := maps.Clone(a.told)
	for _, q := range a.qps {
		q.events(due)
	}
	for n, sh := range a.srqs {
		due[told{n, abi.EventSRQLimitReached}] = sh.told()
	}
	got := map[told]uint64{}
	for _, e := range all {
		k := told{e.Number, e.Type}
		got[k]++
		if _, ok := due[k]; !ok {
			due[k] = span{}
		}
	}
	keys := slices.SortedFunc(maps.Keys(due), func(x, y told) int {
		return int(x.qpn)<<8 + int(x.typ) - int(y.qpn)<<8 - int(y.typ)
	})
	for _, k := range keys {
		if n, s := got[k], due[k]; n < s.lo || n > s.hi {
			a.fail(0, "QP %#x: %d events %v, by what was seen %d to %d (verbs-semantics.md, Async events)", k.qpn, n, k.typ, s.lo, s.hi)
		}
	}
}
