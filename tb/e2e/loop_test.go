package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestLoopback (B157): both QPs on one NIC, of each transport, over both families and with a
// tag. Nothing is on the wire, and all is as if it were.
func TestLoopback(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
		for _, tagged := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, tagged %t", typ, tagged), func(t *testing.T) {
				versions(t, func(t *testing.T, v6 bool) {
					s := e2e.New(t, quick)
					c := driver.QPConfig{Type: typ, IPv6: v6}
					var p *e2e.Pair
					wr := func(id uint64, n int) driver.SendWR { return p.A.SendWR(id, 0, n) }
					if typ == abi.QPTypeUD {
						c.Type = typ
						p = s.Couple(s.A.QP(c).Start(), s.A.QP(c).Start())
						ah := s.A.AHTo(p.B, func(a *driver.AHAttr) { a.VLANValid, a.VLAN = tagged, 7<<13|99 })
						wr = func(id uint64, n int) driver.SendWR { return p.A.Datagram(id, 0, min(n, 4096), ah, p.B) }
					} else {
						p = s.Join(s.A.QP(c), s.A.QP(c), driver.ConnectOptions{VLANValid: tagged, VLAN: 99})
					}
					s.A.Fill(0, 50_000, 1)
					for _, n := range []int{0, 1, 20, 22, 46, 47, 1000, 4096, 50_000} {
						at := 100_000
						p.B.Recv(p.B.RecvWR(11, at, 50_040))
						w := wr(1, n)
						p.A.Send(w)
						p.A.Sent(e2e.OK(1)...)
						wc := p.B.Received(e2e.OK(11)...)[0]
						if typ == abi.QPTypeUD {
							at, n = at+40, min(n, 4096)
							require.EqualValues(t, n+40, wc.ByteLen)
						}
						s.A.Demand(at, e2e.Bytes(50_000, 1)[:n])
					}
					require.Empty(t, s.A.Seen)
					require.Empty(t, s.A.Faults())
				})
			})
		}
	}
}

// TestLoopbackOperations (B157): READs, WRITEs and atomics at home, and what is refused there.
func TestLoopbackOperations(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Join(s.A.QP(driver.QPConfig{}), s.A.QP(driver.QPConfig{}), driver.ConnectOptions{})
	far := region(t, s.A, s.A.PD, farAt, farSize, all)
	s.A.Fill(0, image, 1)
	b := e2e.Bytes(image, 1)
	op := func(id uint64, o abi.WQEOp, at, n int) driver.SendWR {
		wr := p.A.SendWR(id, at, n)
		wr.Op, wr.RemoteAddr, wr.RKey, wr.SwapAdd = o, far.Addr, far.RKey, 5
		return wr
	}
	p.A.Send(op(1, abi.OpWrite, 0, 9000), op(2, abi.OpRead, 20_000, 9000), op(3, abi.OpFetchAdd, 40_000, 8), op(4, abi.OpRead, 40_008, 8))
	p.A.Sent(e2e.OK(1, 2, 3, 4)...)
	s.A.Demand(20_000, b[:9000])
	s.A.Demand(40_000, b[:8])
	add(b, 5)
	s.A.Demand(40_008, b[:8])
	bad := op(5, abi.OpFetchAdd, 40_000, 8)
	bad.RemoteAddr += 4
	p.A.Send(bad)
	wc := p.A.Sent(e2e.All(abi.StatusRemInvReq, 5)...)[0]
	require.Equal(t, abi.VendorNAKInvalid, wc.VendorErr)
	p.B.DemandState(abi.QPErr)
	s.Sleep(500)
	require.Equal(t, []abi.EventType{abi.EventQPReqErr}, types(s.A.Events()))
	require.Empty(t, s.A.Seen)
}

// TestLoopbackToItself: a QP that is its own peer.
func TestLoopbackToItself(t *testing.T) {
	s := e2e.New(t, quick)
	e := s.A.QP(driver.QPConfig{})
	s.Couple(e, e)
	e.Reconnect()
	s.A.Fill(0, 5000, 1)
	e.Recv(e.RecvWR(11, 8192, 5000))
	e.Send(e.SendWR(1, 0, 5000))
	e.Sent(e2e.OK(1)...)
	e.Received(e2e.OK(11)...)
	s.A.Demand(8192, e2e.Bytes(5000, 1))
	require.Empty(t, s.A.Seen)
}

// TestLoopbackBesideTheWire: a NIC turns packets round at full rate while as many come and
// leave by its wire. Nothing is lost, of RC nothing is sent twice, of UC every message
// arrives, and the wire keeps its rate.
func TestLoopbackBesideTheWire(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		for _, n := range []int{64, 1000, 200_000} {
			t.Run(fmt.Sprintf("%v of %d bytes", typ, n), func(t *testing.T) {
				s := e2e.New(t, quick)
				c := driver.QPConfig{Type: typ, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 1, MaxRecvSGE: 1}
				o := driver.ConnectOptions{Timeout: 16, MTU: abi.MTU4096}
				home := s.Join(s.A.QP(c), s.A.QP(c), o)
				out, in := s.Join(s.A.QP(c), s.B.QP(c), o), s.Join(s.B.QP(c), s.A.QP(c), o)
				count := min(16, 1+200_000/n)
				s.A.Fill(0, n, 1)
				s.B.Fill(0, n, 2)
				var l []uint64
				for i := range count {
					l = append(l, uint64(i))
				}
				for i, p := range []*e2e.Pair{home, out, in} {
					for k := range count {
						p.B.Recv(p.B.RecvWR(uint64(k), 250_000*(1+i%3)+k%2*n%1000, n))
					}
				}
				for k := range count {
					s.Both(func() { post2(home, out, k, n) }, func() { post2(in, nil, k, n) })
				}
				for _, p := range []*e2e.Pair{home, out, in} {
					p.A.Sent(e2e.OK(l...)...)
					p.B.Received(e2e.OK(l...)...)
				}
				for _, d := range []*e2e.Side{s.A, s.B} {
					f := d.Faults()
					delete(f, abi.RxDropOther)
					require.Empty(t, f)
				}
				packets := count * max(1, (n+4095)/4096)
				require.Len(t, s.A.Requests(0), packets)
				require.Len(t, s.B.Requests(0), packets)
			})
		}
	}
}

// post2 posts send k of one or two pairs.
func post2(p, q *e2e.Pair, k, n int) {
	for _, x := range []*e2e.Pair{p, q} {
		if x != nil {
			_, _ = x.A.QP.PostSend(x.A.SendWR(uint64(k), 0, n))
		}
	}
}
