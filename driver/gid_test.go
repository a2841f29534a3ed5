package driver_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestGIDs(t *testing.T) {
	m, d := start(t, driver.Config{GID: addr16("fe80::1")})
	require.Equal(t, []netip.Addr{netip.MustParseAddr("fe80::1"), netip.MustParseAddr("10.0.0.1"), {}, {}, {}, {}, {}, {}}, d.GIDs())
	for i, s := range map[int]string{0: "fd00::1:2", 1: "192.168.7.8", 2: "2001:db8::3", 7: "10.1.2.3"} {
		require.NoError(t, d.SetGID(i, netip.MustParseAddr(s)))
		m.settle()
		require.Equal(t, addr16(s), m.gid(i), s)
		require.Equal(t, s, d.On(m.bus()).GIDs()[i].String(), "for all threads")
	}
	require.NoError(t, d.SetGID(4, netip.MustParseAddr("::ffff:10.0.0.4")))
	require.Equal(t, "10.0.0.4", d.GIDs()[4].String())
	for i, a := range map[int]netip.Addr{0: {}, 1: netip.IPv4Unspecified(), 2: netip.IPv6Unspecified(), 4: netip.IPv4Unspecified()} {
		require.NoError(t, d.SetGID(i, a))
		require.False(t, d.GIDs()[i].IsValid())
		m.settle()
		require.Zero(t, m.gid(i), i)
	}
	require.NoError(t, d.SetGID(1, netip.MustParseAddr("::ffff:10.0.0.1")))
	was := d.GIDs()
	for _, c := range []struct {
		i int
		s string
	}{{-1, "::1"}, {8, "::1"}, {0, "10.0.0.1"}, {1, "fe80::1"}, {3, "fe80::1%eth0"}, {3, "ff02::1"}, {3, "224.0.0.9"}, {3, "255.255.255.255"}, {3, "10.0.0.1"}, {1, "10.1.2.3"}} {
		require.ErrorIs(t, d.SetGID(c.i, netip.MustParseAddr(c.s)), driver.ErrInvalid, "%+v", c)
	}
	require.Equal(t, was, d.GIDs())
	require.NoError(t, d.SetGID(7, was[7]), "as it is")
	require.NoError(t, d.Close())
	require.ErrorIs(t, d.SetGID(3, netip.MustParseAddr("::1")), driver.ErrInvalid)
	require.ErrorIs(t, d.SetMTU(abi.MTU256), driver.ErrInvalid)
}

// A QP of any entry tells it to the peer, and is connected from it.
func TestGIDOfQP(t *testing.T) {
	p := unconnected(t, driver.Config{GID: addr16("fe80::1")}, driver.QPConfig{GIDIndex: 6, PSN: 1})
	p.m.needGID = true
	require.NoError(t, p.dev.SetGID(6, netip.MustParseAddr("fd00::6")))
	require.Equal(t, addr16("fd00::6"), p.a.Endpoint().GID)
	require.NoError(t, p.a.Connect(p.b.Endpoint(), driver.ConnectOptions{VLANValid: true, VLAN: 5, FlowLabel: 0x54321, TrafficClass: 0xb8}))
	require.Equal(t, abi.AV{
		DGID: addr16("fd00::6"), DMAC: p.b.Endpoint().MAC, SGIDIndex: 6, VLANValid: true, VLAN: 5, FlowLabel: 0x54321,
		TrafficClass: 0xb8, HopLimit: 64, UDPSPort: 0xc000 | 0x0321 ^ 0x15,
	}, p.m.qps[p.a.Number()].AV)
	require.ErrorIs(t, p.b.Connect(p.a.Endpoint(), driver.ConnectOptions{SGIDIndex: 9}), driver.ErrInvalid)
	require.ErrorIs(t, p.b.Connect(p.a.Endpoint(), driver.ConnectOptions{SGIDIndex: 1}), driver.ErrInvalid, "another family")
	require.NoError(t, p.b.Connect(p.a.Endpoint(), driver.ConnectOptions{SGIDIndex: 6}))
}

func TestSetMTU(t *testing.T) {
	p := unconnected(t, driver.Config{MTU: abi.MTU2048}, driver.QPConfig{})
	require.Equal(t, abi.MTU2048, p.dev.MTU())
	for _, bad := range []abi.MTU{0, 6} {
		require.ErrorIs(t, p.dev.SetMTU(bad), driver.ErrInvalid)
	}
	p.dev.Attr.MaxMTU = abi.MTU2048
	require.ErrorIs(t, p.dev.SetMTU(abi.MTU4096), driver.ErrInvalid)
	require.NoError(t, p.dev.SetMTU(abi.MTU512))
	p.m.settle()
	require.EqualValues(t, abi.MTU512, p.m.reg[abi.RegPortMTU/4])
	require.NoError(t, p.a.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	require.Equal(t, abi.MTU512, p.m.qps[p.a.Number()].PathMTU, "the default is no more than the port's")
}
