package wqesched

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// octet is where one byte of a message lies.
type octet struct {
	Key port.Key
	VA  port.VA
}

// segment runs the segmenter over a whole message and calls each with what it
// finds, until the packet that is last.
func segment(w *wqe, psn roce.PSN, shift uint, each func(p packet, offset uint32, pieces []port.SGE)) (packets uint32) {
	pieces := make([]port.SGE, 0, port.MaxSGE)
	for offset := uint32(0); ; {
		p := cut(w, offset, psn.Add(packets), shift)
		pieces = pieces[:0]
		for n := uint32(0); n < uint32(p.Len); n += pieces[len(pieces)-1].Len {
			pieces = append(pieces, gather(&w.SGE, offset+n, uint32(p.Len)-n))
		}
		each(p, offset, pieces)
		packets++
		offset += uint32(p.Len)
		if p.Last {
			return packets
		}
	}
}

func TestSegmentAgainstBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mtu := rapid.SampledFrom([]roce.MTU{roce.MTU256, roce.MTU512, roce.MTU1024, roce.MTU2048, roce.MTU4096}).Draw(t, "mtu")
		psn := roce.PSN(rapid.Uint32Range(0, 1<<24-1).Draw(t, "psn"))
		w := wqe{Op: rapid.SampledFrom([]abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpSendInv, abi.OpWrite, abi.OpWriteImm}).Draw(t, "op"), Solicited: rapid.Bool().Draw(t, "solicited")}
		var bytes []octet
		for i := range w.SGE {
			length := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 5), rapid.IntRange(0, 3*mtu.Bytes()),
				rapid.SampledFrom([]int{mtu.Bytes() - 1, mtu.Bytes(), mtu.Bytes() + 1})).Draw(t, "length")
			e := port.SGE{VA: port.VA(rapid.Uint64().Draw(t, "va")), Len: uint32(length), Key: port.Key(rapid.Uint32().Draw(t, "key"))}
			w.SGE[i] = e
			for j := range length {
				bytes = append(bytes, octet{e.Key, e.VA + port.VA(j)})
			}
		}
		w.Len = uint32(len(bytes))

		var got []octet
		n := mtu.Packets(w.Len)
		require.Equal(t, n, packetsOf(w.Len, mtu.Shift()))
		i := uint32(0)
		packets := segment(&w, psn, mtu.Shift(), func(p packet, offset uint32, pieces []port.SGE) {
			require.Equal(t, uint32(len(got)), offset)
			require.Equal(t, int(runs(&w.SGE, offset, uint32(p.Len))), len(pieces))
			for _, s := range pieces {
				require.NotZero(t, s.Len)
				for j := range s.Len {
					got = append(got, octet{s.Key, s.VA + port.VA(j)})
				}
			}
			last := i == n-1
			require.Equal(t, last, p.Last)
			if !last {
				require.Equal(t, mtu.Bytes(), int(p.Len))
			}
			require.Equal(t, w.Op < abi.OpWrite, p.Opcode.IsSend())
			require.Equal(t, w.Op >= abi.OpWrite, p.Opcode.IsWrite())
			require.Equal(t, i == 0 && w.Op >= abi.OpWrite, p.Opcode.HasRETH())
			require.Equal(t, last && w.Op == abi.OpSendInv, p.Opcode.HasIETH())
			require.Equal(t, i == 0, p.Opcode.Starts())
			require.Equal(t, last, p.Opcode.Ends())
			require.Equal(t, last && (w.Op == abi.OpSendImm || w.Op == abi.OpWriteImm), p.Opcode.HasImm())
			require.Equal(t, last && w.Solicited, p.Solicited)
			require.Equal(t, last || psn.Add(i)&15 == 15, p.AckReq)
			i++
		})
		require.Equal(t, n, packets)
		require.Equal(t, bytes, got)
	})
}

func TestSegmentLongest(t *testing.T) {
	const last = abi.MaxMessage
	for _, mtu := range []roce.MTU{roce.MTU256, roce.MTU4096} {
		w := wqe{Op: abi.OpSendImm, SGE: [port.MaxSGE]port.SGE{
			{VA: 1<<64 - 10, Len: 7, Key: 1}, {Len: 0}, {VA: 0x1000, Len: 1<<30 + 1, Key: 2}, {VA: 0x9000, Len: last - 1<<30 - 8, Key: 3}}}
		w.sum()
		require.Equal(t, uint32(last), w.Len)
		total := uint64(0)
		n := segment(&w, 1<<24-5, mtu.Shift(), func(p packet, offset uint32, pieces []port.SGE) {
			total += uint64(p.Len)
		})
		require.Equal(t, uint64(last), total)
		require.Equal(t, uint32(last/mtu.Bytes()), n)
	}
	w := wqe{SGE: [port.MaxSGE]port.SGE{{Len: 1 << 31}, {Len: 1}}}
	w.sum()
	require.Equal(t, kindFault, w.Kind)
	require.Equal(t, abi.StatusLocLen, w.Status)
	w = wqe{SGE: [port.MaxSGE]port.SGE{{Len: 1<<32 - 1}, {Len: 1<<32 - 1}, {Len: 1<<32 - 1}, {Len: 1<<32 - 1}}}
	w.sum()
	require.Equal(t, kindFault, w.Kind)
}

func TestParseAllocatesNothing(t *testing.T) {
	var u unit
	c := abi.WQEControl{Op: abi.OpSend, Units: 5, NumSGE: 16}
	abi.WQEControlLayout.Encode(&c, u[:])
	var w wqe
	require.Zero(t, testing.AllocsPerRun(100, func() {
		rest := parse(&u, 0, 5, abi.QPTypeRC, &w)
		if rest != 4 {
			t.Fail()
		}
		for i := range rest {
			parseRest(&u, i+1, rest, &w)
		}
	}))
}
