package interop

import (
	"fmt"
	"strings"
	"time"
)

// tools are unmodified programs of Debian's packages in the guest, as clients.
func tools() (list []Case) {
	add := func(name string, run func(*attempt)) { list = append(list, Case{Name: name, run: run}) }
	for _, c := range []struct{ size, mtu, gid int }{
		{64, 1024, 1}, {10001, 1024, 1}, {10001, 4096, 1}, {1027, 256, 1}, {3001, 1024, 0},
	} {
		add(fmt.Sprintf("ibv_rc_pingpong -s %d -m %d -g %d", c.size, c.mtu, c.gid), func(a *attempt) {
			const rounds = 5
			a.tool(a.pingpong(service{mtu: c.mtu}, c.size, rounds), "ibv_rc_pingpong -g %d -c -s %d -m %d -n %d", c.gid, c.size, c.mtu, rounds)
			for i := 1; i < rounds; i++ { // the client sends what it received
				a.compare(a.model, target+i*c.size, pages(c.size), "ping")
			}
		})
	}
	const common = " -x 1 -F -u 20 -n 20"
	for _, c := range []struct{ size, mtu, gid int }{{64, 1024, 1}, {10002, 1024, 1}, {3001, 4096, 0}} {
		add(fmt.Sprintf("ibv_uc_pingpong -s %d -m %d -g %d", c.size, c.mtu, c.gid), func(a *attempt) {
			const rounds = 5
			a.tool(a.pingpong(service{typ: "uc", mtu: c.mtu}, c.size, rounds), "ibv_uc_pingpong -g %d -c -s %d -m %d -n %d", c.gid, c.size, c.mtu, rounds)
			for i := 1; i < rounds; i++ {
				a.compare(a.model, target+i*c.size, pages(c.size), "ping")
			}
		})
	}
	for _, c := range []struct{ size, gid int }{{1, 1}, {1000, 1}, {4096, 1}, {777, 0}} {
		add(fmt.Sprintf("ibv_ud_pingpong -s %d -g %d", c.size, c.gid), func(a *attempt) {
			const rounds = 5
			a.tool(a.pingpong(service{typ: "ud"}, c.size, rounds), "ibv_ud_pingpong -g %d -c -s %d -n %d", c.gid, c.size, rounds)
			for i := 1; i < rounds; i++ {
				a.compare(a.model, target+i*(grh+c.size)+grh, pages(c.size), "ping")
			}
		})
	}
	for _, gid := range []int{1, 0} {
		add(fmt.Sprintf("ibv_srq_pingpong -q 4 -g %d", gid), func(a *attempt) {
			answered := 0
			s := service{mtu: 1024, srq: a.sharedQueue(a.model)}
			a.tool(a.sharedPingpong(s, 3000, 4, &answered), "ibv_srq_pingpong -g %d -c -q 4 -r 16 -s 3000 -m 1024 -n 20", gid)
			if answered < 20 {
				a.fail("%d messages came", answered)
			}
			for i := 4; i < 20; i++ { // the first of each queue pair are zeros, then it sends what it received
				a.compare(a.model, target+i*3000, pages(3000), "ping")
			}
		})
	}
	add("ib_send_bw", func(a *attempt) {
		a.tool(a.perftest(duty{service: service{mtu: 1024}, prepare: func(p partner) {
			a.ask(a.model, "recv %d off=%d len=5000 id=0 n=20", p.id, target)
		}}), "ib_send_bw -s 5000 -m 1024"+common)
		a.ready(a.model, 20)
	})
	add("ib_write_bw", func(a *attempt) {
		a.ask(a.model, "fill off=%d len=5000 seed=77", target)
		a.tool(a.perftest(duty{service: service{mtu: 4096}}), "ib_write_bw -s 5000 -m 4096"+common)
		if a.ask(a.model, "get off=%d len=5000", target) == fmt.Sprintf("%x", pattern(5000, 77)) {
			a.fail("nothing was written")
		}
	})
	add("ib_read_bw", func(a *attempt) {
		a.ask(a.model, "fill off=%d len=9001 seed=78", target)
		a.tool(a.perftest(duty{service: service{mtu: 1024}}), "ib_read_bw -o 4 -s 9001 -m 1024"+common)
	})
	add("ib_atomic_bw -A FETCH_AND_ADD", func(a *attempt) {
		a.ask(a.model, "put off=%d hex=%x", target, make([]byte, 8192))
		a.tool(a.perftest(duty{service: service{mtu: 1024}}), "ib_atomic_bw -A FETCH_AND_ADD -o 4 -m 1024"+common)
		sum := uint64(0)
		for i := 0; i < 8192; i += 64 { // one word after the other
			sum += a.word(a.model, target+i)
		}
		if sum != 20 {
			a.fail("20 additions of 1 are %d", sum)
		}
	})
	add("ib_atomic_bw -A CMP_AND_SWAP", func(a *attempt) {
		a.tool(a.perftest(duty{service: service{mtu: 1024}}), "ib_atomic_bw -A CMP_AND_SWAP -o 4 -m 1024"+common)
	})
	add("ib_write_lat", func(a *attempt) {
		const size, rounds = 100, 5
		last := target + size - 1
		a.ask(a.model, "put off=%d hex=00", last)
		a.tool(a.perftest(duty{service: service{mtu: 1024}, work: func(p partner) {
			for i := 1; i <= rounds; i++ {
				a.ask(a.model, "put off=%d hex=%02x", source+size-1, i)
				a.ask(a.model, "send %d op=write off=%d len=%d id=%d addr=%#x rkey=%#x", p.id, source, size, i, p.addr, p.rkey)
				a.expect(a.model, fmt.Sprintf("id=%d status=0", i))
				a.await(last, byte(i)) // the server is the first to write
			}
		}}), "ib_write_lat -s %d -m 1024 -x 1 -F -u 20 -n %d", size, rounds)
	})
	return append(list, unacked()...)
}

// unacked are the modes of perftest without acknowledgements.
func unacked() (list []Case) {
	for _, gid := range []int{1, 0} {
		add := func(name string, run func(*attempt, string)) {
			list = append(list, Case{Name: fmt.Sprintf("%s -x %d", name, gid), run: func(a *attempt) {
				run(a, fmt.Sprintf(" -x %d -F -u 20 -n 20", gid))
			}})
		}
		add("ib_send_bw -c UC", func(a *attempt, common string) {
			a.tool(a.perftest(duty{service: service{typ: "uc", mtu: 1024}, prepare: func(p partner) {
				a.ask(a.model, "recv %d off=%d len=5000 id=0 n=20", p.id, target)
			}}), "ib_send_bw -c UC -s 5000 -m 1024%s", common)
			a.ready(a.model, 20)
		})
		add("ib_send_bw -c UD", func(a *attempt, common string) {
			a.tool(a.perftest(duty{service: service{typ: "ud"}, prepare: func(p partner) {
				a.ask(a.model, "recv %d off=%d len=4136 id=0 n=20", p.id, target)
			}}), "ib_send_bw -c UD -s 4096%s", common)
			a.ready(a.model, 20)
		})
		add("ib_write_bw -c UC", func(a *attempt, common string) {
			a.ask(a.model, "fill off=%d len=5000 seed=77", target)
			a.tool(a.perftest(duty{service: service{typ: "uc", mtu: 4096}}), "ib_write_bw -c UC -s 5000 -m 4096%s", common)
			if a.ask(a.model, "get off=%d len=5000", target) == fmt.Sprintf("%x", pattern(5000, 77)) {
				a.fail("nothing was written")
			}
		})
		for _, typ := range []string{"uc", "ud"} {
			add("ib_send_lat -c "+strings.ToUpper(typ), func(a *attempt, common string) {
				const size, rounds = 100, 20
				room := size
				if typ == "ud" {
					room += grh
				}
				a.tool(a.perftest(duty{service: service{typ: typ, mtu: 1024}, prepare: func(p partner) {
					a.ask(a.model, "recv %d off=%d len=%d id=0 n=%d", p.id, target, room, rounds)
				}, work: func(p partner) {
					for range rounds {
						a.ready(a.model, 1) // the server is the first to send
						a.ask(a.model, "send %d op=send off=%d len=%d id=1 ah=%d qpn=%d qkey=%d", p.id, source, size, p.id, p.qpn, toolQKey)
						a.ready(a.model, 1)
					}
				}}), "ib_send_lat -c %s -s %d -m 1024%s", strings.ToUpper(typ), size, common)
			})
		}
	}
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
