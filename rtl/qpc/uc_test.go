package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// expecting is a QP of UC in RTS with n receive WQEs from index 14 on.
func expecting(n uint16) *Context {
	x := ofType(abi.QPTypeUC, abi.QPRTS)
	x.Responder.CI, x.Responder.PI = 14, 14+n
	return x
}

// uc judges a packet of UC, PSN of which is so far behind the expected one. WRITEs are of
// 2,000 bytes in all, or of what an only packet has.
func (c *Context) uc(op roce.Opcode, behind uint32, size uint16) (port.RxVerdict, Bank) {
	p := from2(op, c.Responder.Expected.Add(behind))
	p.Len = size
	p.Reth = port.Reth{VA: remoteVA, RKey: remoteKey, Len: 2000}
	if op.IsOnly() {
		p.Reth.Len = uint32(size)
	}
	return c.judge(p)
}

func TestUCInOrder(t *testing.T) {
	x := expecting(3)
	wqe := port.RxVerdict{
		Quiet: true, Action: port.RxPlace, QPN: 1, Target: port.TargetRecv, PD: 7, RecvCQN: 12, SrcQPN: 0x22, RQPD: 7,
		RQIdx: 14, RQAddr: 0x20000 + 64*14, RQStride: 64, RQLog: 4, RQNext: 2,
	}
	want := wqe
	want.TakesWQE = true
	v, w := x.uc(roce.UCSendFirst, 0, 1024)
	require.Equal(t, want, v)
	require.Equal(t, InResponder, w)
	want = wqe
	want.Offset = 1024
	v, _ = x.uc(roce.UCSendMiddle, 0, 1024)
	require.Equal(t, want, v)
	want.Offset, want.EndsWQE, want.Ack.MSN = 2048, true, 1
	v, _ = x.uc(roce.UCSendLastImm, 0, 1)
	require.Equal(t, want, v)
	want = port.RxVerdict{
		Quiet: true, Action: port.RxPlace, QPN: 1, Target: port.TargetRemote, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
		Remote: port.Remote{VA: remoteVA, Key: remoteKey, Range: 2000, Access: 2}, RQIdx: 15, Ack: port.AckReq{MSN: 1},
	}
	v, _ = x.uc(roce.UCWriteFirst, 0, 1024)
	require.Equal(t, want, v, "RQIdx is that of the next to be taken")
	v, _ = x.uc(roce.UCWriteLastImm, 0, 976)
	require.Equal(t, uint16(15), v.RQIdx)
	require.True(t, v.TakesWQE && v.EndsWQE && v.Quiet)
	require.Equal(t, uint32(1024), v.Offset)
	v, _ = x.uc(roce.UCWriteOnly, 0, 0)
	require.Equal(t, port.TargetNone, v.Target)
	require.Equal(t, uint16(16), v.RQIdx)
	v, _ = x.uc(roce.UCSendOnlyImm, 0, 1024)
	require.True(t, v.TakesWQE && v.EndsWQE)
	require.Equal(t, roce.PSN(0xfffffe).Add(7), x.Responder.Expected)
	require.Equal(t, port.MSN(4), x.Responder.MSN)
}

// step is a packet of UC, and what becomes of it: placed, or dropped under a counter.
type step struct {
	op     roce.Opcode
	behind uint32 // 0: as expected; 1<<24-1: the one before
	size   uint16
	drop   abi.Counter // 0: placed
	wqe    uint16      // RQIdx, if placed
}

// What is missing, or can't be executed, ends its message and nothing else. The WQE that
// a SEND has taken is taken again by the next one.
func TestUCDrops(t *testing.T) {
	const first, middle, last, only = roce.UCSendFirst, roce.UCSendMiddle, roce.UCSendLast, roce.UCSendOnly
	const gap, other, buffer = abi.OutOfSequence, abi.RxDropOther, abi.OutOfBuffer
	const before = 1<<24 - 1
	for _, c := range []struct {
		name  string
		wqes  uint16
		steps []step
	}{
		{"gap in a message", 2, []step{
			{first, 0, 1024, 0, 14}, {middle, 1, 1024, gap, 0}, {last, 0, 5, gap, 0}, {only, 0, 5, 0, 14}, {only, 0, 5, 0, 15}}},
		{"the last packet is missing", 2, []step{{first, 0, 1024, 0, 14}, {first, 1, 1024, 0, 14}, {last, 0, 5, 0, 14}, {only, 0, 5, 0, 15}}},
		{"a packet again", 2, []step{{first, 0, 1024, 0, 14}, {first, before, 1024, 0, 14}, {last, 0, 5, 0, 14}}},
		{"the rest again", 2, []step{{first, 0, 1024, 0, 14}, {middle, 0, 1024, 0, 14}, {middle, before, 1024, gap, 0}, {last, 0, 5, gap, 0}}},
		{"far behind", 1, []step{{only, 1 << 23, 5, 0, 14}, {middle, 1 << 22, 1024, gap, 0}}},
		{"the rest of none after a gap and a message", 1, []step{{only, 1, 5, 0, 14}, {middle, 0, 1024, other, 0}}},
		{"a message in the midst of one", 2, []step{{first, 0, 1024, 0, 14}, {only, 0, 5, 0, 14}, {last, 0, 5, other, 0}, {only, 0, 5, 0, 15}}},
		{"a WRITE in the midst of a SEND", 2, []step{{first, 0, 1024, 0, 14}, {roce.UCWriteFirst, 0, 1024, 0, 14}, {roce.UCWriteLastImm, 0, 976, 0, 14}}},
		{"a SEND that goes on as a WRITE", 1, []step{{first, 0, 1024, 0, 14}, {roce.UCWriteMiddle, 0, 1024, other, 0}, {last, 0, 5, other, 0}, {only, 0, 5, 0, 14}}},
		{"a WRITE that goes on as a SEND", 1, []step{{roce.UCWriteFirst, 0, 1024, 0, 14}, {last, 0, 976, other, 0}, {roce.UCWriteLast, 0, 976, other, 0}}},
		{"the rest of none", 1, []step{{middle, 0, 1024, other, 0}, {last, 0, 5, other, 0}, {only, 0, 5, 0, 14}}},
		{"no WQE", 0, []step{{first, 0, 1024, buffer, 0}, {middle, 0, 1024, other, 0}, {last, 0, 5, other, 0}, {only, 0, 5, buffer, 0}}},
		{"no WQE for an immediate", 0, []step{{roce.UCWriteFirst, 0, 1024, 0, 14}, {roce.UCWriteLastImm, 0, 976, buffer, 0}, {roce.UCWriteOnly, 0, 5, 0, 14}}},
		{"READ", 1, []step{{0x2c, 0, 0, other, 0}, {only, 0, 5, 0, 14}}},
		{"atomic", 1, []step{{0x33, 0, 0, other, 0}, {0x34, 0, 0, other, 0}}},
		{"SEND with invalidate", 1, []step{{0x37, 0, 5, other, 0}, {first, 0, 1024, 0, 14}, {0x36, 0, 5, other, 0}, {last, 0, 5, other, 0}}},
		{"short first", 1, []step{{first, 0, 1023, other, 0}, {last, 0, 5, other, 0}, {only, 0, 5, 0, 14}}},
		{"short middle", 1, []step{{first, 0, 1024, 0, 14}, {middle, 0, 1, other, 0}, {last, 0, 5, other, 0}, {only, 0, 5, 0, 14}}},
		{"empty last", 1, []step{{first, 0, 1024, 0, 14}, {last, 0, 0, other, 0}, {only, 0, 5, 0, 14}}},
		{"long only", 1, []step{{only, 0, 1025, other, 0}, {only, 0, 1024, 0, 14}}},
		{"not as long as the RETH says", 1, []step{{roce.UCWriteFirst, 0, 1024, 0, 14}, {roce.UCWriteLast, 0, 975, other, 0}, {roce.UCWriteLast, 0, 976, other, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := expecting(c.wqes)
			for i, s := range c.steps {
				psn := x.Responder.Expected.Add(s.behind)
				v, w := x.uc(s.op, s.behind, s.size)
				require.Equal(t, s.drop, v.Drop, "step %d", i)
				require.Equal(t, s.drop == 0, v.Action == port.RxPlace, "step %d", i)
				require.True(t, v.Quiet)
				require.False(t, v.Ack.Send || v.HasEvent || v.HasBroken)
				require.Equal(t, psn.Add(1), x.Responder.Expected, "it follows the packet")
				require.Equal(t, InResponder, w)
				if s.drop == 0 {
					require.Equal(t, s.wqe, v.RQIdx, "step %d", i)
					require.Equal(t, s.op.TakesReceive(), v.TakesWQE)
				}
			}
			require.Equal(t, abi.QPRTS, x.Common.State)
			require.Zero(t, x.Common.Pending)
		})
	}
}

func TestUCWriteDisabled(t *testing.T) {
	x := expecting(1)
	x.Common.Access = 0
	for _, op := range []roce.Opcode{roce.UCWriteFirst, roce.UCWriteMiddle, roce.UCWriteLast, roce.UCWriteOnlyImm} {
		v, _ := x.uc(op, 0, 1024)
		require.Equal(t, abi.RxDropOther, v.Drop, "%v", op)
	}
	v, _ := x.uc(roce.UCSendOnly, 0, 5)
	require.Equal(t, port.RxPlace, v.Action)
}

func TestUCSilentChecks(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(x *Context, p *port.RxPkt)
		want   abi.Counter
	}{
		{"good", func(x *Context, p *port.RxPkt) {}, 0},
		{"RC", func(x *Context, p *port.RxPkt) { p.Opcode = roce.RCSendOnly }, abi.RxDropBadTransport},
		{"acknowledgement", func(x *Context, p *port.RxPkt) { p.Opcode = roce.RCAck }, abi.RxDropBadTransport},
		{"UD", func(x *Context, p *port.RxPkt) { p.Opcode = roce.UDSendOnly }, abi.RxDropBadTransport},
		{"raw", func(x *Context, p *port.RxPkt) { p.Raw = true }, abi.RxDropBadTransport},
		{"CNP", func(x *Context, p *port.RxPkt) { p.Opcode = roce.CNP }, abi.RxDropOther},
		{"INIT", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPInit }, abi.RxDropBadState},
		{"ERR", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPErr }, abi.RxDropBadState},
		{"RTR", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPRTR }, 0},
		{"SQD", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPSQD }, 0},
		{"SQE", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPSQE }, 0},
		{"P_Key", func(x *Context, p *port.RxPkt) { p.PKey = 1 }, abi.RxDropBadPKey},
		{"source", func(x *Context, p *port.RxPkt) { p.SIP[15]++ }, abi.RxDropBadAddress},
		{"destination", func(x *Context, p *port.RxPkt) { p.DIP = gids.GID[5] }, abi.RxDropBadAddress},
		{"VLAN", func(x *Context, p *port.RxPkt) { p.VLAN, p.TCI = true, 2 }, abi.RxDropBadAddress},
	} {
		x := expecting(1)
		p := from2(roce.UCSendOnly, 0xfffffe)
		c.change(x, &p)
		before := x.Responder
		v, _ := x.judge(p)
		require.Equal(t, c.want, v.Drop, c.name)
		require.Equal(t, c.want == 0, v.Action == port.RxPlace, c.name)
		if c.want != 0 {
			require.Equal(t, before, x.Responder, c.name)
		}
	}
}

func TestUCEstablishes(t *testing.T) {
	x := ofType(abi.QPTypeUC, abi.QPRTR)
	x.uc(roce.UCSendOnly, 0, 5)
	require.Zero(t, x.Common.Pending, "no WQE: not a good one")
	x.Responder.PI = 3
	x.uc(roce.UCSendOnly, 0, 5)
	require.Equal(t, NoteCommEst, x.Common.Pending)
}
