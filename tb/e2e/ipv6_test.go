package e2e_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestIPv6 (B222, B223, B229, B233): a connection by GID 0. Traffic class, flow
// label and hop limit are those of the address vector; the rest is as with IPv4.
func TestIPv6(t *testing.T) {
	s := e2e.New(t, quick)
	c := driver.QPConfig{MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64, IPv6: true}
	o := driver.ConnectOptions{Timeout: 8, TrafficClass: 0x6a, FlowLabel: 0xabcde, HopLimit: 7, UDPSPort: 0xd234}
	p := s.Join(s.A.QP(c), s.B.QP(c), o)
	exchange(t, p)
	for _, f := range s.A.Seen {
		require.NoError(t, f.Err)
		require.True(t, f.V6)
		require.EqualValues(t, 0x1a, f.IP6.DSCP)
		require.EqualValues(t, 0x2, f.IP6.ECN)
		require.EqualValues(t, 0xabcde, f.IP6.FlowLabel)
		require.EqualValues(t, 7, f.IP6.HopLimit)
		require.EqualValues(t, 0xd234, f.UDP.SrcPort)
		from, to := uint8(2), uint8(1)
		if f.Tx {
			from, to = 1, 2
		}
		require.Equal(t, roce.HostIPv6(from), f.IP6.Src)
		require.Equal(t, roce.HostIPv6(to), f.IP6.Dst)
		require.Equal(t, roce.HostMAC(to), f.Eth.Dst)
	}
	psn := roce.PSN(p.B.Query().ExpectedPSN)
	send := func(change func(*roce.Packet)) roce.Packet {
		q := p.B.Forge(roce.RCSendOnly, psn, e2e.Bytes(7, 5))
		change(&q)
		return q
	}
	for _, c := range []struct {
		name   string
		change func(*roce.Packet)
		want   abi.Counter
	}{
		{"IPv4", func(q *roce.Packet) { q.V6 = false }, abi.RxDropBadAddress},
		{"source", func(q *roce.Packet) { q.IP6.Src = roce.HostIPv6(3) }, abi.RxDropBadAddress},
		{"destination", func(q *roce.Packet) { q.IP6.Dst = roce.HostIPv6(3) }, abi.RxDropBadAddress},
		{"mapped IPv4", func(q *roce.Packet) { q.IP6.Src = roce.GIDFromIPv4(roce.HostIPv4(1)) }, abi.RxDropBadAddress},
		{"P_Key", func(q *roce.Packet) { q.BTH.PKey = 1 }, abi.RxDropBadPKey},
	} {
		before := s.B.Faults()
		s.B.Arrive(send(c.change))
		require.Equal(t, e2e.Faults{c.want: 1}, s.B.Faults().Since(before), c.name)
	}
	p.B.Recv(p.B.RecvWR(11, 0, 7))
	s.B.Arrive(send(func(q *roce.Packet) {
		q.IP6.HopLimit, q.IP6.FlowLabel, q.IP6.DSCP, q.UDP.Checksum = 1, 5, 9, 1
	}))
	p.B.Received(e2e.OK(11)...)
	p.B.Demand(0, e2e.Bytes(7, 5))
}

// TestIPv6Loss: errors travel by IPv6 as well.
func TestIPv6Loss(t *testing.T) {
	s := e2e.New(t, quick)
	c := driver.QPConfig{MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, IPv6: true}
	p := s.Join(s.A.QP(c), s.B.QP(c), timeout8)
	p.B.Recv(p.B.RecvWR(11, 0, 100))
	p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100))
	p.A.Sent(append(e2e.OK(1), e2e.All(abi.StatusRNRRetryExc, 2)...)...)
	p.B.Received(e2e.OK(11)...)
	again(t, s, p)
}

// TestFamiliesDiffer: two QPs whose Endpoints tell addresses of different families can't
// be connected, and both sides say so.
func TestFamiliesDiffer(t *testing.T) {
	s := e2e.New(t, quick)
	a, b := s.A.QP(driver.QPConfig{IPv6: true}), s.B.QP(driver.QPConfig{})
	s.A.Refused(driver.ErrInvalid, func() error { return a.QP.Connect(b.QP.Endpoint(), timeout8) })
	s.B.Refused(driver.ErrInvalid, func() error { return b.QP.Connect(a.QP.Endpoint(), timeout8) })
	a.DemandState(abi.QPReset)
	b.DemandState(abi.QPReset)
}

// TestNobody (B233): a peer that is not there.
func TestNobody(t *testing.T) {
	s := e2e.New(t, quick)
	for _, c := range []struct {
		name string
		to   driver.Endpoint
		want abi.Counter
	}{
		{"no such host", driver.Endpoint{QPN: 5, GID: roce.GIDFromIPv4(roce.HostIPv4(9)), MAC: roce.HostMAC(9)}, abi.RxDropNotRoCE},
		{"no such address", driver.Endpoint{QPN: 5, GID: roce.GIDFromIPv4(roce.HostIPv4(9)), MAC: roce.HostMAC(2)}, abi.RxDropBadQPN},
		{"no such IPv6 address", driver.Endpoint{QPN: 5, GID: roce.HostIPv6(9), MAC: roce.HostMAC(2)}, abi.RxDropBadQPN},
		{"no such QP", driver.Endpoint{QPN: 5, GID: roce.GIDFromIPv4(roce.HostIPv4(2)), MAC: roce.HostMAC(2)}, abi.RxDropBadQPN},
	} {
		a := s.A.QP(driver.QPConfig{IPv6: !netip.AddrFrom16(c.to.GID).Is4In6()})
		var err error
		s.A.Do(func() { err = a.QP.Connect(c.to, timeout8) })
		require.NoError(t, err)
		before := s.B.Faults()
		a.Send(a.SendWR(1, 0, 100), a.SendWR(2, 0, 100))
		a.Sent(append(e2e.All(abi.StatusRetryExc, 1), e2e.Flushed(2)...)...)
		require.Equal(t, e2e.Faults{c.want: 2}, s.B.Faults().Since(before), c.name)
	}
}
