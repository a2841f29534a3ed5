package accept

import (
	"encoding/binary"
	"sort"

	"rnic/abi"
	"rnic/roce"
)

// answered takes an acknowledgement or response that has arrived.
func (q *qp) answered(now uint64, p *roce.Packet) {
	r := &q.requests
	s := unwrap(p.BTH.PSN, r.una)
	op, syn := p.BTH.Opcode, uint8(p.AETH.Syndrome)
	if r.broke.at != 0 || q.phase != live && q.phase != stopping {
		return
	}
	if s < r.una-1 || s >= r.top || op.HasAETH() && reserved(syn) {
		r.n.other.once()
		return // a ghost, or no answer at all
	}
	q.credit(p)
	if s < r.una {
		r.n.other.hi++
		if op != roce.RCAck || syn>>5 != 0 {
			r.n.other.lo++
		}
		return // unsolicited: credits and nothing else
	}
	if op != roce.RCAck {
		q.response(now, s, p)
		return
	}
	upTo := s // PSNs before it are acknowledged
	if syn>>5 == 0 {
		upTo++
	}
	if m := r.missing(upTo); m < upTo {
		q.progress(now, m)
		q.ask(now, implied, m, 0)
		return
	}
	q.progress(now, upTo)
	switch syn >> 5 {
	case 1:
		q.ask(now, rnr, s, q.wait(p.AETH.Syndrome))
	case 3:
		q.refused(now, s, syn&31)
	}
}

// reserved tells whether a syndrome is none of RC, which says nothing, whatever it is in
// (roce.md, AETH syndrome).
func reserved(syn uint8) bool {
	return syn>>7 != 0 || syn>>5 == 2 || syn>>5 == 3 && syn&31 > 4
}

// missing is the first PSN before upTo that waits for data; upTo if none does.
func (r *requester) missing(upTo seq) seq {
	for _, w := range r.all[r.done():] {
		if w.first >= upTo {
			break
		}
		if w.fetches() {
			return max(w.first, r.una)
		}
	}
	return upTo
}

// refused takes a NAK for PSN s.
func (q *qp) refused(now uint64, s seq, code uint8) {
	if code == 0 {
		q.ask(now, sequence, s, 0)
		return
	}
	st := [...]abi.WCStatus{1: abi.StatusRemInvReq, 2: abi.StatusRemAccess, 3: abi.StatusRemOp, 4: abi.StatusRemInvReq}[code]
	q.ends(now, s, st)
}

// ends notes that the connection ends with a status for the work request of PSN s.
func (q *qp) ends(now uint64, s seq, st abi.WCStatus) {
	q.requests.broke = failure{st, now, s}
	q.mayFail(now)
}

// credit takes the credits of a positive answer. Its MSN counts the messages that
// the peer has completed, and with them the receives that they took.
func (q *qp) credit(p *roce.Packet) {
	r := &q.requests
	if syn := uint8(p.AETH.Syndrome); !p.BTH.Opcode.HasAETH() || syn>>5 != 0 {
		return
	}
	n, given := credits(uint8(p.AETH.Syndrome) & 31)
	if !given {
		r.free = true
		return
	}
	number := r.number - (r.number-int(p.AETH.MSN))&(round-1)
	taken := r.retired
	if i := sort.Search(len(r.all), func(i int) bool { return r.all[i].number > number }); i > 0 {
		taken = r.all[i-1].receives
	}
	r.limit = max(r.limit, taken+n+1)
}

// response takes a READ response or the answer of an atomic for PSN s, which is
// outstanding.
func (q *qp) response(now uint64, s seq, p *roce.Packet) {
	r := &q.requests
	if m := r.missing(s); m < s { // whatever it is
		q.progress(now, m)
		q.ask(now, implied, m, 0)
		return
	}
	w, op := r.find(s), p.BTH.Opcode
	if w == nil || !w.fetches() || op.HasAETH() && uint8(p.AETH.Syndrome)>>5 != 0 {
		q.ends(now, s, abi.StatusBadResp)
		return
	}
	if w.atomic() {
		if op != roce.RCAtomicAck {
			q.ends(now, s, abi.StatusBadResp)
			return
		}
		w.got = binary.NativeEndian.AppendUint64(w.got[:0], p.AtomicAckETH.Orig)
		q.progress(now, s+1)
		return
	}
	i, n := int(s-w.first), int(w.last-w.first)+1
	switch {
	case !op.IsReadResponse(), op.Starts() && s != w.first && s != r.part, !op.Starts() && s == w.first:
		q.ends(now, s, abi.StatusBadResp)
		return
	case op.Ends() != (i == n-1), len(p.Payload) != min(q.MTU, w.Len-i*q.MTU):
		q.ends(now, s, abi.StatusLocLen)
		return
	}
	w.got = append(w.got[:min(len(w.got), i*q.MTU)], p.Payload...)
	q.progress(now, s+1)
}
