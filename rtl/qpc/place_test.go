package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// serving is a QP in RTS that allows everything, with n receive WQEs from index 14
// of 16 on; it expects PSN 0xfffffe.
func serving(n uint16) *Context {
	x := ready(abi.QPRTS, n)
	x.Common.Access = abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic
	return x
}

const (
	remoteVA  = 0xffff_ffff_ffff_f800 // the third packet of 1,024 bytes wraps
	remoteKey = 0x4711
)

// remote is a request packet in order.
func (c *Context) remote(op roce.Opcode, size uint16, length uint32) port.RxPkt {
	p := from2(op, c.Responder.Expected)
	p.Len = size
	if op.HasRETH() {
		p.Reth = port.Reth{VA: remoteVA, RKey: remoteKey, Len: length}
	}
	if op.HasAtomicETH() {
		p.Reth = port.Reth{VA: remoteVA, RKey: remoteKey, Swap: 5, Compare: 6}
	}
	return p
}

func TestWriteInOrder(t *testing.T) {
	x := serving(0)
	quiet := &Env{Reg: reg, NoCredits: true}
	for i, c := range []struct {
		op     roce.Opcode
		size   uint16
		length uint32
		offset uint32
		want   port.Remote
		msn    port.MSN
	}{
		{roce.RCWriteFirst, 1024, 2049, 0, port.Remote{VA: remoteVA, Range: 2049}, 0},
		{roce.RCWriteMiddle, 1024, 0, 1024, port.Remote{VA: remoteVA + 1024, Range: 1024}, 0},
		{roce.RCWriteLast, 1, 0, 2048, port.Remote{VA: 0, Range: 1}, 1},
		{roce.RCWriteOnly, 1024, 1024, 0, port.Remote{VA: remoteVA, Range: 1024}, 2},
		{roce.RCWriteFirst, 1024, 2048, 0, port.Remote{VA: remoteVA, Range: 2048}, 2},
		{roce.RCWriteLast, 1024, 0, 1024, port.Remote{VA: remoteVA + 1024, Range: 1024}, 3},
	} {
		p := x.remote(c.op, c.size, c.length)
		p.AckReq = i%2 == 0
		c.want.Key, c.want.Access = remoteKey, 2
		v, w := x.receive(&port.RxOp{QPN: 1, Pkt: p}, quiet)
		require.Equal(t, port.RxVerdict{
			Action: port.RxPlace, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
			Target: port.TargetRemote, Remote: c.want, Offset: c.offset,
			Ack: port.AckReq{Send: i%2 == 0, QPN: 1, PSN: p.PSN, Syndrome: 31, MSN: c.msn},
		}, v, "packet %d", i)
		require.Equal(t, InResponder, w)
		require.Equal(t, p.PSN.Add(1), x.Responder.Expected)
	}
	require.Equal(t, IncomingNone, x.Responder.Incoming)
}

func TestWriteOfNoBytes(t *testing.T) {
	x := serving(1)
	v, _ := x.judge(x.remote(roce.RCWriteOnly, 0, 0))
	require.Equal(t, port.RxPlace, v.Action)
	require.Equal(t, port.TargetNone, v.Target)
	require.Zero(t, v.Remote, "the key is not looked at")
	require.False(t, v.TakesWQE)
	v, _ = x.judge(x.remote(roce.RCWriteOnlyImm, 0, 0))
	require.Equal(t, port.TargetNone, v.Target)
	require.True(t, v.TakesWQE && v.EndsWQE)
	require.Equal(t, uint16(14), v.RQIdx)
	require.Equal(t, port.MSN(2), v.Ack.MSN)
}

// A WRITE takes its receive WQE with the packet that has the immediate, which waits
// for one as a SEND does.
func TestWriteWithImmediate(t *testing.T) {
	x := serving(0)
	v, _ := x.judge(x.remote(roce.RCWriteFirst, 1024, 1030))
	require.Equal(t, port.RxPlace, v.Action)
	require.False(t, v.TakesWQE)
	before := x.Responder
	for range 2 {
		v, _ = x.judge(x.remote(roce.RCWriteLastImm, 6, 0))
		require.Equal(t, port.RxReply, v.Action)
		require.Equal(t, port.AckReq{Send: true, QPN: 1, PSN: 0xffffff, Syndrome: 0x20 | 12}, v.Ack)
		require.Equal(t, abi.OutOfBuffer, v.Drop)
		require.False(t, v.TakesWQE)
		before.Nak = NakRNR
		require.Equal(t, before, x.Responder)
	}
	v, _ = x.judge(from2(roce.RCWriteOnly, x.Responder.Expected.Add(1)))
	require.Equal(t, port.RxDrop, v.Action, "no sequence NAK behind it")
	x.Responder.PI += 2
	v, _ = x.judge(x.remote(roce.RCWriteLastImm, 6, 0))
	require.Equal(t, port.RxVerdict{
		Action: port.RxPlace, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
		Target: port.TargetRemote, Remote: port.Remote{VA: remoteVA + 1024, Key: remoteKey, Range: 6, Access: 2},
		TakesWQE: true, EndsWQE: true, RQIdx: 14, RQAddr: 0x20000 + 14*64, RQStride: 64, RQLog: 4, RQNext: 1, RQPD: 7, Offset: 1024,
		Ack: port.AckReq{QPN: 1, PSN: 0xffffff, Syndrome: 1, MSN: 1},
	}, v)
	v, _ = x.judge(x.remote(roce.RCWriteOnlyImm, 3, 3))
	require.Equal(t, uint16(15), v.RQIdx)
	require.True(t, v.TakesWQE && v.EndsWQE)
	require.Equal(t, port.TargetRemote, v.Target)
	require.Equal(t, uint16(16), x.Responder.CI)
}

func TestReadRequest(t *testing.T) {
	for _, c := range []struct {
		length uint32
		psns   uint32
	}{
		{0, 1}, {1, 1}, {1024, 1}, {1025, 2}, {3 * 1024, 3}, {1 << 31, 1 << 21},
	} {
		x := serving(3)
		x.Responder.MSN = 0xffffff
		p := x.remote(roce.RCReadRequest, 0, c.length)
		p.AckReq = true
		want := port.RxVerdict{
			Action: port.RxPlace, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
			Target: port.TargetRemote, Remote: port.Remote{VA: remoteVA, Key: remoteKey, Range: c.length, Access: 4},
			Job: port.Job{
				Kind: port.JobRead, QPN: 1, PSN: 0xfffffe, Syndrome: 3, MSN: 0, VA: remoteVA, Key: remoteKey, Len: c.length, MTU: 1024,
			},
			Ack: port.AckReq{QPN: 1, PSN: 0xfffffe, Syndrome: 3, MSN: 0},
		}
		if c.length == 0 {
			want.Target, want.Remote = port.TargetNone, port.Remote{}
		}
		v, w := x.judge(p)
		require.Equal(t, want, v, "%d bytes", c.length)
		require.Equal(t, InResponder|InSaved, w)
		require.Equal(t, roce.PSN(0xfffffe).Add(c.psns), x.Responder.Expected)
		require.Equal(t, uint8(1), x.Responder.Reads)
	}
}

func TestAtomicRequest(t *testing.T) {
	for _, op := range []roce.Opcode{roce.RCCmpSwap, roce.RCFetchAdd} {
		x := serving(0)
		p := x.remote(op, 0, 0)
		v, w := x.judge(p)
		require.Equal(t, port.RxVerdict{
			Action: port.RxPlace, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
			Target: port.TargetRemote, Remote: port.Remote{VA: remoteVA, Key: remoteKey, Range: 8, Access: 8},
			Job: port.Job{
				Kind: port.JobAtomic, QPN: 1, PSN: 0xfffffe, MSN: 1, VA: remoteVA, Key: remoteKey, Len: 8, MTU: 1024,
				Op: op, Swap: 5, Compare: 6,
			},
			Ack: port.AckReq{QPN: 1, PSN: 0xfffffe, MSN: 1},
		}, v)
		require.Equal(t, InResponder|InSaved, w)
		require.Equal(t, roce.PSN(0xffffff), x.Responder.Expected)
	}
}

// At most as many READs and atomics as the QP has resources for; each comes back
// when its answer has left.
func TestResponderResources(t *testing.T) {
	for _, n := range []uint8{0, 1, 3, 16} {
		x := serving(0)
		x.Common.MaxDestRd = n
		for i := range n {
			op := roce.RCReadRequest
			if i%2 == 1 {
				op = roce.RCFetchAdd
			}
			v, _ := x.judge(x.remote(op, 0, 0))
			require.Equal(t, port.RxPlace, v.Action)
		}
		if n > 0 {
			require.Equal(t, InResponder, x.respDone(&port.RespDone{}))
			v, _ := x.judge(x.remote(roce.RCReadRequest, 0, 0))
			require.Equal(t, port.RxPlace, v.Action)
		}
		for _, op := range []roce.Opcode{roce.RCReadRequest, roce.RCCmpSwap} {
			y := *x
			v, _ := y.judge(y.remote(op, 0, 0))
			require.Equal(t, uint8(0x61), v.Ack.Syndrome)
			require.Equal(t, abi.VendorRecvOp, v.Vendor)
			require.Equal(t, NoteReqErr, y.Common.Pending&NoteReqErr)
		}
		v, _ := x.judge(x.remote(roce.RCWriteOnly, 1, 1))
		require.Equal(t, port.RxPlace, v.Action, "a WRITE needs none")
	}
	require.Zero(t, serving(0).respDone(&port.RespDone{}), "of an older life")
	var none Context
	require.Zero(t, none.respDone(&port.RespDone{}))
}

// Each operation has its permission at the QP.
func TestPermissions(t *testing.T) {
	for op, need := range map[roce.Opcode]abi.AccessFlags{
		roce.RCWriteOnly: abi.AccessRemoteWrite, roce.RCWriteOnlyImm: abi.AccessRemoteWrite, roce.RCReadRequest: abi.AccessRemoteRead,
		roce.RCCmpSwap: abi.AccessRemoteAtomic, roce.RCFetchAdd: abi.AccessRemoteAtomic, roce.RCSendOnly: 0, roce.RCSendOnlyInv: 0,
	} {
		for flags := range abi.AccessFlags(32) {
			x := serving(1)
			x.Common.Access = flags
			v, _ := x.judge(x.remote(op, 0, 0))
			require.Equal(t, flags&need == need, v.Action == port.RxPlace, "%v with %v", op, flags)
			if v.Action != port.RxPlace {
				require.Equal(t, uint8(0x61), v.Ack.Syndrome)
				require.Equal(t, abi.VendorRecvOp, v.Vendor)
			}
		}
	}
}

func TestInvalidRemoteRequests(t *testing.T) {
	type step struct {
		op     roce.Opcode
		size   uint16
		length uint32
	}
	first := step{roce.RCWriteFirst, 1024, 2500}
	for _, c := range []struct {
		name   string
		before []step
		bad    step
		vendor abi.VendorErr
		wqe    bool // a receive WQE ends in error
	}{
		{"read in a write", []step{first}, step{roce.RCReadRequest, 0, 1}, abi.VendorRecvSequence, false},
		{"write in a write", []step{first}, step{roce.RCWriteOnly, 1, 1}, abi.VendorRecvSequence, false},
		{"a write goes on as a send", []step{first}, step{roce.RCSendMiddle, 1024, 0}, abi.VendorRecvSequence, false},
		{"a write ends as a send", []step{first}, step{roce.RCSendLastImm, 1, 0}, abi.VendorRecvSequence, false},
		{"a send goes on as a write", []step{{roce.RCSendFirst, 1024, 0}}, step{roce.RCWriteMiddle, 1024, 0}, abi.VendorRecvSequence, true},
		{"reserved in a write", []step{first}, step{0x15, 1, 0}, abi.VendorRecvOp, false},
		{"misaligned atomic", nil, step{roce.RCCmpSwap, 0, 0}, abi.VendorAtomicAlign, false},
		{"payload of a read", nil, step{roce.RCReadRequest, 4, 4}, abi.VendorRecvLength, false},
		{"long read", nil, step{roce.RCReadRequest, 0, 1<<31 + 1}, abi.VendorRecvLength, false},
		{"payload of an atomic", nil, step{roce.RCFetchAdd, 8, 0}, abi.VendorRecvLength, false},
		{"long write", nil, step{roce.RCWriteFirst, 1024, 1<<31 + 1}, abi.VendorRecvLength, false},
		{"short first", nil, step{roce.RCWriteFirst, 1000, 2000}, abi.VendorRecvLength, false},
		{"first that is all", nil, step{roce.RCWriteFirst, 1024, 1024}, abi.VendorRecvLength, false},
		{"first that is more", nil, step{roce.RCWriteFirst, 1024, 100}, abi.VendorRecvLength, false},
		{"short middle", []step{first}, step{roce.RCWriteMiddle, 1000, 0}, abi.VendorRecvLength, false},
		{"middle beyond the end", []step{first, {roce.RCWriteMiddle, 1024, 0}}, step{roce.RCWriteMiddle, 1024, 0}, abi.VendorRecvLength, false},
		{"last before the end", []step{first}, step{roce.RCWriteLast, 452, 0}, abi.VendorRecvLength, false},
		{"last beyond the end", []step{first, {roce.RCWriteMiddle, 1024, 0}}, step{roce.RCWriteLast, 453, 0}, abi.VendorRecvLength, false},
		{"empty last", []step{first, {roce.RCWriteMiddle, 1024, 0}}, step{roce.RCWriteLast, 0, 0}, abi.VendorRecvLength, false},
		{"only, less than it says", nil, step{roce.RCWriteOnly, 10, 11}, abi.VendorRecvLength, false},
		{"only, more than it says", nil, step{roce.RCWriteOnly, 10, 9}, abi.VendorRecvLength, false},
		{"only, payload of none", nil, step{roce.RCWriteOnly, 10, 0}, abi.VendorRecvLength, false},
		{"long only", nil, step{roce.RCWriteOnly, 1025, 1025}, abi.VendorRecvLength, false},
		{"only with immediate", nil, step{roce.RCWriteOnlyImm, 10, 11}, abi.VendorRecvLength, true},
		{"last with immediate", []step{first}, step{roce.RCWriteLastImm, 10, 0}, abi.VendorRecvLength, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := serving(3)
			for _, s := range c.before {
				v, _ := x.judge(x.remote(s.op, s.size, s.length))
				require.Equal(t, port.RxPlace, v.Action)
			}
			p := x.remote(c.bad.op, c.bad.size, c.bad.length)
			if c.vendor == abi.VendorAtomicAlign {
				p.Reth.VA += 4
			}
			msn := x.Responder.MSN
			v, w := x.judge(p)
			require.Equal(t, port.RxReply, v.Action)
			require.Equal(t, port.AckReq{Send: true, QPN: 1, PSN: p.PSN, Syndrome: 0x61, MSN: msn}, v.Ack)
			require.Equal(t, abi.RespRemoteInvalidRequest, v.Drop)
			require.Equal(t, c.vendor, v.Vendor)
			require.Equal(t, abi.StatusLocQPOp, v.Status)
			require.Equal(t, InCommon|InRequester|InResponder, w)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.Equal(t, c.wqe, v.Error)
			require.Equal(t, c.wqe, v.EndsWQE)
			require.Equal(t, !c.wqe, x.Common.Pending&NoteReqErr != 0, "who tells")
			if c.wqe {
				require.Equal(t, uint16(14), v.RQIdx)
			}
			require.Equal(t, IncomingNone, x.Responder.Incoming)
			require.True(t, x.Responder.Failed)
			require.Equal(t, p.PSN, x.Responder.FailedAt)
		})
	}
}

// The alignment of an atomic is looked at before its key, and after the QP's
// permission and resources.
func TestOrderOfAtomicChecks(t *testing.T) {
	odd := func(x *Context) port.RxPkt { p := x.remote(roce.RCFetchAdd, 8, 0); p.Reth.VA++; return p }
	x := serving(0)
	v, _ := x.judge(odd(x))
	require.Equal(t, abi.VendorAtomicAlign, v.Vendor, "before the length")
	x = serving(0)
	x.Common.MaxDestRd = 0
	v, _ = x.judge(odd(x))
	require.Equal(t, abi.VendorRecvOp, v.Vendor)
	x = serving(0)
	x.Common.Access = 0
	v, _ = x.judge(odd(x))
	require.Equal(t, abi.VendorRecvOp, v.Vendor)
}

func TestSendWithInvalidate(t *testing.T) {
	x := serving(2)
	v, _ := x.judge(x.remote(roce.RCSendOnlyInv, 10, 0))
	require.Equal(t, port.RxPlace, v.Action)
	require.Equal(t, port.TargetRecv, v.Target)
	require.True(t, v.TakesWQE && v.EndsWQE)
	v, _ = x.judge(x.remote(roce.RCSendFirst, 1024, 0))
	require.True(t, v.TakesWQE)
	v, _ = x.judge(x.remote(roce.RCSendLastInv, 10, 0))
	require.True(t, v.EndsWQE && !v.TakesWQE)
	require.Equal(t, uint16(15), v.RQIdx)
	v, _ = x.judge(x.remote(roce.RCSendOnlyInv, 10, 0))
	require.Equal(t, abi.OutOfBuffer, v.Drop)
}

func TestCommEstByEveryOperation(t *testing.T) {
	for _, op := range []roce.Opcode{roce.RCSendOnly, roce.RCWriteOnly, roce.RCReadRequest, roce.RCFetchAdd} {
		x := serving(1)
		x.Common.State, x.Responder.CommEst = abi.QPRTR, false
		x.judge(x.remote(op, 0, 0))
		require.Equal(t, NoteCommEst, x.Common.Pending, "%v", op)
	}
}
