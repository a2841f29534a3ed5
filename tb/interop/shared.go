package interop

import (
	"fmt"
	"time"
)

// sharedCases are receives that several queue pairs share.
func sharedCases() (list []Case) {
	list = roles("srq of 4 QPs", func(a *attempt, req *end) {
		s := a.sharedQueue(req.other)
		conns := make([]*conn, 4)
		for i := range conns {
			conns[i] = a.connect(req, options{srqAt: req.other, srq: s})
		}
		// One after the other: receives are taken in the order of posting.
		a.ask(req.other, "srecv %d off=%d len=4096 id=300 n=12", s, target)
		for i := range 12 {
			n := conns[i*7%4]
			a.ask(req, "fill off=%d len=3000 seed=%d", source, i)
			a.ask(req, "send %d op=send_imm off=%d len=3000 id=%d imm=%d", n.id, source, 100+i, i+1)
			a.expect(req, fmt.Sprintf("id=%d status=0", 100+i))
			a.expect(req.other, fmt.Sprintf("id=%d status=0 recv=3000 imm=%#x", 300+i, i+1))
			a.compare(req.other, target+i*4096, pattern(3000, uint32(i)), "send")
		}
		// All at once: who took which receive, the immediates tell.
		a.ask(req.other, "srecv %d off=%d len=4096 id=0 n=16", s, target)
		for i := range 16 {
			a.ask(req, "fill off=%d len=3000 seed=%d", source+i*4096, 50+i)
			a.ask(req, "send %d op=send_imm off=%d len=3000 id=%d imm=%d", conns[i%4].id, source+i*4096, 100+i, i+1)
		}
		a.ready(req, 16)
		seen := map[uint64]bool{}
		for _, d := range a.poll(req.other, 16) {
			imm := number(d.text, "imm")
			if d.status != 0 || d.id > 15 || imm < 1 || imm > 16 || seen[imm] || seen[100+d.id] {
				a.fail("%v: %s", req.other, d.text)
			}
			seen[imm], seen[100+d.id] = true, true
			a.compare(req.other, target+int(d.id)*4096, pattern(3000, uint32(49+imm)), d.text)
		}
	})
	list = append(list, roles("srq that is empty", func(a *attempt, req *end) {
		s := a.sharedQueue(req.other)
		o := resend
		o.srq, o.srqAt = s, req.other
		n := a.connect(req, o)
		a.ask(req, "fill off=%d len=3000 seed=2", source)
		a.ask(req, "send %d op=send off=%d len=3000 id=70", n.id, source)
		a.wait(30 * time.Millisecond)
		a.ask(req.other, "srecv %d off=%d len=3000 id=71", s, target)
		a.expect(req, "id=70 status=0")
		a.expect(req.other, "id=71 status=0 recv=3000")
		a.compare(req.other, target, pattern(3000, 2), "send")
	})...)
	list = append(list, roles("srq of UC and UD", func(a *attempt, req *end) {
		s := a.sharedQueue(req.other)
		n := a.connect(req, options{typ: "uc", srq: s, srqAt: req.other})
		a.ask(req, "fill off=%d len=5000 seed=2", source)
		a.ask(req, "send %d op=send off=%d len=5000 id=70", n.id, source) // nothing is there to take it
		a.expect(req, "id=70 status=0")
		for i := range 3 {
			a.ask(req.other, "srecv %d off=%d len=5000 id=%d", s, target+i*8192, 300+i)
			a.ask(req, "send %d op=send_imm off=%d len=5000 id=%d imm=%d", n.id, source, 71+i, i+1)
			a.expect(req, fmt.Sprintf("id=%d status=0", 71+i))
			a.expect(req.other, fmt.Sprintf("id=%d status=0 recv=5000 imm=%#x", 300+i, i+1))
			a.compare(req.other, target+i*8192, pattern(5000, 2), "send")
		}
		d := a.datagrams(req, false, s)
		a.ask(req, "fill off=%d len=1000 seed=4", source)
		a.ask(req.other, "srecv %d off=%d len=%d id=400 n=2", s, target, grh+1000)
		for i := range uint64(2) {
			d.post("send_imm", 1000, 80+i, 7, d.qkey[req.other])
			a.expect(req, fmt.Sprintf("id=%d status=0", 80+i))
			a.expect(req.other, d.received("send_imm", 1000, 400+i, 7))
			a.compare(req.other, target+int(i)*(grh+1000)+grh, pattern(1000, 4), "send")
		}
	})...)
	return append(list, Case{Name: "srq limit", run: func(a *attempt) {
		s := a.sharedQueue(a.model)
		n := a.connect(a.linux, options{srq: s, srqAt: a.model})
		a.ask(a.model, "events")
		a.ask(a.model, "srecv %d off=%d len=64 id=300 n=6", s, target)
		a.ask(a.model, "slimit %d limit=4", s)
		for i := range 4 {
			a.ask(a.linux, "send %d op=send off=%d len=64 id=%d", n.id, source, i)
			a.expect(a.linux, fmt.Sprintf("id=%d status=0", i))
			a.expect(a.model, fmt.Sprintf("id=%d status=0 recv=64", 300+i))
			left := a.ask(a.model, "sleft %d", s)
			if want := map[bool]uint64{true: 4, false: 0}[i < 2]; number(left, "limit") != want {
				a.fail("after %d receives: %s", i+1, left)
			}
		}
		if got := a.ask(a.model, "events"); got == "none" {
			a.fail("no event")
		}
	}})
}

// sharedQueue makes a shared receive queue at an end.
func (a *attempt) sharedQueue(e *end) int {
	s := a.next()
	a.ask(e, "srq %d max=64", s)
	a.later(e, "sdel %d", s)
	return s
}

// windows are memory windows of type 2 that the responder binds and invalidates.
func windows() []Case {
	return roles("window of type 2", func(a *attempt, req *end) {
		n := a.connect(req, options{})
		n.transfer("send", 64, 0)
		const at, size = target + 4096, 8192
		key := number(a.ask(n.resp, "mw %d qp=%d off=%d len=%d wr=900", n.id, n.id, at, size), "rkey")
		a.later(n.resp, "mwdel %d", n.id)
		a.expect(n.resp, "id=900 status=0")
		a.ask(req, "fill off=%d len=5000 seed=3", source)
		use := func(op string, off, size, id int) {
			a.ask(req, "send %d op=%s off=%d len=%d id=%d addr=%#x rkey=%#x", n.id, op, off, size, id, n.resp.addr+at+100, key)
		}
		use("write", source, 5000, 901)
		use("read", target, 5000, 902)
		a.expect(req, "id=901 status=0", "id=902 status=0")
		a.compare(n.resp, at+100, pattern(5000, 3), "write")
		a.compare(req, target, pattern(5000, 3), "read")
		a.ask(n.resp, "send %d op=local_inv imm=%#x id=903", n.id, key)
		a.expect(n.resp, "id=903 status=0")
		if req.side == model {
			a.late = 5
		}
		use("write", source, 100, 904) // the key is no more
		a.expect(req, fmt.Sprintf("id=904 status=%d", remAccess))
	})
}
