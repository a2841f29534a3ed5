package e2e_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestVLAN (B222, B229): what the address vector says of tag, traffic class, hop limit and
// flow is in each packet of the connection, answers and READ responses too, and only there.
func TestVLAN(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
		for i, tci := range []uint16{0, 1, 77, 0xffe, 3<<13 | 77, 7 << 13} {
			t.Run(fmt.Sprintf("%v, tag %#x", typ, tci), func(t *testing.T) {
				versions(t, func(t *testing.T, v6 bool) {
					s := e2e.New(t, quick)
					o := driver.ConnectOptions{VLANValid: true, VLAN: tci, TrafficClass: 0x68 + uint8(4*i), HopLimit: uint8(1 + 50*i), FlowLabel: 0x12345 + uint32(i)}
					c := driver.QPConfig{Type: typ, IPv6: v6}
					var p *e2e.Pair
					wr := func() driver.SendWR { return p.A.SendWR(1, 0, 3000) }
					if typ == abi.QPTypeUD {
						p = s.Datagrams(c)
						ah := s.A.AHTo(p.B, func(a *driver.AHAttr) {
							a.VLANValid, a.VLAN, a.TrafficClass, a.HopLimit, a.FlowLabel = true, tci, o.TrafficClass, o.HopLimit, o.FlowLabel
						})
						wr = func() driver.SendWR { return p.A.Datagram(1, 0, 3000, ah, p.B) }
					} else {
						p = s.Join(s.A.QP(c), s.B.QP(c), o)
					}
					s.A.Fill(0, 3000, 1)
					p.B.Recv(p.B.RecvWR(11, 8192, 4000))
					p.A.Send(wr())
					p.A.Sent(e2e.OK(1)...)
					p.B.Received(e2e.OK(11)...)
					if typ == abi.QPTypeRC {
						far := region(t, s.B, s.B.PD, farAt, farSize, all)
						r := p.A.SendWR(2, 0, 3000)
						r.Op, r.RemoteAddr, r.RKey = abi.OpRead, far.Addr, far.RKey
						p.A.Send(r)
						p.A.Sent(e2e.OK(2)...)
					}
					n := 0
					for _, d := range []*e2e.Side{s.A, s.B} {
						for _, f := range d.Seen {
							n++
							require.True(t, f.Tagged)
							require.Equal(t, tci, uint16(f.VLAN.PCP)<<13|f.VLAN.VID)
							if v6 {
								require.Equal(t, o.TrafficClass>>2, f.IP6.DSCP)
								require.Equal(t, o.HopLimit, f.IP6.HopLimit)
								require.Equal(t, o.FlowLabel, f.IP6.FlowLabel)
							} else {
								require.Equal(t, o.TrafficClass>>2, f.IP4.DSCP)
								require.Equal(t, o.HopLimit, f.IP4.TTL)
							}
						}
					}
					require.NotZero(t, n)
				})
			})
		}
	}
}

// TestVLANChecked: RC and UC take packets of their own VLAN alone, whatever the priority, and
// count others; no tag, and one of VLAN 0, are the same. UD takes any.
func TestVLANChecked(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
		for _, own := range []int{-1, 0, 77} {
			t.Run(fmt.Sprintf("%v in %d", typ, own), func(t *testing.T) {
				s := e2e.New(t, quick)
				c := driver.QPConfig{Type: typ}
				var p *e2e.Pair
				if typ == abi.QPTypeUD {
					p = s.Datagrams(c)
				} else {
					p = s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{VLANValid: own >= 0, VLAN: uint16(max(0, own))})
				}
				psn := p.B.FirstPSN()
				for _, x := range []int{-1, 0, 1, 76, 77, 78, 77 + 0x800, 0xfff} {
					for _, pcp := range []uint8{0, 5} {
						var q roce.Packet
						switch typ {
						case abi.QPTypeRC:
							q = p.B.Forge(roce.RCSendOnly, psn, nil)
						case abi.QPTypeUC:
							q = p.B.Forge(roce.UCSendOnly, psn, nil)
						default:
							q = p.B.ForgeDatagram(psn, nil)
						}
						q.Tagged, q.VLAN.PCP, q.VLAN.VID = x >= 0, pcp, uint16(max(0, x))
						before := s.B.Faults()
						good := typ == abi.QPTypeUD || max(0, x) == max(0, own)
						if good {
							p.B.Recv(p.B.RecvWR(11, 0, 40))
						}
						s.B.Arrive(q)
						if good {
							require.Empty(t, s.B.Faults().Since(before))
							p.B.Received(e2e.OK(11)...)
							psn = psn.Add(1)
						} else {
							require.Equal(t, e2e.Faults{abi.RxDropBadAddress: 1}, s.B.Faults().Since(before))
						}
					}
				}
			})
		}
	}
}

// TestGIDs (B233): connections and datagrams by each entry of the table, of both families: the
// address in the packet, and the one that the peer must have.
func TestGIDs(t *testing.T) {
	s := e2e.New(t, quick)
	addr := func(side, i int) netip.Addr {
		if i%2 == 0 {
			return netip.MustParseAddr(fmt.Sprintf("2001:db8::%x:%x", side, i))
		}
		return netip.MustParseAddr(fmt.Sprintf("192.168.%d.%d", side, i))
	}
	for k, d := range []*e2e.Side{s.A, s.B} {
		for i := 2; i < abi.NumGIDs; i++ {
			d.Must(func() error { return d.Dev.SetGID(i, addr(k+1, i)) })
		}
	}
	for i := range abi.NumGIDs {
		for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
			c := driver.QPConfig{Type: typ, GIDIndex: i, IPv6: i == 0, MaxSend: 4, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
			var p *e2e.Pair
			from := len(s.A.Seen)
			if typ == abi.QPTypeUD {
				p = s.Datagrams(c)
				ah := s.A.AHTo(p.B, func(a *driver.AHAttr) { a.SGIDIndex = i })
				p.B.Recv(p.B.RecvWR(11, 0, 200))
				p.A.Send(p.A.Datagram(1, 0, 100, ah, p.B))
			} else {
				p = s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{})
				p.B.Recv(p.B.RecvWR(11, 0, 200))
				p.A.Send(p.A.SendWR(1, 0, 100))
			}
			p.A.Sent(e2e.OK(1)...)
			p.B.Received(e2e.OK(11)...)
			for _, f := range s.A.Seen[from:] {
				src, dst := p.A, p.B
				if !f.Tx {
					src, dst = dst, src
				}
				require.Equal(t, i%2 == 0, f.V6)
				sip, dip := roce.GID(f.IP6.Src), roce.GID(f.IP6.Dst)
				if !f.V6 {
					sip, dip = roce.GIDFromIPv4(f.IP4.Src), roce.GIDFromIPv4(f.IP4.Dst)
				}
				require.EqualValues(t, src.QP.Endpoint().GID, sip)
				require.EqualValues(t, dst.QP.Endpoint().GID, dip)
			}
			p.A.Must(p.A.QP.Destroy)
			p.B.Must(p.B.QP.Destroy)
		}
	}
}

// TestGIDChanged: an entry changes, or is taken away. Connections and handles that were made
// keep the address that it had; new ones get the new one, or are refused; datagrams are
// taken for the addresses that the port has now.
func TestGIDChanged(t *testing.T) {
	s := e2e.New(t, quick)
	set := func(d *e2e.Side, i int, a string) {
		addr := netip.Addr{}
		if a != "" {
			addr = netip.MustParseAddr(a)
		}
		d.Must(func() error { return d.Dev.SetGID(i, addr) })
	}
	set(s.A, 2, "2001:db8::1")
	set(s.B, 2, "2001:db8::2")
	c := driver.QPConfig{GIDIndex: 2}
	p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{})
	u := s.Datagrams(c)
	by2 := func(a *driver.AHAttr) { a.SGIDIndex = 2 }
	ah := s.A.AHTo(u.B, by2)
	send := func(ok bool, src string) {
		t.Helper()
		u.B.Recv(u.B.RecvWR(11, 0, 200))
		before := s.B.Faults()
		u.A.Send(u.A.Datagram(1, 0, 100, ah, u.B))
		u.A.Sent(e2e.OK(1)...)
		s.Sleep(1000)
		last := s.A.Seen[len(s.A.Seen)-1]
		require.Equal(t, netip.MustParseAddr(src), netip.AddrFrom16(last.IP6.Src))
		if ok {
			u.B.Received(e2e.OK(11)...)
			return
		}
		require.Equal(t, e2e.Faults{abi.RxDropBadAddress: 1}, s.B.Faults().Since(before))
		u.B.Fail()
		u.B.Received(e2e.Flushed(11)...)
		u.B.Reset()
		u.B.Start()
	}
	exchange(t, p)
	send(true, "2001:db8::1")
	set(s.A, 2, "2001:db8::11")
	exchange(t, p)
	send(true, "2001:db8::1") // the handle keeps it
	ah = s.A.AHTo(u.B, by2)
	send(true, "2001:db8::11")
	set(s.B, 2, "2001:db8::22")
	exchange(t, p) // connected, it keeps its address
	send(false, "2001:db8::11")
	ah = s.A.AHTo(u.B, by2)
	send(true, "2001:db8::11")
	set(s.A, 2, "")
	send(true, "2001:db8::11")
	exchange(t, p)
	to := u.B.QP.Endpoint()
	for _, a := range []driver.AHAttr{
		{MAC: to.MAC, DGID: to.GID, SGIDIndex: 2},                                 // no address
		{MAC: to.MAC, DGID: to.GID, SGIDIndex: 1},                                 // of the other family
		{MAC: to.MAC, DGID: to.GID, SGIDIndex: 8},                                 // no entry
		{MAC: to.MAC, SGIDIndex: 0},                                               // to nowhere
		{MAC: to.MAC, DGID: to.GID, FlowLabel: 1 << 20},                           // of 21 bits
		{MAC: to.MAC, DGID: to.GID, UDPSPort: 4791},                               // no port of a flow
		{MAC: to.MAC, DGID: netip.MustParseAddr("10.0.0.9").As16(), SGIDIndex: 3}, // no address
	} {
		s.A.Refused(driver.ErrInvalid, func() error { _, err := s.A.PD.CreateAH(a); return err })
	}
	e := s.A.QP(c)
	s.A.Refused(driver.ErrInvalid, func() error { return e.QP.Connect(to, driver.ConnectOptions{}) })
	for i, a := range []netip.Addr{0: netip.MustParseAddr("10.0.0.9"), 1: netip.MustParseAddr("2001:db8::9"), 8: netip.MustParseAddr("10.0.0.9")} {
		if a.IsValid() {
			s.A.Refused(driver.ErrInvalid, func() error { return s.A.Dev.SetGID(i, a) })
		}
	}
}
