package interop

import (
	"fmt"
	"strings"
)

// Statuses of completions, with the values of verbs.
const (
	locLen    = 1
	locQPOp   = 2
	locProt   = 4
	flushed   = 5
	locAccess = 8
	remInvReq = 9
	remAccess = 10
	remOp     = 11
	retryExc  = 12
	rnrExc    = 13
)

// wrong is a request that fails.
type wrong struct {
	name    string
	access  string                    // of the responder's queue pair
	prepare func(n *conn) string      // the request: fields of its line
	status  map[side]int              // of the requester, by who responds
	answer  map[side]string           // completion of the responder's receive 7, if there is one
	clean   func(n *conn)             // afterwards
	only    func(requester side) bool // nil: both roles
}

// both is a status that either side answers with.
func both(status int) map[side]int { return map[side]int{model: status, linux: status} }

// wrongs are the errors that a responder tells. Where the two differ, docs/interop.md
// says who is right.
func wrongs() (list []Case) {
	at := func(n *conn, off int) string { return fmt.Sprintf("addr=%#x", n.resp.addr+uint64(off)) }
	key := func(k uint64) string { return fmt.Sprintf(" rkey=%#x", k) }
	region := func(n *conn, access string) string {
		r := n.ask(n.resp, "mr 250 off=%d len=4096 access=%s", target, access)
		return fmt.Sprintf("addr=%#x rkey=%#x", number(r, "addr"), number(r, "rkey"))
	}
	dereg := func(n *conn) { n.ask(n.resp, "dereg 250") }
	var all []wrong
	for _, op := range []string{"write", "read", "faa", "cas"} {
		all = append(all,
			wrong{name: op + " with a key of nobody", status: both(remAccess),
				prepare: func(n *conn) string { return "op=" + op + " " + at(n, target) + key(n.resp.rkey^0x5a00) }},
			wrong{name: op + " with an old key", status: both(remAccess),
				prepare: func(n *conn) string {
					r := "op=" + op + " " + region(n, "rwa")
					dereg(n)
					return r
				}},
			wrong{name: op + " without permission of the region", status: both(remAccess), clean: dereg,
				prepare: func(n *conn) string {
					return "op=" + op + " " + region(n, map[string]string{"write": "ra", "read": "wa", "faa": "rw", "cas": "rw"}[op])
				}},
			wrong{name: op + " beyond the region", status: both(remAccess),
				prepare: func(n *conn) string { return "op=" + op + " " + at(n, 4<<20) + key(n.resp.rkey) }},
			wrong{name: op + " that the QP does not allow", status: both(remInvReq),
				access:  map[string]string{"write": "ra", "read": "wa", "faa": "rw", "cas": "rw"}[op],
				prepare: func(n *conn) string { return "op=" + op + " " + at(n, target) + key(n.resp.rkey) }},
		)
	}
	all = append(all,
		wrong{name: "write across the end of the region", status: both(remAccess),
			prepare: func(n *conn) string { return "op=write len=5000 " + at(n, 4<<20-4999) + key(n.resp.rkey) }},
		wrong{name: "atomic of an odd address", status: both(remInvReq),
			only:    func(r side) bool { return r == model }, // Linux refuses to post it
			prepare: func(n *conn) string { return "op=faa " + at(n, target+4) + key(n.resp.rkey) }},
		wrong{name: "send longer than the receive", status: map[side]int{model: remInvReq, linux: remOp},
			answer: map[side]string{model: fmt.Sprint("status=", locLen), linux: fmt.Sprint("status=", locQPOp)},
			prepare: func(n *conn) string {
				n.ask(n.resp, "recv %d off=%d len=31 id=7", n.id, target)
				return "op=send len=32"
			}},
		wrong{name: "send to a receive whose key is nobody's", status: both(remOp),
			answer: map[side]string{model: fmt.Sprint("status=", locProt), linux: fmt.Sprint("status=", locQPOp)},
			prepare: func(n *conn) string {
				n.ask(n.resp, "recv %d off=%d len=64 id=7 lkey=0x7a7a00", n.id, target)
				return "op=send len=32"
			}},
		wrong{name: "write_imm with a wrong key", status: both(remAccess),
			answer: map[side]string{model: fmt.Sprint("status=", locAccess), linux: fmt.Sprint("status=", remAccess)},
			prepare: func(n *conn) string {
				n.ask(n.resp, "recv %d off=%d len=64 id=7", n.id, target)
				return "op=write_imm len=32 " + at(n, target) + key(n.resp.rkey^0x5a00)
			}},
	)
	for _, w := range all {
		for _, c := range roles(w.name, w.run) {
			if w.only == nil || c.Name == model.String()+" "+w.name {
				list = append(list, c)
			}
		}
	}
	return list
}

// run does an exchange that works, then the wrong one, and demands its outcome: the
// request fails, what is behind it is flushed, and the queue pair works again after
// a reset.
func (w *wrong) run(a *attempt, req *end) {
	n := a.connect(req, options{access: w.access})
	n.transfer("send", 8, 0)
	if req.side == model {
		a.late = 5 // the request's other packets, and the next request
	}
	line := w.prepare(n)
	if !strings.Contains(line, "len=") {
		line += " len=8"
	}
	a.ask(req, "send %d off=%d id=800 %s", n.id, source, line)
	a.ask(req, "send %d op=send off=%d len=8 id=801", n.id, source)
	a.expect(req, fmt.Sprintf("id=800 status=%d", w.status[n.resp.side]), fmt.Sprintf("id=801 status=%d", flushed))
	if w.answer != nil {
		a.expect(n.resp, "id=7 "+w.answer[n.resp.side])
	}
	for _, e := range []*end{req, n.resp} {
		a.ask(e, "reset %d", n.id)
	}
	n = a.connect(req, options{reuse: n})
	n.sent = 10
	n.transfer("write", 100, 0)
	if w.clean != nil {
		w.clean(n)
	}
}
