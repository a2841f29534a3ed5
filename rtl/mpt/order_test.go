package mpt_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// fence is what it takes until markers are back that are handed back at once, from the
// cycle of the change to that of the answer.
const fence = 7

// What an operation takes, in cycles until the next may begin, as the package says.
func TestCycles(t *testing.T) {
	inv := func(k port.Key) port.MemOp { return port.MemOp{Op: abi.OpLocalInv, QPN: 3, PD: 1, Key: k} }
	none, bad, region, other := bind(4<<8), bind(11<<8), bind(4<<8), bind(4<<8)
	none.Length = 0
	region.Region++
	other.Region, other.Access = 1<<8|0xa0, 4
	reg := func(n uint8) port.MemOp {
		return port.MemOp{Op: abi.OpFastReg, PD: 1, Key: 2 << 8, Length: uint64(n) * 4096, LogPage: 12, NumPages: n}
	}
	for _, c := range []struct {
		name   string
		cycles uint64
		before []port.MemOp
		op     port.MemOp
	}{
		{"bind", 4, nil, bind(4 << 8)},
		{"bind type 2", 4, nil, bind(6 << 8)},
		{"rebind", 4 + fence, []port.MemOp{bind(4 << 8)}, bind(4 << 8)},
		{"to another region", 4 + fence, []port.MemOp{bind(4 << 8)}, other},
		{"unbind", 2 + fence, []port.MemOp{bind(4 << 8)}, none},
		{"unbind, not bound", 2, nil, none},
		{"refused for the window", 2, nil, bad},
		{"refused for the region", 3, nil, region},
		{"invalidate a window", 2 + fence, []port.MemOp{bind(6 << 8)}, inv(6 << 8)},
		{"invalidate a region", 2 + fence, nil, inv(0xa0)},
		{"refused to invalidate", 2, nil, inv(0xa1)},
		{"fast register 1", 5, nil, reg(1)},
		{"fast register 32", 67, nil, reg(32)},
	} {
		b := newWindows(t, hdl.Options{})
		b.do(t, c.before...)
		require.NoError(t, b.k.Run(b.k.Cycle()+10))
		b.MemPages.Push(beats(make([]uint64, c.op.NumPages))...)
		from := len(b.MemRes.At)
		b.do(t, bad, c.op, bad) // two cycles each for the first and the last
		at := b.MemRes.At[from:]
		require.Equal(t, c.cycles+2, at[2]-at[0], c.name)
	}
}

// Look-ups one a cycle around a change: all those before see the old key, all those
// behind the new one. The marker comes behind the old ones and the one look-up that is
// picked with the change; those of both sides take the places of two.
func TestOrderAroundChanges(t *testing.T) {
	inv := port.MemOp{Op: abi.OpLocalInv, QPN: 3, PD: 1, Key: 6 << 8}
	other := bind(4 << 8)
	other.VA, other.Access = 0x10_2000, 4
	for i, c := range []struct {
		before, op port.MemOp
		key        port.Key
	}{{bind(4 << 8), other, 4 << 8}, {bind(4 << 8), bind(4<<8 | 1), 4 << 8}, {bind(6 << 8), inv, 6 << 8}} {
		for at := range uint64(12) {
			hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []port.MptRes) {
				b := newWindows(t, o)
				require.Equal(t, []port.MemRes{{}}, b.do(t, c.before))
				from := b.k.Cycle() + 3
				use := port.MptReq{QPN: 3, PD: 1, Key: c.key, VA: 0x10_1000, Len: 64, Access: 4}
				for range 40 {
					b.Rx.Push(use)
				}
				b.Mem.NotBefore = func(int) uint64 { return from + at }
				b.Mem.Push(c.op)
				b.settle(t, 0, 0, 40)
				b.settleMem(t, 2)
				changed := b.MemRes.At[1]
				old, news := b.RxRes.Got[0], b.RxRes.Got[39]
				require.Equal(t, port.MptOK, old.Status, "%d", i)
				require.NotEqual(t, old, news)
				turned := 0
				for n, r := range b.RxRes.Got {
					if r != old {
						turned = n
						break
					}
				}
				require.Len(t, b.marks[1], 1)
				first, mark := b.RxRes.At[0], b.marks[1][0].at
				for n, r := range b.RxRes.Got {
					require.Equal(t, n >= turned, r == news, "%d %d", at, n)
					want := first + uint64(n)
					if n > turned {
						want += 2 // the places of the markers
					}
					require.Equal(t, want, b.RxRes.At[n], "one a cycle")
				}
				// Picked with the write or later: answered 3 cycles after.
				require.Equal(t, b.RxRes.At[turned]+2, mark, "%d %d", i, at)
				require.Equal(t, b.RxRes.At[turned]-3+fence, changed-1, "%d %d", i, at)
				return b.k, b.RxRes.Got
			})
		}
	}
}

// Operations of the send queue, invalidations from the wire and those of the driver take
// turns, and none waits for a registration whose pages do not come.
func TestTurns(t *testing.T) {
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, string) {
		b := newWindows(t, o)
		stuck := whole
		stuck.FirstPage = 40
		bad := port.MptReq{Invalidate: true, Key: 11 << 8}
		for range 50 {
			b.Rx.Push(bad)
			b.Mem.Push(bind(11 << 8))
			b.Admin.Push(port.MRAdmin{Dereg: true, Index: 11})
		}
		b.settle(t, 50, 0, 50)
		b.settleMem(t, 50)
		last := max(b.RxRes.At[49], b.MemRes.At[49], b.AdminRes.At[49])
		require.Less(t, last-b.RxRes.At[0], uint64(50*8))
		for _, at := range [][]uint64{b.RxRes.At, b.MemRes.At, b.AdminRes.At[9:]} {
			for i := 1; i < len(at); i++ {
				require.LessOrEqual(t, at[i]-at[i-1], uint64(8), "%d", i)
			}
		}
		b.Admin.Push(port.MRAdmin{Index: 12, MR: stuck})
		require.NoError(t, b.k.Run(b.k.Cycle()+20))
		b.Rx.Push(bad)
		b.Mem.Push(bind(4 << 8))
		b.settle(t, 50, 0, 51)
		b.settleMem(t, 51)
		require.Len(t, b.AdminRes.Got, 50)
		b.Pages.Push(beats(frames)...)
		b.settle(t, 51, 0, 51)
		return b.k, fmt.Sprint(b.RxRes.At, b.MemRes.At, b.AdminRes.At)
	})
}

// At once, on windows that no other stream touches but of the same regions: what the
// regions count comes out right, whatever the order was.
func TestCountsOfRegions(t *testing.T) {
	for throttle := range uint64(6) {
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, string) {
			b := newBench(t, o, throttle)
			tab := newTable()
			admin := func(op port.MRAdmin, list []uint64) {
				require.Equal(t, port.MRAdminRes{}, tab.admin(op, list))
				b.Admin.Push(op)
				b.Pages.Push(beats(list)...)
			}
			admin(port.MRAdmin{Index: 0, MR: whole}, frames)
			for i := range uint32(12) {
				admin(port.MRAdmin{Index: 4 + i, MR: abi.MRMailbox{Kind: abi.KeyWindow1 + abi.KeyKind(i%2), PD: 1}}, nil)
			}
			b.settle(t, 13, 0, 0)
			mem := 0
			do := func(op port.MemOp) {
				require.Equal(t, port.MemRes{}, tab.mem(op, nil))
				b.Mem.Push(op)
				mem++
			}
			for i := range port.Key(8) {
				op := bind((4 + i) << 8)
				op.QPN = port.QPN(2 + i)
				do(op)
			}
			b.settleMem(t, mem)
			look := func(k port.Key) {
				r := port.MptReq{Invalidate: true, PD: 1, QPN: port.QPN(k - 2), Key: k << 8}
				require.Equal(t, port.MptRes{}, tab.look(r))
				b.Rx.Push(r)
			}
			look(5)
			look(7)
			admin(port.MRAdmin{Dereg: true, Index: 4}, nil)
			admin(port.MRAdmin{EndQP: true, QPN: 7}, nil) // window 9
			admin(port.MRAdmin{Dereg: true, Index: 6}, nil)
			admin(port.MRAdmin{EndQP: true, QPN: 9}, nil) // window 11
			for i := range port.Key(4) {
				do(bind((12 + i) << 8))
				if i%2 == 1 {
					do(port.MemOp{Op: abi.OpLocalInv, QPN: 3, PD: 1, Key: (12 + i) << 8})
				}
			}
			b.settle(t, 17, 0, 2)
			b.settleMem(t, mem)
			for _, r := range b.MemRes.Got {
				require.Equal(t, port.MemRes{}, r)
			}
			b.counts(t, tab)
			return b.k, fmt.Sprint(b.RxRes.At, b.MemRes.At, b.AdminRes.At)
		})
	}
}
