package interop

import (
	"fmt"
)

// ready waits for n completions in success, in whatever order queue pairs have them.
func (a *attempt) ready(e *end, n int) {
	for _, d := range a.poll(e, n) {
		if d.status != 0 {
			a.fail("%v: %s", e, d.text)
		}
	}
}

// lane is what a queue pair of a burst moves, both ways: a SEND, a WRITE and a READ
// in slots of its own.
const (
	lane     = 16 << 10
	laneSize = 3000
)

// burst posts on all connections at both ends before anybody looks for completions,
// and compares everything afterwards.
func burst(a *attempt, conns []*conn) {
	ends := []*end{a.model, a.linux}
	for i := range conns {
		for _, e := range ends {
			a.ask(e, "fill off=%d len=%d seed=%d", i*lane, laneSize, e.seed(i))
			a.ask(e, "fill off=%d len=%d seed=%d", target+i*lane, lane, 99)
			a.ask(e, "recv %d off=%d len=%d id=%d", conns[i].id, target+i*lane, 4096, i)
		}
	}
	for i, n := range conns {
		for _, e := range ends {
			at, rkey := e.other.addr+uint64(i*lane), e.other.rkey
			a.ask(e, "send %d op=send off=%d len=%d id=%d", n.id, i*lane, laneSize, 1000+i)
			a.ask(e, "send %d op=write off=%d len=%d id=%d addr=%#x rkey=%#x", n.id, i*lane, laneSize, 2000+i, at+target+4096, rkey)
			a.ask(e, "send %d op=read off=%d len=%d id=%d addr=%#x rkey=%#x", n.id, target+i*lane+8192, laneSize, 3000+i, at, rkey)
		}
	}
	for _, e := range ends {
		a.ready(e, 4*len(conns))
	}
	for i := range conns {
		for _, e := range ends {
			want := pattern(lane, 99)
			for _, at := range []int{0, 4096, 8192} {
				copy(want[at:], pattern(laneSize, e.other.seed(i)))
			}
			a.compare(e, target+i*lane, want, fmt.Sprintf("lane %d", i))
		}
	}
}

// seed tells what an end has in a lane.
func (e *end) seed(lane int) uint32 { return uint32(lane)*2 + uint32(e.side) + 1 }

// deep posts many messages on one queue pair at once, and demands their order.
func deep(n *conn, op string, count, size int) {
	n.ask(n.req, "fill off=%d len=%d seed=5", source, count*size)
	n.ask(n.resp, "fill off=%d len=%d seed=6", target, count*size+guard)
	if op == "send" {
		n.ask(n.resp, "recv %d off=%d len=%d id=500 n=%d", n.id, target, size, count)
	}
	n.ask(n.req, "send %d op=%s off=%d len=%d id=100 n=%d addr=%#x rkey=%#x",
		n.id, op, source, size, count, n.resp.addr+target, n.resp.rkey)
	var sent, received []string
	for i := range count {
		sent = append(sent, fmt.Sprintf("id=%d status=0", 100+i))
		received = append(received, fmt.Sprintf("id=%d status=0 recv=%d", 500+i, size))
	}
	n.expect(n.req, sent...)
	if op == "send" {
		n.expect(n.resp, received...)
	}
	want := pattern(count*size+guard, 6)
	copy(want, pattern(count*size, 5))
	n.compare(n.resp, target, want, op)
}

// bursts are many messages, many queue pairs, and both ends at once.
func bursts() (list []Case) {
	for _, c := range []struct{ qps, mtu int }{{1, 1024}, {1, 256}, {8, 1024}, {64, 4096}, {64, 1024}} {
		list = append(list, Case{Name: fmt.Sprintf("both at once, %d QPs, mtu %d", c.qps, c.mtu), run: func(a *attempt) {
			var conns []*conn
			for i := range c.qps {
				conns = append(conns, a.connect([]*end{a.model, a.linux}[i%2], options{mtu: c.mtu}))
			}
			burst(a, conns)
		}})
	}
	for _, op := range []string{"send", "write"} {
		list = append(list, roles("64 "+op+"s at once", func(a *attempt, req *end) {
			n := a.connect(req, options{})
			deep(n, op, 64, 5000)
			deep(n, op, 100, 1)
		})...)
	}
	return append(list, roles("16 reads at once", func(a *attempt, req *end) {
		n := a.connect(req, options{})
		a.ask(n.resp, "fill off=%d len=%d seed=8", source, 16*5000)
		a.ask(req, "send %d op=read off=%d len=5000 id=1 n=16 addr=%#x rkey=%#x", n.id, target, n.resp.addr+source, n.resp.rkey)
		a.ready(req, 16)
		a.compare(req, target, pattern(16*5000, 8), "reads")
	})...)
}

// wraps are PSNs that pass 2^24 within a message, and between messages, each way.
func wraps() (list []Case) {
	for _, first := range []uint32{0xffffff, 0xfffffe, 0xfffffc} {
		list = append(list, roles(fmt.Sprintf("psn %06x", first), func(a *attempt, req *end) {
			n := a.connect(req, options{psn: [2]uint32{first, first - 1}})
			for _, op := range []string{"send", "write", "read", "send"} {
				n.transfer(op, 3000, 0)
			}
			n.atomic("faa", "add=1", 1, 2)
			n.transfer("read", 3000, 0)
		})...)
	}
	return list
}

// reuses are queue pairs that are connected again after a reset.
func reuses() []Case {
	return roles("the QP again", func(a *attempt, req *end) {
		n := a.connect(req, options{})
		for range 3 {
			n.transfer("send", 3000, 0)
			n.transfer("read", 100, 0)
			for _, e := range []*end{req, n.resp} {
				a.ask(e, "reset %d", n.id)
			}
			n = a.connect(n.resp, options{reuse: n}) // the other way round
			req = n.req
		}
		n.transfer("write", 100, 0)
	})
}
