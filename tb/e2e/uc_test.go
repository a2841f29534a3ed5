package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/e2e"
)

// reachUC is reach over UC.
func reachUC(t *testing.T) *world {
	return reach(t, driver.QPConfig{Type: abi.QPTypeUC, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}, driver.ConnectOptions{})
}

// TestUCOperations (B028, B121): all that UC does, of lengths around one and more packets.
// No packet asks for an answer and none is given; each completes at both ends.
func TestUCOperations(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpWrite, abi.OpWriteImm} {
		t.Run(op.String(), func(t *testing.T) {
			w := reachUC(t)
			for _, n := range []int{0, 1, 3, 63, 64, 65, 1023, 1024, 1025, 2048, 2049, 9000} {
				takes := op != abi.OpWrite
				if takes {
					w.B.Recv(w.B.RecvWR(11, 0, 10_000))
				}
				wr := w.op(1, op, 0, n)
				wr.Imm = 0x11223344
				from := len(w.s.A.Requests(0))
				w.A.Send(wr)
				w.A.Sent(e2e.OK(1)...)
				if !takes {
					w.s.Sleep(3000)
				} else {
					wc := w.B.Received(e2e.OK(11)...)[0]
					require.EqualValues(t, n, wc.ByteLen)
					want, imm := abi.WCRecv, op != abi.OpSend
					if op == abi.OpWriteImm {
						want = abi.WCRecvWithImm
					}
					require.Equal(t, want, wc.Opcode)
					require.Equal(t, imm, wc.Flags == abi.CQEWithImm)
					require.True(t, !imm || wc.Imm == 0x11223344)
				}
				at := 0
				if op == abi.OpWrite || op == abi.OpWriteImm {
					at = farAt
				}
				w.s.B.Demand(at, w.s.A.Read(0, n))
				require.Len(t, w.s.A.Requests(from), max(1, (n+1023)/1024))
			}
			for _, f := range w.s.B.Seen {
				require.False(t, f.Tx, "an answer")
			}
		})
	}
}

// TestUCGaps (B025): a packet of a message of three is lost. The message is never
// seen, nobody is told, and its receive takes the next one; of a WRITE what came before
// the gap stays.
func TestUCGaps(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpWrite, abi.OpWriteImm} {
		for lost := range uint32(3) {
			for _, next := range []abi.WQEOp{abi.OpSend, abi.OpWriteImm} {
				t.Run(fmt.Sprintf("%v, packet %d, then %v", op, lost, next), func(t *testing.T) {
					w := reachUC(t)
					w.B.Recv(w.B.Recvs(0, 4096, 11, 12)...)
					psn := w.B.FirstPSN()
					strike := &tb.Strike{Name: "gap", Match: requestAt(psn.Add(lost))}
					w.s.B.SetFault(tb.Strikes(strike))
					w.A.Send(w.op(1, op, 10_000, 3000))
					w.A.Sent(e2e.OK(1)...)
					w.s.Sleep(3000)
					require.Equal(t, 1, strike.Fired)
					w.B.DemandNone(w.B.RCQ)
					want := e2e.Faults{abi.OutOfSequence: uint64(2 - lost), abi.RxDropOther: uint64(2 - lost)}
					if lost == 2 { // it is noticed with the next message
						want = e2e.Faults{}
					}
					require.Equal(t, want, w.s.B.Faults())
					if op == abi.OpWrite || op == abi.OpWriteImm {
						copy(w.b[farAt:farAt+int(lost)*1024], w.a[10_000:])
						w.s.B.Demand(farAt, w.b[farAt:farAt+farSize])
					}
					w.A.Send(w.op(2, next, 20_000, 2000), w.op(3, abi.OpSend, 30_000, 1))
					w.A.Sent(e2e.OK(2, 3)...)
					w.B.Received(e2e.OK(11, 12)...)
					at := 0
					if next == abi.OpWriteImm {
						at = farAt
					}
					w.s.B.Demand(at, w.a[20_000:22_000])
					w.s.B.Demand(4096, w.a[30_000:30_001])
					w.B.DemandState(abi.QPRTS)
					require.Empty(t, w.s.B.Events())
				})
			}
		}
	}
}

// TestUCBrokenMessages: first, middle and last in orders that no sender makes.
func TestUCBrokenMessages(t *testing.T) {
	full := e2e.Bytes(1024, 1)
	type step struct {
		op   roce.Opcode
		skip uint32 // PSNs left out before it
		data []byte
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  []int // bytes of the messages that arrive
		drops e2e.Faults
	}{
		{"first, then only", []step{{roce.UCSendFirst, 0, full}, {roce.UCSendOnly, 0, full[:10]}}, []int{10}, e2e.Faults{}},
		{"first, middle, then first, last", []step{{roce.UCSendFirst, 0, full}, {roce.UCSendMiddle, 0, full}, {roce.UCSendFirst, 0, full}, {roce.UCSendLast, 0, full[:7]}}, []int{1031}, e2e.Faults{}},
		{"last alone", []step{{roce.UCSendLast, 0, full[:7]}, {roce.UCSendOnly, 0, full[:8]}}, []int{8}, e2e.Faults{abi.RxDropOther: 1}},
		{"middle alone", []step{{roce.UCSendMiddle, 0, full}, {roce.UCSendLast, 0, full[:8]}, {roce.UCSendOnly, 0, nil}}, []int{0}, e2e.Faults{abi.RxDropOther: 2}},
		{"first, last of a WRITE", []step{{roce.UCSendFirst, 0, full}, {roce.UCWriteLast, 0, full[:8]}, {roce.UCSendOnly, 0, full[:9]}}, []int{9}, e2e.Faults{abi.RxDropOther: 1}},
		{"first that is not full", []step{{roce.UCSendFirst, 0, full[:1000]}, {roce.UCSendLast, 0, full[:8]}, {roce.UCSendOnly, 0, full[:9]}}, []int{9}, e2e.Faults{abi.RxDropOther: 2}},
		{"middle that is not full", []step{{roce.UCSendFirst, 0, full}, {roce.UCSendMiddle, 0, full[:4]}, {roce.UCSendLast, 0, full[:8]}, {roce.UCSendOnly, 0, full[:9]}}, []int{9}, e2e.Faults{abi.RxDropOther: 2}},
		{"last of nothing", []step{{roce.UCSendFirst, 0, full}, {roce.UCSendLast, 0, nil}, {roce.UCSendOnly, 0, full[:9]}}, []int{9}, e2e.Faults{abi.RxDropOther: 1}},
		{"PSN far ahead", []step{{roce.UCSendOnly, 1 << 22, full[:3]}, {roce.UCSendOnly, 0, full[:4]}}, []int{3, 4}, e2e.Faults{}},
		{"PSN back", []step{{roce.UCSendOnly, 0, full[:3]}, {roce.UCSendOnly, 1<<24 - 3, full[:4]}}, []int{3, 4}, e2e.Faults{}},
		{"a packet twice", []step{{roce.UCSendFirst, 0, full}, {roce.UCSendMiddle, 0, full}, {roce.UCSendMiddle, 1<<24 - 1, full}, {roce.UCSendLast, 0, full[:3]}, {roce.UCSendOnly, 0, full[:4]}}, []int{4}, e2e.Faults{abi.RxDropOther: 2, abi.OutOfSequence: 2}},
		{"READ", []step{{0x2c, 0, nil}, {roce.UCSendOnly, 0, full[:4]}}, []int{4}, e2e.Faults{abi.RxDropOther: 1}},
		{"FETCH_ADD in a message", []step{{roce.UCSendFirst, 0, full}, {0x34, 0, nil}, {roce.UCSendLast, 0, full[:4]}, {roce.UCSendOnly, 0, full[:4]}}, []int{4}, e2e.Faults{abi.RxDropOther: 2}},
		{"SEND_INV", []step{{0x37, 0, full[:4]}, {roce.UCSendOnly, 0, full[:4]}}, []int{4}, e2e.Faults{abi.RxDropOther: 1}},
		{"of RC", []step{{roce.RCSendOnly, 0, full[:4]}, {roce.UCSendOnly, 0, full[:4]}}, []int{4}, e2e.Faults{abi.RxDropBadTransport: 1}},
		{"of UD", []step{{roce.UDSendOnly, 0, full[:4]}, {roce.UCSendOnly, 0, full[:4]}}, []int{4}, e2e.Faults{abi.RxDropBadTransport: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reachUC(t)
			w.B.Recv(w.B.Recvs(0, 4096, 11, 12)...)
			psn := w.B.FirstPSN()
			for _, x := range c.steps {
				psn = psn.Add(x.skip)
				w.s.B.Arrive(w.B.Forge(x.op, psn, x.data))
				psn = psn.Add(1)
			}
			ids := []uint64{11, 12}[:len(c.want)]
			for i, wc := range w.B.Received(e2e.OK(ids...)...) {
				require.EqualValues(t, c.want[i], wc.ByteLen)
			}
			require.Equal(t, c.drops, w.s.B.Faults())
			w.B.DemandState(abi.QPRTS)
			require.Empty(t, w.s.B.Events())
			for _, f := range w.s.B.Seen {
				require.False(t, f.Tx, "an answer")
			}
		})
	}
}
