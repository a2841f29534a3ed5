package bits

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type psn uint32

func (psn) Width() int { return 24 }

type mac [6]byte

type inner struct {
	Addr uint64 `doc:"bytes"`
	Key  uint32
}

type common struct {
	Kind uint8 `bits:"3"`
	Flag bool
	_    struct{} `bits:"4"`
}

type sample struct {
	common
	PSN  psn `doc:"sequence number"`
	SGE  [2]inner
	MAC  mac
	Imm  [2]uint16 `bits:"12"`
	_    struct{}  `bits:"8" doc:"spare"`
	Last uint8
}

const sampleSize = 1 + 3 + 24 + 6 + 3 + 1 + 1

var (
	sampleBig    = MustLayout[sample]("sample", Big, sampleSize)
	sampleLittle = MustLayout[sample]("sample", Little, sampleSize)
)

func sampleValue() sample {
	return sample{
		common: common{Kind: 5, Flag: true},
		PSN:    0x123456,
		SGE:    [2]inner{{0x0102030405060708, 0x090a0b0c}, {0x1112131415161718, 0x191a1b1c}},
		MAC:    mac{1, 2, 3, 4, 5, 6},
		Imm:    [2]uint16{0xabc, 0xdef},
		Last:   0x77,
	}
}

func TestKnownBytes(t *testing.T) {
	v := sampleValue()
	b := make([]byte, sampleSize+1)
	b[sampleSize] = 0xEE
	sampleBig.Encode(&v, b)
	require.Equal(t, []byte{
		0xb0, 0x12, 0x34, 0x56,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c,
		1, 2, 3, 4, 5, 6, 0xab, 0xcd, 0xef, 0, 0x77, 0xEE,
	}, b)
	sampleLittle.Encode(&v, b)
	require.Equal(t, []byte{
		0x0d, 0x56, 0x34, 0x12,
		8, 7, 6, 5, 4, 3, 2, 1, 12, 11, 10, 9,
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x1c, 0x1b, 0x1a, 0x19,
		1, 2, 3, 4, 5, 6, 0xbc, 0xfa, 0xde, 0, 0x77, 0xEE,
	}, b)
	var back sample
	require.NoError(t, sampleLittle.Decode(b, &back))
	require.Equal(t, v, back)
}

func TestFields(t *testing.T) {
	fs := sampleBig.Fields()
	require.Equal(t, []Field{
		{Name: "Kind", BitOffset: 0, Width: 3, Type: "uint8"},
		{Name: "Flag", BitOffset: 3, Width: 1, Type: "bool"},
		{BitOffset: 4, Width: 4, Reserved: true},
		{Name: "PSN", Doc: "sequence number", BitOffset: 8, Width: 24, Type: "bits.psn"},
		{Name: "SGE[0].Addr", Doc: "bytes", BitOffset: 32, Width: 64, Type: "uint64"},
		{Name: "SGE[0].Key", BitOffset: 96, Width: 32, Type: "uint32"},
		{Name: "SGE[1].Addr", Doc: "bytes", BitOffset: 128, Width: 64, Type: "uint64"},
		{Name: "SGE[1].Key", BitOffset: 192, Width: 32, Type: "uint32"},
		{Name: "MAC", BitOffset: 224, Width: 48, Type: "bits.mac"},
		{Name: "Imm[0]", BitOffset: 272, Width: 12, Type: "uint16"},
		{Name: "Imm[1]", BitOffset: 284, Width: 12, Type: "uint16"},
		{Doc: "spare", BitOffset: 296, Width: 8, Reserved: true},
		{Name: "Last", BitOffset: 304, Width: 8, Type: "uint8"},
	}, fs)
}

func TestShort(t *testing.T) {
	v := sampleValue()
	err := sampleBig.Decode(make([]byte, sampleSize-1), &v)
	require.ErrorIs(t, err, ErrShort)
	require.EqualError(t, err, "sample: too short: 39 bytes needed")
	require.Equal(t, sampleValue(), v)
	require.Panics(t, func() { sampleBig.Encode(&v, make([]byte, sampleSize-1)) })
}

func TestCheck(t *testing.T) {
	v := sampleValue()
	require.NoError(t, sampleBig.Check(&v))
	v.PSN = 1 << 24
	err := sampleBig.Check(&v)
	require.ErrorIs(t, err, ErrRange)
	require.EqualError(t, err, "sample.PSN: value wider than its field: 0x1000000 in 24 bits")
	b := make([]byte, sampleSize)
	sampleBig.Encode(&v, b)
	require.Equal(t, []byte{0xb0, 0, 0, 0}, b[:4], "masked, without spilling into its neighbour")
	v.PSN, v.Imm[1] = 0, 0x1000
	require.EqualError(t, sampleBig.Check(&v), "sample.Imm[1]: value wider than its field: 0x1000 in 12 bits")
}

type wide uint16

func (wide) Width() int { return 17 }

func TestWrongDescriptions(t *testing.T) {
	refuse := func(msg string, f func()) {
		t.Helper()
		require.PanicsWithError(t, "bits: layout x: "+msg, f)
	}
	refuse("fields take 8 bits, the structure has 16", func() { MustLayout[struct{ A uint8 }]("x", Big, 2) })
	refuse("uint8 is not a struct", func() { MustLayout[uint8]("x", Big, 1) })
	refuse("field A: uint8 cannot hold 9 bits", func() {
		MustLayout[struct {
			A uint8 `bits:"9"`
		}]("x", Big, 2)
	})
	refuse("field A: bool cannot hold 8 bits", func() {
		MustLayout[struct {
			A bool `bits:"8"`
		}]("x", Big, 1)
	})
	refuse("field A: bits.wide cannot hold 17 bits", func() { MustLayout[struct{ A wide }]("x", Big, 3) })
	refuse("field A: the tag says 32 bits, bits.psn.Width says 24", func() {
		MustLayout[struct {
			A psn `bits:"32"`
		}]("x", Big, 4)
	})
	refuse(`field A: bad width "-1"`, func() {
		MustLayout[struct {
			A uint8 `bits:"-1"`
		}]("x", Big, 1)
	})
	refuse("field A: int has no encoding", func() { MustLayout[struct{ A int }]("x", Big, 8) })
	refuse("field A.B: string has no encoding", func() { MustLayout[struct{ A struct{ B string } }]("x", Big, 8) })
	refuse("field M: byte array at bit 1, not on a byte boundary", func() {
		MustLayout[struct {
			A bool
			M [2]byte
			_ struct{} `bits:"7"`
		}]("x", Big, 3)
	})
	refuse("field A: its fields take 8 bits, its tag says 9", func() {
		MustLayout[struct {
			A struct{ B uint8 } `bits:"9"`
		}]("x", Big, 1)
	})
	refuse("a reserved field at bit 8 has no width", func() {
		MustLayout[struct {
			A uint8
			_ struct{}
		}]("x", Big, 1)
	})
}

func TestNoAllocation(t *testing.T) {
	v, b := sampleValue(), make([]byte, sampleSize)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		sampleBig.Encode(&v, b)
		_ = sampleBig.Decode(b, &v)
		_ = sampleBig.Decode(b[:3], &v)
		_ = sampleBig.Check(&v)
	}))
}

func FuzzDecode(f *testing.F) {
	v, b := sampleValue(), make([]byte, sampleSize)
	sampleBig.Encode(&v, b)
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, l := range []*Layout[sample]{sampleBig, sampleLittle} {
			var v, w sample
			if len(b) < l.Size {
				require.ErrorIs(t, l.Decode(b, &v), ErrShort)
				continue
			}
			require.NoError(t, l.Decode(b, &v))
			require.NoError(t, l.Check(&v))
			out := make([]byte, l.Size)
			l.Encode(&v, out)
			require.NoError(t, l.Decode(out, &w))
			require.Equal(t, v, w)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	v, buf := sampleValue(), make([]byte, sampleSize)
	for b.Loop() {
		sampleBig.Encode(&v, buf)
	}
}

func BenchmarkDecode(b *testing.B) {
	v, buf := sampleValue(), make([]byte, sampleSize)
	for b.Loop() {
		_ = sampleBig.Decode(buf, &v)
	}
}
