package interop

import (
	"fmt"
	"slices"

	"rnic/tb/console"
)

// Layout of the buffers of both ends: where data comes from and where it goes, with
// room for the largest message and for guard bytes around it.
const (
	source = 64 << 10
	target = 2<<20 + 64<<10
	guard  = 64
)

// transfer moves n bytes by an operation from the one who has them to the other and
// compares all of it, and what lies around, with what was to come.
func (n *conn) transfer(op string, size int, imm uint32) {
	n.sent++
	id, seed := n.sent, uint32(n.sent)*7+uint32(n.id)
	from, to := n.req, n.resp
	if op == "read" {
		from, to = to, from
	}
	n.ask(from, "fill off=%d len=%d seed=%d", source, size, seed)
	n.ask(to, "fill off=%d len=%d seed=%d", target-guard, size+2*guard, seed+1)
	received := ""
	switch op {
	case "send", "send_imm":
		n.ask(n.resp, "recv %d off=%d len=%d id=%d", n.id, target, size, id)
		received = fmt.Sprintf("id=%d status=0 recv=%d", id, size)
	case "write_imm": // the receive takes no data
		n.ask(n.resp, "recv %d off=0 len=0 id=%d", n.id, id)
		received = fmt.Sprintf("id=%d status=0 recv=%d", id, size)
	}
	if op == "send_imm" || op == "write_imm" {
		received += fmt.Sprintf(" imm=%#x", imm)
	}
	local, remote := source, target
	if op == "read" {
		local, remote = target, source
	}
	n.ask(n.req, "send %d op=%s off=%d len=%d id=%d addr=%#x rkey=%#x imm=%#x",
		n.id, op, local, size, id, n.resp.addr+uint64(remote), n.resp.rkey, imm)
	n.expect(n.req, fmt.Sprintf("id=%d status=0", id))
	if received != "" {
		n.expect(n.resp, received)
	}
	if n.typ == "uc" && op == "write" { // done when it has left, not when it is there
		n.ask(n.resp, "recv %d off=0 len=0 id=%d", n.id, id+1000)
		n.ask(n.req, "send %d op=send off=0 len=0 id=%d", n.id, id+1000)
		n.expect(n.req, fmt.Sprintf("id=%d status=0", id+1000))
		n.expect(n.resp, fmt.Sprintf("id=%d status=0 recv=0", id+1000))
	}
	want := pattern(size+2*guard, seed+1)
	copy(want[guard:], pattern(size, seed))
	n.compare(to, target-guard, want, fmt.Sprintf("%s of %d bytes", op, size))
}

// compare demands that an end's buffer has certain bytes.
func (a *attempt) compare(e *end, off int, want []byte, what string) {
	if got, sum := a.ask(e, "sum off=%d len=%d", off, len(want)), fmt.Sprintf("%016x", console.Sum(want)); got != sum {
		a.fail("%v: %s: the sum of %d bytes at %d is %s, not %s", e, what, len(want), off, got, sum)
	}
}

// sizes are the lengths of messages that a path MTU makes interesting.
func sizes(mtu int) []int {
	s := []int{0, 1, 2, 3, 4, 5, 63, 64, 65, mtu - 1, mtu, mtu + 1, 2 * mtu, 3*mtu + 7, 1 << 16, 1 << 20}
	slices.Sort(s)
	return slices.Compact(s)
}

// mostAnswers are the packets of a READ's answer that Linux can be asked for: of
// many more it loses some before they are on the wire, when it is slow.
const mostAnswers = 1024

// transfers are all operations that move messages, in both roles, of all sizes.
func transfers() (list []Case) {
	for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
		for _, op := range []string{"send", "send_imm", "write", "write_imm", "read"} {
			for _, role := range []side{model, linux} {
				list = append(list, Case{
					Name: fmt.Sprintf("%s %s mtu %d", role, op, mtu),
					run: func(a *attempt) {
						o := options{mtu: mtu}
						reads := role == model && op == "read"
						if reads {
							o.timeout, o.retry = 18, 7 // 1 s; see mostAnswers
						}
						n := a.connect(a.end(role), o)
						for _, size := range sizes(mtu) {
							if !reads || size <= mostAnswers*mtu {
								n.transfer(op, size, 0xdead0000+uint32(size))
							}
						}
					},
				})
			}
		}
	}
	return list
}

// ipv6 are all operations over the link-local addresses.
func ipv6() (list []Case) {
	for _, mtu := range []int{1024, 4096} {
		list = append(list, roles(fmt.Sprintf("ipv6 mtu %d", mtu), func(a *attempt, req *end) {
			n := a.connect(req, options{mtu: mtu, ipv6: true})
			for _, op := range []string{"send", "send_imm", "write", "write_imm", "read"} {
				for _, size := range []int{0, 1, 63, mtu, mtu + 1, 70001} {
					n.transfer(op, size, 7)
				}
			}
			n.atomic("faa", "add=5", 6, 11)
			n.atomic("cas", "cmp=6 swap=7", 6, 7)
		})...)
	}
	return list
}

// end is the end of a side.
func (a *attempt) end(s side) *end {
	if s == model {
		return a.model
	}
	return a.linux
}
