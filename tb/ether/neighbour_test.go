package ether

import (
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"

	"rnic/roce"
)

var (
	own  = neighbour{roce.HostMAC(1), roce.HostIPv4(1), roce.HostIPv6(1)}
	peer = neighbour{roce.HostMAC(2), roce.HostIPv4(2), roce.HostIPv6(2)}
)

func frame(t *testing.T, l ...gopacket.SerializableLayer) []byte {
	b := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, l...))
	return b.Bytes()
}

func eth(dst net.HardwareAddr, typ layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: peer.mac[:], DstMAC: dst, EthernetType: typ}
}

// answered decodes the answer, whose checksums must be right.
func answered(t *testing.T, request []byte) gopacket.Packet {
	r := own.answer(request)
	require.GreaterOrEqual(t, len(r), 60)
	p := gopacket.NewPacket(r, layers.LayerTypeEthernet, gopacket.Default)
	require.Nil(t, p.ErrorLayer())
	e := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
	require.EqualValues(t, peer.mac[:], e.DstMAC)
	require.EqualValues(t, own.mac[:], e.SrcMAC)
	if l, ok := p.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6); ok {
		require.NoError(t, l.SetNetworkLayerForChecksum(p.NetworkLayer()))
	}
	err, wrong := p.VerifyChecksums()
	require.NoError(t, err)
	require.Empty(t, wrong)
	return p
}

var everybody = net.HardwareAddr{255, 255, 255, 255, 255, 255}

func arpRequest(t *testing.T, for4 roce.IPv4Addr) []byte {
	return frame(t, eth(everybody, layers.EthernetTypeARP), &layers.ARP{
		AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4,
		Operation: layers.ARPRequest, SourceHwAddress: peer.mac[:], SourceProtAddress: peer.ipv4[:],
		DstHwAddress: make([]byte, 6), DstProtAddress: for4[:],
	})
}

func TestARP(t *testing.T) {
	a := answered(t, arpRequest(t, own.ipv4)).Layer(layers.LayerTypeARP).(*layers.ARP)
	require.EqualValues(t, layers.ARPReply, a.Operation)
	require.Equal(t, [][]byte{own.mac[:], own.ipv4[:], peer.mac[:], peer.ipv4[:]},
		[][]byte{a.SourceHwAddress, a.SourceProtAddress, a.DstHwAddress, a.DstProtAddress})
	require.Nil(t, own.answer(arpRequest(t, peer.ipv4)))
}

func TestEcho(t *testing.T) {
	for _, n := range []int{0, 1, 56, 1400} {
		ip := &layers.IPv4{Version: 4, TTL: 9, Protocol: layers.IPProtocolICMPv4, SrcIP: peer.ipv4[:], DstIP: own.ipv4[:]}
		icmp := &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0), Id: 7, Seq: 8}
		p := answered(t, frame(t, eth(own.mac[:], layers.EthernetTypeIPv4), ip, icmp, gopacket.Payload(make([]byte, n))))
		r := p.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4)
		require.EqualValues(t, 0, r.TypeCode.Type())
		require.EqualValues(t, [2]uint16{7, 8}, [2]uint16{r.Id, r.Seq})
		require.Len(t, r.Payload, n)
		ip6 := &layers.IPv6{Version: 6, HopLimit: 9, NextHeader: layers.IPProtocolICMPv6, SrcIP: peer.ipv6[:], DstIP: own.ipv6[:]}
		icmp6 := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(128, 0)}
		require.NoError(t, icmp6.SetNetworkLayerForChecksum(ip6))
		p = answered(t, frame(t, eth(own.mac[:], layers.EthernetTypeIPv6), ip6, icmp6, gopacket.Payload(make([]byte, 4+n))))
		require.EqualValues(t, 129, p.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6).TypeCode.Type())
	}
}

func TestNeighbourSolicitation(t *testing.T) {
	group := net.IP{0: 0xff, 1: 2, 11: 1, 12: 0xff, 13: 0xfe, 15: 1}
	ip := &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocolICMPv6, SrcIP: peer.ipv6[:], DstIP: group}
	icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(135, 0)}
	require.NoError(t, icmp.SetNetworkLayerForChecksum(ip))
	body := append(append(make([]byte, 4), own.ipv6[:]...), 1, 1, 2, 0, 0, 0, 0, 2)
	f := frame(t, eth(net.HardwareAddr{0x33, 0x33, 0xff, 0xfe, 0, 1}, layers.EthernetTypeIPv6), ip, icmp, gopacket.Payload(body))
	p := answered(t, f)
	a := p.Layer(layers.LayerTypeICMPv6NeighborAdvertisement).(*layers.ICMPv6NeighborAdvertisement)
	require.EqualValues(t, own.ipv6[:], a.TargetAddress)
	require.EqualValues(t, 0x60, a.Flags)
	require.EqualValues(t, own.mac[:], a.Options[0].Data)
	f[21] = 64 // the hop limit tells that it came from afar
	require.Nil(t, own.answer(f))
}

// FuzzAnswer: whatever comes, there is an answer of some length or none.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r := own.answer(b); r != nil {
			require.GreaterOrEqual(t, len(r), 60)
			require.LessOrEqual(t, len(r), max(60, len(b)+14))
		}
	})
}
