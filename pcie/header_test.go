package pcie

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawTLP(t *rapid.T) TLP {
	r := TLP{
		Kind:   Kind(rapid.IntRange(0, 3).Draw(t, "kind")),
		Class:  TrafficClass(rapid.Uint8Max(7).Draw(t, "class")),
		Attr:   Attr{rapid.Bool().Draw(t, "ido"), rapid.Bool().Draw(t, "ro"), rapid.Bool().Draw(t, "ns")},
		Poison: rapid.Bool().Draw(t, "poison"),
		Len:    DWords(rapid.IntRange(1, 1024).Draw(t, "len")),
		ID:     ID(rapid.Uint16().Draw(t, "id")),
		Tag:    Tag(rapid.Uint8().Draw(t, "tag")),
	}
	if r.Kind.IsRequest() {
		r.First = ByteEnable(rapid.Uint8Max(15).Draw(t, "first"))
		r.Last = ByteEnable(rapid.Uint8Max(15).Draw(t, "last"))
		r.Addr = rapid.Uint64().Draw(t, "addr") &^ 3
		return r
	}
	if r.Kind == Cpl {
		r.Len = 0
	}
	r.Completer = ID(rapid.Uint16().Draw(t, "completer"))
	r.Status = Status(rapid.Uint8Max(7).Draw(t, "status"))
	r.Count = ByteCount(rapid.IntRange(1, 4096).Draw(t, "count"))
	r.Lower = LowerAddr(rapid.Uint8Max(127).Draw(t, "lower"))
	return r
}

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTLP(t)
		var b [HeaderSize]byte
		var got TLP
		want.Encode(&b)
		require.NoError(t, got.Decode(&b))
		require.Equal(t, want, got)
	})
}

// Bytes as the figures of the specification lay them out (2.2.1, 2.2.7, 2.2.9).
func TestHeaderBytes(t *testing.T) {
	encode := func(h TLP) []byte {
		var b [HeaderSize]byte
		h.Encode(&b)
		return b[:]
	}
	w := Request(MWr, 0x1234_5678_9ABC_DEF1, 6)
	w.ID, w.Tag, w.Class, w.Attr = 0x0A0B, 0xC3, 5, Attr{IDOrder: true, NoSnoop: true}
	require.Equal(t, []byte{
		0x60, 0x54, 0x10, 0x02,
		0x0A, 0x0B, 0xC3, 0x7E,
		0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0,
	}, encode(w))
	r := Request(MRd, 0x1000, 4096)
	r.Attr.Relaxed = true
	require.Equal(t, []byte{0x20, 0, 0x20, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0x10, 0}, encode(r), "1024 DWs are 0")
	r.ID, r.Tag = 0x0100, 7
	c := Completion(&r, 0x0302, 0, 256)
	c.Poison = true
	require.Equal(t, []byte{
		0x4A, 0, 0x60, 0x40,
		0x03, 0x02, 0x00, 0x00,
		0x01, 0x00, 7, 0, 0, 0, 0, 0,
	}, encode(c), "4096 bytes are 0")
	f := Failure(&r, 0x0302, 4000, UnsupportedRequest)
	require.Equal(t, []byte{
		0x0A, 0, 0x20, 0,
		0x03, 0x02, 0x20, 96,
		0x01, 0x00, 7, 0x20, 0, 0, 0, 0,
	}, encode(f))
}

func TestUnsupported(t *testing.T) {
	for _, first := range []byte{0x00, 0x40, 0x21, 0x44, 0x74, 0x2A, 0x80, 0xFF} {
		h := TLP{Kind: MWr, Addr: 4}
		before := h
		require.ErrorIs(t, h.Decode(&[HeaderSize]byte{first}), ErrUnsupported, "%#02x", first)
		require.Equal(t, before, h)
	}
	var h TLP
	require.ErrorIs(t, h.Decode(&[HeaderSize]byte{0x60, 0, 0x80}), ErrUnsupported, "ECRC")
}

func FuzzHeader(f *testing.F) {
	for _, h := range []TLP{Request(MWr, 3, 61), Request(MRd, 0x1000, 4096), {Kind: Cpl, Status: 1, Count: 4}, {Kind: CplD, Len: 9, Count: 33, Lower: 3}} {
		var b [HeaderSize]byte
		h.Encode(&b)
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var b, again [HeaderSize]byte
		copy(b[:], in)
		var h, h2 TLP
		if err := h.Decode(&b); err != nil {
			require.ErrorIs(t, err, ErrUnsupported)
			return
		}
		require.GreaterOrEqual(t, h.Bytes(), 0)
		require.LessOrEqual(t, h.Bytes(), 4096)
		require.NotEmpty(t, h.Kind.String()+h.Status.String()+h.ID.String())
		h.Encode(&again)
		require.NoError(t, h2.Decode(&again))
		require.Equal(t, h, h2)
	})
}

func TestNoAllocation(t *testing.T) {
	h := Request(MWr, 0x1003, 200)
	var b [HeaderSize]byte
	require.Zero(t, testing.AllocsPerRun(100, func() {
		h.Encode(&b)
		_ = h.Decode(&b)
	}))
}

func BenchmarkEncode(b *testing.B) {
	h := Request(MWr, 0x1003, 200)
	var buf [HeaderSize]byte
	for b.Loop() {
		h.Encode(&buf)
	}
}

func BenchmarkDecode(b *testing.B) {
	h := Request(MWr, 0x1003, 200)
	var buf [HeaderSize]byte
	h.Encode(&buf)
	for b.Loop() {
		_ = h.Decode(&buf)
	}
}
