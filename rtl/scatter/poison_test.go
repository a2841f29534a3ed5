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
			v := port.RxVerdict{QPN: 1, PD: testPD, Action: port.RxNothing, RQStride: 32, RQLog: 4, RQAddr: 0x4000}
			switch o.Kind {
			case port.RxPacket: // two packets of a message, then one of the next
				v.Action, v.RQIdx, v.EndsWQE = port.RxPlace, uint16(o.Pkt.Imm), o.Pkt.Opcode.Ends()
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
			sge := abi.SGE{Addr: 0x1000, Length: 4096, LKey: abi.Key(port.MptBadBounds)}
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
