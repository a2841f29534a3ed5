package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// answering is a QP that takes READs and atomics, expecting psn, of which it takes four.
func answering(psn roce.PSN) *Context {
	x := inState(abi.QPRTS)
	x.Common.Access = abi.AccessRemoteRead | abi.AccessRemoteAtomic | abi.AccessRemoteWrite
	x.Responder.Expected = psn
	return x
}

func readOf(psn roce.PSN, va port.VA, size uint32) port.RxPkt {
	p := from2(roce.RCReadRequest, psn)
	p.Reth = port.Reth{VA: va, RKey: 0x1234, Len: size}
	return p
}

func atomicOf(op roce.Opcode, psn roce.PSN) port.RxPkt {
	p := from2(op, psn)
	p.Reth = port.Reth{VA: 0x1000, RKey: 0x99, Swap: uint64(psn), Compare: 5}
	return p
}

// serve has a request executed and its answer sent.
func (c *Context) serve(t *testing.T, p port.RxPkt) port.RxVerdict {
	v, w := c.judge(p)
	require.Equal(t, port.RxPlace, v.Action)
	require.Equal(t, InResponder|InSaved, w)
	require.False(t, v.Job.Again)
	c.respDone(&port.RespDone{})
	return v
}

// lost checks that a duplicate is dropped without a word.
func lost(t *testing.T, x *Context, p port.RxPkt, why string) {
	before := *x
	v, w := x.judge(p)
	require.Equal(t, port.RxDrop, v.Action, why)
	require.Equal(t, abi.DuplicateRequest, v.Drop, why)
	require.Zero(t, v.Ack, why)
	require.Zero(t, w, why)
	require.Equal(t, before, *x, why)
}

// A READ is executed again, or a part of it from a packet on, with today's MSN.
func TestDuplicateREAD(t *testing.T) {
	for _, base := range bases {
		x := answering(base)
		x.serve(t, readOf(base, 0xffff_ffff_ffff_f000, 3500)) // 4 PSNs, up to the end of the space
		x.serve(t, readOf(base.Add(4), 0x8000, 10))
		x.Responder.Nak = NakSequence // answered all the same
		for _, c := range []struct {
			name string
			p    port.RxPkt
			ok   bool
		}{
			{"all", readOf(base, 0xffff_ffff_ffff_f000, 3500), true},
			{"the rest", readOf(base.Add(2), 0xffff_ffff_ffff_f800, 3500-2048), true},
			{"the last packet", readOf(base.Add(3), 0xffff_ffff_ffff_fc00, 3500-3072), true},
			{"a part", readOf(base.Add(1), 0xffff_ffff_ffff_f400, 1024), true},
			{"less", readOf(base, 0xffff_ffff_ffff_f000, 1), true},
			{"the newest", readOf(base.Add(4), 0x8000, 10), true},
			{"too long", readOf(base, 0xffff_ffff_ffff_f000, 3501), false},
			{"a rest too long", readOf(base.Add(2), 0xffff_ffff_ffff_f800, 3500-2047), false},
			{"address of another packet", readOf(base.Add(2), 0xffff_ffff_ffff_f400, 1024), false},
			{"address before", readOf(base, 0xffff_ffff_ffff_efff, 10), false},
			{"PSN of the next READ", readOf(base.Add(4), 0, 0), false},
			{"before all", readOf(base.Sub(1), 0x8000, 10), false},
			{"another key", func() port.RxPkt {
				p := readOf(base, 0xffff_ffff_ffff_f000, 3500)
				p.Reth.RKey++
				return p
			}(), false},
			{"with a payload", func() port.RxPkt {
				p := readOf(base.Add(4), 0x8000, 10)
				p.Len = 4
				return p
			}(), false},
			{"an atomic in its place", atomicOf(roce.RCFetchAdd, base), false},
		} {
			if !c.ok {
				lost(t, x, c.p, c.name)
				continue
			}
			v, w := x.judge(c.p)
			require.Equal(t, InResponder, w, c.name)
			require.Equal(t, port.RxVerdict{
				Action: port.RxPlace, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22, Drop: abi.DuplicateRequest,
				Target: port.TargetRemote,
				Remote: port.Remote{VA: c.p.Reth.VA, Key: 0x1234, Range: c.p.Reth.Len, Access: uint8(abi.AccessRemoteRead)},
				Ack:    port.AckReq{QPN: 1, PSN: c.p.PSN, Syndrome: v.Ack.Syndrome, MSN: 2},
				Job: port.Job{
					Kind: port.JobRead, Again: true, QPN: 1, PSN: c.p.PSN, Syndrome: v.Ack.Syndrome, MSN: 2,
					VA: c.p.Reth.VA, Key: 0x1234, Len: c.p.Reth.Len, MTU: 1024,
				},
			}, v, c.name)
			require.Equal(t, []any{base.Add(5), port.MSN(2), uint8(0), uint8(1)},
				[]any{x.Responder.Expected, x.Responder.MSN, x.Responder.Reads, x.Responder.Again}, c.name)
			require.Equal(t, InResponder, x.respDone(&port.RespDone{Again: true}))
		}
	}
}

// Behind a READ of whole packets is not in it, not even with nothing.
func TestDuplicateBehindAREAD(t *testing.T) {
	x := answering(0xffffff)
	x.serve(t, readOf(0xffffff, 0x8000, 2048))
	x.serve(t, readOf(1, 0x1000, 8))
	lost(t, x, readOf(1, 0x8000+2048, 0), "the PSN of the next")
}

func TestDuplicateREADOfNothing(t *testing.T) {
	x := answering(0xffffff)
	x.serve(t, readOf(0xffffff, 0x8000, 0))
	v, _ := x.judge(readOf(0xffffff, 0x8000, 0))
	require.Equal(t, port.RxPlace, v.Action)
	require.Equal(t, port.TargetNone, v.Target, "no key is looked at")
	require.True(t, v.Job.Again)
	lost(t, x, readOf(0xffffff, 0x8000, 1), "more")
}

// An atomic gets the value of its place again, and touches no memory.
func TestDuplicateAtomic(t *testing.T) {
	for _, base := range bases {
		x := answering(base)
		ops := []roce.Opcode{roce.RCFetchAdd, roce.RCCmpSwap, roce.RCFetchAdd}
		for i, op := range ops {
			v := x.serve(t, atomicOf(op, base.Add(uint32(i))))
			require.Equal(t, uint8(i), v.Job.Slot)
		}
		for i, op := range ops {
			p := atomicOf(op, base.Add(uint32(i)))
			p.Reth.VA, p.Reth.RKey = 3, 0 // nobody looks
			v, w := x.judge(p)
			require.Equal(t, InResponder, w)
			require.Equal(t, port.RxPlace, v.Action)
			require.Equal(t, port.TargetNone, v.Target)
			require.Zero(t, v.Remote)
			require.Equal(t, []any{port.JobAtomic, true, uint8(i), p.PSN, port.MSN(3)}, []any{v.Job.Kind, v.Job.Again, v.Job.Slot, v.Job.PSN, v.Job.MSN})
			x.respDone(&port.RespDone{Again: true})
		}
		lost(t, x, atomicOf(roce.RCCmpSwap, base), "another opcode")
		lost(t, x, readOf(base, 0x1000, 8), "a READ in its place")
		lost(t, x, atomicOf(roce.RCFetchAdd, base.Sub(1)), "before all")
	}
}

// Slots are numbered by the atomics, READs take none; both counts go round.
func TestSlots(t *testing.T) {
	x := answering(0xfffff0)
	x.Common.MaxDestRd = depth
	psn := roce.PSN(0xfffff0)
	slots := map[roce.PSN]uint8{}
	for i := range 100 {
		if i%3 == 0 {
			require.Zero(t, x.serve(t, readOf(psn, 0x1000, 8)).Job.Slot)
		} else {
			v := x.serve(t, atomicOf(roce.RCFetchAdd, psn))
			require.Equal(t, uint8(len(slots)%16), v.Job.Slot)
			slots[psn] = v.Job.Slot
			again, _ := x.judge(atomicOf(roce.RCFetchAdd, psn))
			require.Equal(t, v.Job.Slot, again.Job.Slot)
			x.respDone(&port.RespDone{Again: true})
		}
		psn = psn.Add(1)
	}
}

// Only the last requests that the peer may have outstanding are kept.
func TestSavedRequestsAreOverwritten(t *testing.T) {
	for _, limit := range []uint8{1, 2, 4, 15, 16} {
		for _, n := range []uint32{1, 3, 16, 17, 40} {
			x := answering(0xfffff8)
			x.Common.MaxDestRd = limit
			for i := range n {
				x.serve(t, readOf(roce.PSN(0xfffff8).Add(i), port.VA(i)<<12, 100))
			}
			for i := range n {
				p := readOf(roce.PSN(0xfffff8).Add(i), port.VA(i)<<12, 100)
				if i+uint32(limit) < n {
					lost(t, x, p, "overwritten")
					continue
				}
				v, _ := x.judge(p)
				require.True(t, v.Job.Again, "%d of %d, limit %d", i, n, limit)
				x.respDone(&port.RespDone{Again: true})
			}
		}
	}
	x := answering(7)
	x.serve(t, readOf(7, 0, 100))
	x.Common.MaxDestRd = 0
	lost(t, x, readOf(7, 0, 100), "the peer may have none")
}

// As many answers to duplicates are under way as to new requests may be, and neither
// takes anything from the other.
func TestDuplicatesUnderWay(t *testing.T) {
	x := answering(0xffffff)
	p := readOf(0xffffff, 0x8000, 10)
	x.serve(t, p)
	for range 4 {
		v, _ := x.judge(p)
		require.True(t, v.Job.Again)
	}
	lost(t, x, p, "a fifth")
	for i := range uint32(4) {
		v, _ := x.judge(readOf(roce.PSN(0).Add(i), 0x8000, 10))
		require.Equal(t, port.RxPlace, v.Action, "a new one")
	}
	require.Equal(t, []uint8{4, 4}, []uint8{x.Responder.Reads, x.Responder.Again})
	x.respDone(&port.RespDone{Again: true})
	require.Equal(t, []uint8{4, 3}, []uint8{x.Responder.Reads, x.Responder.Again})
	v, _ := x.judge(readOf(3, 0x8000, 10))
	require.True(t, v.Job.Again)
	for range 9 {
		x.respDone(&port.RespDone{Again: true})
	}
	require.Equal(t, []uint8{4, 0}, []uint8{x.Responder.Reads, x.Responder.Again})
}

// What the QP no longer allows is a fault of the duplicate: it is dropped.
func TestDuplicateThatIsNoLongerAllowed(t *testing.T) {
	x := answering(7)
	x.serve(t, readOf(7, 0x8000, 10))
	x.serve(t, atomicOf(roce.RCFetchAdd, 8))
	x.Common.Access = abi.AccessRemoteWrite
	lost(t, x, readOf(7, 0x8000, 10), "READ")
	lost(t, x, atomicOf(roce.RCFetchAdd, 8), "atomic")
	require.Equal(t, abi.QPRTS, x.Common.State)
}

// A new life knows of no requests of the one before.
func TestSavedRequestsDieWithTheQP(t *testing.T) {
	x := answering(7)
	x.serve(t, readOf(7, 0x8000, 10))
	x.stop()
	x.clear()
	require.Equal(t, Saved{}, x.Saved)
	require.Equal(t, Responder{}, x.Responder)
}
