package interop

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// word returns 8 bytes of an end's buffer, little-endian as both machines are.
func (a *attempt) word(e *end, off int) uint64 {
	b, err := hex.DecodeString(a.ask(e, "get off=%d len=8", off))
	if err != nil || len(b) != 8 {
		a.fail("%v: get: %x, %v", e, b, err)
	}
	return binary.LittleEndian.Uint64(b)
}

// setWord stores 8 bytes.
func (a *attempt) setWord(e *end, off int, v uint64) {
	a.ask(e, "put off=%d hex=%x", off, binary.LittleEndian.AppendUint64(nil, v))
}

// atomic does one operation on the responder's word and demands what the word was
// and what it has become.
func (n *conn) atomic(op, operands string, before, after uint64) {
	n.sent++
	n.setWord(n.resp, target, before)
	n.setWord(n.req, target, ^before)
	n.ask(n.req, "send %d op=%s off=%d len=8 id=%d addr=%#x rkey=%#x %s",
		n.id, op, target, n.sent, n.resp.addr+target, n.resp.rkey, operands)
	n.expect(n.req, fmt.Sprintf("id=%d status=0", n.sent))
	n.demandWords(op, before, after)
}

// demandWords demands what the requester was told, and what the responder has.
func (n *conn) demandWords(op string, before, after uint64) {
	if got := n.word(n.req, target); got != before {
		n.fail("%v: %s returned %#x, not %#x", n.req, op, got, before)
	}
	if got := n.word(n.resp, target); got != after {
		n.fail("%v: %s left %#x, not %#x", n.resp, op, got, after)
	}
}

// roles makes a case of each role of the model.
func roles(name string, run func(a *attempt, requester *end)) (list []Case) {
	for _, s := range []side{model, linux} {
		list = append(list, Case{Name: s.String() + " " + name, run: func(a *attempt) { run(a, a.end(s)) }})
	}
	return list
}

// atomics are compare-and-swap and fetch-and-add.
func atomics() []Case {
	const big = 0x8877665544332211
	cas := roles("cas", func(a *attempt, req *end) {
		n := a.connect(req, options{})
		n.atomic("cas", fmt.Sprintf("cmp=%#x swap=0x1122334455667788", uint64(big)), big, 0x1122334455667788)
		n.atomic("cas", "cmp=5 swap=6", 7, 7) // not equal: unchanged
		n.atomic("cas", "cmp=0 swap=0xffffffffffffffff", 0, 1<<64-1)
	})
	faa := roles("faa", func(a *attempt, req *end) {
		n := a.connect(req, options{})
		n.atomic("faa", "add=1", 41, 42)
		n.atomic("faa", fmt.Sprintf("add=%#x", uint64(big)), 1<<63, (big+1<<63)&(1<<64-1))
		n.atomic("faa", "add=2", 1<<64-1, 1) // wraps
	})
	return append(cas, faa...)
}

// invalidates are SENDs that take a key away: of a window, and the model's of a region
// too, which Linux has of fast ones only.
func invalidates() []Case {
	list := invalidate("send_inv of a region", false)[1:]
	return append(invalidate("send_inv", true), list...)
}

func invalidate(name string, window bool) []Case {
	return roles(name, func(a *attempt, req *end) {
		n := a.connect(req, options{})
		n.transfer("send", 64, 0)
		var key uint64
		if window {
			key = number(a.ask(n.resp, "mw %d qp=%d off=%d len=4096 wr=900", n.id, n.id, target), "rkey")
			a.expect(n.resp, "id=900 status=0")
			a.later(n.resp, "mwdel %d", n.id)
		} else {
			key = number(a.ask(n.resp, "mr %d off=%d len=4096 access=rw", n.id, target), "rkey")
		}
		write := func(id int) string {
			return fmt.Sprintf("send %d op=write off=%d len=100 id=%d addr=%#x rkey=%#x", n.id, source, id, n.resp.addr+target, key)
		}
		a.ask(req, "%s", write(901))
		a.expect(req, "id=901 status=0")
		a.ask(n.resp, "recv %d off=0 len=64 id=902", n.id)
		a.ask(req, "send %d op=send_inv off=%d len=40 id=903 imm=%#x", n.id, source, key)
		a.expect(req, "id=903 status=0")
		a.expect(n.resp, fmt.Sprintf("id=902 status=0 recv=40 inv=%#x", key))
		a.ask(req, "%s", write(904)) // the key is no more
		a.expect(req, "id=904 status=10")
		if !window {
			a.ask(n.resp, "dereg %d", n.id)
		}
	})
}
