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

// TestOutcomesGood: rows of the outcome table in which all is well.
func TestOutcomesGood(t *testing.T) {
	nowhere := func(wr driver.SendWR, sges ...driver.SGE) driver.SendWR {
		wr.SGEs, wr.RemoteAddr, wr.RKey = sges, 0xfffffffffffffff0, 0xdeadbeef
		return wr
	}
	garbage := driver.SGE{Addr: 77, LKey: 0xdeadbe00}
	rows := []outcome{{
		name:  "zero-size SEND",
		recvs: two,
		sends: func(w *world) []driver.SendWR {
			return []driver.SendWR{{ID: 1, Op: abi.OpSend, Signaled: true}, {ID: 2, Op: abi.OpSendImm, Imm: 5, SGEs: []driver.SGE{garbage}}}
		},
		sent: e2e.OK(1), received: e2e.OK(11, 12),
		more: func(w *world, _, received []driver.WC) {
			for _, wc := range received {
				require.Zero(w.t, wc.ByteLen)
				require.Equal(w.t, abi.WCRecv, wc.Opcode)
			}
		},
	}, {
		name:  "zero-size WRITE, READ, WRITE_IMM, any key and address",
		recvs: two,
		sends: func(w *world) (wrs []driver.SendWR) {
			for i, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead, abi.OpWriteImm} {
				wr := nowhere(w.op(uint64(2*i+1), op, 0, 0))
				wr.Imm = 9
				wrs = append(wrs, wr, nowhere(wr, garbage, garbage))
				wrs[2*i+1].ID++
			}
			return wrs
		},
		sent: e2e.OK(1, 2, 3, 4, 5, 6), received: e2e.OK(11, 12),
		more: func(w *world, sent, received []driver.WC) {
			require.Equal(w.t, abi.WCWrite, sent[0].Opcode)
			require.Equal(w.t, abi.WCRead, sent[2].Opcode)
			require.Zero(w.t, sent[2].ByteLen)
			for _, wc := range received {
				require.Zero(w.t, wc.ByteLen)
				require.Equal(w.t, abi.WCRecvWithImm, wc.Opcode)
				require.EqualValues(w.t, 9, wc.Imm)
			}
		},
	}, {
		name:  "unsignalled",
		recvs: two,
		sends: func(w *world) (wrs []driver.SendWR) {
			for i, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead, abi.OpFetchAdd, abi.OpSend} {
				wr := w.op(uint64(i+1), op, 8*i, 8)
				wr.Signaled = i == 4
				wrs = append(wrs, wr)
			}
			return wrs
		},
		sent: e2e.OK(5), received: e2e.OK(11, 12),
		effect: func(w *world) {
			copy(w.b, w.a[:8])
			copy(w.b[4096:], w.a[32:40])
			copy(w.b[farAt:], w.a[8:16])
			copy(w.a[16:24], w.a[8:16])
			copy(w.a[24:32], w.a[8:16])
		},
	}, {
		name:  "SEND inline, its source gone",
		recvs: two,
		sends: func(w *world) []driver.SendWR {
			wr := driver.SendWR{ID: 1, Op: abi.OpSend, Signaled: true, Inline: e2e.Bytes(64, 9)}
			return []driver.SendWR{wr, {ID: 2, Op: abi.OpWrite, Signaled: true, Inline: e2e.Bytes(33, 8), RemoteAddr: w.far.Addr + 5, RKey: w.far.RKey}}
		},
		sent: e2e.OK(1, 2), received: e2e.OK(11),
		effect: func(w *world) {
			copy(w.b, e2e.Bytes(64, 9))
			copy(w.b[farAt+5:], e2e.Bytes(33, 8))
		},
	}, {
		name: "receive reaches past its region, the message does not",
		recvs: func(w *world) []driver.RecvWR {
			m := region(w.t, w.s.B, w.s.B.PD, 0, 1000, abi.AccessLocalWrite)
			return []driver.RecvWR{{ID: 11, SGEs: []driver.SGE{m.SGE(0, 4096)}}}
		},
		sends: func(w *world) []driver.SendWR { return []driver.SendWR{w.op(1, abi.OpSend, 0, 1000)} },
		sent:  e2e.OK(1), received: e2e.OK(11),
		effect: func(w *world) { copy(w.b, w.a[:1000]) },
	}, {
		name: "COMPARE_SWAP without and with a match, FETCH_ADD of 2^36, round the end",
		before: func(w *world) {
			binary.LittleEndian.PutUint64(w.b[farAt:], 0x0102030405060708)
			w.B.Demand(farAt, e2e.Bytes(image, 2)[farAt:farAt+8])
			_, err := w.s.B.Buf.WriteAt(w.b[farAt:farAt+8], farAt)
			require.NoError(w.t, err)
		},
		sends: func(w *world) []driver.SendWR {
			no, yes := w.op(1, abi.OpCompareSwap, 0, 8), w.op(2, abi.OpCompareSwap, 8, 8)
			no.Compare, no.SwapAdd = 0x0807060504030201, 1
			yes.Compare, yes.SwapAdd = 0x0102030405060708, 0xfffffff0ffffffff
			add, more := w.op(3, abi.OpFetchAdd, 16, 8), w.op(4, abi.OpFetchAdd, 24, 8)
			add.SwapAdd, more.SwapAdd = 1<<36, ^uint64(0)
			more.Compare = 77 // of no meaning
			return []driver.SendWR{no, yes, add, more}
		},
		sent: e2e.OK(1, 2, 3, 4),
		effect: func(w *world) {
			binary.LittleEndian.PutUint64(w.a, 0x0102030405060708)
			binary.LittleEndian.PutUint64(w.a[8:], 0x0102030405060708)
			binary.LittleEndian.PutUint64(w.a[16:], 0xfffffff0ffffffff)
			var sum uint64 = 0xfffffff0ffffffff
			sum += 1 << 36
			binary.LittleEndian.PutUint64(w.a[24:], sum)
			binary.LittleEndian.PutUint64(w.b[farAt:], sum-1)
		},
		more: func(w *world, sent, _ []driver.WC) {
			for i, wc := range sent {
				require.Equal(w.t, [...]abi.WCOpcode{abi.WCCompareSwap, abi.WCFetchAdd}[i/2], wc.Opcode)
				require.EqualValues(w.t, 8, wc.ByteLen)
			}
		},
	}}
	for _, n := range []int{1, 7, 1024, 1025, 5000} {
		rows = append(rows, outcome{
			name: fmt.Sprintf("WRITE_IMM of %d bytes, receive of no use", n),
			recvs: func(w *world) []driver.RecvWR {
				return []driver.RecvWR{{ID: 11, SGEs: []driver.SGE{{Addr: 3, Length: 2, LKey: 0xbad00}}}, w.B.RecvWR(12, 0, 10)}
			},
			sends: func(w *world) []driver.SendWR {
				wr := w.op(1, abi.OpWriteImm, 3, n)
				wr.Imm, wr.RemoteAddr = 0x11223344, wr.RemoteAddr+1
				return []driver.SendWR{wr}
			},
			sent: e2e.OK(1), received: e2e.OK(11),
			effect: func(w *world) { copy(w.b[farAt+1:], w.a[3:3+n]) },
			more: func(w *world, sent, received []driver.WC) {
				require.Equal(w.t, abi.WCWrite, sent[0].Opcode)
				require.Zero(w.t, sent[0].Flags)
				wc := received[0]
				require.Equal(w.t, abi.WCRecvWithImm, wc.Opcode)
				require.Equal(w.t, abi.CQEWithImm, wc.Flags)
				require.EqualValues(w.t, 0x11223344, wc.Imm)
				require.EqualValues(w.t, n, wc.ByteLen)
			},
		})
	}
	for _, n := range []int{0, 8, 3000} {
		var gone *driver.MR
		rows = append(rows, outcome{
			name:  fmt.Sprintf("SEND_INV of %d bytes", n),
			recvs: two,
			sends: func(w *world) []driver.SendWR {
				gone = region(w.t, w.s.B, w.s.B.PD, farAt, 4096, all)
				read, inv := w.op(1, abi.OpRead, 8000, 8), w.op(2, abi.OpSendInv, 0, n)
				read.RKey, inv.Imm = gone.RKey, uint32(gone.RKey)
				last := w.op(3, abi.OpRead, 8100, 8)
				last.RKey = gone.RKey
				return []driver.SendWR{read, inv, last, w.op(4, abi.OpRead, 8200, 8)}
			},
			sent:   then(e2e.OK(1, 2), e2e.All(abi.StatusRemAccess, 3), e2e.Flushed(4)),
			vendor: abi.VendorNAKAccess, received: then(e2e.OK(11), e2e.Flushed(12)), aErr: true, bErr: true, event: abi.EventQPAccessErr,
			effect: func(w *world) {
				copy(w.b, w.a[:n])
				copy(w.a[8000:], w.b[farAt:farAt+8])
			},
			more: func(w *world, sent, received []driver.WC) {
				require.Equal(w.t, abi.WCSend, sent[1].Opcode)
				wc := received[0]
				require.Equal(w.t, abi.WCRecv, wc.Opcode)
				require.Equal(w.t, abi.CQEWithInv, wc.Flags)
				require.EqualValues(w.t, gone.RKey, wc.Imm)
				require.EqualValues(w.t, n, wc.ByteLen)
				w.s.B.Do(func() { require.NoError(w.t, gone.Dereg()) })
			},
		})
	}
	outcomes(t, rows)
}
