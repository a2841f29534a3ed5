package cqwriter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// otherRing is where the k-th ring of a queue lies.
func otherRing(n, k int) port.BusAddr { return cqBase(n) + port.BusAddr(k)*0x40_0000 }

func resize(n, k int, log uint8, ci uint16) port.CQAdmin {
	return port.CQAdmin{Op: port.CQResize, Number: uint32(n), Base: otherRing(n, k), LogSize: log, CI: ci}
}

// TestResizeGoesOnInTheNewRing: CQEs before the index that is answered are in the old
// ring, those behind it in the new one from slot 0 and phase 1 on.
func TestResizeGoesOnInTheNewRing(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 0), createCQ(0, 2, 0))
	put := func(n int) {
		for range n {
			b.Send.Push(port.CQEReq{})
		}
		b.run(t, 20)
	}
	check := func(from, n int, base port.BusAddr, log uint8, first int) {
		t.Helper()
		for i := from; i < from+n; i++ {
			l := &b.log[i]
			require.Equal(t, base+64*port.BusAddr(abi.RingSlot(uint16(i-first), log)), l.Addr)
			require.Equal(t, abi.RingPhase(uint16(i-first), log), l.cqe().Phase)
		}
	}
	put(3)
	b.Bell.Push(ring(0, 3))
	put(3)
	require.Equal(t, port.CQAdminRes{Index: 6}, b.admin(t, resize(0, 1, 3, 3)))
	check(0, 6, cqBase(0), 2, 0)
	put(5) // three of the old ring and five of the new one are all
	check(6, 5, otherRing(0, 1), 3, 6)
	// The same number again does not fit into half the room, and nothing changes.
	require.Equal(t, port.CQAdminRes{Status: abi.AdminBadParam, Syndrome: uint8(abi.SynLogSize)}, b.admin(t, resize(0, 2, 2, 3)))
	// The command tells what was consumed, as far as it can be.
	require.Equal(t, port.CQAdminRes{Status: abi.AdminBadParam, Syndrome: uint8(abi.SynLogSize)}, b.admin(t, resize(0, 2, 2, 12)))
	require.Equal(t, port.CQAdminRes{Index: 11}, b.admin(t, resize(0, 2, 2, 7)))
	require.Empty(t, b.Fatal.Got)
	put(1) // the next overruns
	require.Len(t, b.Fatal.Got, 1)
	require.Len(t, b.log, 12, "11 CQEs and CQ_ERR")
	require.Equal(t, port.CQAdminRes{Status: abi.AdminBadState}, b.admin(t, resize(0, 3, 5, 11)))
}

// TestResizeKeepsTheArm, whatever it waits for.
func TestResizeKeepsTheArm(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
	b.Send.Push(port.CQEReq{Solicited: true}, port.CQEReq{})
	b.run(t, 20)
	b.Bell.Push(arm(0, 2, true))
	b.run(t, 20)
	b.admin(t, resize(0, 1, 1, 0)) // an index that is behind means nothing
	b.Send.Push(port.CQEReq{})
	b.run(t, 20)
	require.Zero(t, b.W.Stats.Get().Events)
	b.Send.Push(port.CQEReq{Solicited: true})
	b.run(t, 20)
	require.EqualValues(t, 1, b.W.Stats.Get().Events)
	require.Empty(t, b.Fatal.Got)
}

// TestResizeInAStream changes rings while both ports complete as fast as they can.
func TestResizeInAStream(t *testing.T) {
	hdltest.Identical(t, hdl.Options{Seed: 9}, func(o hdl.Options) (hdltest.Digester, []landed) {
		b := newBench(t, small, o, 42)
		b.admin(t, createEQ(0, 3, 0), createCQ(0, 10, 0))
		type part struct {
			first uint16
			base  port.BusAddr
			log   uint8
		}
		parts := []part{{0, cqBase(0), 10}}
		for k := range 40 {
			for range 30 {
				b.Send.Push(port.CQEReq{})
				b.Recv.Push(port.CQEReq{Opcode: abi.WCRecv})
			}
			b.run(t, b.rng.IntN(200))
			log := uint8(8 + b.rng.IntN(6))
			r := b.admin(t, resize(0, 1+k, log, uint16(len(b.log))))
			require.Zero(t, r.Status)
			parts = append(parts, part{r.Index, otherRing(0, 1+k), log})
			b.run(t, 100)
			b.Bell.Push(ring(0, uint16(len(b.log))))
			b.run(t, 20)
		}
		b.run(t, 1000)
		require.Len(t, b.log, 2400)
		for i := range b.log {
			for len(parts) > 1 && uint16(i) >= parts[1].first {
				parts = parts[1:]
			}
			p := &parts[0]
			require.Equal(t, p.base+64*port.BusAddr(abi.RingSlot(uint16(i)-p.first, p.log)), b.log[i].Addr, i)
			require.Equal(t, abi.RingPhase(uint16(i)-p.first, p.log), b.log[i].cqe().Phase)
		}
		require.Len(t, parts, 1)
		require.Zero(t, b.W.Stats.Get().BadNumber)
		return b.k, b.log
	})
}

// TestResizeBehindDoorbells: a doorbell that came before the command, and is behind
// its index, still arms.
func TestResizeBehindDoorbells(t *testing.T) {
	for wait := range 4 {
		b := newBench(t, small, hdl.Options{Strict: true}, 0)
		b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
		b.Send.Push(port.CQEReq{}, port.CQEReq{}, port.CQEReq{})
		b.run(t, 20+wait)
		b.Send.Push(port.CQEReq{})
		b.Bell.Push(ring(0, 1), arm(0, 2, false))
		b.admin(t, resize(0, 1, 1, 3))
		b.run(t, 20)
		require.Zero(t, b.W.Stats.Get().BadNumber)
		require.EqualValues(t, 1, b.W.Stats.Get().Events)
	}
}
