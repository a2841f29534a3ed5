package wqesched

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/rtl/port"
)

// TestParseAgainstDriver writes WQEs as the driver does and reads them back.
func TestParseAgainstDriver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := abi.WQEOp(rapid.IntRange(0, int(abi.OpFetchAdd)).Draw(t, "op"))
		isAtomic := op == abi.OpCompareSwap || op == abi.OpFetchAdd
		far := abi.RemoteSegment{Addr: rapid.Uint64().Draw(t, "va"), RKey: abi.Key(rapid.Uint32().Draw(t, "key"))}
		value := abi.AtomicSegment{SwapAdd: rapid.Uint64().Draw(t, "swap"), Compare: rapid.Uint64().Draw(t, "compare")}
		c := abi.WQEControl{
			Op: op, Flags: abi.WQEFlags(rapid.IntRange(0, 7).Draw(t, "flags")),
			Index: uint16(rapid.Uint32().Draw(t, "index")), Imm: rapid.Uint32().Draw(t, "imm"),
		}
		want := wqe{Op: op, Imm: c.Imm}
		raw := make([]byte, abi.MaxUnits*abi.UnitSize)
		switch {
		case isAtomic:
			c.NumSGE = 1
			e := abi.SGE{Addr: rapid.Uint64().Draw(t, "address"), Length: 8, LKey: abi.Key(rapid.Uint32().Draw(t, "lkey"))}
			abi.SGELayout.Encode(&e, raw[abi.WQEDataOffset:])
			abi.AtomicSegmentLayout.Encode(&value, raw[abi.WQEAtomicOffset:])
			want.SGE[0] = port.SGE{VA: port.VA(e.Addr), Len: 8, Key: port.Key(e.LKey)}
			want.Remote.Swap = value.SwapAdd
			if op == abi.OpCompareSwap {
				want.Remote.Compare = value.Compare
			}
			want.Len = 8
		case op != abi.OpRead && rapid.Bool().Draw(t, "inline"):
			data := rapid.SliceOfN(rapid.Byte(), 0, maxInline).Draw(t, "data")
			c.Flags |= abi.WQEInlined
			c.InlineLen, c.NumSGE = uint16(len(data)), 99
			copy(raw[abi.WQEDataOffset:], data)
			copy(want.Data[:], data)
			want.Inline, want.Len = true, uint32(len(data))
		default:
			c.NumSGE = uint8(rapid.IntRange(0, port.MaxSGE).Draw(t, "elements"))
			for i := range int(c.NumSGE) {
				e := abi.SGE{Addr: rapid.Uint64().Draw(t, "address"), Length: rapid.SampledFrom([]uint32{0, 1, 4096, 1 << 27}).Draw(t, "length"),
					LKey: abi.Key(rapid.Uint32().Draw(t, "lkey"))}
				abi.SGELayout.Encode(&e, raw[abi.WQEDataOffset+i*abi.SGESize:])
				want.SGE[i] = port.SGE{VA: port.VA(e.Addr), Len: e.Length, Key: port.Key(e.LKey)}
				want.Len += e.Length
			}
		}
		n := int(c.NumSGE)
		if want.Inline {
			n = 0
		}
		c.Units = uint8(abi.WQEUnits(n, int(c.InlineLen)))
		abi.WQEControlLayout.Encode(&c, raw)
		abi.RemoteSegmentLayout.Encode(&far, raw[abi.WQERemoteOffset:])

		want.Units = c.Units
		want.Signaled = c.Flags&abi.WQESignalled != 0
		want.Fence = c.Flags&abi.WQEFence != 0
		want.Takes = op < abi.OpWrite || op == abi.OpWriteImm
		want.Solicited = c.Flags&abi.WQESolicited != 0 && want.Takes
		if op >= abi.OpRead {
			want.Kind = kindRead
		}
		if op >= abi.OpWrite {
			want.Remote.VA, want.Remote.RKey = port.VA(far.Addr), port.Key(far.RKey)
		}
		if !isAtomic {
			want.Remote.Len = want.Len
		}

		var w wqe
		rest := parse((*unit)(raw), c.Index, uint16(c.Units), abi.QPTypeRC, &w)
		for i := uint8(1); i <= rest; i++ {
			parseRest((*unit)(raw[int(i)*abi.UnitSize:]), i, rest, &w)
		}
		require.Equal(t, c.Units-1, rest)
		if want.Inline { // bytes behind the data are of no meaning
			w.Data = [maxInline]byte(append(w.Data[:want.Len:want.Len], want.Data[want.Len:]...))
		}
		require.Equal(t, want, w)

		c.Units++
		abi.WQEControlLayout.Encode(&c, raw)
		require.Zero(t, parse((*unit)(raw), c.Index, uint16(c.Units), abi.QPTypeRC, &w))
		require.Equal(t, abi.VendorWQEFormat, w.Vendor)
		require.Equal(t, c.Units, w.Units)
	})
}

// TestWholeAgainstUnits compares with the units that are there, one by one.
func TestWholeAgainstUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idx := uint16(rapid.Uint32().Draw(t, "idx"))
		b, u := split(idx)
		var e lines
		for i := range uint16(2) {
			block := (b + i) & blockMask
			lo := rapid.Uint8Range(0, 8).Draw(t, "lo")
			hi := rapid.Uint8Range(lo, 8).Draw(t, "hi")
			if i == 0 {
				lo = min(lo, u)
				hi = max(hi, u+1)
			}
			if rapid.IntRange(0, 4).Draw(t, "old") == 0 && i == 1 {
				block -= 2
			}
			*e.of(block) = line{Own: rapid.IntRange(0, 4).Draw(t, "own") > 0 || i == 0, Block: block & blockMask, Lo: lo, Hi: hi}
		}
		n := rapid.Uint8Range(1, 8).Draw(t, "n")
		missing, ok := e.whole(idx, n)
		for i := range uint16(n) {
			if e.find(idx+i) == nil {
				require.False(t, ok)
				require.Equal(t, idx+i, missing)
				return
			}
		}
		require.True(t, ok)
	})
}

// TestParseAnything: whatever is in the units, on a QP of any type, reading them ends and
// is right about how many there are.
func TestParseAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := port.SQCtx{Type: abi.QPType(rapid.IntRange(0, 7).Draw(t, "type")), MTU: 256, SQLog: 6}
		raw := rapid.SliceOfN(rapid.Byte(), abi.UnitSize, abi.UnitSize).Draw(t, "unit")
		raw[0] = byte(rapid.IntRange(0, 12).Draw(t, "op"))
		raw[2] = byte(rapid.IntRange(0, 9).Draw(t, "units"))
		if rapid.Bool().Draw(t, "small") {
			raw[3], raw[40], raw[41] = raw[3]%20, raw[40]%40, 0
		}
		idx := uint16(raw[6]) | uint16(raw[7])<<8
		left := uint16(rapid.IntRange(1, 9).Draw(t, "left"))
		var w wqe
		rest := parse((*unit)(raw), idx, left, c.Type, &w)
		require.LessOrEqual(t, rest, uint8(heldUnits))
		require.LessOrEqual(t, uint16(w.Units), left)
		for i := uint8(1); i <= rest; i++ {
			parseRest((*unit)(raw), i, rest, &w)
		}
		w.fit(&c)
		if w.Kind == kindFault {
			return
		}
		require.True(t, has(c.Type, w.Op))
		for i := range w.beats() {
			require.Equal(t, i+1 == w.beats(), w.pageBeat(i).Last)
		}
	})
}
