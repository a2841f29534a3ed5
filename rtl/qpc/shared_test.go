package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// sharing is a QP in RTS that uses SRQ 3 with n entries, from number 0xffff on.
func sharing(typ abi.QPType, n uint16) *Context {
	return made(typ, abi.QPRTS, &SRQ{
		Exists: true, Taken: true, Page: 6, Log: 4, Stride: 5, MaxSGE: 1, PD: 9, Base: 0x40000, CI: 0xffff, PI: 0xffff + n,
	})
}

// entry is what a verdict says of an entry.
func entry(number, left uint16) port.RxVerdict {
	return port.RxVerdict{
		QPN: 1, PD: 7, RQPD: 9, RecvCQN: 12, SrcQPN: 0x22, SRQ: true, SRQN: 3, RQIdx: number, RQAddr: 0x40000, RQStride: 32, RQLog: 4, RQNext: left,
	}
}

func TestCreateWithSRQ(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
		x := sharing(typ, 1)
		var a abi.QPMailbox
		x.query(&a)
		require.Equal(t, abi.QPHasSRQ, a.Flags)
		require.Equal(t, uint32(3), a.SRQN)
		require.Zero(t, a.RQLogEntries+a.RQLogStride+a.RQMaxSGE)
		require.Zero(t, a.RQBase)
		x.clear()
		require.Equal(t, port.SRQN(3), x.Common.SRQN)
		require.True(t, x.hasSRQ())
	}
	a := connected()
	a.Flags, a.SRQN, a.RQLogEntries, a.RQLogStride, a.RQMaxSGE, a.RQBase = abi.QPHasSRQ, 3, 99, 99, 255, 1
	require.Equal(t, result{}, checkCreate(&a, true), "the receive queue is not looked at")
	require.Equal(t, badParam(abi.SynSRQ), checkCreate(&a, false))
}

// No receive WQE can be posted to a QP that has none.
func TestNoReceiveDoorbellWithSRQ(t *testing.T) {
	x := sharing(abi.QPTypeRC, 0)
	before := *x
	require.Equal(t, Bell{BadNumber: true}, x.ring(&port.QPDoorbell{RQ: true, Index: 1, Page: 5}))
	require.Equal(t, before, *x)
}

func TestRCWithSRQ(t *testing.T) {
	x := sharing(abi.QPTypeRC, 2)
	p := from2(roce.RCSendFirst, 0xfffffe)
	p.Len = 1024
	v, w := x.judge(p)
	want := entry(0xffff, 1)
	want.Action, want.Target, want.TakesWQE = port.RxPlace, port.TargetRecv, true
	want.Ack = port.AckReq{QPN: 1, PSN: 0xfffffe, Syndrome: 31}
	require.Equal(t, want, v, "no credits are given")
	require.Equal(t, InResponder|InShared, w)
	x.Shared.CI++ // another QP takes the next
	p.Opcode, p.PSN, p.AckReq = roce.RCSendLast, 0xffffff, true
	v, w = x.judge(p)
	want = entry(0xffff, 0)
	want.Action, want.Target, want.EndsWQE, want.Offset = port.RxPlace, port.TargetRecv, true, 1024
	want.Ack = port.AckReq{Send: true, QPN: 1, PSN: 0xffffff, Syndrome: 31, MSN: 1}
	require.Equal(t, want, v)
	require.Equal(t, InResponder, w)
	v, w = x.judge(from2(roce.RCSendOnly, 0))
	require.Equal(t, port.AckReq{Send: true, QPN: 1, PSN: 0, Syndrome: 0x20 | 12, MSN: 1}, v.Ack, "RNR NAK")
	require.Equal(t, abi.OutOfBuffer, v.Drop)
	require.Equal(t, InResponder, w)
	x.Shared.PI++
	v, _ = x.judge(from2(roce.RCSendOnly, 0))
	require.Equal(t, uint16(1), v.RQIdx)
	// A fatal NAK ends the entry that the message has.
	x.Shared.PI++
	p = from2(roce.RCSendOnly, 1)
	p.Len = 1025
	v, w = x.judge(p)
	require.True(t, v.Error && v.EndsWQE && v.TakesWQE && v.SRQ)
	require.Equal(t, uint16(2), v.RQIdx)
	require.Equal(t, InCommon|InRequester|InResponder|InShared, w)
	require.Equal(t, uint16(3), x.Shared.CI)
}

// The first entry ever taken is told, since it is in slot 0.
func TestFirstOfSRQ(t *testing.T) {
	x := sharing(abi.QPTypeUD, 2)
	x.Shared.Taken = false
	v, _ := x.judge(datagramFrom())
	require.True(t, v.First && v.SRQ && v.GRH && v.TakesWQE && v.EndsWQE)
	require.Equal(t, uint16(0xffff), v.RQIdx)
	v, _ = x.judge(datagramFrom())
	require.False(t, v.First)
	require.Equal(t, uint16(0), v.RQIdx)
	v, w := x.judge(datagramFrom())
	require.Equal(t, abi.OutOfBuffer, v.Drop)
	require.Zero(t, w)
}

// The message of UC that is given up ends its entry in error, with the packet that tells.
func TestBrokenMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     roce.Opcode
		behind uint32
		size   uint16
		placed bool
		takes  bool
		why    Refusal
	}{
		{"gap", roce.UCSendMiddle, 1, 1024, false, false, Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}},
		{"gap and the next message", roce.UCSendOnly, 1, 5, true, true, Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}},
		{"the next message", roce.UCSendFirst, 0, 1024, true, true, Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}},
		{"a WRITE", roce.UCWriteOnly, 0, 5, true, false, Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}},
		{"goes on as a WRITE", roce.UCWriteMiddle, 0, 1024, false, false, Refusal{abi.StatusLocQPOp, abi.VendorRecvSequence}},
		{"length", roce.UCSendMiddle, 0, 5, false, false, Refusal{abi.StatusLocQPOp, abi.VendorRecvLength}},
		{"reserved opcode", 0x2c, 0, 0, false, false, Refusal{abi.StatusLocQPOp, abi.VendorRecvOp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := sharing(abi.QPTypeUC, 3)
			x.uc(roce.UCSendFirst, 0, 1024)
			v, _ := x.uc(c.op, c.behind, c.size)
			require.True(t, v.HasBroken && v.SRQ)
			require.Equal(t, uint16(0xffff), v.Broken)
			require.Equal(t, c.why, Refusal{v.BrokenStatus, v.BrokenVendor})
			require.Equal(t, port.BusAddr(0x40000), v.RQAddr)
			require.Equal(t, port.SRQN(3), v.SRQN)
			require.Equal(t, c.placed, v.Action == port.RxPlace)
			require.Equal(t, c.takes, v.TakesWQE)
			if c.takes {
				require.Equal(t, uint16(0), v.RQIdx)
			}
			v, _ = x.uc(roce.UCSendOnly, 0, 5)
			require.Equal(t, x.Shared.CI-1, v.RQIdx)
			require.Equal(t, c.op == roce.UCSendFirst, v.HasBroken, "each ends once")
		})
	}
}

// What is dropped before an entry is taken takes none.
func TestNothingTakenInVain(t *testing.T) {
	x := sharing(abi.QPTypeUC, 3)
	x.uc(roce.UCSendOnly, 0, 1025)
	x.uc(roce.UCSendFirst, 0, 1)
	x.uc(roce.UCSendLast, 0, 1)
	require.Equal(t, uint16(0xffff), x.Shared.CI)
}

// Entries of an SRQ can't be taken back: scatter has ended them.
func TestQuietFaultWithSRQ(t *testing.T) {
	x := sharing(abi.QPTypeUC, 3)
	x.uc(roce.UCSendFirst, 0, 1024)
	v, w := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, RQIdx: 0xffff, Status: abi.StatusLocLen}, &env)
	require.Equal(t, port.RxFailed, v.Action)
	require.False(t, v.HasBroken)
	require.Equal(t, InResponder, w)
	require.Equal(t, IncomingNone, x.Responder.Incoming)
	require.Equal(t, uint16(0), x.Shared.CI)
	require.Zero(t, x.Responder.CI)
	require.Zero(t, x.Common.Pending)
}

func TestLimitIsTold(t *testing.T) {
	x := sharing(abi.QPTypeUD, 3)
	x.Shared.Limit = 2
	x.judge(datagramFrom())
	require.False(t, x.Shared.Limited, "as many are left")
	x.judge(datagramFrom())
	require.True(t, x.Shared.Limited)
	require.Zero(t, x.Shared.Limit)
	x.Shared.Queued = true
	v, has := x.Shared.tell(3)
	require.True(t, has)
	require.Equal(t, port.EventReq{Type: abi.EventSRQLimitReached, Number: 3}, v)
	require.False(t, x.Shared.Queued || x.Shared.Limited)
	x.judge(datagramFrom())
	require.False(t, x.Shared.Limited, "once")
	_, has = x.Shared.tell(3)
	require.False(t, has)
}

// An entry that can't be read is told of once, whoever meets it.
func TestSRQErr(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
		for _, vendor := range []abi.VendorErr{abi.VendorWQERead, abi.VendorWQEStale, abi.VendorWQEFormat} {
			told := vendor != abi.VendorWQEFormat
			x := sharing(typ, 3)
			op := port.RxOp{Kind: port.RxFault, QPN: 1, Status: abi.StatusLocQPOp, Vendor: vendor}
			_, w := x.receive(&op, &env)
			require.Equal(t, told, x.Shared.Failed)
			require.Equal(t, told, x.Shared.Dead)
			require.Equal(t, told, w&InShared != 0)
			require.Equal(t, abi.QPErr, x.Common.State)
			v, has := x.Shared.tell(3)
			require.Equal(t, told, has)
			if told {
				require.Equal(t, port.EventReq{Type: abi.EventSRQErr, Number: 3}, v)
			}
			_, w = x.receive(&op, &env)
			require.Zero(t, w&InShared, "once")
			x = sharing(typ, 3)
			x.Common.State = abi.QPReset
			x.receive(&op, &env)
			require.Equal(t, told, x.Shared.Failed, "the end of the QP does not matter")
		}
	}
	x := sharing(abi.QPTypeRC, 3)
	x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, Resp: true, Status: abi.StatusRemOp, Vendor: abi.VendorWQERead}, &env)
	require.False(t, x.Shared.Failed, "a response has no receive WQE")
	x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, Send: true, Status: abi.StatusLocQPOp, Vendor: abi.VendorWQERead}, &env)
	require.False(t, x.Shared.Failed, "nor has what the send queue gets")
}

// In ERR a QP flushes the entry that it has taken, and none of the others; then it tells
// that its last one is done, once.
func TestLastWQE(t *testing.T) {
	for _, held := range []bool{false, true} {
		for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
			x := sharing(typ, 3)
			if held {
				p := from2(roce.RCSendFirst, 0xfffffe)
				if p.Len = 1024; typ == abi.QPTypeUC {
					p.Opcode = roce.UCSendFirst
				}
				x.judge(p)
			}
			flush := func() port.RxVerdict {
				v, _ := x.receive(&port.RxOp{Kind: port.RxFlushRQ, QPN: 1}, &env)
				return v
			}
			require.Equal(t, port.RxNothing, flush().Action)
			require.False(t, flush().LastWQE, "not before ERR")
			x.modify(&abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPErr}, &env)
			require.Equal(t, NoteEvent|NoteFlushRQ, x.Common.Pending)
			if held {
				v := flush()
				want := entry(0xffff, 2)
				want.Kind, want.Quiet, want.Action, want.EndsWQE, want.More = port.RxFlushRQ, typ != abi.QPTypeRC, port.RxFlushed, true, true
				want.Status, want.Vendor = abi.StatusWRFlush, abi.VendorFlush
				require.Equal(t, want, v)
			}
			v := flush()
			require.Equal(t, port.RxNothing, v.Action)
			require.True(t, v.LastWQE)
			require.False(t, v.More)
			require.False(t, flush().LastWQE, "once")
			x.Common.Pending = 0
			x.flush(abi.StatusFatal, 0)
			require.Zero(t, x.Common.Pending&NoteFlushRQ)
			require.Equal(t, held, x.Shared.CI == 0, "the rest stays for the others")
		}
	}
	x := ofType(abi.QPTypeRC, abi.QPErr)
	v, _ := x.receive(&port.RxOp{Kind: port.RxFlushRQ, QPN: 1}, &env)
	require.False(t, v.LastWQE, "no SRQ")
}

// The entry that a QP holds when its life ends is given back by the marker, once.
func TestPurgeGivesBack(t *testing.T) {
	marker := &port.RxOp{Kind: port.RxPurge, QPN: 1}
	x := sharing(abi.QPTypeRC, 3)
	p := from2(roce.RCSendFirst, 0xfffffe)
	p.Len = 1024
	x.judge(p)
	v, w := x.receive(marker, &env)
	require.Equal(t, port.RxVerdict{Kind: port.RxPurge, Action: port.RxNothing, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22}, v, "one that lives on")
	require.Zero(t, w)
	x.stop()
	v, w = x.receive(marker, &env)
	want := entry(0xffff, 2)
	want.Kind, want.Action, want.HasBroken, want.Broken = port.RxPurge, port.RxNothing, true, 0xffff
	want.BrokenStatus, want.BrokenVendor = abi.StatusWRFlush, abi.VendorFlush
	require.Equal(t, want, v)
	require.Equal(t, InResponder, w)
	v, w = x.receive(marker, &env)
	require.False(t, v.HasBroken)
	require.Zero(t, w)
	x = ready(abi.QPRTS, 1)
	x.judge(p)
	x.stop()
	v, _ = x.receive(marker, &env)
	require.False(t, v.HasBroken, "its own receive queue ends with it")
}

func TestSharedAdmin(t *testing.T) {
	var s Shared
	op := func(op port.QPAdminOp, known bool, m abi.SRQMailbox) (port.QPAdminRes, Bank) {
		return s.admin(&port.QPAdmin{Op: op, SRQ: m}, known)
	}
	for o := port.SRQCreate; o <= port.SRQDestroy; o++ {
		r, w := op(o, false, sharedQueue())
		require.Equal(t, port.QPAdminRes{Status: abi.AdminBadObject, Syndrome: uint8(abi.SynObject)}, r, "%v", o)
		require.Zero(t, w)
	}
	r, w := op(port.SRQCreate, true, sharedQueue())
	require.Equal(t, abi.AdminOK, r.Status)
	require.Equal(t, InShared, w)
	require.Equal(t, Bell{Write: InShared}, s.ring(&port.QPDoorbell{SRQ: true, Index: 4, Page: 6}))
	require.Equal(t, Bell{BadPage: true}, s.ring(&port.QPDoorbell{SRQ: true, Index: 5, Page: 7}))
	require.Equal(t, Bell{BadNumber: true}, s.ring(&port.QPDoorbell{SRQ: true, Index: 3, Page: 6}))
	r, w = op(port.SRQQuery, true, abi.SRQMailbox{})
	require.Equal(t, uint16(4), r.SRQ.Producer)
	require.Zero(t, w)
	r, w = op(port.SRQModify, true, abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 16})
	require.Equal(t, uint8(abi.SynLimit), r.Syndrome)
	require.Zero(t, w)
	require.False(t, s.news())
	_, w = op(port.SRQModify, true, abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 5})
	require.Equal(t, InShared, w)
	require.True(t, s.news() && s.Limited, "fewer are left")
	s.Failed, s.Queued = true, true
	v, _ := s.tell(3)
	require.Equal(t, abi.EventSRQErr, v.Type, "first things first")
	require.True(t, s.news() && !s.Queued, "another turn")
	s.Queued = true
	r, w = op(port.SRQDestroy, true, abi.SRQMailbox{})
	require.Equal(t, abi.AdminOK, r.Status)
	require.Equal(t, InShared, w)
	require.Equal(t, Shared{Queued: true}, s, "nothing is told of it any more")
}
