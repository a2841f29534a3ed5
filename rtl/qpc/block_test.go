package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// toRTSAs takes QP n of a type to RTS, with SRQ 3 if that is asked for.
func (b *bench) toRTSAs(n port.QPN, typ abi.QPType, srq bool) {
	a := connected()
	a.Type, a.DestQPN, a.SRQN, a.QKey = typ, uint32(n), 3, 0x80112233
	if srq {
		a.Flags = abi.QPHasSRQ
	}
	b.Admin.Push(port.QPAdmin{Op: port.QPCreate, QPN: n, Attr: a})
	for s := abi.QPReset; s != abi.QPRTS; s++ {
		required, _, _ := abi.Transition(typ, s, s+1)
		a.AttrMask, a.State = required|abi.AttrState, s+1
		b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: n, Attr: a})
	}
}

// withSRQ is a bench with SRQ 3 of posted entries and two QPs that use it.
func withSRQ(t *testing.T, o hdl.Options, posted uint16) *bench {
	b := newBench(t, o, 0)
	q := sharedQueue()
	q.Limit = 0
	b.Admin.Push(port.QPAdmin{Op: port.SRQCreate, QPN: 3, SRQ: q})
	b.toRTSAs(1, abi.QPTypeUD, true)
	b.toRTSAs(2, abi.QPTypeUD, true)
	b.toRTSAs(4, abi.QPTypeUD, false)
	b.run(t, 100)
	for _, r := range b.AdminRes.Got {
		require.Equal(t, abi.AdminOK, r.Status)
	}
	b.Bell.Push(port.QPDoorbell{QPN: 4, RQ: true, Index: 16, Page: 5})
	b.Bell.Push(port.QPDoorbell{QPN: 3, SRQ: true, Index: posted, Page: 6})
	b.run(t, 20)
	require.Zero(t, b.Level.Stats.Get())
	return b
}

// datagramTo pushes n datagrams for a QP.
func (b *bench) datagramTo(n port.QPN, count int) {
	for range count {
		p := datagramFrom()
		p.QPN = n
		b.Rx.Push(port.RxOp{QPN: n, Pkt: p})
	}
}

// QPs take the entries of their SRQ one after the other, with one cycle more than from
// their own receive queue.
func TestEntriesInOrder(t *testing.T) {
	b := withSRQ(t, hdl.Options{Strict: true}, 9)
	put := b.k.Cycle() + 1
	for range 3 {
		b.datagramTo(1, 1)
		b.datagramTo(2, 2)
	}
	b.datagramTo(1, 1)
	b.run(t, 100)
	require.Len(t, b.Verdict.Got, 10)
	for i := range uint16(9) {
		v := b.Verdict.Got[i]
		require.Equal(t, port.RxPlace, v.Action)
		require.Equal(t, i, v.RQIdx)
		require.Equal(t, i == 0, v.First)
		require.Equal(t, 8-i, v.RQNext)
	}
	require.Equal(t, abi.OutOfBuffer, b.Verdict.Got[9].Drop)
	require.Equal(t, put+1+3, b.Verdict.At[0])
	require.LessOrEqual(t, b.Verdict.At[9], put+1+3+9*3)
	b.Verdict.Got, b.Verdict.At = nil, nil
	put = b.k.Cycle() + 1
	b.datagramTo(4, 2)
	b.run(t, 20)
	require.Equal(t, put+1+2, b.Verdict.At[0], "its own receive queue")
}

// A doorbell or a command that comes while a packet waits for its SRQ is not lost.
func TestSRQChangesAtAnyTime(t *testing.T) {
	for delay := range uint64(8) {
		b := withSRQ(t, hdl.Options{Strict: true}, 4)
		b.datagramTo(1, 4)
		b.run(t, delay)
		b.Bell.Push(port.QPDoorbell{QPN: 3, SRQ: true, Index: 6, Page: 6})
		b.Admin.Push(port.QPAdmin{Op: port.SRQModify, QPN: 3, SRQ: abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 3}})
		b.run(t, 60)
		s := b.QPC.SRQs.Peek(3)
		require.Equal(t, [2]uint16{6, 4}, [2]uint16{s.PI, s.CI})
		require.Equal(t, []port.EventReq{{Type: abi.EventSRQLimitReached, Number: 3}}, b.Async.Got, "after %d cycles", delay)
		require.Zero(t, s.Limit)
	}
}

func TestSRQDoorbells(t *testing.T) {
	b := withSRQ(t, hdl.Options{Strict: true}, 4)
	b.Bell.Push(
		port.QPDoorbell{QPN: 3, SRQ: true, Index: 5, Page: 5},
		port.QPDoorbell{QPN: 3, SRQ: true, Index: 3, Page: 6},
		port.QPDoorbell{QPN: 2, SRQ: true, Index: 1, Page: 6},
		port.QPDoorbell{QPN: 4, SRQ: true, Index: 1, Page: 6},
		port.QPDoorbell{QPN: 1 << 23, SRQ: true, Index: 1, Page: 6},
	)
	b.run(t, 60)
	require.Equal(t, port.QPStats{BadPage: 1, BadNumber: 4}, b.Level.Stats.Get())
	require.Empty(t, b.Activate.Got)
	require.Equal(t, uint16(4), b.QPC.SRQs.Peek(3).PI)
}

// The events of an SRQ are told though the QP that brought them about is gone.
func TestEventsOutliveTheQP(t *testing.T) {
	b := withSRQ(t, hdl.Options{Strict: true}, 4)
	b.Rx.Push(port.RxOp{Kind: port.RxFault, QPN: 1, Status: abi.StatusLocQPOp, Vendor: abi.VendorWQEStale})
	b.run(t, 3)
	b.Admin.Push(port.QPAdmin{Op: port.QPDestroy, QPN: 1}, port.QPAdmin{Op: port.QPFree, QPN: 1})
	b.run(t, 60)
	require.Equal(t, []port.EventReq{{Type: abi.EventSRQErr, Number: 3}}, b.Async.Got)
}

// A handle is looked up beside the QP: with each packet as it is at that time.
func TestHandleOfEachPacket(t *testing.T) {
	b := withSRQ(t, hdl.Options{Strict: true}, 4)
	for n, host := range map[port.QPN]uint8{0: 2, 7: 5} {
		h := handleTo2()
		h.AV.DMAC = roce.HostMAC(host)
		b.Admin.Push(port.QPAdmin{Op: port.AHCreate, QPN: n, AH: h})
	}
	b.Admin.Push(port.QPAdmin{Op: port.AHCreate, QPN: 8, AH: handleTo2()})
	b.run(t, 20)
	require.Equal(t, abi.AdminBadObject, b.AdminRes.Got[len(b.AdminRes.Got)-1].Status, "beyond the table")
	for _, n := range []port.AHN{0, 7, 3, 8, 1 << 23} {
		b.TxReq.Push(port.TxHdrReq{QPN: 1, UD: true, AH: n})
	}
	b.TxReq.Push(port.TxHdrReq{QPN: 4, UD: true, AH: 7})
	b.run(t, 40)
	var got []string
	for _, h := range b.TxHdr.Got {
		require.False(t, h.Drop)
		got = append(got, map[[6]byte]string{roce.HostMAC(2): "2", roce.HostMAC(5): "5"}[h.DMAC]+map[bool]string{true: "bad"}[h.BadAH])
	}
	require.Equal(t, []string{"2", "5", "bad", "bad", "bad", "5"}, got)
	b.Admin.Push(port.QPAdmin{Op: port.AHDestroy, QPN: 7})
	b.run(t, 20)
	b.TxReq.Push(port.TxHdrReq{QPN: 4, UD: true, AH: 7})
	b.run(t, 20)
	require.True(t, b.TxHdr.Got[6].BadAH)
}

// With each message that has left wqe_sched hears of it, as long as there is work.
func TestActivateWhenIdle(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	b.toRTSAs(1, abi.QPTypeUC, false)
	b.run(t, 100)
	b.Bell.Push(port.QPDoorbell{QPN: 1, Index: 3, Page: 5})
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	b.Put.Push(port.SQPut{QPN: 1, ExecIdx: 2, Entered: 2, NextPSN: una.Add(2), EnteredPSN: una.Add(2), Messages: 2})
	b.run(t, 20)
	b.Activate.Got = nil
	b.Retire.Push(port.Retire{QPN: 1, Messages: 1, Una: una.Add(1)})
	b.run(t, 20)
	require.Len(t, b.Activate.Got, 1)
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	require.False(t, b.Ctx.Got[1].Idle)
	b.Put.Push(port.SQPut{QPN: 1, ExecIdx: 2, Entered: 2, NextPSN: una.Add(2), EnteredPSN: una.Add(2)})
	b.Retire.Push(port.Retire{QPN: 1, Messages: 1, Una: una.Add(2)})
	b.run(t, 20)
	require.Len(t, b.Activate.Got, 2)
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	require.True(t, b.Ctx.Got[2].Idle)
	require.Equal(t, uint16(0xffff), b.Ctx.Got[2].Window)
}

// SQE to RTS begins a generation, which pkt_tx and wqe_sched hear of.
func TestRestartIsTold(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	b.toRTSAs(1, abi.QPTypeUD, false)
	b.run(t, 100)
	b.Bell.Push(port.QPDoorbell{QPN: 1, Index: 1, Page: 5})
	b.Get.Push(port.SQGet{QPN: 1, Packets: 16})
	b.run(t, 20)
	b.Put.Push(port.SQPut{QPN: 1, ExecIdx: 1, Entered: 1, NextPSN: una.Add(1), EnteredPSN: una.Add(1), Messages: 1})
	b.run(t, 20)
	b.TxFault.Push(port.SQFault{QPN: 1, PSN: una, Status: abi.StatusLocQPOp, Vendor: abi.VendorAH})
	b.run(t, 20)
	require.Equal(t, []port.AckEvent{{QPN: 1, Una: una, Fail: true, FailPSN: una, Status: abi.StatusLocQPOp, Vendor: abi.VendorAH}}, b.Event.Got)
	b.Retire.Push(port.Retire{QPN: 1, Messages: 1, Una: una})
	b.run(t, 20)
	b.Admin.Push(port.QPAdmin{Op: port.QPModify, QPN: 1, Attr: abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPRTS}})
	b.run(t, 20)
	require.Equal(t, abi.AdminOK, b.AdminRes.Got[len(b.AdminRes.Got)-1].Status)
	require.Equal(t, []port.Stale{{QPN: 1, Gen: 1}}, b.Stale.Got)
	require.Equal(t, b.Stale.Got, b.StaleSQ.Got)
}
