package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestDatagramsNotTaken (B210, B214, B216): datagrams that the receiver has no use for.
// The sender sees SUCCESS, the receiver nothing but a counter; its receive stays, and
// takes the next datagram. There are no multicast groups: nobody is at their QPN.
func TestDatagramsNotTaken(t *testing.T) {
	other := func(typ abi.QPType) func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) {
		return func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) {
			q := s.Join(s.A.QP(driver.QPConfig{Type: typ}), s.B.QP(driver.QPConfig{Type: typ}), driver.ConnectOptions{})
			q.B.Recv(q.B.RecvWR(99, 9000, 200))
			wr.RemoteQPN = q.B.QP.Number()
		}
	}
	state := func(take func(e *e2e.End)) func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) {
		return func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) {
			e := s.B.QP(driver.QPConfig{Type: abi.QPTypeUD})
			take(e)
			wr.RemoteQPN = e.QP.Number()
		}
	}
	to := func(change func(a *driver.AHAttr)) func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) {
		return func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) { wr.AH = s.A.AHTo(p.B, change) }
	}
	qpn := func(n uint32) func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR) {
		return func(_ *testing.T, _ *e2e.Scene, _ *e2e.Pair, wr *driver.SendWR) { wr.RemoteQPN = n }
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *e2e.Scene, p *e2e.Pair, wr *driver.SendWR)
		recv   int // bytes of the receive
		want   abi.Counter
	}{
		{"wrong Q_Key", func(_ *testing.T, _ *e2e.Scene, _ *e2e.Pair, wr *driver.SendWR) { wr.RemoteQKey ^= 1 }, 140, abi.RxDropBadQKey},
		{"Q_Key with another top byte", func(_ *testing.T, _ *e2e.Scene, _ *e2e.Pair, wr *driver.SendWR) { wr.RemoteQKey ^= 1 << 30 }, 140, abi.RxDropBadQKey},
		{"QPN of nobody", qpn(0x123), 140, abi.RxDropBadQPN},
		{"QPN beyond the table", qpn(0x10000), 140, abi.RxDropBadQPN},
		{"QPN 0", qpn(0), 140, abi.RxDropBadQPN},
		{"QPN of multicast", qpn(uint32(roce.MulticastQPN)), 140, abi.RxDropBadQPN},
		{"RC QP", other(abi.QPTypeRC), 140, abi.RxDropBadTransport},
		{"UC QP", other(abi.QPTypeUC), 140, abi.RxDropBadTransport},
		{"raw QP", state(func(e *e2e.End) {}), 140, abi.RxDropBadState},
		{"QP in INIT", state(func(e *e2e.End) {
			e.Must(func() error {
				return e.QP.Modify(driver.QPAttr{State: abi.QPInit, Port: 1, QKey: e2e.QKey}, abi.AttrState|abi.AttrPKeyIndex|abi.AttrPort|abi.AttrQKey)
			})
		}), 140, abi.RxDropBadState},
		{"QP in ERR", state(func(e *e2e.End) { e.Start().Fail() }), 140, abi.RxDropBadState},
		{"no receive", nil, 0, abi.OutOfBuffer},
		{"receive a byte too small", nil, 139, abi.RespLocalLengthError},
		{"receive of the data alone", nil, 100, abi.RespLocalLengthError},
		{"receive smaller than the header", nil, 39, abi.RespLocalLengthError},
		{"receive of nothing", nil, -1, abi.RespLocalLengthError},
		{"address of nobody", to(func(a *driver.AHAttr) { a.DGID[15] ^= 0x40 }), 140, abi.RxDropBadAddress},
		{"station of nobody", to(func(a *driver.AHAttr) { a.MAC[5] ^= 0x40 }), 140, abi.RxDropNotRoCE},
	} {
		t.Run(c.name, func(t *testing.T) {
			versions(t, func(t *testing.T, v6 bool) {
				s := e2e.New(t, quick)
				p := s.Datagrams(driver.QPConfig{IPv6: v6})
				ah := s.A.AHTo(p.B)
				s.A.Fill(0, 100, 1)
				wr := p.A.Datagram(1, 0, 100, ah, p.B)
				if c.change != nil {
					c.change(t, s, p, &wr)
				}
				if c.recv != 0 {
					p.B.Recv(p.B.RecvWR(11, 0, max(0, c.recv)))
				}
				before := s.B.Faults()
				for range 2 {
					p.A.Send(wr)
					p.A.Sent(e2e.OK(1)...)
					s.Sleep(2000) // one that follows at once is lost with one that does not fit
				}
				want := e2e.Faults{c.want: 2}
				if c.want == abi.OutOfBuffer {
					want[abi.RxDropOther] = 2
				}
				require.Equal(t, want, s.B.Faults().Since(before))
				p.B.DemandNone(p.B.RCQ)
				p.B.DemandState(abi.QPRTS)
				require.Empty(t, s.B.Events())
				next := 100
				switch {
				case c.recv == 0:
					p.B.Recv(p.B.RecvWR(11, 0, 140))
				case c.recv < 40: // takes none: the next receive does
					p.B.Fail()
					p.B.Received(e2e.Flushed(11)...)
					p.B.Reset()
					p.B.Start()
					p.B.Recv(p.B.RecvWR(11, 0, 140))
				default:
					next = c.recv - 40
				}
				p.A.Send(p.A.Datagram(2, 0, next, ah, p.B))
				p.A.Sent(e2e.OK(2)...)
				require.EqualValues(t, next+40, p.B.Received(e2e.OK(11)...)[0].ByteLen)
				s.B.Demand(40, e2e.Bytes(100, 1)[:next])
			})
		})
	}
}

// TestDatagramsForged: datagrams of a wrong make are dropped; odd ones are taken.
func TestDatagramsForged(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Datagrams(driver.QPConfig{})
	bad := func(f func(q *roce.Packet)) roce.Packet {
		q := p.B.ForgeDatagram(5, e2e.Bytes(100, 5))
		f(&q)
		return q
	}
	p.B.Recv(p.B.RecvWR(11, 0, 4096))
	for _, c := range []struct {
		name string
		p    roce.Packet
		want abi.Counter
	}{
		{"SEND_FIRST", bad(func(q *roce.Packet) { q.BTH.Opcode = 0x60 }), abi.RxDropBadQKey},
		{"WRITE", bad(func(q *roce.Packet) { q.BTH.Opcode = 0x6a }), abi.RxDropBadQKey},
		{"READ", bad(func(q *roce.Packet) { q.BTH.Opcode = 0x6c }), abi.RxDropBadQKey},
		{"of RC", bad(func(q *roce.Packet) { q.BTH.Opcode = roce.RCSendOnly }), abi.RxDropBadTransport},
		{"of UC", bad(func(q *roce.Packet) { q.BTH.Opcode = roce.UCSendOnly }), abi.RxDropBadTransport},
		{"ACK", bad(func(q *roce.Packet) { q.BTH.Opcode = roce.RCAck; q.SetPayload(nil) }), abi.RxDropBadTransport},
		{"P_Key", bad(func(q *roce.Packet) { q.BTH.PKey = 0x8001 }), abi.RxDropBadPKey},
		{"Q_Key", bad(func(q *roce.Packet) { q.DETH.QKey ^= 1 << 31 }), abi.RxDropBadQKey},
		{"address", bad(func(q *roce.Packet) { q.IP4.Dst[3] = 9 }), abi.RxDropBadAddress},
		{"IPv6 to nobody", bad(func(q *roce.Packet) { q.V6, q.IP6.Dst[3] = true, 9 }), abi.RxDropBadAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.B.Faults()
			s.B.Arrive(c.p)
			require.Equal(t, e2e.Faults{c.want: 1}, s.B.Faults().Since(before))
		})
	}
	var ids []uint64
	odd := []roce.Packet{
		bad(nothing),
		bad(nothing), // again the same PSN
		bad(func(q *roce.Packet) { q.BTH.PSN = 0xffffff }),
		bad(func(q *roce.Packet) { q.BTH.AckReq = true }), // nobody answers
		bad(func(q *roce.Packet) { q.IP4.Src = roce.HostIPv4(99) }),
		bad(func(q *roce.Packet) { q.V6 = true }),
		bad(func(q *roce.Packet) { q.Tagged, q.VLAN.VID = true, 77 }),
		bad(func(q *roce.Packet) { q.DETH.SrcQP = 0xfffffe }),
	}
	for i := range odd {
		ids = append(ids, uint64(12+i))
		p.B.Recv(p.B.RecvWR(uint64(12+i), 0, 4096))
	}
	s.B.Arrive(odd...)
	for i, wc := range p.B.Received(e2e.OK(append([]uint64{11}, ids[:len(ids)-1]...)...)...) {
		require.EqualValues(t, odd[i].DETH.SrcQP, wc.SrcQPN)
		require.EqualValues(t, 140, wc.ByteLen)
	}
	for _, f := range s.B.Seen {
		require.False(t, f.Tx, "an answer")
	}
}

// TestDatagramsRefused: work requests of UD that end in error. Nothing leaves; the send
// queue alone stops, in SQE, what is behind flushes, and it goes on when it is told to.
func TestDatagramsRefused(t *testing.T) {
	type row struct {
		name   string
		change func(t *testing.T, s *e2e.Scene, wr *driver.SendWR)
		status abi.WCStatus
		vendor abi.VendorErr
	}
	rows := []row{
		{"a byte over the MTU", func(_ *testing.T, s *e2e.Scene, wr *driver.SendWR) {
			wr.SGEs = []driver.SGE{s.A.MR.SGE(0, 4000), s.A.MR.SGE(0, 97)}
		}, abi.StatusLocLen, abi.VendorWQELength},
		{"far over the MTU", func(_ *testing.T, s *e2e.Scene, wr *driver.SendWR) {
			wr.SGEs = []driver.SGE{s.A.MR.SGE(0, 1<<20)}
		}, abi.StatusLocLen, abi.VendorWQELength},
		{"AH of another PD", func(t *testing.T, s *e2e.Scene, wr *driver.SendWR) {
			pd := domain(s.A)
			e := s.B.QP(driver.QPConfig{Type: abi.QPTypeUD})
			to := e.QP.Endpoint()
			s.A.Must(func() (err error) {
				wr.AH, err = pd.CreateAH(driver.AHAttr{MAC: to.MAC, DGID: to.GID})
				return err
			})
		}, abi.StatusLocQPOp, abi.VendorAH},
	}
	for _, l := range badKeys(t) {
		rows = append(rows, row{l.name, func(_ *testing.T, s *e2e.Scene, wr *driver.SendWR) {
			wr.SGEs = l.list(s.A)
		}, abi.StatusLocProt, l.vendor})
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			s := e2e.New(t, quick)
			p := s.Datagrams(driver.QPConfig{})
			ah, back := s.A.AHTo(p.B), s.B.AHTo(p.A)
			s.A.Fill(0, 100, 1)
			bad := p.A.Datagram(2, 0, 100, ah, p.B)
			c.change(t, s, &bad)
			bad.Signaled = false
			p.B.Recv(p.B.Recvs(0, 1100, 11, 12)...)
			good := func(id uint64) driver.SendWR { return p.A.Datagram(id, 0, 100, ah, p.B) }
			p.A.Send(good(1), bad, good(3), good(4))
			wcs := p.A.Sent(then(e2e.OK(1), e2e.All(c.status, 2), e2e.Flushed(3, 4))...)
			require.Equal(t, c.vendor, wcs[1].VendorErr)
			p.B.Received(e2e.OK(11)...)
			p.A.DemandState(abi.QPSQE)
			require.Empty(t, s.A.Events())
			p.A.Send(good(5))
			p.A.Sent(e2e.Flushed(5)...)
			// The receive side works on.
			p.A.Recv(p.A.RecvWR(21, 5000, 1000))
			p.B.Send(p.B.Datagram(1, 0, 10, back, p.A))
			p.B.Sent(e2e.OK(1)...)
			p.A.Received(e2e.OK(21)...)
			p.A.Restart()
			p.A.DemandState(abi.QPRTS)
			p.A.Send(good(6))
			p.A.Sent(e2e.OK(6)...)
			p.B.Received(e2e.OK(12)...)
			require.Len(t, s.A.Requests(0), 2)
		})
	}
}

// domain is another domain of the side.
func domain(d *e2e.Side) (pd *driver.PD) {
	d.Must(func() (err error) {
		pd, err = d.Dev.AllocPD()
		return err
	})
	return pd
}

// TestHandleReused: a handle that is given up while sends that name it wait. They fail;
// of the next one of its number nothing of it shows.
func TestHandleReused(t *testing.T) {
	s := e2e.New(t, quick)
	p, q := s.Datagrams(driver.QPConfig{}), s.Datagrams(driver.QPConfig{IPv6: true})
	ah := s.A.AHTo(p.B, func(a *driver.AHAttr) { a.VLANValid, a.VLAN, a.TrafficClass = true, 99, 0xa8 })
	sqd := driver.QPAttr{State: abi.QPSQD}
	p.A.Must(func() error { return p.A.QP.Modify(sqd, abi.AttrState) })
	p.A.Send(p.A.Datagram(1, 0, 100, ah, p.B), p.A.Datagram(2, 0, 100, ah, p.B))
	s.A.Must(ah.Destroy)
	_, err := p.A.QP.PostSend(p.A.Datagram(3, 0, 100, ah, p.B))
	require.ErrorIs(t, err, driver.ErrInvalid)
	p.A.Must(func() error { return p.A.QP.Modify(driver.QPAttr{State: abi.QPRTS}, abi.AttrState) })
	wcs := p.A.Sent(then(e2e.All(abi.StatusLocQPOp, 1), e2e.Flushed(2))...)
	require.Equal(t, abi.VendorAH, wcs[0].VendorErr)
	require.Empty(t, s.A.Requests(0))

	number := ah.Number()
	for range 2000 { // until the number comes again
		if ah = s.A.AHTo(q.B); ah.Number() == number {
			break
		}
		s.A.Must(ah.Destroy)
	}
	require.Equal(t, number, ah.Number())
	q.B.Recv(q.B.RecvWR(11, 0, 200))
	q.A.Send(q.A.Datagram(4, 0, 100, ah, q.B))
	q.A.Sent(e2e.OK(4)...)
	q.B.Received(e2e.OK(11)...)
	r := s.A.Requests(0)
	require.Len(t, r, 1)
	require.False(t, r[0].Tagged)
	require.True(t, r[0].V6)
	require.Zero(t, r[0].IP6.DSCP)
}
