package mpt_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// step is one operation, of one of three kinds, and what is to come of it.
type step struct {
	admin    *port.MRAdmin
	mem      *port.MemOp
	look     *port.MptReq
	list     []uint64
	adminRes port.MRAdminRes
	memRes   port.MemRes
	lookRes  port.MptRes
}

// drawer draws operations that mostly make sense for what there is.
type drawer struct {
	*rapid.T
	*table
}

func (d drawer) n(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.T, what) }

func (d drawer) odd(what string) bool { return d.n(0, 15, what) == 13 } // rapid likes small ones

// pages of the page table that are a key's: those of 8 and 9 fill more than a beat.
func span(index uint32) (first, num uint32) {
	switch {
	case index < 8:
		return 4 * index, 4
	case index < 10:
		return 12*index - 64, 12
	}
	return 4*index + 16, 4
}

// pick is a key that is of use now, or any number.
func (d drawer) pick(what string, good func(k *key) bool) uint32 {
	var some []uint32
	for i, k := range d.keys {
		if good(k) {
			some = append(some, i)
		}
	}
	slices.Sort(some)
	if d.n(0, 1, "from the end") == 1 {
		slices.Reverse(some)
	}
	if len(some) == 0 || d.odd(what+" any") {
		return uint32(d.n(1, 17, what))
	}
	return rapid.SampledFrom(some).Draw(d.T, what)
}

// use is a key, its domain and an address in or near it.
func (d drawer) use(index uint32) (k port.Key, pd port.PD, va port.VA, left uint64) {
	e := d.keys[index]
	if e == nil {
		return port.Key(index << 8), 1, 0, 1
	}
	k, pd = port.Key(index<<8|uint32(e.KeyLow)), port.PD(e.PD)
	if d.odd("low") {
		k ^= 1
	}
	if d.odd("domain") {
		pd ^= 3
	}
	off := uint64(d.n(0, int(min(e.Length, 1<<17)), "offset"))
	return k, pd, port.VA(e.Addr + off), e.Length - off
}

func (d drawer) admin() step {
	op, list := port.MRAdmin{Index: uint32(d.n(1, 17, "index"))}, []uint64(nil)
	switch d.n(0, 7, "admin") {
	case 3:
		op = port.MRAdmin{EndQP: true, QPN: port.QPN(d.n(1, 3, "qpn"))}
	case 4, 5:
		op.Dereg = true
		op.Index = d.pick("dereg", func(k *key) bool { return k.FirstPage != 0 || k.window() })
	default:
		first, num := span(op.Index)
		mr := abi.MRMailbox{Kind: abi.KeyKind(d.n(0, 3, "kind")), KeyLow: uint8(d.n(0, 3, "low")), PD: uint32(1 + d.n(0, 3, "pd")/3),
			Access: d.access(31), FirstPage: first, NumPages: uint32(d.n(1, int(num), "pages"))}
		if op.Index > 11 && op.Index < 16 {
			mr.Kind |= abi.KeyWindow1
		}
		d.shape(&mr)
		if mr.Kind == abi.KeyRegion {
			list = d.list(int(mr.NumPages), mr.LogPageSize)
		}
		if d.odd("no room") {
			mr.FirstPage = 65
		}
		op.MR = mr
	}
	return step{admin: &op, list: list, adminRes: d.table.admin(op, list)}
}

func (d drawer) access(of int) abi.AccessFlags {
	a := abi.AccessFlags(d.n(0, of, "access"))
	if a&0xa != 0 && !d.odd("no local write") {
		a |= abi.AccessFlags(of) & 1
	}
	return a
}

// shape gives a region of NumPages pages a range.
func (d drawer) shape(mr *abi.MRMailbox) {
	mr.LogPageSize = uint8(12 + d.n(0, 2, "log"))
	size := uint64(1) << mr.LogPageSize
	start := uint64(d.n(0, int(size)-1, "start"))
	mr.Addr = uint64(d.n(0, 3, "addr"))*64*size + start
	room := uint64(max(mr.NumPages, 1))*size - start
	mr.Length = room - uint64(d.n(0, int(min(room, size))-1, "short"))
	switch {
	case d.odd("log bad"):
		mr.LogPageSize = uint8(d.n(31, 40, "log"))
	case d.odd("pages"):
		mr.Length += size
	}
}

func (d drawer) list(n int, log uint8) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(d.n(0, 255, "frame")) << log
	}
	if n > 0 && d.odd("align") {
		list[d.n(0, n-1, "which")] |= 1 << 3
	}
	return list
}

func (d drawer) mem() step {
	op, list := port.MemOp{QPN: port.QPN(d.n(1, 3, "qpn"))}, []uint64(nil)
	switch d.n(0, 4, "mem") {
	case 3:
		op.Op = abi.OpLocalInv
		op.Key, op.PD, _, _ = d.use(d.pick("inv", func(k *key) bool { return k.valid && k.FirstPage != 0 || k.window() }))
	case 1, 2:
		op.Op = abi.OpFastReg
		i := d.pick("room", func(k *key) bool { return k.Kind == abi.KeyFastReg && !k.valid })
		op.Key, op.PD, _, _ = d.use(i)
		op.Key = op.Key&^0xff | port.Key(d.n(0, 3, "low"))
		room := 4
		if k := d.keys[i]; k != nil && k.room != 0 {
			room = int(k.room)
		}
		mr := abi.MRMailbox{NumPages: uint32(d.n(0, room+1, "pages"))}
		d.shape(&mr)
		op.VA, op.Length, op.LogPage, op.NumPages, op.Access = port.VA(mr.Addr), mr.Length, mr.LogPageSize, uint8(mr.NumPages), d.access(31)
		list = d.list(int(op.NumPages), op.LogPage)
	default:
		op.Op = abi.OpBindMW
		op.Key = port.Key(d.pick("window", func(k *key) bool { return k.window() && (k.Kind == abi.KeyWindow1 || !k.valid) })<<8 | uint32(d.n(0, 3, "low")))
		var left uint64
		op.Region, op.PD, op.VA, left = d.use(d.pick("region", func(k *key) bool { return k.valid && !k.window() && k.Access&abi.AccessMWBind != 0 }))
		op.Length = left - min(left, uint64(d.n(0, 1<<15, "less")))
		if d.odd("long") {
			op.Length += uint64(d.n(1, 1<<15, "more"))
		}
		op.Access = d.access(0xe)
		if d.odd("not remote") {
			op.Access |= abi.AccessLocalWrite
		}
	}
	return step{mem: &op, list: list, memRes: d.table.mem(op, list)}
}

func (d drawer) look() step {
	r := port.MptReq{QPN: port.QPN(d.n(1, 3, "qpn"))}
	i := d.pick("key", func(k *key) bool { return k.valid })
	var left uint64
	r.Key, r.PD, r.VA, left = d.use(i)
	if k := d.keys[i]; k != nil {
		r.Access = uint8(k.Access) & uint8(d.n(0, 15, "access"))
		if k.qpn != 0 && !d.odd("qpn") {
			r.QPN = k.qpn
		}
	}
	r.Len = uint16(d.n(1, 4096, "len"))
	if !d.odd("long") {
		r.Len = uint16(min(uint64(r.Len), max(left, 1)))
	}
	if d.n(0, 3, "range") == 0 {
		r.Range = uint32(min(left, 1<<16)) + uint32(d.n(0, 1, "one more"))
	}
	if i != 0 && d.n(0, 4, "invalidate") == 0 {
		r = port.MptReq{QPN: r.QPN, Key: r.Key, PD: r.PD, Invalidate: true}
	}
	return step{look: &r, lookRes: d.table.look(r)}
}

// TestRandomOperations: operations of the driver, of the send queue and look-ups, some
// at once where their order is known, answer as the model does, and look-ups of a region
// that nothing changes are not disturbed.
func TestRandomOperations(t *testing.T) {
	base := abi.MRMailbox{Addr: 100, Length: 8000, PD: 1, KeyLow: 1, LogPageSize: 12, NumPages: 2, Access: 31}
	frames := []uint64{0x7000, 0x3000}
	back := port.MptReq{Key: 1, VA: 4000, Len: 200, PD: 1}
	rapid.Check(t, func(t *rapid.T) {
		d := drawer{T: t, table: newTable()}
		first := step{admin: &port.MRAdmin{MR: base}, list: frames, adminRes: d.table.admin(port.MRAdmin{MR: base}, frames)}
		steps := []step{first}
		for i, kind := range []abi.KeyKind{8: abi.KeyFastReg, abi.KeyFastReg, abi.KeyFastReg,
			12: abi.KeyWindow1, abi.KeyWindow1, abi.KeyWindow2, abi.KeyWindow2} {
			if kind != abi.KeyRegion {
				at, n := span(uint32(i))
				op := port.MRAdmin{Index: uint32(i), MR: abi.MRMailbox{Kind: kind, PD: 1, FirstPage: at, NumPages: n}}
				steps = append(steps, step{admin: &op, adminRes: d.table.admin(op, nil)})
			}
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch d.n(0, 2, "stream") {
			case 0:
				steps = append(steps, d.admin())
			case 1:
				steps = append(steps, d.mem())
			case 2:
				steps = append(steps, d.look())
			}
		}
		throttle := rapid.Uint64Range(0, 3).Draw(t, "throttle")
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []uint64) {
			b := newBench(t, o, throttle)
			var ad, me, lo, tx int
			var at []uint64
			for i, s := range steps {
				if i == 1 || i > 1 && ((s.admin == nil) != (steps[i-1].admin == nil) || (s.mem == nil) != (steps[i-1].mem == nil)) {
					b.settle(t, ad, tx, lo)
					b.settleMem(t, me)
				}
				switch {
				case s.admin != nil:
					b.Admin.Push(*s.admin)
					b.Pages.Push(beats(s.list)...)
					ad++
				case s.mem != nil:
					b.Mem.Push(*s.mem)
					b.MemPages.Push(beats(s.list)...)
					me++
				default:
					b.Rx.Push(*s.look)
					lo++
				}
				if i > 0 {
					b.Tx.Push(back, back)
					tx += 2
				}
			}
			b.settle(t, ad, tx, lo)
			b.settleMem(t, me)
			for _, s := range steps {
				switch {
				case s.admin != nil:
					require.Equal(t, s.adminRes, b.AdminRes.Got[0], "%+v", *s.admin)
					b.AdminRes.Got = b.AdminRes.Got[1:]
				case s.mem != nil:
					require.Equal(t, s.memRes, b.MemRes.Got[0], "%+v", *s.mem)
					b.MemRes.Got = b.MemRes.Got[1:]
				default:
					require.Equal(t, s.lookRes, b.RxRes.Got[0], "%+v", *s.look)
					b.RxRes.Got = b.RxRes.Got[1:]
				}
			}
			for _, r := range b.TxRes.Got {
				require.Equal(t, port.MptRes{Addr0: 0x7fa0, Len0: 96, Addr1: 0x3000, Len1: 104}, r)
			}
			b.counts(t, d.table)
			at = append(at, b.RxRes.At...)
			return b.k, append(at, b.MemRes.At...)
		})
	})
}

// counts compares what the block counts with what there is.
func (b *bench) counts(t tester, tab *table) {
	require.NoError(t, b.k.Run(b.k.Cycle()+10)) // a region is told last
	bound := uint32(0)
	for i := range uint32(b.Mpt.KeyTable.Depth()) {
		e, k := b.Mpt.KeyTable.Peek(int(i)), tab.keys[i]
		require.Equal(t, k != nil, e.Used, "key %d", i)
		if k == nil {
			continue
		}
		require.Equal(t, k.valid, e.Valid, "key %d", i)
		if !k.window() {
			require.Equal(t, tab.windows(k), e.Bound, "windows of region %d", i)
		} else if k.valid && k.Kind == abi.KeyWindow2 {
			bound++
		}
	}
	require.Equal(t, bound, b.Mpt.Q.Bound)
}

// settleMem runs until n memory operations have ended.
func (b *bench) settleMem(t tester, n int) {
	for end := b.k.Cycle() + 100000; len(b.MemRes.Got) < n; {
		require.Less(t, b.k.Cycle(), end, "no answer")
		require.NoError(t, b.k.Run(b.k.Cycle()+1))
	}
}
