package wqesched_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

// memory tells an operation that mpt executes.
func memory(op abi.WQEOp) bool { return op >= abi.OpLocalInv && op < abi.OpNop }

// memOp is one as mpt sees it.
type memOp struct {
	port.MemOp
	pages string // little-endian
}

// refusedKey is the low byte of a key that the model of mpt refuses.
const refusedKey = 0xee

func refuses(key uint32) bool { return key&0xff == refusedKey }

// bind is a BIND_MW.
func bind(key uint32) work {
	return work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpBindMW, Imm: key, NumSGE: 33},
		Bind: abi.BindSegment{Length: 1<<40 + 77, Access: abi.AccessRemoteRead | abi.AccessRemoteWrite}}.remote(0x123456789a, 0x4321)
}

// invalidate is a LOCAL_INV.
func invalidate(key uint32) work {
	return work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpLocalInv, Imm: key}}
}

// fastReg is a FAST_REG of so many pages.
func fastReg(n, log int) work {
	w := work{Units: uint16(1 + (n+7)/8), Ctrl: abi.WQEControl{Op: abi.OpFastReg, Imm: 0x77001},
		Reg: abi.FastRegSegment{Length: 1<<33 + 5, NumPages: uint16(n), LogPageSize: uint8(log), Access: abi.AccessLocalWrite}}
	for i := range n {
		w.Pages = append(w.Pages, 0xabcd_0123_0000_0000|uint64(i)<<12)
	}
	return w.remote(0xfedcba9876543210, 0)
}

// units has a WQE take so many, whatever is in it.
func (w work) units(n int) work {
	w.Units = uint16(n)
	w.Pages = w.Pages[:min(len(w.Pages), 8*(n-1))]
	return w
}

func (w work) flags(f abi.WQEFlags) work {
	w.Ctrl.Flags |= f
	return w
}

func (m *mix) memory(r *rand.Rand) work {
	var w work
	switch r.IntN(3) {
	case 0:
		w = bind(0)
	case 1:
		w = invalidate(0)
	default:
		w = fastReg(1+r.IntN(32), 12+r.IntN(19))
	}
	if w.Ctrl.Imm = r.Uint32() &^ 0xff; r.IntN(10) == 0 {
		w.Ctrl.Imm |= refusedKey
	}
	return w
}

// memoryStatus is how the model expects a memory operation to end.
func (w *work) memoryStatus() (abi.WCStatus, abi.VendorErr) {
	units := 1
	if w.Ctrl.Op == abi.OpFastReg {
		n, log := int(w.Reg.NumPages), w.Reg.LogPageSize
		if n == 0 || n > 32 || log < 12 || log > 30 {
			return abi.StatusLocQPOp, abi.VendorWQEFormat
		}
		units += (n + 7) / 8
	}
	switch {
	case int(w.Ctrl.Units) != units || w.Ctrl.Flags&abi.WQEInlined != 0:
		return abi.StatusLocQPOp, abi.VendorWQEFormat
	case refuses(w.Ctrl.Imm):
		return abi.StatusMWBind, abi.VendorBind
	}
	return abi.StatusSuccess, abi.VendorNone
}

// memOp is what mpt is to be asked.
func (w *work) memOp(qpn port.QPN) memOp {
	m := memOp{MemOp: port.MemOp{Op: w.Ctrl.Op, QPN: qpn, PD: port.PD(0x100 + qpn), Key: port.Key(w.Ctrl.Imm)}}
	switch w.Ctrl.Op {
	case abi.OpBindMW:
		m.Region, m.VA, m.Length, m.Access = w.Far.RKey, port.VA(w.Far.Addr), w.Bind.Length, w.Bind.Access
	case abi.OpFastReg:
		m.VA, m.Length, m.Access = port.VA(w.Far.Addr), w.Reg.Length, w.Reg.Access
		m.LogPage, m.NumPages = w.Reg.LogPageSize, uint8(w.Reg.NumPages)
		var list []byte
		for _, p := range w.Pages {
			list = binary.LittleEndian.AppendUint64(list, p)
		}
		m.pages = string(list)
	}
	return m
}

// memory answers as mpt does. All that was posted before must be done.
func (b *bench) memory(op port.MemOp) port.MemRes {
	q := b.qps[op.QPN]
	for _, s := range q.Live {
		if s.Kind == port.SentWire && !s.LastPSN.Before(q.Una) && q.State == abi.QPRTS {
			b.t.Errorf("QP %d: %s while %v is outstanding", op.QPN, op.Op, s)
		}
	}
	if len(q.Reads) > 0 {
		b.t.Errorf("QP %d: %s while a READ is outstanding", op.QPN, op.Op)
	}
	q.out.mem = append(q.out.mem, memOp{MemOp: op})
	b.memOf = append(b.memOf, q)
	if refuses(uint32(op.Key)) {
		return port.MemRes{Status: abi.StatusMWBind, Vendor: abi.VendorBind}
	}
	return port.MemRes{}
}

// collectPages gives each FAST_REG its pages.
func (b *bench) collectPages() {
	beats := b.MemPages.Got
	next := map[*queuePair]int{}
	for _, q := range b.memOf {
		m := &q.out.mem[next[q]]
		next[q]++
		for left := int(m.NumPages) * 8; left > 0; left -= 64 {
			require.NotEmpty(b.t, beats)
			require.EqualValues(b.t, min(left, 64), beats[0].Len)
			require.Equal(b.t, left <= 64, beats[0].Last)
			m.pages += string(beats[0].Data[:beats[0].Len])
			beats = beats[1:]
		}
	}
	require.Empty(b.t, beats)
}

// TestMemoryOperations has each, on RC and UC: all of its fields come to mpt, and it
// completes as itself.
func TestMemoryOperations(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		for place := range uint16(8) {
			b := fast(t, hdl.Options{})
			b.qp(6, roce.MTU256, 1<<10, 64).of(typ).place(place)
			for _, w := range []work{bind(0x99901), fastReg(1, 12), fastReg(8, 21), fastReg(9, 30), fastReg(31, 12), fastReg(32, 13), invalidate(0x1200), nop()} {
				b.post(0, w, false)
			}
			b.run(3000)
			b.check()
			require.False(t, b.qps[0].Failed)
			require.Len(t, b.Mem.Seen, 7)
			require.Len(t, b.Sent.Got, 8)
			require.Empty(t, b.Pkt.Got)
		}
	}
}

// TestMemoryWaits: one waits until all before it is done, packets and READs, without
// asking again and again, and what is behind it waits for mpt.
func TestMemoryWaits(t *testing.T) {
	for _, before := range []work{send(abi.OpSend, 0, sge(600)), read(64), nop()} {
		for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
			b := fast(t, hdl.Options{})
			q := b.qp(6, roce.MTU256, 1<<10, 64).of(typ).place(0)
			if !q.does(before.Ctrl.Op) {
				continue
			}
			b.Mem.Latency = func() uint64 { return 100 }
			b.post(0, before, false)
			b.post(0, bind(1), false)
			b.post(0, send(abi.OpWrite, 0, sge(8)), false)
			b.run(3000)
			b.check()
			require.LessOrEqual(t, len(b.QPC.Seen), 8)
			op := b.Sent.At[1] - 100
			if n := len(b.Pkt.Got); n > 1 {
				require.Greater(t, op, b.Pkt.At[n-2]+200)
			}
			require.Greater(t, b.sentAt(0, 2), op+100)
			require.Less(t, b.sentAt(0, 2), op+120)
		}
	}
}

// TestMemoryRefused: the WQE fails whether it is signalled or not, the rest is flushed.
func TestMemoryRefused(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		for _, w := range []work{bind(refusedKey), invalidate(refusedKey)} {
			b := fast(t, hdl.Options{})
			q := b.qp(6, roce.MTU256, 1<<10, 64).of(typ)
			b.post(0, send(abi.OpWrite, 0, sge(8)), false)
			b.post(0, w, false)
			b.post(0, bind(1), false)
			b.post(0, send(abi.OpWrite, 0, sge(8)), false)
			b.run(3000)
			b.check()
			require.True(t, q.Failed)
			require.Len(t, b.Mem.Seen, 1)
			require.Len(t, b.Pkt.Got, 1)
			require.Len(t, b.Sent.Got, 4)
		}
	}
}

// TestMemoryWithoutEntry: without room for its entry one is not executed.
func TestMemoryWithoutEntry(t *testing.T) {
	b := silent(t, wqesched.Params{Entries: 1})
	b.qp(6, roce.MTU256, 1<<10, 4)
	b.qp(6, roce.MTU256, 1<<10, 4)
	b.post(1, send(abi.OpWrite, 0, sge(8)), false)
	b.post(0, bind(1), false)
	require.NoError(t, b.k.Run(1000))
	require.Empty(t, b.Mem.Seen)
	b.acks = []ack{{at: b.k.Cycle(), qpn: 1, una: b.qps[1].Next, cqn: 1}}
	b.k.Go("wake", func(*hdl.Thread) { b.ackEvent.Notify() })
	require.NoError(t, b.k.Run(b.k.Cycle()+10))
	b.run(1000)
	b.check()
	require.Len(t, b.Mem.Seen, 1)
}

// TestMemoryWaitsForData: a READ is answered, as qpc knows, but its data is still on its
// way.
func TestMemoryWaitsForData(t *testing.T) {
	b := fast(t, hdl.Options{})
	b.qp(6, roce.MTU256, 1<<10, 4)
	b.QPC.Answer = func(g port.SQGet) port.SQCtx {
		c := b.get(g)
		c.Reading = b.k.Cycle() < 500
		return c
	}
	b.post(0, bind(1), false)
	require.NoError(t, b.k.Run(600))
	require.Empty(t, b.Mem.Seen)
	b.k.Go("done", func(*hdl.Thread) { b.Activate.Push(port.Activate{}) })
	require.NoError(t, b.k.Run(b.k.Cycle()+10))
	b.run(1000)
	require.Len(t, b.Mem.Seen, 1)
}
