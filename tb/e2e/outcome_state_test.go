package e2e_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// add adds to a word of memory.
func add(b []byte, n uint64) {
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+n)
}

// TestOutcomesAtomic (B157, B159): atomics that are wrong in themselves.
func TestOutcomesAtomic(t *testing.T) {
	var rows []outcome
	for _, op := range []abi.WQEOp{abi.OpCompareSwap, abi.OpFetchAdd} {
		for _, off := range []uint64{1, 2, 4, 7} {
			for _, key := range []abi.Key{0, 0x40} {
				rows = append(rows, outcome{
					name:  fmt.Sprintf("%v at %d of 8, key %#x", op, off, key),
					recvs: two,
					sends: func(w *world) []driver.SendWR {
						wr := w.op(1, op, 0, 8)
						wr.RemoteAddr, wr.RKey, wr.Signaled = wr.RemoteAddr+off, wr.RKey^key, false
						return []driver.SendWR{wr, w.op(2, abi.OpSend, 0, 8)}
					},
					sent: failed(abi.StatusRemInvReq), vendor: abi.VendorNAKInvalid, aErr: true, bErr: true,
					received: e2e.Flushed(11, 12), event: abi.EventQPReqErr,
				})
			}
		}
		for _, n := range []int{0, 4, 7, 9, 16} {
			rows = append(rows, outcome{
				name:  fmt.Sprintf("%v of %d bytes", op, n),
				recvs: two,
				sends: func(w *world) []driver.SendWR {
					wr := w.op(1, op, 0, n)
					wr.Signaled = false
					return []driver.SendWR{wr, w.op(2, abi.OpSend, 0, 8)}
				},
				sent: failed(abi.StatusLocLen), vendor: abi.VendorWQELength, aErr: true,
				more: func(w *world, _, _ []driver.WC) { w.B.DemandState(abi.QPRTS) },
			})
		}
	}
	outcomes(t, rows)
}

// TestOutcomesState (B018, B120): queues that are not ready, and rights that they lack.
func TestOutcomesState(t *testing.T) {
	var rows []outcome
	one := func(op abi.WQEOp) func(w *world) []driver.SendWR {
		return func(w *world) []driver.SendWR {
			wr := w.op(1, op, 0, 8)
			wr.Signaled, wr.Imm = false, uint32(w.far.RKey)
			return []driver.SendWR{wr, w.op(2, abi.OpWrite, 8, 8)}
		}
	}
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpSendInv, abi.OpWriteImm} {
		rows = append(rows, outcome{
			name:  fmt.Sprintf("%v, no receive", op),
			sends: alone(one(op)), sent: e2e.All(abi.StatusRNRRetryExc, 1), vendor: abi.VendorRNRNAK, aErr: true,
			more: func(w *world, _, _ []driver.WC) {
				w.B.DemandState(abi.QPRTS)
				w.again(w.op(3, abi.OpRead, 0, 8)) // the key is still valid
			},
		})
	}
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
		lost := outcome{sends: one(op), sent: failed(abi.StatusRetryExc), vendor: abi.VendorTimeout, aErr: true, recvs: two}
		o := lost
		o.name = fmt.Sprintf("%v, peer in ERR", op)
		o.before, o.bErr, o.received = func(w *world) { w.B.Fail() }, true, e2e.Flushed(11, 12)
		rows = append(rows, o)
		o = lost
		o.name = fmt.Sprintf("%v, peer in RESET", op)
		o.before = func(w *world) { w.B.Reset() }
		o.more = func(w *world, _, _ []driver.WC) { w.B.DemandState(abi.QPReset) }
		rows = append(rows, o)
		o = lost
		o.name = fmt.Sprintf("%v, peer in INIT", op)
		o.before = func(w *world) {
			w.B.Reset()
			w.B.Do(func() { require.NoError(w.t, w.B.QP.Init(all&^abi.AccessLocalWrite)) })
			w.B.Recv(two(w)...)
		}
		o.more = func(w *world, _, _ []driver.WC) {
			w.B.DemandState(abi.QPInit)
			w.B.Fail() // and has them still
			w.B.Received(e2e.Flushed(11, 12)...)
		}
		rows = append(rows, o)
	}
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpSendInv, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd} {
		rows = append(rows, outcome{
			name: fmt.Sprintf("%v, posted after ERR", op), recvs: two,
			before: func(w *world) { w.A.Fail() }, sends: one(op), sent: e2e.Flushed(1, 2), aErr: true,
			more: func(w *world, _, _ []driver.WC) {
				w.A.Recv(w.A.RecvWR(21, 0, 8))
				w.A.Received(e2e.Flushed(21)...)
				w.B.DemandState(abi.QPRTS)
			},
		})
	}
	for _, x := range badTargets[:5] {
		rows = append(rows, outcome{
			name: "SEND_INV, " + x.name, recvs: two,
			sends: func(w *world) []driver.SendWR {
				wr := w.op(1, abi.OpSendInv, 0, 100)
				_, key := x.of(w, abi.OpSendInv, 0)
				wr.Imm, wr.Signaled = uint32(key), false
				return []driver.SendWR{wr}
			},
			sent: e2e.All(abi.StatusRetryExc, 1), vendor: abi.VendorTimeout, aErr: true, bErr: true,
			received: then(e2e.All(abi.StatusMWBind, 11), e2e.Flushed(12)),
			effect:   func(w *world) { w.b = w.B.Read(0, 4096+0); w.b = append(w.b, e2e.Bytes(image, 2)[4096:]...) },
			more: func(w *world, _, received []driver.WC) {
				require.Equal(w.t, abi.VendorInvalidate, received[0].VendorErr)
				for _, a := range w.s.B.Answers(0) {
					require.False(w.t, a.BTH.DestQP == roce.QPN(w.A.QP.Number()), "an answer")
				}
			},
		})
	}
	for _, op := range []abi.WQEOp{abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd} {
		rows = append(rows, outcome{
			name: fmt.Sprintf("%v, max_rd_atomic 0", op), recvs: two, connect: driver.ConnectOptions{MaxRdAtomic: -1},
			sends: one(op), sent: failed(abi.StatusLocQPOp), vendor: abi.VendorWQEOp, aErr: true,
			more: func(w *world, _, _ []driver.WC) { w.B.DemandState(abi.QPRTS) },
		}, outcome{
			name: fmt.Sprintf("%v, max_dest_rd_atomic 0", op), recvs: two, connect: driver.ConnectOptions{MaxDestRdAtomic: -1},
			sends: one(op), sent: failed(abi.StatusRemInvReq), vendor: abi.VendorNAKInvalid, aErr: true, bErr: true,
			received: e2e.Flushed(11, 12), event: abi.EventQPReqErr,
		})
	}
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd} {
		rows = append(rows, outcome{
			name: fmt.Sprintf("%v, not a right of the QP", op), recvs: two,
			connect: driver.ConnectOptions{Access: all &^ abi.AccessLocalWrite &^ right(op)},
			sends:   alone(one(op)), sent: e2e.All(abi.StatusRemInvReq, 1), vendor: abi.VendorNAKInvalid, aErr: true, bErr: true,
			received: e2e.Flushed(11, 12), event: abi.EventQPReqErr,
		})
	}
	outcomes(t, rows)
}
