package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
)

const (
	sharedBase  = 0x8000
	sharedFirst = uint16(0xfffc) // number of the first entry
)

// number is that of the n-th entry.
func number(n int) uint16 { return sharedFirst + uint16(n) }

// slots are those of the entries of a shared queue of 16, in the order of posting.
var slots = [...]uint16{0, 5, 2, 7, 1, 3, 4, 6, 15, 9, 12, 8, 10, 11, 13}

// sharedStep is a packet on a shared queue, of entry n: taken by it or before.
func sharedStep(q port.QPN, op roce.Opcode, length, n int, takes bool) step {
	v := port.RxVerdict{
		QPN: q, Action: port.RxPlace, Target: port.TargetRecv, TakesWQE: takes, EndsWQE: op.Ends(), Quiet: op.Transport() != roce.RC,
		SRQ: true, SRQN: 2, First: takes && n == 0, RQPD: testRQ, PD: testPD, RQIdx: number(n), RQAddr: sharedBase,
		RQStride: 64, RQLog: 4, RQNext: uint16(len(slots) - 1 - n), RecvCQN: port.CQN(q),
	}
	return step{op, length, v}
}

// postShared posts all entries, with an element of 100 bytes and one of 500.
func postShared(b *bench) {
	for n, slot := range slots {
		data := make([]byte, 64)
		next := uint16(14)
		if n+1 < len(slots) {
			next = slots[n+1]
		}
		abi.RWQEControlLayout.Encode(&abi.RWQEControl{Index: number(n), Next: next, NumSGE: 2}, data)
		for j, size := range []uint32{100, 500} {
			abi.SGELayout.Encode(&abi.SGE{Addr: elementVA(slot, j), Length: size, LKey: abi.Key(lkey) | recvKey}, data[16+16*j:])
		}
		b.host.write(sharedBase+port.BusAddr(slot)*64, data)
	}
}

// TestShared: whatever completes a receive WQE of a shared queue names its slot, each WQE
// completes once, and a QP's data goes where its own WQE says.
func TestShared(t *testing.T) {
	broken := sharedStep(5, roce.UCSendOnly, 30, 5, true)
	broken.v.HasBroken, broken.v.Broken = true, number(4)
	broken.v.BrokenStatus, broken.v.BrokenVendor = abi.StatusLocQPOp, abi.VendorRecvSequence
	write := sharedStep(3, roce.RCWriteOnlyImm, 64, 2, true)
	write.v.Target, write.v.Remote = port.TargetRemote, port.Remote{VA: 0x5000000, Key: hotKey, Range: 64, Access: uint8(abi.AccessRemoteWrite)}
	empty := sharedStep(3, roce.RCWriteOnlyImm, 0, 12, true)
	empty.v.Target = port.TargetNone
	gram := sharedStep(4, roce.UDSendOnly, 80, 3, true)
	gram.v.GRH, gram.v.V6, gram.v.Offset = true, true, 40
	last := sharedStep(1, roce.RCSendLast, 64, 0, false)
	last.v.Offset = 256
	fatal := sharedStep(1, roce.RCSendMiddle, 10, 8, false)
	fatal.v.Action, fatal.v.Error, fatal.v.EndsWQE, fatal.v.Status, fatal.v.Vendor = port.RxReply, true, true, abi.StatusLocQPOp, abi.VendorRecvOp
	steps := []step{
		sharedStep(1, roce.RCSendFirst, 256, 0, true),
		sharedStep(2, roce.RCSendOnly, 64, 1, true),
		last, write, gram,
		sharedStep(5, roce.UCSendFirst, 256, 4, true),
		broken,
		sharedStep(6, roce.UCSendOnly, 601, 6, true), // too long
		sharedStep(6, roce.UCSendOnly, 10, 7, true),  // lost behind it
		sharedStep(1, roce.RCSendFirst, 256, 8, true),
		fatal,
		sharedStep(2, roce.RCSendFirst, 256, 9, true),  // purged
		sharedStep(7, roce.RCSendFirst, 256, 10, true), // flushed
		sharedStep(6, roce.UCSendOnly, 600, 11, true),  // good again
		empty,
	}
	want := []port.CQEReq{
		{QPN: 2, UnitIdx: 5, ByteLen: 64},
		{QPN: 1, UnitIdx: 0, ByteLen: 320},
		{QPN: 3, UnitIdx: 2, ByteLen: 64, Opcode: abi.WCRecvWithImm, Flags: 2},
		{QPN: 4, UnitIdx: 7, ByteLen: 120, Flags: 1},
		{QPN: 5, UnitIdx: 1, Status: abi.StatusLocQPOp, Vendor: abi.VendorRecvSequence, Solicited: true},
		{QPN: 5, UnitIdx: 3, ByteLen: 30},
		{QPN: 6, UnitIdx: 4, Status: abi.StatusLocLen, Vendor: abi.VendorRecvTooLong, Solicited: true},
		{QPN: 6, UnitIdx: 6, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Solicited: true},
		{QPN: 1, UnitIdx: 15, Status: abi.StatusLocQPOp, Vendor: abi.VendorRecvOp, Solicited: true},
		{QPN: 6, UnitIdx: 8, ByteLen: 600},
		{QPN: 3, UnitIdx: 10, Opcode: abi.WCRecvWithImm, Flags: 2},
		{QPN: 2, UnitIdx: 9, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Solicited: true},
		{QPN: 2, Purge: true, RX: true},
		{QPN: 7, UnitIdx: 12, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Solicited: true},
		{QPN: 7, LastWQE: true},
	}
	for i := range want {
		if c := &want[i]; !c.Purge && !c.LastWQE {
			c.CQN = port.CQN(c.QPN)
			if c.Opcode == 0 {
				c.Opcode = abi.WCRecv
			}
		}
	}
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []port.CQEReq) {
		b := newBench(t, setup{}, o)
		b.buf.onFree = func() {}
		n, flushes := 0, 0
		b.Qpc.Answer = func(o port.RxOp) (v port.RxVerdict) {
			v = sharedStep(o.QPN, roce.RCSendMiddle, 0, 9, false).v
			switch o.Kind {
			case port.RxPacket:
				v = steps[n].v
				n++
			case port.RxFault:
				require.Equal(t, abi.StatusLocLen, o.Status)
				require.Equal(t, number(6), o.RQIdx)
				v.Action, v.Quiet = port.RxFailed, true
			case port.RxPurge:
				v.Action, v.HasBroken, v.Broken = port.RxNothing, true, v.RQIdx
				v.BrokenStatus, v.BrokenVendor = abi.StatusWRFlush, abi.VendorFlush
			case port.RxFlushRQ:
				v.Action, v.RQIdx = port.RxFlushed, v.RQIdx+1
				if flushes++; flushes > 1 {
					v.Action, v.LastWQE = port.RxNothing, true
				}
			}
			return v
		}
		postShared(b)
		for i, s := range steps {
			p := port.RxPkt{QPN: s.v.QPN, Opcode: s.op, PSN: roce.PSN(i), Len: uint16(s.len)}
			addr, beats, ok := b.buf.put(70, pattern(uint8(i), s.len))
			require.True(t, ok)
			p.BufAddr, p.FrameBeats, p.IPAddr = addr, beats, addr-60
			b.Pkt.Push(p)
		}
		b.Pkt.NotBefore = func(i int) uint64 {
			if i >= 13 {
				return 2000
			}
			return 0
		}
		b.Purge.Push(port.Purge{QPN: 2, RX: true})
		b.Purge.NotBefore = func(int) uint64 { return 4000 }
		b.QPErr.Push(port.QPError{QPN: 7})
		b.QPErr.NotBefore = func(int) uint64 { return 5000 }
		require.NoError(t, b.k.Run(10_000))
		require.Equal(t, want, b.CQE.Got)
		require.Equal(t, append(pattern(0, 256), pattern(2, 64)...), received(b, 0, 100, 500)[:320])
		require.Equal(t, pattern(1, 64), received(b, 5, 100)[:64])
		require.Equal(t, pattern(4, 80), received(b, 7, 100, 500)[40:120])
		require.Equal(t, pattern(13, 600), received(b, 8, 100, 500))
		require.Zero(t, b.Scat.Collect.Q.Poisoned)
		require.Empty(t, b.buf.frames)
		return b.k, b.CQE.Got
	})
}
