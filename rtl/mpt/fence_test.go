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

func localInv(k port.Key) port.MemOp {
	return port.MemOp{Op: abi.OpLocalInv, QPN: 3, PD: 1, Key: k}
}

func unbind(k port.Key) port.MemOp {
	op := bind(k)
	op.Length = 0
	return op
}

// run lets cycles pass.
func (b *bench) run(t tester, cycles uint64) { require.NoError(t, b.k.Run(b.k.Cycle()+cycles)) }

// What takes something from a key is answered when the markers of both sides are back, in
// either order, and changes the key before that; what only gives is answered at once, and
// so is what is refused, without markers.
func TestWhoWaits(t *testing.T) {
	reg := port.MemOp{Op: abi.OpFastReg, PD: 1, Key: 2 << 8, Length: 4096, LogPage: 12, NumPages: 1}
	for _, c := range []struct {
		name   string
		before []port.MemOp
		op     port.MemOp
		waits  bool
	}{
		{"bind", nil, bind(4 << 8), false},
		{"bind type 2", nil, bind(6 << 8), false},
		{"rebind", []port.MemOp{bind(4 << 8)}, bind(4<<8 | 1), true},
		{"unbind", []port.MemOp{bind(4 << 8)}, unbind(4<<8 | 1), true},
		{"unbind, not bound", nil, unbind(4<<8 | 1), false},
		{"bind, unbound before", []port.MemOp{bind(4 << 8), unbind(4 << 8)}, bind(4 << 8), false},
		{"invalidate a window", []port.MemOp{bind(6 << 8)}, localInv(6 << 8), true},
		{"invalidate a region", nil, localInv(0xa0), true},
		{"invalidate nothing", nil, localInv(6 << 8), false},
		{"refused to rebind", []port.MemOp{bind(6 << 8)}, bind(6 << 8), false},
		{"fast register", nil, reg, false},
	} {
		for first := range 2 {
			b := newWindows(t, hdl.Options{Strict: true})
			b.do(t, c.before...)
			b.run(t, 20)
			b.marks, b.held = [2][]mark{}, true
			n := len(b.MemRes.Got)
			b.MemPages.Push(beats(make([]uint64, c.op.NumPages))...)
			b.Mem.Push(c.op)
			b.run(t, 50)
			if !c.waits {
				require.Len(t, b.MemRes.Got, n+1, c.name)
				require.Empty(t, append(b.marks[0], b.marks[1]...), c.name)
				continue
			}
			require.Len(t, b.MemRes.Got, n, c.name)
			old := port.MptReq{QPN: 3, PD: 1, Key: c.op.Key &^ 1, VA: 0x10_1000, Len: 4, Access: 2}
			require.Equal(t, port.MptBadKey, b.ask(t, old)[0].Status, c.name)
			for side := range 2 {
				require.Len(t, b.marks[side], 1, c.name)
				require.Equal(t, port.FenceMem, b.marks[side][0].fence, c.name)
			}
			for i := range 2 {
				require.Len(t, b.MemRes.Got, n, c.name)
				if i == first {
					b.TxFenced.Push(port.FenceMem)
				} else {
					b.RxFenced.Push(port.FenceMem)
				}
				b.run(t, 10)
			}
			require.Equal(t, port.MemRes{}, b.MemRes.Got[n], c.name)
		}
	}
}

// While a memory operation waits, look-ups go on, SEND with invalidate and registrations
// too, and the next memory operation is not begun. A deregistration waits for markers of
// its own, as each SEND with invalidate does for those of the reads.
func TestNobodyElseWaits(t *testing.T) {
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, string) {
		b := newWindows(t, o)
		b.do(t, bind(4<<8), bind(6<<8))
		b.run(t, 20)
		b.held = true
		b.Mem.Push(localInv(6<<8), unbind(4<<8))
		b.run(t, 50)
		window := port.MptReq{QPN: 3, PD: 1, Key: 4 << 8, VA: 0x10_1000, Len: 4, Access: 2}
		require.Equal(t, port.MptOK, b.ask(t, window)[0].Status, "the second is not begun")
		region := port.MptReq{PD: 1, Key: 1<<8 | 0xa0, Invalidate: true}
		require.Equal(t, []port.MptRes{{}, {Status: port.MptBadKey}}, b.ask(t, region, region))
		b.register(12, whole, frames)
		b.settle(t, 1, 0, 0)
		b.run(t, 50)
		require.Equal(t, []port.MptRes{{}}, b.ask(t, port.MptReq{PD: 1, Key: 12<<8 | 0xa0, Invalidate: true}))
		b.Admin.Push(port.MRAdmin{Dereg: true, Index: 12})
		b.run(t, 50)
		fences := func(side int) (f []port.Fence) {
			for _, m := range b.marks[side] {
				f = append(f, m.fence)
			}
			return f
		}
		require.Equal(t, []port.Fence{port.FenceMem, port.FenceInv, port.FenceInv, port.FenceAdmin}, fences(0))
		require.Equal(t, []port.Fence{port.FenceMem, port.FenceAdmin}, fences(1))
		seen := func() string { return fmt.Sprint(len(b.MemRes.Got), len(b.KeyEnded.Got), len(b.AdminRes.Got)) }
		require.Equal(t, "2 0 1", seen())
		want := []string{"2 0 1", "2 1 1", "2 2 1", "2 2 1"}
		for i, f := range fences(0) {
			b.TxFenced.Push(f)
			b.run(t, 20)
			require.Equal(t, want[i], seen())
		}
		b.RxFenced.Push(port.FenceMem)
		b.run(t, 50)
		require.Equal(t, "3 2 1", seen())
		require.Equal(t, port.MptBadKey, b.ask(t, window)[0].Status, "now the second is")
		b.RxFenced.Push(port.FenceAdmin, port.FenceMem)
		b.TxFenced.Push(port.FenceMem)
		b.run(t, 50)
		require.Equal(t, "4 2 2", seen())
		return b.k, fmt.Sprint(b.RxRes.At, b.MemRes.At, b.AdminRes.At, b.KeyEnded.At)
	})
}

// The end of a QP with windows of type 2 waits as a deregistration does; one without does not.
func TestEndOfQPWaits(t *testing.T) {
	b := newWindows(t, hdl.Options{Strict: true})
	b.do(t, bind(6<<8))
	b.held = true
	b.Admin.Push(port.MRAdmin{EndQP: true, QPN: 2})
	b.settle(t, 1, 0, 0)
	b.Admin.Push(port.MRAdmin{EndQP: true, QPN: 3})
	b.run(t, 200)
	require.Len(t, b.AdminRes.Got, 1)
	b.TxFenced.Push(port.FenceAdmin)
	b.RxFenced.Push(port.FenceAdmin)
	b.settle(t, 2, 0, 0)
}
