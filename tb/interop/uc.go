package interop

import (
	"fmt"

	"rnic/roce"
)

// ucCases are UC: what moves messages, of all sizes, and packets that do not arrive.
func ucCases() (list []Case) {
	for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
		for _, op := range []string{"send", "send_imm", "write", "write_imm"} {
			list = append(list, roles(fmt.Sprintf("uc %s mtu %d", op, mtu), func(a *attempt, req *end) {
				n := a.connect(req, options{typ: "uc", mtu: mtu})
				for _, size := range sizes(mtu) {
					n.transfer(op, size, 0xdead0000+uint32(size))
				}
			})...)
		}
	}
	for _, mtu := range []int{1024, 4096} {
		list = append(list, roles(fmt.Sprintf("uc ipv6 mtu %d", mtu), func(a *attempt, req *end) {
			n := a.connect(req, options{typ: "uc", mtu: mtu, ipv6: true, psn: [2]uint32{0xffffff, 0xfffffe}})
			for _, op := range []string{"send", "send_imm", "write", "write_imm"} {
				for _, size := range []int{0, 1, 63, mtu, mtu + 1, 70001} {
					n.transfer(op, size, 7)
				}
			}
		})...)
	}
	for lost, what := range []string{"first", "middle", "last"} {
		list = append(list, roles("uc with a lost "+what, func(a *attempt, req *end) { brokenSend(a, req, lost*2) })...)
	}
	return append(list, roles("uc write with a lost middle", brokenWrite)...)
}

// lossOf has the hub lose one packet of UC of a side, behind so many others.
func (n *conn) lossOf(skip int) {
	s := strike{do: lose, skip: skip, match: func(p *roce.Packet) bool { return p.BTH.Opcode.Transport() == roce.UC }}
	n.hub.set(n.req.side, s.fault)
}

// behindGap sends Linux the message that it drops with the broken one before it, though
// it begins anew: that it does is demanded, for what comes next must be the next.
func (n *conn) behindGap() {
	if n.resp.side == linux {
		n.ask(n.req, "send %d op=send_imm off=%d len=600 id=69 imm=6", n.id, source)
		n.expect(n.req, "id=69 status=0")
	}
}

// brokenSend loses a packet of a message of five: the message is not received, its
// receive takes the next one, and so it goes on.
func brokenSend(a *attempt, req *end, skip int) {
	n := a.connect(req, options{typ: "uc"})
	n.transfer("send", 5000, 0)
	_, _, before := a.hub.counts()
	n.ask(n.resp, "recv %d off=%d len=5000 id=71", n.id, target)
	n.lossOf(skip)
	n.ask(req, "send %d op=send off=%d len=5000 id=70", n.id, source)
	n.expect(req, "id=70 status=0")
	n.hub.set(req.side, nil)
	if _, _, struck := a.hub.counts(); struck != before+1 {
		a.fail("%d packets were struck", struck-before)
	}
	if skip > 0 {
		n.behindGap()
	}
	n.ask(req, "fill off=%d len=4000 seed=9", source)
	n.ask(req, "send %d op=send_imm off=%d len=4000 id=72 imm=7", n.id, source)
	n.expect(req, "id=72 status=0")
	n.expect(n.resp, "id=71 status=0 recv=4000 imm=0x7")
	n.compare(n.resp, target, pattern(4000, 9), "the next message")
	n.transfer("write", 5000, 0)
	n.transfer("send_imm", 100, 3)
}

// deaf demands that Linux's queue pair takes nothing any more behind a WRITE that lost
// a packet, though it counts all that comes, until it is reset.
func (n *conn) deaf() {
	for i, op := range []string{"write_imm", "send_imm", "write_imm"} {
		n.ask(n.req, "send %d op=%s off=%d len=3000 id=%d addr=%#x rkey=%#x", n.id, op, source, 72+i, n.resp.addr+target, n.resp.rkey)
		n.expect(n.req, fmt.Sprintf("id=%d status=0", 72+i))
	}
	if r := n.ask(n.resp, "poll 1 ms=200"); r != "0" {
		n.fail("%v: %s", n.resp, r)
	}
	for _, e := range []*end{n.req, n.resp} {
		n.ask(e, "reset %d", n.id)
	}
	m := n.connect(n.req, options{typ: "uc", reuse: n})
	m.sent = 10
	m.transfer("send", 5000, 0)
	m.transfer("write_imm", 5000, 2)
}

// brokenWrite loses a packet of a WRITE with immediate: no receive ends for it.
func brokenWrite(a *attempt, req *end) {
	n := a.connect(req, options{typ: "uc"})
	n.transfer("write_imm", 5000, 1)
	n.ask(n.resp, "recv %d off=%d len=5000 id=71", n.id, target)
	n.lossOf(2)
	n.ask(req, "send %d op=write_imm off=%d len=5000 id=70 addr=%#x rkey=%#x imm=1", n.id, source, n.resp.addr+target, n.resp.rkey)
	n.expect(req, "id=70 status=0")
	n.hub.set(req.side, nil)
	if n.resp.side == linux {
		n.deaf()
		return
	}
	n.ask(req, "send %d op=write_imm off=%d len=3000 id=72 addr=%#x rkey=%#x imm=2", n.id, source, n.resp.addr+target, n.resp.rkey)
	n.expect(req, "id=72 status=0")
	n.expect(n.resp, "id=71 status=0 recv=3000 imm=0x2")
	n.transfer("send", 5000, 0)
}
