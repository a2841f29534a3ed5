package ether

import (
	"bytes"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"

	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

// station is one whose program does nothing but open the device. Frames come to it by
// take.
func station(t *testing.T) *Station {
	s, err := New(Config{Seed: 1, Strict: true, IPv6: roce.HostIPv6(1)}, func(bus *host.Bus, cfg driver.Config) (*driver.Device, func(string) string) {
		d, err := driver.Open(bus, cfg)
		require.NoError(t, err)
		return d, func(l string) string { return l }
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	s.take(input{line: "up"})
	require.NoError(t, s.run(50_000))
	require.Equal(t, []string{"up"}, s.replies)
	return s
}

// ping is an echo request with n bytes.
func ping(t *testing.T, n int) []byte {
	data := bytes.Repeat([]byte{byte(n), 1, 2}, n/3+1)[:n]
	ip := &layers.IPv4{Version: 4, TTL: 9, Protocol: layers.IPProtocolICMPv4, SrcIP: peer.ipv4[:], DstIP: own.ipv4[:]}
	return frame(t, eth(own.mac[:], layers.EthernetTypeIPv4), ip, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0)}, gopacket.Payload(data))
}

// TestSoftware: what others find the host by passes the NIC, in and out, and is what
// the host's software answers.
func TestSoftware(t *testing.T) {
	s := station(t)
	var seen []tb.Frame
	s.Tap(func(f tb.Frame) { seen = append(seen, f) })
	elsewhere := ping(t, 9)
	elsewhere[5] = 77
	var want [][]byte
	for _, f := range [][]byte{arpRequest(t, own.ipv4), ping(t, 0), arpRequest(t, peer.ipv4), ping(t, 56), elsewhere, ping(t, 1472), ping(t, 3000)} {
		s.take(input{frame: f})
		if r := own.answer(f); r != nil && f[5] != 77 {
			want = append(want, r)
		}
	}
	require.Len(t, want, 5)
	require.NoError(t, s.run(s.K.Cycle()+100_000))
	var got [][]byte
	s.flush(func(f []byte) { got = append(got, f) }, func(string) {})
	require.Equal(t, want, got)
	require.Len(t, seen, 7+5)

	// Too long for a raw QP, and more at once than there are slots: some are dropped, and
	// the rest is answered.
	s.take(input{frame: ping(t, 5000)})
	for range 3 * slots {
		s.take(input{frame: ping(t, 56)})
	}
	require.NoError(t, s.run(s.K.Cycle()+200_000))
	n := len(s.node.Wire.out)
	require.GreaterOrEqual(t, n, slots)
	s.take(input{frame: ping(t, 56)})
	require.NoError(t, s.run(s.K.Cycle()+20_000))
	require.Len(t, s.node.Wire.out, n+1)
}

// TestTaggedEcho: what comes with a VLAN tag is answered with one.
func TestTaggedEcho(t *testing.T) {
	s := station(t)
	f := ping(t, 100)
	tag := []byte{0x81, 0, 0x60, 77}
	s.take(input{frame: append(append(bytes.Clone(f[:12]), tag...), f[12:]...)})
	require.NoError(t, s.run(s.K.Cycle()+20_000))
	r := own.answer(f)
	require.Equal(t, [][]byte{append(append(bytes.Clone(r[:12]), tag...), r[12:]...)}, s.node.Wire.out)
}
