package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// TestHeldWQEOnce: a message in progress is broken by a fault, and qpc flushes its
// receive WQE too, before the fault's operation reaches it or after. The WQE
// completes once, those behind it as flushed.
func TestHeldWQEOnce(t *testing.T) {
	for _, early := range []bool{true, false} {
		b := newBench(t, setup{}, hdl.Options{})
		b.buf.onFree = func() {}
		flushes := 0
		b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
			v := port.RxVerdict{QPN: 1, PD: testPD, RQPD: testPD, Action: port.RxNothing, RQStride: 32, RQLog: 4, RQAddr: 0x4000}
			switch o.Kind {
			case port.RxPacket: // two packets of a message, then one of the next
				v.Action, v.Target, v.RQIdx, v.EndsWQE = port.RxPlace, port.TargetRecv, uint16(o.Pkt.Imm), o.Pkt.Opcode.Ends()
				v.RQAddr += port.BusAddr(v.RQIdx) * 32
				v.Ack.Send = true
				if early && o.Pkt.Imm == 1 {
					b.QPErr.Push(port.QPError{QPN: 1})
				}
			case port.RxFlushRQ:
				v.Action, v.RQIdx = port.RxFlushed, uint16(flushes+1)
				if flushes++; flushes > 3 {
					v.Action = port.RxNothing
				}
			case port.RxFault:
				v.Action = port.RxFailed
				v.Ack = port.AckReq{Send: true, QPN: 1, PSN: o.PSN, Syndrome: 0x63}
				if !early {
					b.QPErr.Push(port.QPError{QPN: 1})
				}
			}
			return v
		}
		for _, idx := range []uint16{0, 1} {
			ctrl := abi.RWQEControl{NumSGE: 1, Index: idx}
			sge := abi.SGE{Addr: 0x1000, Length: 4096, LKey: abi.Key(port.MptBadBounds) | 1<<keyAccess}
			var e [32]byte
			abi.RWQEControlLayout.Encode(&ctrl, e[:])
			abi.SGELayout.Encode(&sge, e[16:])
			b.host.mem[0x4000+port.BusAddr(idx)*32] = [16]byte(e[:])
			b.host.mem[0x4010+port.BusAddr(idx)*32] = [16]byte(e[16:])
		}
		for i, op := range []roce.Opcode{roce.RCSendFirst, roce.RCSendLast, roce.RCSendOnly} {
			addr, beats, ok := b.buf.put(54, make([]byte, 64))
			require.True(t, ok)
			b.Pkt.Push(port.RxPkt{QPN: 1, Opcode: op, PSN: roce.PSN(i), Imm: uint32(i / 2), Len: 64, BufAddr: addr, FrameBeats: beats})
		}
		require.NoError(t, b.k.Run(5000))
		var got []abi.VendorErr
		for i, c := range b.CQE.Got {
			require.EqualValues(t, i, c.UnitIdx)
			got = append(got, c.Vendor)
		}
		require.Equal(t, []abi.VendorErr{abi.VendorLKeyBounds, abi.VendorFlush, abi.VendorFlush, abi.VendorFlush}, got)
		require.Len(t, b.Resp.Got, 1, "only the NAK is sent")
		require.EqualValues(t, 0x63, b.Resp.Got[0].Syndrome)
		require.Empty(t, b.Write.Got)
		require.Empty(t, b.buf.frames)
	}
}

// TestFirstRefusal: of several refused pieces the first one's reason counts.
func TestFirstRefusal(t *testing.T) {
	b := newBench(t, setup{}, hdl.Options{})
	x := newTraffic(b, 1, 1, 0, false)
	q := x.list[0]
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		v := port.RxVerdict{QPN: q.n, PD: testPD, RQPD: testPD, Action: port.RxFailed}
		if o.Kind == port.RxPacket {
			v.Action, v.Target, v.EndsWQE = port.RxPlace, port.TargetRecv, true
			x.describe(q, 0, &v)
		}
		return v
	}
	ctrl := abi.RWQEControl{NumSGE: 4}
	var e [128]byte
	abi.RWQEControlLayout.Encode(&ctrl, e[:])
	for i, k := range []port.MptStatus{port.MptOK, port.MptBadAccess, port.MptBadKey, port.MptOK} {
		sge := abi.SGE{Addr: uint64(i) << 16, Length: 16, LKey: abi.Key(k) | 1<<keyAccess}
		abi.SGELayout.Encode(&sge, e[16+16*i:])
	}
	q.logStride = 7
	for i := 0; i < 128; i += 16 {
		b.host.mem[q.addr(0)+port.BusAddr(i)] = [16]byte(e[i:])
	}
	addr, beats, _ := b.buf.put(54, make([]byte, 64))
	b.CQE.OnTake = nil
	b.Pkt.Push(port.RxPkt{QPN: q.n, Opcode: roce.RCSendOnly, Len: 64, BufAddr: addr, FrameBeats: beats})
	require.NoError(t, b.k.Run(1000))
	require.Len(t, b.CQE.Got, 1)
	require.Equal(t, abi.StatusLocProt, b.CQE.Got[0].Status)
	require.Equal(t, abi.VendorLKeyAccess, b.CQE.Got[0].Vendor)
	require.Empty(t, b.Write.Got, "a packet is written whole or not at all")
}
