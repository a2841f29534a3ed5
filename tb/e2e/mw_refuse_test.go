package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// memoryFault is a bind, an invalidation or a registration that must be refused.
type memoryFault struct {
	name   string
	wr     func(g *glass) driver.SendWR
	vendor abi.VendorErr
	ops    bool // LOC_QP_OP_ERR: the WQE is wrong in itself
}

// bound2 is a bind of a window of type 2 that is good but for a change.
func bound2(change func(g *glass, b *driver.Bind)) func(g *glass) driver.SendWR {
	return func(g *glass) driver.SendWR {
		b := g.at(0, 4096, remoteAll)
		b.MW = g.window(abi.KeyWindow2)
		b.RKey = b.MW.RKey + 1
		change(g, &b)
		return driver.SendWR{ID: 2, Op: abi.OpBindMW, Bind: &b}
	}
}

// inv is a LOCAL_INV.
func inv(k abi.Key) driver.SendWR {
	return driver.SendWR{ID: 2, Op: abi.OpLocalInv, Imm: uint32(k)}
}

// bindFaults are what both types of windows refuse.
var bindFaults = []struct {
	name   string
	change func(g *glass, b *driver.Bind)
}{
	{"region without MW_BIND", func(g *glass, b *driver.Bind) { b.MR = region(g.t, g.s.B, g.s.B.PD, farAt, farSize, all) }},
	{"region of another domain", func(g *glass, b *driver.Bind) {
		b.MR = region(g.t, g.s.B, domain(g.s.B), farAt, farSize, all|abi.AccessMWBind)
	}},
	{"window of another domain", func(g *glass, b *driver.Bind) {
		pd := domain(g.s.B)
		g.s.B.Must(func() (err error) {
			b.MW, err = pd.AllocMW(g.kinds[b.MW])
			return err
		})
		b.RKey = b.MW.RKey + 1
	}},
	{"a byte too early", func(g *glass, b *driver.Bind) { b.Addr-- }},
	{"a byte too long", func(g *glass, b *driver.Bind) { b.Length = farSize + 1 }},
	{"a byte too far", func(g *glass, b *driver.Bind) { b.Addr, b.Length = b.Addr+farSize-7, 8 }},
	{"round the end of addresses", func(g *glass, b *driver.Bind) { b.Addr, b.Length = ^uint64(0)-7, 16 }},
	{"of all lengths", func(g *glass, b *driver.Bind) { b.Length = ^uint64(0) }},
	{"remote write of what the region itself may not", func(g *glass, b *driver.Bind) {
		b.MR = region(g.t, g.s.B, g.s.B.PD, farAt, farSize, abi.AccessMWBind|abi.AccessRemoteRead)
		b.Access = abi.AccessRemoteWrite
	}},
	{"remote atomics of what the region itself may not write", func(g *glass, b *driver.Bind) {
		b.MR = region(g.t, g.s.B, g.s.B.PD, farAt, farSize, abi.AccessMWBind)
		b.Access = abi.AccessRemoteAtomic
	}},
	{"another key of the region", func(g *glass, b *driver.Bind) {
		m := *g.mr
		m.LKey ^= 0x40
		b.MR = &m
	}},
	{"a window for a region", func(g *glass, b *driver.Bind) {
		m := *g.mr
		o := g.window(abi.KeyWindow1)
		g.bind(g.B, 9, o, g.at(0, farSize, remoteAll))
		g.B.Sent(e2e.OK(9)...)
		m.LKey = o.RKey
		b.MR = &m
	}},
}

func memoryFaults() (rows []memoryFault) {
	for _, f := range bindFaults {
		rows = append(rows, memoryFault{"type 2, " + f.name, bound2(f.change), abi.VendorBind, false})
	}
	bound := func(g *glass, kind abi.KeyKind) *driver.MW {
		w := g.window(kind)
		g.bind(g.B, 8, w, g.at(0, 100, remoteAll))
		g.B.Sent(e2e.OK(8)...)
		return w
	}
	rows = append(rows, []memoryFault{
		{"type 2, no bytes", bound2(func(g *glass, b *driver.Bind) { b.Length = 0 }), abi.VendorBind, false},
		{"type 2, bound", bound2(func(g *glass, b *driver.Bind) {
			b.MW = bound(g, abi.KeyWindow2)
			b.RKey = b.MW.RKey + 1
		}), abi.VendorBind, false},
		{"type 2, bound by another QP", bound2(func(g *glass, b *driver.Bind) {
			p := g.s.Pair()
			b.MW = g.window(abi.KeyWindow2)
			g.bind(p.B, 8, b.MW, g.at(0, 100, remoteAll))
			p.B.Sent(e2e.OK(8)...)
			b.RKey = b.MW.RKey + 1
		}), abi.VendorBind, false},
		{"LOCAL_INV, key of nothing", func(*glass) driver.SendWR { return inv(0x77700) }, abi.VendorInvalidate, false},
		{"LOCAL_INV, key beyond the table", func(*glass) driver.SendWR { return inv(0xffffff00) }, abi.VendorInvalidate, false},
		{"LOCAL_INV, other low byte", func(g *glass) driver.SendWR { return inv(g.mr.LKey ^ 1) }, abi.VendorInvalidate, false},
		{"LOCAL_INV, another domain's region", func(g *glass) driver.SendWR {
			return inv(region(g.t, g.s.B, domain(g.s.B), 0, 100, all).LKey)
		}, abi.VendorInvalidate, false},
		{"LOCAL_INV, window of type 1", func(g *glass) driver.SendWR { return inv(bound(g, abi.KeyWindow1).RKey) }, abi.VendorInvalidate, false},
		{"LOCAL_INV, window that is not bound", func(g *glass) driver.SendWR { return inv(g.window(abi.KeyWindow2).RKey) }, abi.VendorInvalidate, false},
		{"LOCAL_INV, another QP's window", func(g *glass) driver.SendWR {
			p, w := g.s.Pair(), g.window(abi.KeyWindow2)
			g.bind(p.B, 8, w, g.at(0, 100, remoteAll))
			p.B.Sent(e2e.OK(8)...)
			return inv(w.RKey)
		}, abi.VendorInvalidate, false},
		{"LOCAL_INV, region with a window", func(g *glass) driver.SendWR {
			bound(g, abi.KeyWindow2)
			return inv(g.mr.LKey)
		}, abi.VendorInvalidate, false},
		{"LOCAL_INV, twice", func(g *glass) driver.SendWR {
			m := region(g.t, g.s.B, g.s.B.PD, 0, 100, all)
			wr := inv(m.LKey)
			wr.Signaled, wr.ID = true, 8
			g.B.Send(wr)
			g.B.Sent(e2e.OK(8)...)
			return inv(m.LKey)
		}, abi.VendorInvalidate, false},
		{"FAST_REG, valid", func(g *glass) driver.SendWR {
			f := g.fast(4)
			wr := f(0, 4096, all)
			wr.Signaled, wr.ID = true, 8
			g.B.Send(wr)
			g.B.Sent(e2e.OK(8)...)
			return f(0, 4096, all)
		}, abi.VendorBind, false},
		{"FAST_REG, more bytes than pages", func(g *glass) driver.SendWR {
			wr := g.fast(4)(0, 8192, all)
			wr.FastReg.Length++
			return wr
		}, abi.VendorBind, false},
		{"FAST_REG, fewer bytes than pages", func(g *glass) driver.SendWR {
			wr := g.fast(4)(0, 8192, all)
			wr.FastReg.Length = 4096
			return wr
		}, abi.VendorBind, false},
		{"FAST_REG, no bytes", func(g *glass) driver.SendWR {
			wr := g.fast(4)(0, 4096, all)
			wr.FastReg.Length = 0
			return wr
		}, abi.VendorBind, false},
		{"FAST_REG, page that is none", func(g *glass) driver.SendWR {
			wr := g.fast(4)(0, 8192, all)
			wr.FastReg.Pages[1]++
			return wr
		}, abi.VendorBind, false},
		{"FAST_REG, of another domain", func(g *glass) driver.SendWR {
			var m *driver.MR
			pd := domain(g.s.B)
			g.s.B.Must(func() (err error) { m, err = pd.AllocFastMR(4); return err })
			wr := g.fast(4)(0, 4096, all)
			wr.FastReg.MR, wr.FastReg.Key = m, 0
			return wr
		}, abi.VendorBind, false},
	}...)
	return rows
}

// TestMemoryRefused (B120, B147): binds, invalidations and registrations that are refused:
// MW_BIND_ERR, also unsignalled; RC ends in ERR, with its receives flushed, UC in SQE; what is behind
// is flushed; what was good before is good afterwards.
func TestMemoryRefused(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		for _, c := range memoryFaults() {
			t.Run(fmt.Sprintf("%v, %s", typ, c.name), func(t *testing.T) {
				g := newGlass(t, typ)
				w1 := g.window(abi.KeyWindow1)
				g.bind(g.B, 7, w1, g.at(0, farSize, remoteAll))
				g.B.Sent(e2e.OK(7)...)
				wr := c.wr(g)
				require.False(t, wr.Signaled)
				g.B.Recv(g.B.RecvWR(11, 0, 100))
				last := g.B.SendWR(3, 0, 8)
				g.B.Send(driver.SendWR{ID: 1, Op: abi.OpNop, Signaled: true}, wr, last)
				wcs := g.B.Sent(then(e2e.OK(1), e2e.All(abi.StatusMWBind, 2), e2e.Flushed(3))...)
				require.Equal(t, c.vendor, wcs[1].VendorErr)
				require.Empty(t, g.s.B.Events())
				if typ == abi.QPTypeRC {
					g.B.DemandState(abi.QPErr)
					g.B.Received(e2e.Flushed(11)...)
					g.anew()
				} else {
					g.B.DemandState(abi.QPSQE)
					g.B.Restart()
				}
				g.allowed(true, g.access(1, abi.OpWrite, w1.RKey, 0, 100))
			})
		}
	}
}

// TestBindRefused: windows of type 1 refuse the same, and keep what they were bound to.
func TestBindRefused(t *testing.T) {
	for _, c := range bindFaults {
		t.Run(c.name, func(t *testing.T) {
			g := newGlass(t, abi.QPTypeRC)
			w := g.window(abi.KeyWindow1)
			g.bind(g.B, 7, w, g.at(0, 4096, remoteAll))
			g.B.Sent(e2e.OK(7)...)
			key := w.RKey
			b := g.at(0, 4096, remoteAll)
			b.MW = w
			c.change(g, &b)
			w2 := b.MW
			g.B.Must(func() error { return w2.Bind(g.B.QP, driver.BindWR{ID: 2, Bind: b}) })
			wcs := g.B.Sent(e2e.All(abi.StatusMWBind, 2)...)
			require.Equal(t, abi.VendorBind, wcs[0].VendorErr)
			g.B.DemandState(abi.QPErr)
			g.anew()
			g.allowed(true, g.access(1, abi.OpWrite, key, 0, 100))
			g.s.B.Refused(driver.ErrBusy, g.mr.Dereg)
		})
	}
}

// TestMemoryRefusedAtPost (B152): what the driver refuses at once.
func TestMemoryRefusedAtPost(t *testing.T) {
	g := newGlass(t, abi.QPTypeRC)
	w1, w2 := g.window(abi.KeyWindow1), g.window(abi.KeyWindow2)
	gone := g.window(abi.KeyWindow2)
	g.s.B.Must(gone.Dealloc)
	over := region(t, g.s.B, g.s.B.PD, 0, 100, all|abi.AccessMWBind)
	g.s.B.Must(over.Dereg)
	for name, b := range map[string]driver.Bind{
		"type 1 by a work request": {MW: w1, MR: g.mr, RKey: w1.RKey, Addr: g.mr.Addr, Length: 8},
		"no window":                {MR: g.mr, Addr: g.mr.Addr, Length: 8},
		"window that ended":        {MW: gone, RKey: gone.RKey, MR: g.mr, Addr: g.mr.Addr, Length: 8},
		"no region":                {MW: w2, RKey: w2.RKey, Addr: g.mr.Addr, Length: 8},
		"region that ended":        {MW: w2, RKey: w2.RKey, MR: over, Addr: over.Addr, Length: 8},
		"key of another index":     {MW: w2, RKey: w1.RKey, MR: g.mr, Addr: g.mr.Addr, Length: 8},
		"local write":              {MW: w2, RKey: w2.RKey, MR: g.mr, Addr: g.mr.Addr, Length: 8, Access: abi.AccessLocalWrite},
	} {
		b := b
		g.s.B.Refused(driver.ErrInvalid, func() error {
			_, err := g.B.QP.PostSend(driver.SendWR{Op: abi.OpBindMW, Bind: &b})
			return err
		})
		_ = name
	}
	g.s.B.Refused(driver.ErrInvalid, func() error { return w2.Bind(g.B.QP, driver.BindWR{Bind: g.at(0, 8, remoteAll)}) })
	g.s.B.Refused(driver.ErrInvalid, func() error { return w1.Bind(g.B.QP, driver.BindWR{Bind: driver.Bind{Length: 8}}) })
	pd := domain(g.s.B)
	var w *driver.MW
	g.s.B.Must(func() (err error) { w, err = pd.AllocMW(abi.KeyWindow1); return err })
	g.s.B.Refused(driver.ErrBusy, pd.Destroy)
	g.s.B.Must(w.Dealloc)
	g.s.B.Must(pd.Destroy)
	g.B.Send(g.B.SendWR(1, 0, 0))
	g.A.Recv(g.A.RecvWR(2, 0, 0))
	g.B.Sent(e2e.OK(1)...)
	g.A.Received(e2e.OK(2)...)
}
