package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
)

// fast is room of n pages at B, and what makes work request 2 of it: a registration of a
// whole number of pages of the buffer.
func (g *glass) fast(n int) func(off, size int, a abi.AccessFlags) driver.SendWR {
	g.t.Helper()
	var m *driver.MR
	g.s.B.Must(func() (err error) {
		m, err = g.s.B.PD.AllocFastMR(n)
		return err
	})
	return func(off, size int, a abi.AccessFlags) driver.SendWR {
		pages := g.s.B.Buf.Pages()[off/4096 : (off+size+4095)/4096]
		return driver.SendWR{ID: 2, Op: abi.OpFastReg, FastReg: &driver.FastReg{
			MR: m, Key: m.RKey + 1, Addr: 0xabc0_0000_0000 + uint64(off%4096), Length: uint64(size),
			Pages: append([]uint64(nil), pages...), Access: a,
		}}
	}
}

// TestFastReg: a region gets memory from the send queue, again and again, over any pages in
// any order, is used at both ends and by the peer, and loses it by LOCAL_INV and SEND_INV.
func TestFastReg(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		g := newGlass(t, typ)
		f := g.fast(32)
		for i, c := range []struct{ off, size int }{{0, 4096}, {4096 * 3, 1}, {100, 9000}, {4095, 2}, {8192, 32 * 4096}, {4096*7 + 5, 31*4096 + 1}} {
			wr := f(c.off, c.size, all)
			wr.Signaled = true
			fr := wr.FastReg
			if i == 2 { // the pages the other way round
				p := fr.Pages
				p[0], p[2] = p[2], p[0]
			}
			g.B.Send(wr)
			require.Equal(t, abi.WCFastReg, g.B.Sent(e2e.OK(2)...)[0].Opcode)
			m := fr.MR
			n := min(c.size, 5000)
			g.s.A.Fill(0, n, uint64(i+1))
			w := g.op(1, abi.OpWrite, 0, n)
			w.RemoteAddr, w.RKey = m.Addr+uint64(c.size-n), m.RKey
			g.A.Send(w)
			g.A.Sent(e2e.OK(1)...)
			g.s.Sleep(3000)
			if i != 2 {
				g.s.B.Demand(c.off+c.size-n, e2e.Bytes(n, uint64(i+1)))
			}
			// The same as a source at home.
			g.A.Recv(g.A.RecvWR(11, 500_000, 10_000))
			g.B.Send(driver.SendWR{ID: 3, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{{Addr: m.Addr + uint64(c.size-n), Length: uint32(n), LKey: m.LKey}}})
			g.B.Sent(e2e.OK(3)...)
			g.A.Received(e2e.OK(11)...)
			g.s.A.Demand(500_000, e2e.Bytes(n, uint64(i+1)))
			if typ == abi.QPTypeRC && i%2 == 1 {
				g.B.Recv(g.B.RecvWR(12, 900_000, 100))
				g.A.Send(driver.SendWR{ID: 4, Op: abi.OpSendInv, Signaled: true, Imm: uint32(m.RKey)})
				g.A.Sent(e2e.OK(4)...)
				g.B.Received(e2e.OK(12)...)
			} else {
				g.B.Send(driver.SendWR{ID: 4, Op: abi.OpLocalInv, Signaled: true, Imm: uint32(m.RKey)})
				g.B.Sent(e2e.OK(4)...)
			}
		}
	}
}

// TestMemoryInTurn: binds, registrations and invalidations come in their turn in the send
// queue: behind all that was posted before, READs too, without a fence, and before what is
// posted after.
func TestMemoryInTurn(t *testing.T) {
	for _, loss := range []bool{false, true} {
		t.Run(fmt.Sprintf("loss %t", loss), func(t *testing.T) {
			g := newGlass(t, abi.QPTypeRC)
			aFar := region(t, g.s.A, g.s.A.PD, farAt, farSize, all)
			f := g.fast(4)
			reg := f(512<<10, 4*4096, all)
			reg.Signaled = true
			w2 := g.window(abi.KeyWindow2)
			b := g.at(0, 4096, remoteAll)
			b.MW, b.RKey = w2, w2.RKey+1
			if loss {
				for _, d := range []*e2e.Side{g.s.A, g.s.B} {
					n := 0
					d.SetFault(func(tb.Frame) tb.Verdict {
						n++
						return tb.Verdict{Drop: n%4 == 0 && n < 30}
					})
				}
				for _, e := range []*e2e.End{g.A, g.B} {
					e.Reset()
					e.Connection.RetryCnt = 7
					e.Connection.Timeout = 9
				}
				g.A.Reconnect()
				g.B.Reconnect()
			}
			m := reg.FastReg.MR
			read := driver.SendWR{ID: 4, Op: abi.OpRead, Signaled: true, RemoteAddr: aFar.Addr, RKey: aFar.RKey}
			g.A.Recv(g.A.Recvs(0, 100, 11, 12)...)
			key := b.RKey
			g.B.Send(
				driver.SendWR{ID: 1, Op: abi.OpBindMW, Signaled: true, Bind: &b},
				driver.SendWR{ID: 3, Op: abi.OpSend, Signaled: true, Inline: []byte(fmt.Sprint(key))}, // tells the key
				reg,
			)
			read.SGEs = []driver.SGE{{Addr: m.Addr, Length: 12_000, LKey: m.LKey}}
			g.B.Send(read,
				driver.SendWR{ID: 5, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{{Addr: m.Addr, Length: 100, LKey: m.LKey}}, Fence: true},
				driver.SendWR{ID: 6, Op: abi.OpLocalInv, Signaled: true, Imm: uint32(m.LKey)},
				driver.SendWR{ID: 7, Op: abi.OpNop, Signaled: true},
			)
			g.A.Received(e2e.OK(11)...)
			// Who has the key may use it: the bind was before.
			wr := g.access(1, abi.OpWrite, key, 0, 4096)
			g.A.Send(wr)
			g.A.Sent(e2e.OK(1)...)
			g.s.B.Demand(farAt, g.s.A.Read(0, 4096))
			g.B.Sent(e2e.OK(1, 3, 2, 4, 5, 6, 7)...)
			g.A.Received(e2e.OK(12)...)
			g.s.B.Demand(512<<10, g.a[farAt:farAt+12_000])
			g.s.A.Demand(100, g.a[farAt:farAt+100])
			g.B.Send(driver.SendWR{ID: 8, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{{Addr: m.Addr, Length: 100, LKey: m.LKey}}})
			g.B.Sent(e2e.All(abi.StatusLocProt, 8)...)
		})
	}
}

// TestSendInvalidateWindow: the peer's SEND_INV ends a window of type 2 of its own QP; one of
// type 1, or of another QP, it does not, and gets no answer.
func TestSendInvalidateWindow(t *testing.T) {
	for _, c := range []string{"own", "type 1", "another QP", "not bound", "region with a window"} {
		t.Run(c, func(t *testing.T) {
			g := newGlass(t, abi.QPTypeRC)
			kind := abi.KeyWindow2
			if c == "type 1" {
				kind = abi.KeyWindow1
			}
			w := g.window(kind)
			by := g.Pair
			if c == "another QP" {
				by = g.s.Pair()
			}
			if c != "not bound" {
				g.bind(by.B, 5, w, g.at(0, 4096, remoteAll))
				by.B.Sent(e2e.OK(5)...)
			}
			key := w.RKey
			if c == "region with a window" {
				key = g.mr.RKey
			}
			g.B.Recv(g.B.Recvs(0, 100, 11, 12)...)
			g.A.Send(driver.SendWR{ID: 1, Op: abi.OpSendInv, Signaled: true, Imm: uint32(key)})
			if c == "own" {
				g.A.Sent(e2e.OK(1)...)
				wc := g.B.Received(e2e.OK(11)...)[0]
				require.Equal(t, abi.CQEWithInv, wc.Flags)
				require.EqualValues(t, key, wc.Imm)
				g.allowed(false, g.access(2, abi.OpWrite, key, 0, 8))
				g.B.Received(e2e.Flushed(12)...)
				g.s.B.Must(g.mr.Dereg)
				return
			}
			g.A.Sent(e2e.All(abi.StatusRetryExc, 1)...)
			wcs := g.B.Received(then(e2e.All(abi.StatusMWBind, 11), e2e.Flushed(12))...)
			require.Equal(t, abi.VendorInvalidate, wcs[0].VendorErr)
			g.B.DemandState(abi.QPErr)
			if c == "another QP" {
				wr := g.access(3, abi.OpWrite, w.RKey, 0, 8)
				by.A.Send(wr)
				by.A.Sent(e2e.OK(3)...)
			}
		})
	}
}
