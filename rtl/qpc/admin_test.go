package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

func TestCreate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(a *abi.QPMailbox)
		want   result
	}{
		{"good", func(a *abi.QPMailbox) {}, result{}},
		{"smallest", func(a *abi.QPMailbox) {
			a.SQLogUnits, a.RQLogEntries, a.RQLogStride, a.RQMaxSGE, a.SQMaxSGE, a.SQMaxInline = 0, 0, 5, 1, 0, 0
		}, result{}},
		{"largest", func(a *abi.QPMailbox) {
			a.SQLogUnits, a.RQLogEntries, a.RQLogStride, a.RQMaxSGE, a.UARPage = 15, 15, 12, 4, 255
		}, result{}},
		{"UC", func(a *abi.QPMailbox) { a.Type = abi.QPTypeUC }, result{}},
		{"UD", func(a *abi.QPMailbox) { a.Type = abi.QPTypeUD }, result{}},
		{"raw", func(a *abi.QPMailbox) { a.Type = abi.QPTypeRaw }, result{}},
		{"reliable datagrams", func(a *abi.QPMailbox) { a.Type = 1 }, badParam(abi.SynQPType)},
		{"after the last type", func(a *abi.QPMailbox) { a.Type = 6 }, badParam(abi.SynQPType)},
		{"no type", func(a *abi.QPMailbox) { a.Type = 0 }, badParam(abi.SynQPType)},
		{"unknown type", func(a *abi.QPMailbox) { a.Type = 7 }, badParam(abi.SynQPType)},
		{"no such SRQ", func(a *abi.QPMailbox) { a.Flags = abi.QPHasSRQ }, badParam(abi.SynSRQ)},
		{"raw with SRQ", func(a *abi.QPMailbox) { a.Type, a.Flags = abi.QPTypeRaw, abi.QPHasSRQ }, notSupported(abi.SynSRQ)},
		{"page", func(a *abi.QPMailbox) { a.UARPage = 256 }, badParam(abi.SynUARPage)},
		{"send SGEs", func(a *abi.QPMailbox) { a.SQMaxSGE = abi.DefaultLimits0.MaxSGE + 1 }, badParam(abi.SynMaxSGE)},
		{"receive SGEs", func(a *abi.QPMailbox) { a.RQMaxSGE, a.RQLogStride = abi.DefaultLimits0.MaxSGE+1, 9 }, badParam(abi.SynMaxSGE)},
		{"inline", func(a *abi.QPMailbox) { a.SQMaxInline = 65 }, badParam(abi.SynMaxInline)},
		{"send ring size", func(a *abi.QPMailbox) { a.SQLogUnits = 16 }, badParam(abi.SynSQ)},
		{"send ring alignment", func(a *abi.QPMailbox) { a.SQBase = 32 }, badParam(abi.SynSQ)},
		{"send ring wraps", func(a *abi.QPMailbox) { a.SQBase = ^uint64(0) - 63 }, badParam(abi.SynSQ)},
		{"receive ring size", func(a *abi.QPMailbox) { a.RQLogEntries = 16 }, badParam(abi.SynRQ)},
		{"receive ring alignment", func(a *abi.QPMailbox) { a.RQBase++ }, badParam(abi.SynRQ)},
		{"receive ring wraps", func(a *abi.QPMailbox) { a.RQBase = ^uint64(0) - 63 }, badParam(abi.SynRQ)},
		{"stride under a WQE", func(a *abi.QPMailbox) { a.RQMaxSGE, a.RQLogStride = 4, 6 }, badParam(abi.SynRQ)},
		{"stride under the least", func(a *abi.QPMailbox) { a.RQMaxSGE, a.RQLogStride = 0, 4 }, badParam(abi.SynRQ)},
		{"stride over the most", func(a *abi.QPMailbox) { a.RQLogStride = 13 }, badParam(abi.SynRQ)},
		{"stride that is no stride", func(a *abi.QPMailbox) { a.RQLogStride = 255 }, badParam(abi.SynRQ)},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := connected()
			c.change(&a)
			var x Context
			res, w := x.admin(&port.QPAdmin{Op: port.QPCreate, Attr: a}, true, &env)
			require.Equal(t, c.want, result{res.Status, abi.AdminSyndrome(res.Syndrome)})
			if !c.want.ok() {
				require.Zero(t, x)
				require.Zero(t, w)
				return
			}
			require.Equal(t, InAll, w)
			require.True(t, x.Common.Exists)
			require.Equal(t, abi.QPReset, x.Common.State)
		})
	}
}

func TestObjects(t *testing.T) {
	for op := port.QPCreate; op <= port.QPClear; op++ {
		var x Context
		res, w := x.admin(&port.QPAdmin{Op: op, Attr: connected()}, false, &env)
		require.Equal(t, abi.AdminBadObject, res.Status, "%v of a number out of range", op)
		require.Zero(t, w)
		if op == port.QPCreate {
			continue
		}
		res, w = x.admin(&port.QPAdmin{Op: op, Attr: connected()}, true, &env)
		require.Equal(t, abi.AdminBadObject, res.Status, "%v of no QP", op)
		require.Zero(t, w)
	}
	x := inState(abi.QPInit)
	before := *x
	res, w := x.admin(&port.QPAdmin{Op: port.QPCreate, Attr: connected()}, true, &env)
	require.Equal(t, abi.AdminExists, res.Status)
	require.Zero(t, w)
	require.Equal(t, before, *x)
	res, w = x.admin(&port.QPAdmin{Op: port.QPAdminOp(7)}, true, &env)
	require.Equal(t, abi.AdminBadOpcode, res.Status)
	require.Zero(t, w)
}

// used is a QP with something in every field.
func used() *Context {
	x := inState(abi.QPRTS)
	x.Common.Flags = abi.QPSigAll
	x.Common.Queued = true
	x.note(NoteEvent)
	x.SQ = SQ{PI: 9, Exec: 7, Offset: 4, Next: 0x12, Entered: 8, EnteredPSN: 0x14, Top: 0x13, Messages: 2, Oldest: 5, Rewinding: true}
	x.Requester.Una, x.Requester.Gen, x.Requester.Tries = 0x10, 77, 1
	x.Common.RetryCnt, x.Common.RNRRetry = 3, 7
	x.Saved[3].Op = roce.RCReadRequest
	x.Responder = Responder{Expected: 0x77, MSN: 3, Nak: NakRNR, PI: 8, CI: 6, Incoming: IncomingSend, Held: 5, Offset: 9}
	return x
}

func TestLifeEnds(t *testing.T) {
	x := used()
	res, w := x.admin(&port.QPAdmin{Op: port.QPDestroy}, true, &env)
	require.True(t, res.Quiesce)
	require.Equal(t, InCommon, w)
	require.Equal(t, uint32(11), res.Attr.SendCQN)
	require.Equal(t, uint32(12), res.Attr.RecvCQN)
	require.Equal(t, abi.QPReset, x.Common.State)
	require.Zero(t, x.Common.Pending, "nothing more is told")
	// Nothing of the pipelines does anything now.
	require.True(t, head(x, port.TxHdrReq{Resp: true}).Drop)
	require.False(t, x.get(&port.SQGet{}, &env).Run)
	v, _ := x.judge(from2(roce.RCSendOnly, 0x77))
	require.Equal(t, abi.RxDropBadState, v.Drop)
	require.Zero(t, x.retire(&port.Retire{Kind: port.RetireTimeout}))
	res, w = x.admin(&port.QPAdmin{Op: port.QPFree}, true, &env)
	require.Equal(t, port.QPAdminRes{}, res)
	require.Equal(t, InAll, w)
	require.Equal(t, Context{Common: Common{Queued: true}, Requester: Requester{Gen: 77}}, *x, "the generation lives on")
}

func TestReset(t *testing.T) {
	x := used()
	res, _ := x.admin(&port.QPAdmin{Op: port.QPModify, Attr: abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPReset}}, true, &env)
	require.Equal(t, port.QPAdminRes{Quiesce: true}, res)
	require.Equal(t, abi.QPReset, x.Common.State)
	x.admin(&port.QPAdmin{Op: port.QPClear}, true, &env)
	want := inState(abi.QPReset)
	want.Common.Flags, want.Common.Queued, want.Requester.Gen = abi.QPSigAll, true, 77
	require.Equal(t, want, x, "as created")
}

func TestQuery(t *testing.T) {
	x := used()
	want := connected()
	want.Flags = abi.QPSigAll
	want.State, want.CurState = abi.QPRTS, abi.QPRTS
	want.SQPSN, want.RQPSN = 0x12, 0x77
	want.RetryCnt, want.RNRRetry, want.RetryLeft, want.RNRRetryLeft = 3, 7, 2, 7
	want.SQProducer, want.SQNext, want.SQConsumer = 9, 7, 5
	want.RQProducer, want.RQConsumer = 8, 6
	want.NextPSN, want.UnackedPSN, want.ExpectedPSN, want.MSN = 0x12, 0x10, 0x77, 3
	before := *x
	res, w := x.admin(&port.QPAdmin{Op: port.QPQuery}, true, &env)
	require.Equal(t, want, res.Attr)
	require.Zero(t, w)
	require.Equal(t, before, *x)
	// All done: the consumer is where the next one starts.
	x.SQ.Messages = 0
	x.fault(0x10, abi.StatusRemOp, abi.VendorNAKOperational)
	res, _ = x.admin(&port.QPAdmin{Op: port.QPQuery}, true, &env)
	require.Equal(t, uint16(8), res.Attr.SQConsumer)
	require.Equal(t, abi.StatusRemOp, res.Attr.LastStatus)
	require.Equal(t, abi.VendorNAKOperational, res.Attr.LastVendor)
	require.NoError(t, abi.QPMailboxLayout.Check(&res.Attr))
}
