package roce

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func draw[T any](t *rapid.T, name string, g *rapid.Generator[T]) T { return g.Draw(t, name) }

func drawGID(t *rapid.T, name string) GID {
	return GID(draw(t, name, rapid.SliceOfN(rapid.Byte(), 16, 16)))
}

// drawPacket draws any packet whose fields are in range.
func drawPacket(t *rapid.T) Packet {
	u8, u16, u32, u64, flag := rapid.Uint8(), rapid.Uint16(), rapid.Uint32(), rapid.Uint64(), rapid.Bool()
	p := Packet{
		Eth:    Ethernet{Dst: HostMAC(draw(t, "dst", u8)), Src: HostMAC(draw(t, "src", u8))},
		Tagged: draw(t, "tagged", flag),
		V6:     draw(t, "v6", flag),
		UDP:    UDP{SrcPort: draw(t, "port", u16), Checksum: draw(t, "sum", u16)},
		BTH: BTH{
			Opcode: Opcode(draw(t, "opcode", u8)),
			SE:     draw(t, "se", flag), MigReq: draw(t, "m", flag),
			PKey: PKey(draw(t, "pkey", u16)), FECN: draw(t, "fecn", flag), BECN: draw(t, "becn", flag),
			DestQP: QPN(draw(t, "qpn", u32) & 0xFFFFFF), AckReq: draw(t, "a", flag), PSN: drawPSN(t, "psn"),
		},
		Trailer: draw(t, "trailer", rapid.SliceOfN(rapid.Byte(), 0, 30)),
	}
	if p.Tagged {
		p.VLAN = VLAN{PCP: draw(t, "pcp", u8) & 7, DEI: draw(t, "dei", flag), VID: draw(t, "vid", u16) & 0xFFF}
	}
	dscp, ecn, ttl := draw(t, "dscp", u8)&63, draw(t, "ecn", u8)&3, draw(t, "ttl", u8)
	if p.V6 {
		p.IP6 = IPv6{
			DSCP: dscp, ECN: ecn, FlowLabel: draw(t, "flow", u32) & 0xFFFFF, HopLimit: ttl,
			Src: drawGID(t, "src gid"), Dst: drawGID(t, "dst gid"),
		}
	} else {
		p.IP4 = IPv4{
			DSCP: dscp, ECN: ecn, ID: draw(t, "id", u16), DF: draw(t, "df", flag), TTL: ttl,
			Src: HostIPv4(draw(t, "src ip", u8)), Dst: HostIPv4(draw(t, "dst ip", u8)),
		}
	}
	switch op := p.BTH.Opcode; {
	case op.HasDETH():
		p.DETH = DETH{QKey: draw(t, "qkey", u32), SrcQP: QPN(draw(t, "srcqp", u32) & 0xFFFFFF)}
	case op.HasRETH():
		p.RETH = RETH{VA: draw(t, "va", u64), RKey: draw(t, "rkey", u32), Length: draw(t, "length", u32)}
	case op.HasAtomicETH():
		p.AtomicETH = AtomicETH{
			VA: draw(t, "va", u64), RKey: draw(t, "rkey", u32), SwapAdd: draw(t, "swap", u64), Compare: draw(t, "compare", u64),
		}
	case op.HasAETH():
		p.AETH = AETH{Syndrome: Syndrome(draw(t, "syndrome", u8)), MSN: MSN(draw(t, "msn", u32) & 0xFFFFFF)}
	}
	if p.BTH.Opcode.HasAtomicAckETH() {
		p.AtomicAckETH.Orig = draw(t, "orig", u64)
	}
	if p.BTH.Opcode.HasImm() {
		p.Imm.Imm = draw(t, "imm", u32)
	}
	if p.BTH.Opcode.HasIETH() {
		p.IETH.RKey = draw(t, "ieth", u32)
	}
	p.SetPayload(draw(t, "payload", rapid.SliceOfN(rapid.Byte(), 0, 300)))
	return p
}

// underived is the packet without what Append derives.
func underived(p Packet) Packet {
	p.Eth.Type, p.VLAN.Type, p.ICRC = 0, 0, 0
	p.IP4.Version, p.IP4.IHL, p.IP4.Protocol, p.IP4.TotalLen, p.IP4.Checksum = 0, 0, 0, 0, 0
	p.IP6.Version, p.IP6.NextHeader, p.IP6.PayloadLen = 0, 0, 0
	p.UDP.DstPort, p.UDP.Length = 0, 0
	p.UDP.Checksum = min(p.UDP.Checksum, 1)
	p.Payload, p.Trailer = append([]byte{}, p.Payload...), append([]byte{}, p.Trailer...)
	return p
}

func TestPacketRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawPacket(t)
		f := want.Append([]byte{1, 2})
		require.Equal(t, []byte{1, 2}, f[:2])
		f = f[2:]
		require.Len(t, f, want.Size())
		got, err := ParseFrame(f)
		require.NoError(t, err)
		require.Equal(t, underived(want), underived(got))
		require.Equal(t, f, got.Append(nil))
		l3 := f[got.L3():]
		n := len(l3) - len(got.Trailer)
		if got.V6 {
			require.Equal(t, n, int(got.IP6.PayloadLen)+40)
			require.Equal(t, n, int(got.UDP.Length)+40)
		} else {
			require.Equal(t, n, int(got.IP4.TotalLen))
			require.Equal(t, n, int(got.UDP.Length)+20)
		}
	})
}

// Any truncation and any single changed byte is dropped, or harmless.
func TestDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t)
		p.Trailer = nil
		f := p.Append(nil)
		_, err := ParseFrame(f[:draw(t, "cut", rapid.IntRange(0, len(f)-1))])
		require.Error(t, err)

		i := draw(t, "at", rapid.IntRange(p.L3(), len(f)-1))
		f[i] ^= draw(t, "flip", rapid.ByteRange(1, 255))
		got, err := ParseFrame(f)
		if err != nil {
			return
		}
		if got.UDP.Checksum == 0 { // switched off by the damage, or never on
			require.Equal(t, p.BTH.Opcode, got.BTH.Opcode)
			require.Equal(t, p.BTH.PSN, got.BTH.PSN)
			require.Equal(t, p.Payload, got.Payload)
			return
		}
		require.True(t, p.V6, "damage that no checksum covers")
	})
}

func TestDrops(t *testing.T) {
	make4 := func() []byte {
		p := Packet{IP4: IPv4{DF: true, TTL: 64}, BTH: BTH{Opcode: RCWriteOnly, PKey: 0xFFFF}}
		p.SetPayload([]byte("abcde"))
		return p.Append(nil)
	}
	resum := func(f []byte) []byte { // put the checksum and the ICRC right again
		binary.BigEndian.PutUint16(f[24:], IPv4Checksum(f[14:34]))
		binary.LittleEndian.PutUint32(f[len(f)-4:], ICRC(f[14:len(f)-4]))
		return f
	}
	for _, c := range []struct {
		want Drop
		edit func(f []byte) []byte
	}{
		{DropNone, func(f []byte) []byte { return f }},
		{DropNone, func(f []byte) []byte { return append(f, 1, 2, 3) }},
		{DropNone, func(f []byte) []byte { f[20] = 0; return resum(f) }}, // DF clear
		{DropShort, func(f []byte) []byte { return nil }},
		{DropShort, func(f []byte) []byte { return f[:13] }},
		{DropShort, func(f []byte) []byte { return f[:33] }},
		{DropShort, func(f []byte) []byte { f[12], f[13] = 0x81, 0; return f[:17] }},
		{DropShort, func(f []byte) []byte { f[12], f[13] = 0x86, 0xDD; return f[:53] }},
		{DropNotIP, func(f []byte) []byte { f[12], f[13] = 0x08, 0x06; return f }},
		{DropIPVersion, func(f []byte) []byte { f[14] = 0x65; return resum(f) }},
		{DropIPVersion, func(f []byte) []byte { f[12], f[13] = 0x86, 0xDD; return f }},
		{DropIPOptions, func(f []byte) []byte { f[14] = 0x46; return resum(f) }},
		{DropIPOptions, func(f []byte) []byte { f[14] = 0x44; return resum(f) }},
		{DropIPChecksum, func(f []byte) []byte { f[24] ^= 1; return f }},
		{DropIPLength, func(f []byte) []byte { return f[:len(f)-1] }},
		{DropIPLength, func(f []byte) []byte { f[16], f[17] = 0, 19; return resum(f) }},
		{DropIPLength, func(f []byte) []byte { f[16], f[17] = 0, 27; return resum(f) }},
		{DropIPLength, func(f []byte) []byte { f[16] = 0xFF; return resum(f) }},
		{DropNotUDP, func(f []byte) []byte { f[23] = 6; return resum(f) }},
		{DropFragment, func(f []byte) []byte { f[20] = 0x20; return resum(f) }},
		{DropFragment, func(f []byte) []byte { f[21] = 1; return resum(f) }},
		{DropNotRoCE, func(f []byte) []byte { f[37]++; return resum(f) }},
		{DropUDPLength, func(f []byte) []byte { f[39]++; return resum(f) }},
		{DropUDPLength, func(f []byte) []byte { f[39]--; return resum(f) }},
		{DropUDPChecksum, func(f []byte) []byte { f[40] = 1; return f }},
		{DropICRC, func(f []byte) []byte { f[len(f)-1]++; return f }},
		{DropICRC, func(f []byte) []byte { f[60]++; return f }},
		{DropTVer, func(f []byte) []byte { f[43] |= 8; return resum(f) }},
		{DropPayload, func(f []byte) []byte { // a BTH alone, without ICRC
			f = f[:54]
			f[17], f[39] = 40, 20
			return resum(f)
		}},
		{DropPayload, func(f []byte) []byte { // the RETH cut short
			f = f[:54+15]
			f[17], f[39] = 55, 35
			return resum(f)
		}},
		{DropPayload, func(f []byte) []byte { // pad longer than what is there
			f = f[:54+16+6]
			f[17], f[39] = 62, 42
			return resum(f)
		}},
	} {
		_, err := ParseFrame(c.edit(make4()))
		if c.want == DropNone {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, c.want, err)
		require.Equal(t, c.want == DropNotIP || c.want == DropNotUDP || c.want == DropNotRoCE, c.want.Foreign())
	}
	require.Equal(t, "dropped: UDP checksum", DropUDPChecksum.Error())
	require.Equal(t, "drop 15", Drop(15).String())
}

func TestDropsV6(t *testing.T) {
	p := Packet{V6: true, BTH: BTH{Opcode: RCSendOnly}}
	p.SetPayload([]byte("abcde"))
	for _, c := range []struct {
		want Drop
		at   int
		to   byte
	}{{DropIPVersion, 14, 0x40}, {DropNotUDP, 20, 44}, {DropIPLength, 18, 1}, {DropUDPLength, 19, 31}, {DropIPLength, 19, 33}, {DropIPLength, 19, 7}} {
		f := p.Append(nil)
		f[c.at] = c.to
		_, err := ParseFrame(f)
		require.Equal(t, c.want, err)
	}
}

func TestCNP(t *testing.T) {
	p := Packet{BTH: CNPHeader(0x123456, DefaultPKey)}
	p.SetPayload(make([]byte, CNPPayloadSize))
	f := p.Append(nil)
	require.Len(t, f, 14+20+8+12+16+4)
	require.Equal(t, []byte{0x81, 0x40, 0xFF, 0xFF, 0x40, 0x12, 0x34, 0x56, 0, 0, 0, 0}, f[42:54])
	require.Equal(t, make([]byte, 16), f[54:70])
}
