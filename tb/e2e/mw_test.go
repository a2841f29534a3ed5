package e2e_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// remoteAll is what a window may allow.
const remoteAll = abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// glass is a world whose region of B may have windows: B binds, A accesses.
type glass struct {
	*world
	mr    *driver.MR
	kinds map[*driver.MW]abi.KeyKind
}

func newGlass(t *testing.T, typ abi.QPType) *glass {
	c := driver.QPConfig{Type: typ, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64, MaxFastRegPages: 32}
	g := &glass{world: reach(t, c, driver.ConnectOptions{Timeout: 10}), kinds: map[*driver.MW]abi.KeyKind{}}
	g.mr = region(t, g.s.B, g.s.B.PD, farAt, farSize, all|abi.AccessMWBind)
	return g
}

// window makes one of B.
func (g *glass) window(k abi.KeyKind) (w *driver.MW) {
	g.t.Helper()
	g.s.B.Must(func() (err error) {
		w, err = g.s.B.PD.AllocMW(k)
		return err
	})
	g.kinds[w] = k
	return w
}

// bind is a work request or call that binds n bytes from off of the region, signalled.
func (g *glass) bind(e *e2e.End, id uint64, w *driver.MW, b driver.Bind) {
	g.t.Helper()
	b.MW = w
	if b.MR == nil && b.Length != 0 {
		b.MR = g.mr
	}
	if g.kinds[w] == abi.KeyWindow1 {
		e.Must(func() error { return w.Bind(e.QP, driver.BindWR{ID: id, Signaled: true, Bind: b}) })
		return
	}
	if b.RKey == 0 {
		b.RKey = abi.MakeKey(w.RKey.Index(), w.RKey.Low()+1)
	}
	e.Send(driver.SendWR{ID: id, Op: abi.OpBindMW, Signaled: true, Bind: &b})
}

// at is a piece of the region.
func (g *glass) at(off, n int, a abi.AccessFlags) driver.Bind {
	return driver.Bind{MR: g.mr, Addr: g.mr.Addr + uint64(off), Length: uint64(n), Access: a}
}

// access is an operation of A on n bytes at off of the region by a key.
func (g *glass) access(id uint64, op abi.WQEOp, k abi.Key, off, n int) driver.SendWR {
	wr := g.op(id, op, 0, n)
	wr.RemoteAddr, wr.RKey = g.mr.Addr+uint64(off), k
	return wr
}

// allowed demands that an access is done, or refused; refused, both ends are connected
// anew.
func (g *glass) allowed(yes bool, wr driver.SendWR) {
	g.t.Helper()
	if yes {
		g.A.Send(wr)
		g.A.Sent(e2e.OK(wr.ID)...)
		return
	}
	g.A.Send(wr)
	g.A.Sent(e2e.All(abi.StatusRemAccess, wr.ID)...)
	g.B.DemandState(abi.QPErr)
	g.s.Sleep(500)
	require.Equal(g.t, []abi.EventType{abi.EventQPAccessErr}, types(g.s.B.Events()))
}

// anew connects both ends again. Windows of type 2 end with it.
func (g *glass) anew() {
	for _, e := range []*e2e.End{g.A, g.B} {
		e.Reset()
	}
	g.A.Reconnect()
	g.B.Reconnect()
}

// TestWindowAccess: each operation through windows of both types: within, at the edges,
// beyond, and without the right; by other QPs, of the same domain and of another.
func TestWindowAccess(t *testing.T) {
	ops := []abi.WQEOp{abi.OpWrite, abi.OpRead, abi.OpFetchAdd, abi.OpCompareSwap}
	const off, size = 4000, 5000 // over page boundaries, in bytes of the region
	for _, kind := range []abi.KeyKind{abi.KeyWindow1, abi.KeyWindow2} {
		for _, op := range ops {
			n := 3000
			if op >= abi.OpCompareSwap {
				n = 8
			}
			for _, c := range []struct {
				name   string
				at, n  int
				access abi.AccessFlags
				ok     bool
			}{
				{"first bytes", 0, n, remoteAll, true},
				{"last bytes", (size - n) &^ 7, n, remoteAll, true},
				{"all", 0, size, remoteAll, true},
				{"in the midst", 1000, n, right(op), true},
				{"no byte, far away", 1 << 20, 0, remoteAll, true},
				{"8 bytes too early", -8, n, remoteAll, false},
				{"8 bytes too far", (size-n)&^7 + 8, n, remoteAll, false},
				{"other rights", 0, n, remoteAll &^ right(op), false},
				{"no right", 0, n, 0, false},
			} {
				if op >= abi.OpCompareSwap && c.n != n {
					continue
				}
				t.Run(fmt.Sprintf("%v, %v, %s", kind, op, c.name), func(t *testing.T) {
					g := newGlass(t, abi.QPTypeRC)
					w := g.window(kind)
					g.bind(g.B, 5, w, g.at(off, size, c.access))
					require.Equal(t, abi.WCBindMW, g.B.Sent(e2e.OK(5)...)[0].Opcode)
					before := g.s.B.Read(farAt, farSize)
					wr := g.access(1, op, w.RKey, off+c.at, c.n)
					wr.SwapAdd, wr.Compare = 1, binary.LittleEndian.Uint64(before[off:])
					g.allowed(c.ok, wr)
					switch {
					case !c.ok:
						g.s.B.Demand(farAt, before)
					case op == abi.OpWrite:
						copy(before[min(off+c.at, farSize):], g.s.A.Read(0, c.n))
						g.s.B.Demand(farAt, before)
					case c.n > 0:
						g.s.A.Demand(0, before[off+c.at:off+c.at+c.n])
					}
				})
			}
		}
	}
}

// TestWindowOfOthers (B147): a window of type 1 serves each QP of its domain, one of type 2 the
// QP that bound it alone.
func TestWindowOfOthers(t *testing.T) {
	for _, kind := range []abi.KeyKind{abi.KeyWindow1, abi.KeyWindow2} {
		for _, of := range []string{"same QP", "same domain", "another domain"} {
			t.Run(fmt.Sprintf("%v, %s", kind, of), func(t *testing.T) {
				g := newGlass(t, abi.QPTypeRC)
				w := g.window(kind)
				g.bind(g.B, 5, w, g.at(0, 4096, remoteAll))
				g.B.Sent(e2e.OK(5)...)
				p := g.Pair
				switch of {
				case "same domain":
					p = g.s.Pair()
				case "another domain":
					pd := g.s.B.PD
					g.s.B.PD = domain(g.s.B)
					p = g.s.Pair()
					g.s.B.PD = pd
				}
				wr := g.access(1, abi.OpWrite, w.RKey, 0, 100)
				p.A.Send(wr)
				if of == "same QP" || of == "same domain" && kind == abi.KeyWindow1 {
					p.A.Sent(e2e.OK(1)...)
					g.s.B.Demand(farAt, g.a[:100])
					return
				}
				p.A.Sent(e2e.All(abi.StatusRemAccess, 1)...)
				p.B.DemandState(abi.QPErr)
				g.s.B.Demand(farAt, g.b[farAt:farAt+100])
			})
		}
	}
}

// TestWindowRebound (B151, B152): one of type 1 is bound again and again, to other bytes, of
// another region, with other rights, and to none; the new key works and the old one does
// not. A region with a window can't end.
func TestWindowRebound(t *testing.T) {
	g := newGlass(t, abi.QPTypeRC)
	other := region(t, g.s.B, g.s.B.PD, 0, 8192, all|abi.AccessMWBind)
	w := g.window(abi.KeyWindow1)
	var old abi.Key
	busy := func(m *driver.MR, yes bool) {
		if yes {
			g.s.B.Refused(driver.ErrBusy, m.Dereg)
		}
	}
	for _, b := range []driver.Bind{
		g.at(0, 4096, remoteAll), g.at(100, 4096, abi.AccessRemoteWrite), {MR: other, Addr: other.Addr + 1, Length: 5000, Access: remoteAll}, g.at(8000, 8000, remoteAll), {}, g.at(1, 1000, remoteAll),
	} {
		old = w.RKey
		g.bind(g.B, 5, w, b)
		g.B.Sent(e2e.OK(5)...)
		require.NotEqual(t, old, w.RKey)
		busy(g.mr, b.MR == g.mr)
		busy(other, b.MR == other)
		if b.Length != 0 {
			wr := g.access(1, abi.OpWrite, w.RKey, 0, 500)
			wr.RemoteAddr = b.Addr
			g.allowed(true, wr)
		}
		stale := g.access(2, abi.OpWrite, old, 0, 8)
		stale.RemoteAddr = max(b.Addr, g.mr.Addr)
		g.allowed(false, stale)
		g.anew()
		if b.Length == 0 { // no window is bound to either
			g.allowed(false, g.access(2, abi.OpWrite, w.RKey, 0, 8))
			g.anew()
			g.s.B.Must(other.Dereg)
		}
	}
	g.s.B.Refused(driver.ErrInvalid, func() error {
		return w.Bind(g.B.QP, driver.BindWR{Bind: driver.Bind{Length: 8}})
	})
	g.s.B.Must(w.Dealloc)
	g.s.B.Must(g.mr.Dereg)
}

// TestWindowKeys (B120, B151): one of type 2 takes any low byte; bound, invalidated and
// bound again 257 times, each key is good for its own time alone, and the first comes again.
func TestWindowKeys(t *testing.T) {
	g := newGlass(t, abi.QPTypeRC)
	w := g.window(abi.KeyWindow2)
	first := w.RKey
	for i := range 257 {
		b := g.at(8*i, 64, remoteAll)
		b.RKey = abi.MakeKey(first.Index(), first.Low()+uint8(i))
		g.bind(g.B, 5, w, b)
		g.B.Sent(e2e.OK(5)...)
		g.allowed(true, g.access(1, abi.OpWrite, b.RKey, 8*i, 64))
		if i == 100 || i == 256 {
			g.allowed(false, g.access(1, abi.OpWrite, b.RKey+1, 8*i, 64))
			g.anew() // the window ends with the QP's life
			continue
		}
		g.B.Send(driver.SendWR{ID: 6, Op: abi.OpLocalInv, Signaled: true, Imm: uint32(b.RKey)})
		require.Equal(t, abi.WCLocalInv, g.B.Sent(e2e.OK(6)...)[0].Opcode)
		if i == 50 {
			g.allowed(false, g.access(1, abi.OpWrite, b.RKey, 8*i, 64))
			g.anew()
		}
	}
	g.s.B.Must(g.mr.Dereg)
}

// TestWindowEndsWithQP: RESET, ERR and then RESET, and the end of the QP unbind its windows
// of type 2, which count no more for their region; those of type 1 stay. The next QP of
// the number has none of them.
func TestWindowEndsWithQP(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			g := newGlass(t, abi.QPTypeRC)
			w1, w2 := g.window(abi.KeyWindow1), g.window(abi.KeyWindow2)
			g.bind(g.B, 5, w1, g.at(0, 100, remoteAll))
			g.bind(g.B, 6, w2, g.at(0, 100, remoteAll))
			g.B.Sent(e2e.OK(5, 6)...)
			end(g.B)
			g.s.B.Refused(driver.ErrBusy, g.mr.Dereg)
			if name == "ERR" {
				g.B.Reset()
			}
			p := g.Pair
			if name == "destroyed" {
				c := driver.QPConfig{MaxSend: 4, SendCQ: g.B.SCQ, RecvCQ: g.B.RCQ}
				b := g.s.B.QP(c)
				for b.QP.Number() != g.B.QP.Number() {
					b.Must(b.QP.Destroy)
					b = g.s.B.QP(c)
				}
				g.A.Reset()
				p = g.s.Join(g.A, b, driver.ConnectOptions{})
			} else {
				g.A.Reset()
				g.A.Reconnect()
				g.B.Reconnect()
			}
			p.A.Send(g.access(1, abi.OpWrite, w1.RKey, 0, 100))
			p.A.Sent(e2e.OK(1)...)
			p.A.Send(g.access(2, abi.OpWrite, w2.RKey, 0, 100))
			p.A.Sent(e2e.All(abi.StatusRemAccess, 2)...)
			g.s.B.Must(w1.Dealloc)
			g.s.B.Must(g.mr.Dereg)
			g.s.B.Must(w2.Dealloc)
		})
	}
}
