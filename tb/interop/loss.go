package interop

import (
	"fmt"
	"time"

	"rnic/roce"
)

// strike is a fault of a case: what becomes of some packets of one side.
type strike struct {
	match func(*roce.Packet) bool
	skip  int // packets that match and pass
	times int // packets struck; 0: one
	do    func(frame []byte) [][]byte
	fired int
}

// fault strikes packets in their turn; what a strike holds back, release adds.
func (s *strike) fault(p *roce.Packet, f []byte) [][]byte {
	if !s.match(p) || s.fired >= max(1, s.times) {
		return [][]byte{f}
	}
	if s.skip > 0 {
		s.skip--
		return [][]byte{f}
	}
	s.fired++
	return s.do(f)
}

func lose([]byte) [][]byte { return nil }

func double(f []byte) [][]byte { return [][]byte{f, f} }

// damage changes a bit of the payload, or of the ICRC.
func damage(f []byte) [][]byte {
	g := append([]byte(nil), f...)
	g[58] ^= 4
	return [][]byte{g}
}

// swap holds a frame back until the next has passed.
func swap() func(*roce.Packet, []byte) [][]byte {
	var held []byte
	return func(_ *roce.Packet, f []byte) [][]byte {
		if held == nil {
			held = f
			return nil
		}
		g := held
		held = nil
		return [][]byte{f, g}
	}
}

func anyRequest(p *roce.Packet) bool { return p.BTH.Opcode.IsRequest() }
func anyAnswer(p *roce.Packet) bool  { return p.BTH.Opcode.IsResponse() }

// trouble is a way in which a wire mistreats the packets of requester or responder.
type trouble struct {
	name    string
	answers bool // the responder's packets, else the requester's
	make    func() fault
}

func troubles() (list []trouble) {
	for _, answers := range []bool{false, true} {
		match, what := anyRequest, "request"
		if answers {
			match, what = anyAnswer, "answer"
		}
		add := func(name string, s strike) {
			s.match = match
			list = append(list, trouble{name + " " + what, answers, func() fault {
				c := s
				return c.fault
			}})
		}
		add("first lost", strike{do: lose})
		add("second lost", strike{do: lose, skip: 1})
		add("damaged", strike{do: damage})
		add("doubled", strike{do: double, times: 100})
		list = append(list, trouble{"swapped " + what, answers, func() fault {
			s := swap()
			n := 0
			return func(p *roce.Packet, f []byte) [][]byte {
				if n++; match(p) && n <= 8 {
					return s(p, f)
				}
				return [][]byte{f}
			}
		}})
	}
	return list
}

// losses are wires that lose, double, swap and damage packets.
func losses() (list []Case) {
	for _, t := range troubles() {
		cases := roles("with "+t.name, func(a *attempt, req *end) {
			n := a.connect(req, resend)
			n.transfer("send", 8, 0)
			_, _, before := a.hub.counts()
			from := req.side
			if t.answers {
				from = 1 - from
			}
			for _, op := range []string{"send", "write", "read", "send_imm"} {
				a.hub.set(from, t.make())
				n.transfer(op, 5000, 1)
				a.hub.set(from, nil)
			}
			a.hub.set(from, t.make())
			n.atomic("faa", "add=3", 4, 7) // once, whatever was sent twice
			a.hub.set(from, nil)
			n.transfer("write", 9, 0)
			if _, _, struck := a.hub.counts(); struck == before {
				a.fail("nothing was struck")
			}
		})
		list = append(list, cases...)
	}
	return list
}

// resend is a connection that resends: after 67 ms without an answer, up to 7 times.
var resend = options{timeout: 14, retry: 7, rnr: 7, linuxTimeout: 14, linuxRetry: "retry=7 rnr=7"}

// unready are receivers without a receive, and peers that are not there.
func unready() []Case {
	late := roles("with a late receive", func(a *attempt, req *end) {
		n := a.connect(req, resend)
		n.transfer("send", 8, 0)
		naks := 0
		a.hub.set(1-req.side, func(p *roce.Packet, f []byte) [][]byte {
			if p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome.Kind() == roce.KindRNR {
				naks++
			}
			return [][]byte{f}
		})
		a.ask(n.resp, "fill off=%d len=3000 seed=1", target)
		a.ask(req, "fill off=%d len=3000 seed=2", source)
		a.ask(req, "send %d op=send off=%d len=3000 id=70", n.id, source)
		a.wait(30 * time.Millisecond)
		a.ask(n.resp, "recv %d off=%d len=3000 id=71", n.id, target)
		a.expect(req, "id=70 status=0")
		a.expect(n.resp, "id=71 status=0 recv=3000")
		a.compare(n.resp, target, pattern(3000, 2), "send")
		a.hub.set(1-req.side, nil)
		if naks == 0 {
			a.fail("%v sent no RNR NAK", n.resp)
		}
	})
	never := roles("without a receive", func(a *attempt, req *end) {
		o := resend
		o.retry, o.rnr, o.linuxRetry = 0, 0, "retry=7 rnr=0"
		n := a.connect(req, o)
		a.late = 3 // packets behind the one that fails, or answers to such
		n.transfer("send", 8, 0)
		a.ask(req, "send %d op=send off=%d len=3000 id=70", n.id, source)
		a.expect(req, fmt.Sprintf("id=70 status=%d", rnrExc))
	})
	again := roles("with no receive for all retries", func(a *attempt, req *end) {
		o := resend
		o.rnr, o.linuxRetry = 2, "retry=7 rnr=2"
		n := a.connect(req, o)
		a.late = 3
		n.transfer("send", 8, 0)
		a.ask(req, "send %d op=send off=%d len=3000 id=70", n.id, source)
		a.expect(req, fmt.Sprintf("id=70 status=%d", rnrExc))
	})
	silent := roles("with a silent peer", func(a *attempt, req *end) {
		o := resend
		o.timeout, o.linuxTimeout, o.retry, o.linuxRetry = 12, 12, 2, "retry=2 rnr=0"
		n := a.connect(req, o)
		n.transfer("send", 8, 0)
		tries := 0
		a.hub.set(req.side, func(p *roce.Packet, f []byte) [][]byte {
			tries++
			return nil
		})
		a.ask(req, "send %d op=send off=%d len=8 id=70", n.id, source)
		a.ask(req, "send %d op=send off=%d len=8 id=71", n.id, source)
		a.expect(req, fmt.Sprintf("id=70 status=%d", retryExc), fmt.Sprintf("id=71 status=%d", flushed))
		a.hub.set(req.side, nil)
		if tries < 3 {
			a.fail("%v tried %d times", req, tries)
		}
	})
	once := roles("with a silent peer and no retries", func(a *attempt, req *end) {
		o := resend
		o.timeout, o.linuxTimeout, o.retry, o.rnr, o.linuxRetry = 12, 12, 0, 0, "retry=0 rnr=0"
		n := a.connect(req, o)
		n.transfer("send", 8, 0)
		a.hub.set(req.side, func(*roce.Packet, []byte) [][]byte { return nil })
		a.ask(req, "send %d op=send off=%d len=8 id=70", n.id, source)
		a.expect(req, fmt.Sprintf("id=70 status=%d", retryExc))
	})
	return append(append(append(append(late, never...), again...), silent...), once...)
}
