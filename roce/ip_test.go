package roce

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// onesComplement is the checksum by its arithmetic: the sum of the words modulo
// 65535, where 65535 stands for 0 unless all words are 0.
func onesComplement(words []uint16) uint16 {
	sum := uint64(0)
	for _, w := range words {
		sum += uint64(w)
	}
	if m := sum % 65535; m != 0 || sum == 0 {
		return ^uint16(m)
	}
	return 0
}

func words(b []byte) []uint16 {
	b = append([]byte{}, b...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	var ws []uint16
	for ; len(b) > 0; b = b[2:] {
		ws = append(ws, binary.BigEndian.Uint16(b))
	}
	return ws
}

func TestChecksums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 1, 0x7F, 0x80, 0xFE, 0xFF, 0xFF}), 20, 20).Draw(t, "header")
		zeroed := append([]byte{}, h...)
		zeroed[10], zeroed[11] = 0, 0
		require.Equal(t, onesComplement(words(zeroed)), IPv4Checksum(h))

		udp := rapid.SliceOfN(rapid.Byte(), 8, 99).Draw(t, "udp")
		zeroed = append([]byte{}, udp...)
		zeroed[6], zeroed[7] = 0, 0
		ip6 := rapid.SliceOfN(rapid.Byte(), 40, 40).Draw(t, "ip6")
		for _, c := range []struct{ ip, addresses []byte }{{h, h[12:20]}, {ip6, ip6[8:40]}} {
			pseudo := append(words(c.addresses), 17, uint16(len(udp)))
			want := onesComplement(append(pseudo, words(zeroed)...))
			if want == 0 {
				want = 0xFFFF
			}
			require.Equal(t, want, UDPChecksum(c.ip, udp))
		}
	})
}

// The sum 0x1FFFF folds to 0x10000, which carries again.
func TestDoubleCarry(t *testing.T) {
	h := make([]byte, 20)
	h[0], h[1], h[2], h[3], h[5] = 0xFF, 0xFF, 0xFF, 0xFF, 1
	require.Equal(t, uint16(0xFFFE), IPv4Checksum(h))
	require.Equal(t, uint16(1), foldSum(0x1FFFF))
}

// All UDP over IPv4 in the captures that has a checksum.
func TestCapturedUDPChecksums(t *testing.T) {
	found := 0
	for _, path := range captures(t) {
		for _, f := range capture(t, path) {
			if len(f) < 42 || f[12] != 8 || f[13] != 0 || f[23] != 17 || f[40]|f[41] == 0 {
				continue
			}
			udp := f[34:][:binary.BigEndian.Uint16(f[38:])]
			if sum := binary.BigEndian.Uint16(f[40:]); sum != 0x1234 { // the one that is wrong on purpose
				require.Equal(t, sum, UDPChecksum(f[14:34], udp))
				found++
			}
		}
	}
	require.Positive(t, found)
}

func TestAddresses(t *testing.T) {
	require.Equal(t, "02:00:00:00:00:07", HostMAC(7).String())
	require.Equal(t, "10.0.0.7", HostIPv4(7).String())
	require.Equal(t, "fe80::ff:fe00:7", HostIPv6(7).String())
	require.Equal(t, "fe80::5054:ff:fe00:1", LinkLocal(MAC{0x52, 0x54, 0, 0, 0, 1}).String(), "as Linux has it")
	g := GIDFromIPv4(HostIPv4(7))
	require.Equal(t, "::ffff:10.0.0.7", g.String())
	a, ok := g.IPv4()
	require.True(t, ok)
	require.Equal(t, HostIPv4(7), a)
	_, ok = HostIPv6(7).IPv4()
	require.False(t, ok)
}

// Source ports that Linux chose for these QP pairs, seen in the captures.
func TestSourcePort(t *testing.T) {
	require.Equal(t, uint16(0xC121), SourcePort(0x11, 0x11))
	require.Equal(t, uint16(0xC7A4), SourcePort(0x13, 0xDE0))
	require.Equal(t, uint16(0xD584), SourcePort(0x14, 0xDE0))
	require.Equal(t, uint16(0xFC06), SourcePort(0x20, 0xDE0))
	rapid.Check(t, func(t *rapid.T) {
		a, b := QPN(rapid.Uint32Max(0xFFFFFF).Draw(t, "a")), QPN(rapid.Uint32Max(0xFFFFFF).Draw(t, "b"))
		require.Equal(t, SourcePort(a, b), SourcePort(b, a))
		require.GreaterOrEqual(t, SourcePort(a, b), uint16(0xC000))
		label := rapid.Uint32Max(0xFFFFF).Draw(t, "label")
		require.Equal(t, uint16(0xC000|label&0x3FFF^label>>14), SourcePortOfFlow(label))
	})
}
