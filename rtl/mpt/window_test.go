package mpt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// The keys of newWindows: regions 0 (all) and 1 (no local write), room 2, windows 4 and 5
// of type 1, 6 and 7 of type 2, 8 and 9 of another domain.
var (
	whole  = abi.MRMailbox{Addr: 0x10_0100, Length: 0x3000, PD: 1, KeyLow: 0xa0, LogPageSize: 12, NumPages: 4, Access: 31}
	frames = []uint64{0x7000, 0x3000, 0x5000, 0x1000}
)

func newWindows(t tester, o hdl.Options) *bench {
	b := newBench(t, o, 0)
	b.register(0, whole, frames)
	readOnly, room := whole, abi.MRMailbox{Kind: abi.KeyFastReg, PD: 1, FirstPage: 8, NumPages: 32}
	readOnly.FirstPage, readOnly.Access = 4, abi.AccessRemoteRead|abi.AccessMWBind
	b.register(1, readOnly, frames)
	b.register(2, room, nil)
	for i, w := range []abi.MRMailbox{{Kind: 2, PD: 1}, {Kind: 2, PD: 1}, {Kind: 3, PD: 1}, {Kind: 3, PD: 1}, {Kind: 2, PD: 2}, {Kind: 3, PD: 2}} {
		b.register(uint32(4+i), w, nil)
	}
	b.settle(t, 9, 0, 0)
	for _, r := range b.AdminRes.Got {
		require.Equal(t, port.MRAdminRes{}, r)
	}
	b.AdminRes.Got = nil
	return b
}

// bind binds key to 0x1000 bytes from byte 0xf00 of region 0 on.
func bind(k port.Key) port.MemOp {
	return port.MemOp{Op: abi.OpBindMW, QPN: 3, PD: 1, Key: k, Region: 0xa0, VA: 0x10_1000, Length: 0x1000, Access: 2 | 4}
}

func (b *bench) do(t tester, ops ...port.MemOp) []port.MemRes {
	n := len(b.MemRes.Got)
	b.Mem.Push(ops...)
	b.settleMem(t, n+len(ops))
	return b.MemRes.Got[n:]
}

func (b *bench) ask(t tester, r ...port.MptReq) []port.MptRes {
	n := len(b.RxRes.Got)
	b.Rx.Push(r...)
	b.settle(t, 0, 0, n+len(r))
	return b.RxRes.Got[n:]
}

var refused = port.MemRes{Status: abi.StatusMWBind, Vendor: abi.VendorBind}

func TestBindRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(op *port.MemOp)
	}{
		{"no such window", func(op *port.MemOp) { op.Key = 10 << 8 }},
		{"beyond the table", func(op *port.MemOp) { op.Key = 16 << 8 }},
		{"a region", func(op *port.MemOp) { op.Key = 0xa0 }},
		{"room", func(op *port.MemOp) { op.Key = 2 << 8 }},
		{"window of another domain", func(op *port.MemOp) { op.Key = 8 << 8 }},
		{"QP of another domain", func(op *port.MemOp) { op.PD = 2 }},
		{"window and QP of another domain", func(op *port.MemOp) { op.Key, op.PD = 9<<8, 2 }},
		{"no such region", func(op *port.MemOp) { op.Region = 10 << 8 }},
		{"region beyond the table", func(op *port.MemOp) { op.Region = 1<<31 | 0xa0 }},
		{"region's low byte", func(op *port.MemOp) { op.Region = 0xa1 }},
		{"region is room", func(op *port.MemOp) { op.Region = 2 << 8 }},
		{"region is a window that is bound", func(op *port.MemOp) { op.Region = 7 << 8 }},
		{"remote write, region without local write", func(op *port.MemOp) { op.Region = 1<<8 | 0xa0 }},
		{"atomics, region without local write", func(op *port.MemOp) { op.Region, op.Access = 1<<8|0xa0, abi.AccessRemoteAtomic }},
		{"local write", func(op *port.MemOp) { op.Access |= abi.AccessLocalWrite }},
		{"window on window", func(op *port.MemOp) { op.Access |= abi.AccessMWBind }},
		{"begins before", func(op *port.MemOp) { op.VA = 0x10_00ff }},
		{"ends behind", func(op *port.MemOp) { op.Length = 0x2101 }},
		{"wraps", func(op *port.MemOp) { op.Length = ^uint64(0) }},
		{"type 2, nothing", func(op *port.MemOp) { op.Key, op.Length = 6<<8, 0 }},
		{"type 2, bound", func(op *port.MemOp) { op.Key = 7<<8 | 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newWindows(t, hdl.Options{Strict: true})
			require.Equal(t, []port.MemRes{{}}, b.do(t, bind(7<<8)))
			for _, k := range []port.Key{4<<8 | 1, 6<<8 | 1} {
				op := bind(k)
				c.change(&op)
				require.Equal(t, []port.MemRes{refused}, b.do(t, op))
				require.Equal(t, port.MptBadKey, b.ask(t, port.MptReq{QPN: 3, PD: 1, Key: k, VA: 0x10_1000, Len: 1, Access: 4})[0].Status)
			}
			require.Equal(t, uint32(1), b.Mpt.KeyTable.Peek(0).Bound)
			require.Zero(t, b.Mpt.KeyTable.Peek(1).Bound)
			require.Equal(t, []port.MemRes{{}, {}}, b.do(t, bind(4<<8|1), bind(6<<8|1)))
		})
	}
	b := newWindows(t, hdl.Options{Strict: true})
	readable := bind(4 << 8)
	readable.Region, readable.Access = 1<<8|0xa0, abi.AccessRemoteRead
	require.Equal(t, []port.MemRes{{}}, b.do(t, readable))
	plain := whole
	plain.FirstPage, plain.Access = 60, whole.Access&^abi.AccessMWBind
	b.register(12, plain, frames)
	other := whole
	other.FirstPage, other.PD = 56, 2
	b.register(13, other, frames)
	b.settle(t, 2, 0, 0)
	no, far := bind(4<<8), bind(4<<8)
	no.Region, far.Region = 12<<8|0xa0, 13<<8|0xa0
	require.Equal(t, []port.MemRes{refused, refused}, b.do(t, no, far), "no MW_BIND, another domain")
	require.Equal(t, []port.MemRes{{}, refused}, b.do(t, port.MemOp{Op: abi.OpLocalInv, Key: 0xa0, PD: 1}, bind(5<<8)), "invalidated")
}

// A window of type 1 can be bound again and again: only the newest key is good, for
// remote access, in bounds of its own. The region knows how many windows it has.
func TestRebind(t *testing.T) {
	b := newWindows(t, hdl.Options{Strict: true})
	use := port.MptReq{QPN: 9, PD: 1, Key: 4<<8 | 1, VA: 0x10_1080, Len: 0xf80, Access: 4} // any QP
	require.Equal(t, []port.MemRes{{}}, b.do(t, bind(4<<8|1)))
	local, write, out, low := use, use, use, use
	local.Access, write.Access = 0, 1
	out.Len, low.VA = 0xf81, 0xf_ffff+0x1000
	require.Equal(t, []port.MptRes{
		{Addr0: 0x3080, Len0: 0xf80}, {Status: port.MptBadKey}, {Status: port.MptBadKey}, {Status: port.MptBadBounds}, {Status: port.MptBadBounds},
	}, b.ask(t, use, local, write, out, low))

	next := bind(4<<8 | 2)
	next.VA, next.Length, next.Access = 0x10_1800, 0x1000, 4
	require.Equal(t, []port.MemRes{{}}, b.do(t, next))
	now := use
	now.Key, now.VA, now.Len = 4<<8|2, 0x10_1f00, 0x200
	change := now
	change.Access = 2
	require.Equal(t, []port.MptRes{{Status: port.MptBadKey}, {Addr0: 0x3f00, Len0: 0x100, Addr1: 0x5000, Len1: 0x100}, {Status: port.MptBadAccess}}, b.ask(t, use, now, change))
	require.Equal(t, uint32(1), b.Mpt.KeyTable.Peek(0).Bound)

	else1 := bind(4<<8 | 3)
	else1.Region, else1.Access = 1<<8|0xa0, 4
	require.Equal(t, []port.MemRes{{}}, b.do(t, else1))
	require.NoError(t, b.k.Run(b.k.Cycle()+4))
	require.Zero(t, b.Mpt.KeyTable.Peek(0).Bound)
	require.Equal(t, uint32(1), b.Mpt.KeyTable.Peek(1).Bound)

	none := bind(4 << 8)
	none.Length, none.Region, none.Access = 0, 0, 0
	require.Equal(t, []port.MemRes{{}, {}}, b.do(t, none, none))
	now.Key, now.VA, now.Len = 4<<8|3, 0x10_1000, 1
	require.Equal(t, []port.MptRes{{Status: port.MptBadKey}}, b.ask(t, now))
	require.Zero(t, b.Mpt.KeyTable.Peek(1).Bound)
}

// Who may invalidate what, from the send queue and by SEND with invalidate.
func TestWhoInvalidates(t *testing.T) {
	for _, c := range []struct {
		name string
		key  port.Key
		qpn  port.QPN
		pd   port.PD
		ok   bool
		why  port.MptStatus
	}{
		{"type 1", 4 << 8, 3, 1, false, port.MptBadAccess},
		{"type 2", 6 << 8, 3, 1, true, port.MptOK},
		{"type 2 of another QP", 6 << 8, 4, 1, false, port.MptBadPD},
		{"type 2, other domain", 6 << 8, 3, 2, false, port.MptBadPD},
		{"type 2, not bound", 7 << 8, 3, 1, false, port.MptBadKey},
		{"low byte", 6<<8 | 1, 3, 1, false, port.MptBadKey},
		{"region with windows", 0xa0, 3, 1, false, port.MptBadAccess},
		{"region", 1<<8 | 0xa0, 4, 1, true, port.MptOK},
		{"region, other domain", 1<<8 | 0xa0, 3, 2, false, port.MptBadPD},
		{"room", 2 << 8, 3, 1, false, port.MptBadKey},
		{"unknown", 11 << 8, 3, 1, false, port.MptBadKey},
		{"beyond the table", 1 << 20, 3, 1, false, port.MptBadKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, remote := range []bool{false, true} {
				b := newWindows(t, hdl.Options{Strict: true})
				require.Equal(t, []port.MemRes{{}, {}}, b.do(t, bind(4<<8), bind(6<<8)))
				if remote {
					got := b.ask(t, port.MptReq{Invalidate: true, QPN: c.qpn, PD: c.pd, Key: c.key})[0]
					require.Equal(t, port.MptRes{Status: c.why}, got)
				} else {
					want := port.MemRes{}
					if !c.ok {
						want = port.MemRes{Status: abi.StatusMWBind, Vendor: abi.VendorInvalidate}
					}
					require.Equal(t, want, b.do(t, port.MemOp{Op: abi.OpLocalInv, QPN: c.qpn, PD: c.pd, Key: c.key})[0])
				}
				require.NoError(t, b.k.Run(b.k.Cycle()+4))
				bound := uint32(2)
				if c.ok {
					require.False(t, b.Mpt.KeyTable.Peek(int(c.key>>8)).Valid)
					if c.key == 6<<8 {
						bound = 1
					}
				}
				require.Equal(t, bound, b.Mpt.KeyTable.Peek(0).Bound)
			}
		})
	}
}

// A region outlives its windows; a window that is deregistered is unbound.
func TestDeregisterWithWindows(t *testing.T) {
	b := newWindows(t, hdl.Options{Strict: true})
	require.Equal(t, []port.MemRes{{}, {}}, b.do(t, bind(4<<8), bind(6<<8)))
	d := func(i uint32) port.MRAdmin { return port.MRAdmin{Dereg: true, Index: i} }
	b.Admin.Push(d(0), d(4), d(0), d(6), d(0), d(7))
	b.settle(t, 6, 0, 0)
	busy, ok := port.MRAdminRes{Status: abi.AdminBusy}, port.MRAdminRes{}
	require.Equal(t, []port.MRAdminRes{busy, ok, busy, ok, ok, ok}, b.AdminRes.Got)
	require.Zero(t, b.Mpt.Q.Bound)
}

// With a QP its windows of type 2 end, and no others.
func TestEndQP(t *testing.T) {
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []uint64) {
		b := newWindows(t, o)
		other := bind(7 << 8)
		other.QPN = 4
		require.Equal(t, []port.MemRes{{}, {}, {}}, b.do(t, bind(4<<8), bind(6<<8), other))
		b.Admin.Push(port.MRAdmin{EndQP: true, QPN: 5}, port.MRAdmin{EndQP: true, QPN: 3}, port.MRAdmin{Dereg: true, Index: 0},
			port.MRAdmin{EndQP: true, QPN: 4}, port.MRAdmin{EndQP: true, QPN: 4})
		b.settle(t, 5, 0, 0)
		require.Equal(t, abi.AdminBusy, b.AdminRes.Got[2].Status)
		use := port.MptReq{PD: 1, VA: 0x10_1000, Len: 1, Access: 4}
		for _, w := range []struct {
			k port.Key
			n port.QPN
			s port.MptStatus
		}{{4, 0, port.MptOK}, {6, 3, port.MptBadKey}, {7, 4, port.MptBadKey}} {
			use.Key, use.QPN = w.k<<8, w.n
			require.Equal(t, w.s, b.ask(t, use)[0].Status)
		}
		require.Equal(t, uint32(1), b.Mpt.KeyTable.Peek(0).Bound)
		return b.k, b.AdminRes.At
	})
}

func TestFastReg(t *testing.T) {
	good := port.MemOp{Op: abi.OpFastReg, QPN: 3, PD: 1, Key: 2<<8 | 7, VA: 0x10_0100, Length: 8*4096 + 1, Access: 31, LogPage: 12, NumPages: 9}
	list := make([]uint64, 9)
	for i := range list {
		list[i] = uint64(0x20+i) << 12
	}
	for _, c := range []struct {
		name   string
		change func(op *port.MemOp, list []uint64)
	}{
		{"no such key", func(op *port.MemOp, _ []uint64) { op.Key = 11 << 8 }},
		{"a region", func(op *port.MemOp, _ []uint64) { op.Key = 1<<8 | 0xa0 }},
		{"an invalid region", func(op *port.MemOp, _ []uint64) { op.Key = 0xa0 }},
		{"a window", func(op *port.MemOp, _ []uint64) { op.Key = 4 << 8 }},
		{"domain", func(op *port.MemOp, _ []uint64) { op.PD = 2 }},
		{"too many pages", func(op *port.MemOp, _ []uint64) { op.NumPages, op.Length = 33, 32*4096 }},
		{"not enough pages", func(op *port.MemOp, _ []uint64) { op.NumPages = 8 }},
		{"page size", func(op *port.MemOp, _ []uint64) { op.LogPage = 31 }},
		{"wraps", func(op *port.MemOp, _ []uint64) { op.VA = ^port.VA(0) - 100 }},
		{"empty", func(op *port.MemOp, _ []uint64) { op.Length = 0 }},
		{"access", func(op *port.MemOp, _ []uint64) { op.Access = abi.AccessRemoteWrite }},
		{"page not aligned", func(_ *port.MemOp, l []uint64) { l[8]++ }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newWindows(t, hdl.Options{Strict: true})
			b.do(t, port.MemOp{Op: abi.OpLocalInv, Key: 0xa0, PD: 1})
			op, l := good, make([]uint64, 40)
			copy(l, list)
			c.change(&op, l)
			b.MemPages.Push(beats(l[:op.NumPages])...)
			require.Equal(t, refused, b.do(t, op)[0])
			require.Equal(t, port.MptBadKey, b.ask(t, port.MptReq{Key: 2<<8 | 7, PD: 1, VA: 0x10_0100, Len: 1})[0].Status)
			b.MemPages.Push(beats(list)...)
			b.MemPages.Push(beats(list)...)
			require.Equal(t, []port.MemRes{{}, refused}, b.do(t, good, good), "the second time it is valid")
			last := port.MptReq{Key: 2<<8 | 7, PD: 1, VA: 0x10_0100 + 8*4096, Len: 1}
			require.Equal(t, port.MptRes{Addr0: 0x28100, Len0: 1}, b.ask(t, last)[0])
			again := good
			again.Key, again.NumPages, again.Length = 2<<8|8, 1, 100
			b.MemPages.Push(beats(list[5:6])...)
			require.Equal(t, []port.MemRes{{}, {}}, b.do(t, port.MemOp{Op: abi.OpLocalInv, Key: good.Key, PD: 1}, again))
			next := port.MptReq{Key: 2<<8 | 8, PD: 1, VA: 0x10_0100, Len: 100}
			require.Equal(t, []port.MptRes{{Status: port.MptBadKey}, {Addr0: 0x25100, Len0: 100}}, b.ask(t, last, next))
		})
	}
}
