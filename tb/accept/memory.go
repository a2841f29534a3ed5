package accept

import (
	"rnic/abi"
	"rnic/roce"
)

// landing is a piece of memory that a request writes to.
type landing struct {
	index int // of a receive; -1: at va by key
	key   abi.Key
	va    uint64
	data  []byte
	void  int // bytes at the beginning that may be any
	psn   seq
	order int // among the writes of all QPs
}

// write is what a WRITE or an atomic wrote, or is about to, by key and address.
type write struct {
	order int
	key   abi.Key
	va    uint64
	data  []byte // nil: any 8 bytes
}

// remember is how many writes are kept to explain a difference.
const remember = 4096

// log notes a write of the packet that has arrived last, once.
func (a *Acceptor) log(key abi.Key, va uint64, data []byte) {
	key, va = a.place(key, va)
	if n := len(a.writes); n > 0 && a.writes[n-1].order == a.order {
		return // in another state
	}
	if len(a.writes) == 2*remember {
		a.writes = append(a.writes[:0], a.writes[remember:]...)
	}
	a.writes = append(a.writes, write{a.order, key, va, data})
}

// place is where memory is that more than one key leads to.
func (a *Acceptor) place(key abi.Key, va uint64) (abi.Key, uint64) {
	if r := a.regions[key]; r != nil && r.Of != 0 {
		return r.Of, va - r.Addr + r.At
	}
	return key, va
}

// explains tells whether a write, of those behind an order, brings byte b to va.
func (a *Acceptor) explains(key abi.Key, va uint64, b byte, order int) bool {
	key, va = a.place(key, va)
	for i := len(a.writes) - 1; i >= 0 && a.writes[i].order > order; i-- {
		w := &a.writes[i]
		if w.key != key {
			continue
		}
		if w.data == nil && va-w.va < 8 || va-w.va < uint64(len(w.data)) && w.data[va-w.va] == b {
			return true
		}
	}
	return false
}

// land notes what a SEND or WRITE brings. Body is a copy of its payload.
func (q *qp) land(s *state, p *roce.Packet, body []byte) {
	if len(body) == 0 {
		return
	}
	l := landing{index: -1, psn: s.epsn - 1, order: q.a.order, data: body}
	if p.BTH.Opcode.IsSend() {
		l.index = s.index
	} else {
		l.key, l.va = s.key, s.va+uint64(s.length)
		q.a.log(l.key, l.va, body)
	}
	s.lands = append(s.lands, l)
}

// source notes what a READ will find.
func (q *qp) source(p *roce.Packet) *source {
	a := q.a
	s := &source{key: abi.Key(p.RETH.RKey), va: p.RETH.VA, n: int(p.RETH.Length)}
	s.then = a.bytes(s.key, s.va, s.n)
	return s
}

// wrong is the first byte of a READ response that was never in memory at off since
// the READ came; -1: none.
func (a *Acceptor) wrong(s *source, off int, data []byte) int {
	now := a.bytes(s.key, s.va+uint64(off), len(data))
	if now == nil || a.fog || len(s.then) < off+len(data) {
		return -1
	}
	for i, b := range data {
		if b != now[i] && b != s.then[off+i] && !a.explains(s.key, s.va+uint64(off+i), b, 0) {
			return i
		}
	}
	return -1
}

// overwritten is the first byte of a landing that is not there, nor anything that
// another request wrote later; -1: none.
func (a *Acceptor) overwritten(l *landing, got []byte) int {
	for i, b := range got {
		if b != l.data[i] && !a.explains(l.key, l.va+uint64(i), b, l.order) {
			return i
		}
	}
	return -1
}
