package interop

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"
)

// tool runs an unmodified program of the guest as the client of serve, which has
// the TCP connection that it opens beside RoCE, at its port of 10.0.2.2.
func (a *attempt) tool(serve func(net.Conn) error, format string, args ...any) string {
	a.late = 3 // answers to what it sent twice may come when it has ended
	l, err := net.Listen("tcp", "127.0.0.1:0")
	a.must(err)
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_ = c.SetDeadline(time.Now().Add(a.toolLimit))
			err = serve(c)
			c.Close()
		}
		served <- err
	}()
	cmd := fmt.Sprintf(format, args...)
	name, _, _ := strings.Cut(cmd, " ")
	port := l.Addr().(*net.TCPAddr).Port
	a.ended = make(chan struct{})
	out, err := a.shell(fmt.Sprintf("timeout %d %s -d rxe0 -p %d 10.0.2.2 2>&1", int(a.toolLimit.Seconds()), cmd, port), a.toolLimit+answerLimit)
	close(a.ended)
	l.Close()
	if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
		a.fail("beside %s: %v (%s)", name, err, out)
	}
	a.must(err)
	return out
}

// toolQKey is the Q_Key that all tools use.
const toolQKey = 0x11111111

// service is the queue pair that a tool talks to: its type (rc), path MTU and shared
// receive queue (none).
type service struct {
	typ      string
	mtu, srq int
}

// peerOf connects a queue pair of the model to what a tool told of its own.
func (a *attempt) peerOf(s service, qpn, psn uint64, gid [16]byte) (id int, own, first uint64) {
	id, first = a.next(), 0x777
	line := fmt.Sprintf("qp %d gid=%d qkey=%d type=%s", id, version(gid), toolQKey, cmp.Or(s.typ, "rc"))
	if s.srq != 0 {
		line += fmt.Sprintf(" srq=%d", s.srq)
	}
	own = number(a.ask(a.model, "%s", line), "qpn")
	a.later(a.model, "del %d", id)
	to := fmt.Sprintf("gid=%s mac=%s", netip.AddrFrom16(gid).Unmap(), guestMAC)
	if s.typ == "ud" {
		a.ask(a.model, "start %d psn=%d", id, first)
		a.ask(a.model, "ah %d %s", id, to)
		a.later(a.model, "ahdel %d", id)
	} else {
		a.ask(a.model, "conn %d %s qpn=%d psn=%d rpsn=%d mtu=%d rd=16", id, to, qpn, first, psn, s.mtu)
	}
	return id, own, first
}

// version is the GID index of an address: 0 of IPv6, 1 of IPv4.
func version(gid [16]byte) int {
	if netip.AddrFrom16(gid).Is4In6() {
		return 1
	}
	return 0
}

// served is a server whose failure is an error.
func served(serve func(net.Conn)) func(net.Conn) error {
	return func(c net.Conn) error { return caught(func() { serve(c) }) }
}

// told reads what a tool of pingpong tells of its queue pair: "lid:qpn:psn:gid" in
// hexadecimal and a zero byte.
func (a *attempt) told(c net.Conn) (qpn, psn uint64, gid [16]byte) {
	var b [52]byte
	_, err := io.ReadFull(c, b[:])
	a.must(err)
	var lid uint64
	var g []byte
	_, err = fmt.Sscanf(string(b[:]), "%x:%x:%x:%x", &lid, &qpn, &psn, &g)
	a.must(err)
	if len(g) != 16 {
		a.fail("%q", b)
	}
	return qpn, psn, [16]byte(g)
}

// tell tells it of one of the model's.
func (a *attempt) tell(c net.Conn, qpn, psn uint64, gid [16]byte) {
	_, err := fmt.Fprintf(c, "%04x:%06x:%06x:%032x\x00", 0, qpn, psn, netip.MustParseAddr(a.model.gids[version(gid)]).As16())
	a.must(err)
}

// pingpong serves ibv_rc_pingpong, and those of UC and UD: both tell of their queue
// pairs, the client ends with "done".
func (a *attempt) pingpong(s service, size, rounds int) func(net.Conn) error {
	return served(func(c net.Conn) {
		qpn, psn, gid := a.told(c)
		id, own, first := a.peerOf(s, qpn, psn, gid)
		head, way, from := 0, "", ""
		if s.typ == "ud" {
			head, way, from = grh, fmt.Sprintf(" ah=%d qpn=%d qkey=%d", id, qpn, toolQKey), fmt.Sprintf(" src=%d", qpn)
		}
		a.ask(a.model, "put off=%d hex=%x", source, pages(size))
		a.ask(a.model, "recv %d off=%d len=%d id=100 n=%d", id, target, head+size, rounds)
		a.tell(c, own, first, gid)
		for i := range rounds {
			a.expect(a.model, fmt.Sprintf("id=%d status=0 recv=%d%s", 100+i, head+size, from))
			a.ask(a.model, "send %d op=send off=%d len=%d id=%d%s", id, source, size, i, way)
			a.expect(a.model, fmt.Sprintf("id=%d status=0", i))
		}
		var done [5]byte
		_, err := io.ReadFull(c, done[:])
		a.must(err)
	})
}

// mostPairs is of how many queue pairs ibv_srq_pingpong tells, whether it has them or
// not.
const mostPairs = 256

// sharedPingpong serves ibv_srq_pingpong with as many queue pairs: what comes to one is
// answered by it, until the tool has ended.
func (a *attempt) sharedPingpong(s service, size, qps int, answered *int) func(net.Conn) error {
	return served(func(c net.Conn) {
		a.late = qps * (a.late + (size+s.mtu-1)/s.mtu) // it ends while its other queue pairs are being answered
		type pair struct{ own, first uint64 }
		var own []pair
		var gid [16]byte
		for i := range mostPairs {
			qpn, psn, g := a.told(c)
			if i < qps {
				_, n, first := a.peerOf(s, qpn, psn, g)
				own, gid = append(own, pair{n, first}), g
			}
		}
		a.ask(a.model, "put off=%d hex=%x", source, pages(size))
		a.ask(a.model, "srecv %d off=%d len=%d id=100 n=60", s.srq, target, size)
		own = append(own, make([]pair, mostPairs-qps)...)
		for _, p := range own {
			a.tell(c, p.own, p.first, gid)
		}
		for {
			r := a.ask(a.model, "poll 1 ms=20 qps=1")
			switch {
			case r != "0" && number(r, "status") != 0:
				a.fail("model: %s", r)
			case number(r, "recv") == uint64(size):
				*answered++
				a.ask(a.model, "send %d op=send off=%d len=%d id=1", number(r, "qp"), source, size)
			}
			select {
			case <-a.ended:
				return
			default:
			}
		}
	})
}

// pages are bytes as -c wants to see them: each page begins with 0.
func pages(size int) []byte {
	b := pattern(size, 3)
	for i := 0; i < size; i += 4096 {
		b[i] = 0
	}
	return b
}

// duty is what the model does for a tool of perftest: before it connects, and once
// it is connected. Either may be nil.
type duty struct {
	service
	prepare func(p partner)
	work    func(p partner)
}

// perftest serves a tool of perftest, which may use the model's buffer from target
// on. Both tell the same things in turn, the tool first. All but the description of
// a queue pair is told back as it came: versions and settings are then equal. The
// description comes again whenever the tool wants to be in step: the third time its
// queue pair is ready.
func (a *attempt) perftest(d duty) func(net.Conn) error {
	return served(func(c net.Conn) {
		var p partner
		worked := make(chan error, 1)
		b := make([]byte, 4096)
		const ready = 3
		for told := 0; ; {
			n, err := c.Read(b)
			if errors.Is(err, io.EOF) && told >= ready {
				a.must(<-worked)
				return
			}
			if err != nil {
				a.fail("%v, %v", err, first(worked))
			}
			answer := b[:n]
			if f := strings.Split(strings.TrimRight(string(answer), "\x00"), ":"); len(f) >= 23 {
				if told++; told == 1 {
					p = a.partner(f, n, d.service)
					if d.prepare != nil {
						d.prepare(p)
					}
				}
				if told == ready {
					go func() { worked <- caught(func() { d.do(p) }) }()
				}
				answer = p.answer
			}
			_, err = c.Write(answer)
			a.must(err)
		}
	})
}

func (d *duty) do(p partner) {
	if d.work != nil {
		d.work(p)
	}
}

// first is an error that is there already.
func first(c chan error) error {
	select {
	case err := <-c:
		return err
	default:
		return nil
	}
}

// partner is a tool's queue pair, and what it is told of the model's.
type partner struct {
	id         int
	qpn        uint64
	addr, rkey uint64 // of the tool's memory
	answer     []byte
}

// partner connects to the queue pair that perftest describes: lid, reads at once,
// QPN, PSN, R_Key, address, 16 bytes of GID, all in hexadecimal. The answer has the
// same form and size.
func (a *attempt) partner(f []string, size int, sv service) partner {
	var v [6]uint64
	for i := range v {
		_, err := fmt.Sscanf(f[i], "%x", &v[i])
		a.must(err)
	}
	var gid []byte
	_, err := fmt.Sscanf(strings.Join(f[6:22], ""), "%x", &gid)
	a.must(err)
	if len(gid) != 16 {
		a.fail("GID %x", gid)
	}
	id, own, first := a.peerOf(sv, v[2], v[3], [16]byte(gid))
	s := fmt.Sprintf("%04x:%04x:%06x:%06x:%08x:%016x", 0, v[1], own, first, a.model.rkey, a.model.addr+target)
	for _, g := range netip.MustParseAddr(a.model.gids[version([16]byte(gid))]).As16() {
		s += fmt.Sprintf(":%02x", g)
	}
	answer := make([]byte, size)
	copy(answer, s+":00000000:")
	return partner{id, v[2], v[5], v[4], answer}
}
