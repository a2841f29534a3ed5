package roce

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// serial is the CRC as hardware text books have it, a bit at a time.
func serial(c uint32, b []byte) uint32 {
	for _, x := range b {
		for k := range 8 {
			bit := (c ^ uint32(x)>>k) & 1
			c >>= 1
			if bit != 0 {
				c ^= 0xEDB88320 // 0x04C11DB7 reflected
			}
		}
	}
	return c
}

func TestCRCAgainstBitSerial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Uint32().Draw(t, "register")
		var b [64]byte
		copy(b[:], rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "beat"))
		n := rapid.IntRange(0, 64).Draw(t, "bytes")
		want := CRC(serial(start, b[:n]))
		require.Equal(t, want, CRC(start).Beat(&b, n))
		require.Equal(t, want, CRC(start).Update(b[:n]))
		require.Equal(t, want, CRC(start).table(b[:n]))
	})
}

func TestCRCConstants(t *testing.T) {
	ones := []byte{255, 255, 255, 255, 255, 255, 255, 255}
	require.Equal(t, ICRCStart, FCSStart.Update(ones))
	data := []byte("123456789")
	require.Equal(t, uint32(0xCBF43926), FCS(data), "the check value of CRC-32")
	stored := binary.LittleEndian.AppendUint32(data, FCS(data))
	require.Equal(t, Residue, FCSStart.Update(stored))
}

// A frame taken beat by beat, as hardware does, gives the ICRC of the whole.
func TestICRCBeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t)
		p.Trailer = nil
		f := p.Append(nil)
		want := binary.LittleEndian.Uint32(f[len(f)-4:])
		require.Equal(t, want, ICRC(f[p.L3():len(f)-4]))
		require.Equal(t, want, plainICRC(f[p.L3():len(f)-4]))

		beats := func(f []byte) CRC {
			c := ICRCStart
			for i := 0; i*64 < len(f); i++ {
				var b [64]byte
				n := copy(b[:], f[i*64:])
				before := b
				c = c.ICRCBeat(&b, n, i, p.Tagged, p.V6)
				require.Equal(t, before, b)
			}
			return c
		}
		require.Equal(t, want, beats(f[:len(f)-4]).Sum())
		require.Equal(t, Residue, beats(f), "over data and stored ICRC")
	})
}

// Bits that may change on the way do not change the ICRC; every other does.
func TestICRCCoverage(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		p := Packet{V6: v6, BTH: BTH{Opcode: RCSendOnly, PSN: 5}}
		p.SetPayload([]byte("payload!"))
		f := p.Append(nil)
		ip := f[14 : len(f)-4]
		free := map[int]byte{1: 0xFF, 8: 0xFF, 10: 0xFF, 11: 0xFF, 26: 0xFF, 27: 0xFF, 32: 0xFF}
		if v6 {
			free = map[int]byte{0: 0x0F, 1: 0xFF, 2: 0xFF, 3: 0xFF, 7: 0xFF, 46: 0xFF, 47: 0xFF, 52: 0xFF}
		}
		want := ICRC(ip)
		for i := range ip {
			for k := range 8 {
				if i == 0 && k >= 4 {
					continue // the IP version says what is masked
				}
				ip[i] ^= 1 << k
				require.Equal(t, free[i]>>k&1 == 1, want == ICRC(ip), "v6 %v byte %d bit %d", v6, i, k)
				ip[i] ^= 1 << k
			}
		}
	}
}

func TestShortPackets(t *testing.T) {
	ip := make([]byte, 80)
	for _, version := range []byte{0x45, 0x60} {
		ip[0] = version
		for n := range ip {
			before := append([]byte{}, ip[:n]...)
			_ = ICRC(ip[:n])
			require.Equal(t, before, ip[:n])
			MaskICRC(before)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	var b [64]byte
	require.Zero(t, testing.AllocsPerRun(100, func() {
		c := ICRCStart
		for i := range 4 {
			c = c.ICRCBeat(&b, 64, i, true, true)
		}
		_ = c.Beat(&b, 50).Sum()
	}))
	p := Packet{BTH: BTH{Opcode: RCWriteOnlyImm}}
	p.SetPayload(b[:])
	buf := make([]byte, 0, 256)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		f := p.Append(buf)
		if _, err := ParseFrame(f); err != nil {
			t.Error(err)
		}
	}))
}

func BenchmarkBeat64(b *testing.B) {
	var beat [64]byte
	c := FCSStart
	for b.Loop() {
		c = c.Beat(&beat, 64)
	}
}

func BenchmarkBeat58(b *testing.B) {
	var beat [64]byte
	c := FCSStart
	for b.Loop() {
		c = c.Beat(&beat, 58)
	}
}

func BenchmarkICRCBeatFirst(b *testing.B) {
	var beat [64]byte
	c := ICRCStart
	for b.Loop() {
		c = c.ICRCBeat(&beat, 64, 0, false, false)
	}
}

func BenchmarkICRC1K(b *testing.B) {
	ip := make([]byte, 1064)
	ip[0] = 0x45
	for b.Loop() {
		_ = ICRC(ip)
	}
}

func BenchmarkStandardCRC1K(b *testing.B) {
	ip := make([]byte, 1064)
	for b.Loop() {
		_ = crc32.ChecksumIEEE(ip)
	}
}

func BenchmarkBTHDecode(b *testing.B) {
	buf := make([]byte, BTHSize)
	var h BTH
	for b.Loop() {
		_ = BTHLayout.Decode(buf, &h)
	}
}

func BenchmarkBTHEncode(b *testing.B) {
	buf := make([]byte, BTHSize)
	h := BTH{PSN: 1}
	for b.Loop() {
		BTHLayout.Encode(&h, buf)
	}
}

func BenchmarkParseFrame(b *testing.B) {
	p := Packet{BTH: BTH{Opcode: RCSendOnly}}
	p.SetPayload(make([]byte, 64))
	f := p.Append(nil)
	for b.Loop() {
		_, _ = ParseFrame(f)
	}
}
