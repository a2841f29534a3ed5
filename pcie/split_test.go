package pcie

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var limits = []int{128, 256, 512, 1024, 2048, 4096}

// enabled lists the addresses that a request's byte enables mean, one by one.
func enabled(t *TLP) []uint64 {
	var as []uint64
	for dw := range int(t.Len) {
		be := ByteEnable(0xF)
		switch {
		case dw == 0:
			be = t.First
		case dw == int(t.Len)-1:
			be = t.Last
		}
		for k := range 4 {
			if be>>k&1 != 0 {
				as = append(as, t.Addr+uint64(dw*4+k))
			}
		}
	}
	return as
}

// All start offsets and lengths, against a list of single bytes.
func TestRequestBytes(t *testing.T) {
	check := func(addr uint64, n int) {
		r := Request(MRd, addr, n)
		as := enabled(&r)
		require.Len(t, as, n, "%#x+%d", addr, n)
		require.Equal(t, addr, as[0])
		require.Equal(t, addr+uint64(n)-1, as[n-1])
		require.Equal(t, addr, r.Start())
		require.Equal(t, n, r.Bytes())
		require.Equal(t, r.Len == 1, r.Last == 0, "a single DW has no last enables")
	}
	for off := range uint64(8) {
		for n := 1; n <= 40; n++ {
			check(0x1_0000_1000+off, n)
		}
		check(0x2000+off, 4096-int(off))
	}
}

func TestFlushRead(t *testing.T) {
	r := Request(MRd, 0x1002, 0)
	require.Equal(t, TLP{Kind: MRd, Addr: 0x1000, Len: 1}, r)
	require.Zero(t, r.Bytes())
	c := Completion(&r, 7, 0, 1)
	require.Equal(t, ByteCount(1), c.Count)
	require.Equal(t, DWords(1), c.Len)
}

func TestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr := rapid.Uint64Range(0, 1<<40).Draw(t, "addr")
		total := rapid.IntRange(1, 20000).Draw(t, "length")
		limit := rapid.SampledFrom(limits).Draw(t, "limit")
		n := 0
		for at, left := addr, total; left > 0; n++ {
			c := Chunk(at, left, limit)
			require.Positive(t, c)
			require.LessOrEqual(t, c, left)
			require.Equal(t, at/PageSize, (at+uint64(c)-1)/PageSize, "crosses 4 KiB")
			r := Request(MWr, at, c)
			require.LessOrEqual(t, int(r.Len)*4, limit)
			if c < left {
				require.Zero(t, (at+uint64(c))%uint64(limit))
			}
			at, left = at+uint64(c), left-c
		}
		require.LessOrEqual(t, n, (total+int(addr%uint64(limit))+limit-1)/limit)
	})
}

func TestChunkCases(t *testing.T) {
	require.Equal(t, 256, Chunk(0x1020, 256, 256), "unaligned, but fits one TLP")
	require.Equal(t, 0xE0, Chunk(0x1020, 257, 256), "does not: align")
	require.Equal(t, 255, Chunk(0x1001, 256, 256), "65 DWs do not fit")
	require.Equal(t, 253, Chunk(0x1003, 253, 256))
	require.Equal(t, 1, Chunk(0x1FFF, 2, 256), "4 KiB")
	require.Equal(t, 4096, Chunk(0x1000, 5000, 4096))
}

// Any legal cutting of a read's completions lets the requester put the bytes
// together from the headers alone.
func TestCompletions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addr := rapid.Uint64Range(0, 1<<40).Draw(t, "addr")
		n := Chunk(addr, rapid.IntRange(1, 4096).Draw(t, "length"), 4096)
		payload := rapid.SampledFrom(limits[:3]).Draw(t, "payload")
		r := Request(MRd, addr, n)
		r.Tag, r.ID, r.Class, r.Attr.Relaxed = 9, 0x0100, 3, true
		done := 0
		for done < n {
			blocks := rapid.IntRange(1, payload/RCB).Draw(t, "blocks")
			c := CompletionChunk(addr+uint64(done), n-done, blocks)
			require.Positive(t, c)
			h := Completion(&r, 0x0200, done, c)
			require.Equal(t, CplD, h.Kind)
			require.Equal(t, r.Tag, h.Tag)
			require.Equal(t, r.ID, h.ID)
			require.Equal(t, r.Class, h.Class)
			require.Equal(t, r.Attr, h.Attr)
			require.Equal(t, ID(0x0200), h.Completer)
			require.Equal(t, n-done, int(h.Count))
			require.Equal(t, uint8(addr+uint64(done))&0x7F, uint8(h.Lower))
			require.Equal(t, c, h.Bytes())
			require.LessOrEqual(t, int(h.Len)*4, payload)
			if done += c; done < n {
				require.Zero(t, (addr+uint64(done))%RCB)
			}
		}
		require.Equal(t, n, done)
	})
}

func TestFailure(t *testing.T) {
	r := Request(MRd, 0x1003, 100)
	r.Tag = 5
	h := Failure(&r, 0x0200, 61, CompleterAbort)
	require.Equal(t, TLP{Kind: Cpl, Tag: 5, Completer: 0x0200, Status: CompleterAbort, Count: 39, Lower: 0x40}, h)
	require.Zero(t, h.Bytes())
}

func TestLinkBytes(t *testing.T) {
	r := Request(MRd, 0x1000, 4096)
	require.Equal(t, 24, r.LinkBytes())
	w := Request(MWr, 0x1000, 64)
	require.Equal(t, 88, w.LinkBytes())
	w = Request(MWr, 0x1001, 64)
	require.Equal(t, 92, w.LinkBytes(), "17 DWs")
	c := Completion(&r, 0, 0, 256)
	require.Equal(t, 276, c.LinkBytes())
	f := Failure(&r, 0, 0, UnsupportedRequest)
	require.Equal(t, 20, f.LinkBytes())
}

func TestMessage(t *testing.T) {
	b := Message{Addr: 0xFEE01000, Data: 0x4021}.Beat(0x0100)
	want := Beat{
		Hdr: TLP{Kind: MWr, Len: 1, First: 0xF, Addr: 0xFEE01000, ID: 0x0100},
		Len: 4, First: true, Last: true,
	}
	want.Data[0], want.Data[1] = 0x21, 0x40
	require.Equal(t, want, b)
}
