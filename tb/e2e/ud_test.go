package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// versions runs a test over IPv4 and over IPv6.
func versions(t *testing.T, test func(t *testing.T, v6 bool)) {
	t.Helper()
	for _, v6 := range []bool{false, true} {
		t.Run(fmt.Sprintf("IPv6 %t", v6), func(t *testing.T) { test(t, v6) })
	}
}

// grh is what must stand before the data of a datagram: the IP header of its packet, in
// the last 20 bytes of the 40 if it is one of IPv4. from is the first byte that counts.
func grh(p *roce.Packet) (b []byte, from int) {
	f := p.Append(nil)
	if p.V6 {
		return f[p.L3() : p.L3()+40], 0
	}
	return f[p.L3() : p.L3()+20], 20
}

// TestDatagramLengths (B028, B100, B209, B210): datagrams of any length up to the MTU of
// the port: each one packet that asks for no answer, with the IP header and 40 bytes of
// byte_len before it, and nothing behind.
func TestDatagramLengths(t *testing.T) {
	versions(t, func(t *testing.T, v6 bool) {
		for _, mtu := range []abi.MTU{abi.MTU256, abi.MTU1024, abi.MTU4096} {
			o := quick
			o.Driver.MTU = mtu
			s := e2e.New(t, o)
			p := s.Datagrams(driver.QPConfig{IPv6: v6})
			ah := s.A.AHTo(p.B, func(a *driver.AHAttr) { a.TrafficClass, a.HopLimit = 0x68, 77 })
			most := int(mtu.Bytes())
			s.A.Fill(0, 8192, 1)
			for i, n := range []int{0, 1, 2, 3, 4, 23, 24, 25, 60, 63, 64, 65, 127, most - 1, most} {
				s.B.Fill(0, 8192, 2)
				p.B.Recv(p.B.RecvWR(11, 100, 40+n))
				wr := p.A.Datagram(1, 3*i, n, ah, p.B)
				if i%2 == 1 {
					wr.Op, wr.Imm, wr.Solicited = abi.OpSendImm, 0x11223344, true
				}
				p.A.Send(wr)
				p.A.Sent(e2e.OK(1)...)
				wc := p.B.Received(e2e.OK(11)...)[0]
				require.EqualValues(t, 40+n, wc.ByteLen)
				require.Equal(t, p.A.QP.Number(), wc.SrcQPN)
				want := abi.CQEGRH
				if i%2 == 1 {
					want |= abi.CQEWithImm
					require.EqualValues(t, 0x11223344, wc.Imm)
				}
				require.Equal(t, want, wc.Flags)
				rs := s.A.Requests(0)
				require.Len(t, rs, i+1)
				r := &rs[i]
				require.Equal(t, i%2 == 1, r.BTH.SE)
				require.Equal(t, roce.QPN(p.A.QP.Number()), r.DETH.SrcQP)
				require.EqualValues(t, e2e.QKey, r.DETH.QKey)
				require.Equal(t, n, len(r.Payload))
				head, from := grh(r)
				s.B.Demand(100+from, head)
				s.B.Demand(140, e2e.Bytes(8192, 1)[3*i:3*i+n])
				s.B.Demand(0, e2e.Bytes(8192, 2)[:100])
				s.B.Demand(140+n, e2e.Bytes(8192, 2)[140+n:])
				if v6 {
					require.EqualValues(t, 77, r.IP6.HopLimit)
				} else {
					require.EqualValues(t, 77, r.IP4.TTL)
				}
			}
			s.Close()
		}
	})
}

// TestDatagramHeaderApart: the receive's first element takes the header, the others the
// data.
func TestDatagramHeaderApart(t *testing.T) {
	versions(t, func(t *testing.T, v6 bool) {
		for _, cut := range []int{1, 19, 20, 39, 40, 41, 60} {
			s := e2e.New(t, quick)
			p := s.Datagrams(driver.QPConfig{IPv6: v6})
			s.A.Fill(0, 1000, 1)
			p.B.Recv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{s.B.MR.SGE(8001, cut), s.B.MR.SGE(0, 0), s.B.MR.SGE(4095, 500), s.B.MR.SGE(12345, 540-cut)}})
			wr := p.A.Datagram(1, 0, 0, s.A.AHTo(p.B), p.B)
			wr.SGEs = []driver.SGE{s.A.MR.SGE(0, 333), s.A.MR.SGE(333, 667)}
			p.A.Send(wr)
			p.A.Sent(e2e.OK(1)...)
			require.EqualValues(t, 1040, p.B.Received(e2e.OK(11)...)[0].ByteLen)
			got := append(s.B.Read(8001, cut), s.B.Read(4095, 500)...)
			got = append(got, s.B.Read(12345, 540-cut)...)
			head, from := grh(&s.A.Requests(0)[0])
			same(t, append(head, e2e.Bytes(1000, 1)...), got[from:])
			s.Close()
		}
	})
}

// TestDatagramInline (B133): data of the work request; that of the top bit of the
// Q_Key, and keys that agree only without it.
func TestDatagramInline(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Datagrams(driver.QPConfig{})
	ah := s.A.AHTo(p.B)
	for i, n := range []int{0, 1, 32, 33, 64} {
		p.B.Recv(p.B.RecvWR(11, 0, 200))
		wr := p.A.Datagram(1, 0, 0, ah, p.B)
		wr.SGEs, wr.Inline = nil, e2e.Bytes(n, uint64(i))
		wr.RemoteQKey = 1<<31 | 77 // the QP's own, whatever is said besides
		p.A.Send(wr)
		p.A.Sent(e2e.OK(1)...)
		require.EqualValues(t, 40+n, p.B.Received(e2e.OK(11)...)[0].ByteLen)
		s.B.Demand(40, e2e.Bytes(n, uint64(i)))
	}
}

// TestDatagramOverrun (B164 has it for completions): more datagrams than receives. As many
// as there are receives arrive, in order; the others are gone, and the queue goes on.
func TestDatagramOverrun(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Datagrams(driver.QPConfig{})
	ah := s.A.AHTo(p.B)
	s.A.Fill(0, 4096, 1)
	for round := range 3 {
		before := s.B.Faults()[abi.OutOfBuffer]
		p.B.Recv(p.B.Recvs(0, 200, 10, 11, 12, 13, 14)...)
		for i := range 12 {
			p.A.Send(p.A.Datagram(uint64(i), 100*i, 100+i, ah, p.B))
		}
		p.A.Sent(e2e.OK(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)...)
		wcs := p.B.Received(e2e.OK(10, 11, 12, 13, 14)...)
		for i, wc := range wcs {
			require.EqualValues(t, 140+i, wc.ByteLen, "round %d", round)
			s.B.Demand(200*i+40, e2e.Bytes(4096, 1)[100*i:200*i+i-100*i+100])
		}
		s.Sleep(2000)
		require.EqualValues(t, 7, s.B.Faults()[abi.OutOfBuffer]-before)
	}
	p.B.DemandState(abi.QPRTS)
}

// TestDatagramsToMany: one QP sends to many by as many handles, one of them its own
// neighbour; and one receives from all of them, and answers by what the completion and
// the header tell (B209).
func TestDatagramsToMany(t *testing.T) {
	versions(t, func(t *testing.T, v6 bool) {
		s := e2e.New(t, quick)
		s.A.Loops = true
		c := driver.QPConfig{IPv6: v6}
		p, q, r := s.Datagrams(c), s.Datagrams(c), s.Datagrams(c)
		a := p.A
		ends := []*e2e.End{a, p.B, q.B, r.B, q.A, r.A}
		s.A.Fill(0, 4096, 1)
		var ahs []*driver.AH
		for _, e := range ends {
			ahs = append(ahs, s.A.AHTo(e))
			e.Recv(e.RecvWR(11, 20_000+200*len(ahs), 140), e.RecvWR(12, 30_000+200*len(ahs), 140))
		}
		var wrs []driver.SendWR
		for i := range 2 * len(ends) {
			k := i % len(ends)
			wrs = append(wrs, a.Datagram(uint64(i), 10*i, 100-i, ahs[k], ends[k]))
		}
		a.Send(wrs...)
		a.Sent(e2e.OK(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)...)
		for k, e := range ends {
			wcs := e.Received(e2e.OK(11, 12)...)
			for j, wc := range wcs {
				i := k + j*len(ends)
				require.EqualValues(t, 140-i, wc.ByteLen)
				require.Equal(t, a.QP.Number(), wc.SrcQPN)
				e.Demand(20_000+j*10_000+200*(k+1)+40, e2e.Bytes(4096, 1)[10*i:10*i+100-i])
			}
			if e == a {
				continue
			}
			var back *driver.AH
			e.Must(func() (err error) {
				back, err = e.PD.CreateAHFromWC(&wcs[0], e.Read(20_000+200*(k+1), 40), a.QP.Endpoint().MAC)
				return err
			})
			a.Recv(a.RecvWR(21, 50_000, 140))
			e.Fill(60_000, 50, uint64(k))
			e.Send(e.Datagram(5, 60_000, 50, back, a))
			e.Sent(e2e.OK(5)...)
			wc := a.Received(e2e.OK(21)...)[0]
			require.Equal(t, e.QP.Number(), wc.SrcQPN)
			a.Demand(50_040, e2e.Bytes(50, uint64(k)))
		}
		for _, f := range s.A.Seen {
			require.Equal(t, roce.UD, f.BTH.Opcode.Transport())
		}
	})
}
