package interop

import (
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
	out, err := a.shell(fmt.Sprintf("timeout %d %s -d rxe0 -p %d 10.0.2.2 2>&1", int(a.toolLimit.Seconds()), cmd, port), a.toolLimit+answerLimit)
	l.Close()
	if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
		a.fail("beside %s: %v (%s)", name, err, out)
	}
	a.must(err)
	return out
}

// peerOf connects a queue pair of the model to what a tool told of its own.
func (a *attempt) peerOf(qpn, psn uint64, gid [16]byte, mtu int) (id int, own, first uint64) {
	a.ids = a.ids%200 + 1
	id = a.ids
	own, first = number(a.ask(a.model, "qp %d gid=%d", id, version(gid)), "qpn"), 0x777
	a.tools = append(a.tools, id)
	a.ask(a.model, "conn %d qpn=%d gid=%s mac=%s psn=%d rpsn=%d mtu=%d rd=16",
		id, qpn, netip.AddrFrom16(gid).Unmap(), guestMAC, first, psn, mtu)
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

// pingpong serves ibv_rc_pingpong: both tell "lid:qpn:psn:gid" in hexadecimal and a
// zero byte, the client ends with "done".
func (a *attempt) pingpong(size, rounds, mtu, index int) func(net.Conn) error {
	return served(func(c net.Conn) {
		var b [52]byte
		_, err := io.ReadFull(c, b[:])
		a.must(err)
		var lid, qpn, psn uint64
		var gid []byte
		_, err = fmt.Sscanf(string(b[:]), "%x:%x:%x:%x", &lid, &qpn, &psn, &gid)
		a.must(err)
		if len(gid) != 16 {
			a.fail("%q", b)
		}
		id, own, first := a.peerOf(qpn, psn, [16]byte(gid), mtu)
		a.ask(a.model, "put off=%d hex=%x", source, pages(size))
		a.ask(a.model, "recv %d off=%d len=%d id=100 n=%d", id, target, size, rounds)
		_, err = fmt.Fprintf(c, "%04x:%06x:%06x:%032x\x00", 0, own, first, netip.MustParseAddr(a.model.gids[index]).As16())
		a.must(err)
		for i := range rounds {
			a.expect(a.model, fmt.Sprintf("id=%d status=0 recv=%d", 100+i, size))
			a.ask(a.model, "send %d op=send off=%d len=%d id=%d", id, source, size, i)
			a.expect(a.model, fmt.Sprintf("id=%d status=0", i))
		}
		_, err = io.ReadFull(c, b[:5])
		a.must(err)
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
	mtu     int
	prepare func(id int)
	work    func(id int, addr, rkey uint64) // addr and rkey of the tool's memory
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
					p = a.partner(f, n, d.mtu)
					if d.prepare != nil {
						d.prepare(p.id)
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
		d.work(p.id, p.addr, p.rkey)
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
	addr, rkey uint64
	answer     []byte
}

// partner connects to the queue pair that perftest describes: lid, reads at once,
// QPN, PSN, R_Key, address, 16 bytes of GID, all in hexadecimal. The answer has the
// same form and size.
func (a *attempt) partner(f []string, size, mtu int) partner {
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
	id, own, first := a.peerOf(v[2], v[3], [16]byte(gid), mtu)
	s := fmt.Sprintf("%04x:%04x:%06x:%06x:%08x:%016x", 0, v[1], own, first, a.model.rkey, a.model.addr+target)
	for _, g := range netip.MustParseAddr(a.model.gids[1]).As16() {
		s += fmt.Sprintf(":%02x", g)
	}
	answer := make([]byte, size)
	copy(answer, s+":00000000:")
	return partner{id, v[5], v[4], answer}
}

// tools are unmodified programs of Debian's packages in the guest, as clients.
func tools() (list []Case) {
	add := func(name string, run func(*attempt)) { list = append(list, Case{Name: name, run: run}) }
	for _, c := range []struct{ size, mtu, gid int }{
		{64, 1024, 1}, {10001, 1024, 1}, {10001, 4096, 1}, {1027, 256, 1}, {3001, 1024, 0},
	} {
		add(fmt.Sprintf("ibv_rc_pingpong -s %d -m %d -g %d", c.size, c.mtu, c.gid), func(a *attempt) {
			const rounds = 5
			a.tool(a.pingpong(c.size, rounds, c.mtu, c.gid), "ibv_rc_pingpong -g %d -c -s %d -m %d -n %d", c.gid, c.size, c.mtu, rounds)
			for i := 1; i < rounds; i++ { // the client sends what it received
				a.compare(a.model, target+i*c.size, pages(c.size), "ping")
			}
		})
	}
	const common = " -x 1 -F -u 20 -n 20"
	add("ib_send_bw", func(a *attempt) {
		a.tool(a.perftest(duty{mtu: 1024, prepare: func(id int) {
			a.ask(a.model, "recv %d off=%d len=5000 id=0 n=20", id, target)
		}}), "ib_send_bw -s 5000 -m 1024"+common)
		a.ready(a.model, 20)
	})
	add("ib_write_bw", func(a *attempt) {
		a.ask(a.model, "fill off=%d len=5000 seed=77", target)
		a.tool(a.perftest(duty{mtu: 4096}), "ib_write_bw -s 5000 -m 4096"+common)
		if a.ask(a.model, "get off=%d len=5000", target) == fmt.Sprintf("%x", pattern(5000, 77)) {
			a.fail("nothing was written")
		}
	})
	add("ib_read_bw", func(a *attempt) {
		a.ask(a.model, "fill off=%d len=9001 seed=78", target)
		a.tool(a.perftest(duty{mtu: 1024}), "ib_read_bw -o 4 -s 9001 -m 1024"+common)
	})
	add("ib_atomic_bw -A FETCH_AND_ADD", func(a *attempt) {
		a.ask(a.model, "put off=%d hex=%x", target, make([]byte, 8192))
		a.tool(a.perftest(duty{mtu: 1024}), "ib_atomic_bw -A FETCH_AND_ADD -o 4 -m 1024"+common)
		sum := uint64(0)
		for i := 0; i < 8192; i += 64 { // one word after the other
			sum += a.word(a.model, target+i)
		}
		if sum != 20 {
			a.fail("20 additions of 1 are %d", sum)
		}
	})
	add("ib_atomic_bw -A CMP_AND_SWAP", func(a *attempt) {
		a.tool(a.perftest(duty{mtu: 1024}), "ib_atomic_bw -A CMP_AND_SWAP -o 4 -m 1024"+common)
	})
	add("ib_write_lat", func(a *attempt) {
		const size, rounds = 100, 5
		last := target + size - 1
		a.ask(a.model, "put off=%d hex=00", last)
		a.tool(a.perftest(duty{mtu: 1024, work: func(id int, addr, rkey uint64) {
			for i := 1; i <= rounds; i++ {
				a.ask(a.model, "put off=%d hex=%02x", source+size-1, i)
				a.ask(a.model, "send %d op=write off=%d len=%d id=%d addr=%#x rkey=%#x", id, source, size, i, addr, rkey)
				a.expect(a.model, fmt.Sprintf("id=%d status=0", i))
				a.await(last, byte(i)) // the server is the first to write
			}
		}}), "ib_write_lat -s %d -m 1024 -x 1 -F -u 20 -n %d", size, rounds)
	})
	return list
}

// await waits until a byte of the model's buffer has a value.
func (a *attempt) await(off int, want byte) {
	for end := time.Now().Add(a.patience); ; time.Sleep(time.Millisecond) {
		if a.ask(a.model, "get off=%d len=1", off) == fmt.Sprintf("%02x", want) {
			return
		}
		if time.Now().After(end) {
			a.fail("byte %d does not become %d", off, want)
		}
	}
}
