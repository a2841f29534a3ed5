package interop

import (
	"encoding/hex"
	"fmt"
	"strings"

	"rnic/roce"
)

// grh is what lies before a datagram in its receive, bytes.
const grh = 40

// datagrams are two queue pairs of UD, and at each end the way to the other.
type datagrams struct {
	*conn
	qkey map[*end]uint64
}

// datagrams makes them. The receiver takes its receives from srq, unless it is 0.
func (a *attempt) datagrams(req *end, ipv6 bool, srq int) *datagrams {
	n := &conn{attempt: a, typ: "ud", req: req, resp: req.other, qpn: map[*end]uint64{}, id: a.next()}
	d := &datagrams{conn: n, qkey: map[*end]uint64{}}
	gid := 1
	if ipv6 {
		gid = 0
	}
	for i, e := range []*end{n.req, n.resp} {
		d.qkey[e] = uint64(0x1000*n.id + i)
		line := fmt.Sprintf("qp %d gid=%d type=ud qkey=%d", n.id, gid, d.qkey[e])
		if srq != 0 && e == n.resp {
			line += fmt.Sprintf(" srq=%d", srq)
		}
		n.qpn[e] = number(a.ask(e, "%s", line), "qpn")
		a.later(e, "del %d", n.id)
		a.ask(e, "start %d psn=%d", n.id, 0xfffff0+i)
		a.ask(e, "ah %d gid=%s mac=%s sgid=%d", n.id, strings.TrimPrefix(e.other.gids[gid], "::ffff:"), e.other.mac, gid)
		a.later(e, "ahdel %d", n.id)
	}
	return d
}

// post posts a datagram.
func (d *datagrams) post(op string, size int, id uint64, imm uint32, qkey uint64) {
	d.ask(d.req, "send %d op=%s off=%d len=%d id=%d imm=%#x ah=%d qpn=%d qkey=%d", d.id, op, source, size, id, imm, d.id, d.qpn[d.resp], qkey)
}

// received is how poll tells a datagram.
func (d *datagrams) received(op string, size int, id uint64, imm uint32) string {
	s := fmt.Sprintf("id=%d status=0 recv=%d", id, grh+size)
	if op == "send_imm" {
		s += fmt.Sprintf(" imm=%#x", imm)
	}
	return s + fmt.Sprintf(" src=%d", d.qpn[d.req])
}

// transfer sends a datagram and compares all of what came: header, data, and what lies
// around.
func (d *datagrams) transfer(op string, size int, imm uint32) {
	d.sent++
	id, seed := d.sent, uint32(d.sent)*7+uint32(d.id)
	d.ask(d.req, "fill off=%d len=%d seed=%d", source, size, seed)
	d.ask(d.resp, "fill off=%d len=%d seed=%d", target-grh-guard, grh+size+2*guard, seed+1)
	d.ask(d.resp, "recv %d off=%d len=%d id=%d", d.id, target-grh, grh+size, id)
	var sent []byte // the IP header of the packet
	d.hub.set(d.req.side, func(p *roce.Packet, f []byte) [][]byte {
		n := roce.IPv4Size
		if p.V6 {
			n = roce.IPv6Size
		}
		sent = append([]byte(nil), f[roce.EthernetSize:roce.EthernetSize+n]...)
		return [][]byte{f}
	})
	d.post(op, size, id, imm, d.qkey[d.resp])
	d.expect(d.req, fmt.Sprintf("id=%d status=0", id))
	d.expect(d.resp, d.received(op, size, id, imm))
	d.hub.set(d.req.side, nil)
	d.compare(d.resp, target-grh-guard, pattern(guard, seed+1), "what is before "+op)
	want := pattern(grh+size+2*guard, seed+1)[guard+grh:]
	copy(want, pattern(size, seed))
	d.compare(d.resp, target, want, fmt.Sprintf("%s of %d bytes", op, size))
	if got, want := d.ask(d.resp, "get off=%d len=%d", target-len(sent), len(sent)), hex.EncodeToString(sent); got != want {
		d.fail("%v: the header is %s, %s was sent", d.resp, got, want)
	}
}

// datagramCases are UD: all sizes that fit a packet, wrong keys and receives.
func datagramCases() (list []Case) {
	for _, ipv6 := range []bool{false, true} {
		name := map[bool]string{false: "", true: " ipv6"}[ipv6]
		for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
			for _, op := range []string{"send", "send_imm"} {
				list = append(list, roles(fmt.Sprintf("ud %s up to %d%s", op, mtu, name), func(a *attempt, req *end) {
					d := a.datagrams(req, ipv6, 0)
					for _, size := range sizes(mtu) {
						if size <= mtu {
							d.transfer(op, size, 0xdead0000+uint32(size))
						}
					}
				})...)
			}
		}
		list = append(list, roles("ud with a wrong Q_Key"+name, func(a *attempt, req *end) {
			d := a.datagrams(req, ipv6, 0)
			d.transfer("send", 100, 0)
			before := number("n="+a.ask(a.model, "count rx_drop_bad_qkey"), "n")
			if req.side == model {
				a.late = 1
			}
			d.ask(d.resp, "recv %d off=%d len=%d id=71", d.id, target-grh, grh+100)
			d.post("send", 100, 70, 0, d.qkey[d.resp]^1)
			d.expect(req, "id=70 status=0")
			d.post("send_imm", 9, 71, 5, d.qkey[d.resp])
			d.expect(req, "id=71 status=0")
			d.expect(d.resp, d.received("send_imm", 9, 71, 5))
			dropped := number("n="+a.ask(a.model, "count rx_drop_bad_qkey"), "n") - before
			if (dropped == 1) != (req.side == linux) {
				a.fail("model: rx_drop_bad_qkey counts %d", dropped)
			}
		})...)
	}
	return append(list, roles("ud to a receive that is too short", func(a *attempt, req *end) {
		d := a.datagrams(req, false, 0)
		d.transfer("send", 100, 0)
		d.ask(d.resp, "recv %d off=%d len=%d id=71", d.id, target-grh, grh+99)
		d.post("send", 100, 70, 0, d.qkey[d.resp])
		d.expect(req, "id=70 status=0")
		d.post("send_imm", 9, 71, 5, d.qkey[d.resp])
		d.expect(req, "id=71 status=0")
		if d.resp.side == linux { // ends the receive, and the queue pair
			a.late = 1
			d.expect(d.resp, fmt.Sprint("id=71 status=", locQPOp))
			return
		}
		d.expect(d.resp, d.received("send_imm", 9, 71, 5))
	})...)
}
