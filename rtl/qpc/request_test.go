package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// from2 is a packet of host 2, QP 0x22, that passes the silent checks.
func from2(op roce.Opcode, psn roce.PSN) port.RxPkt {
	return port.RxPkt{
		Opcode: op, QPN: 1, PSN: psn, PKey: 0xffff,
		SIP: roce.GIDFromIPv4(roce.HostIPv4(2)), DIP: roce.GIDFromIPv4(roce.HostIPv4(1)),
	}
}

// judge runs a packet.
func (c *Context) judge(p port.RxPkt) (port.RxVerdict, Bank) {
	return c.receive(&port.RxOp{QPN: 1, Pkt: p}, &env)
}

// ready is a QP in RTR or later with n receive WQEs from index 14 of 16 on, that
// expects PSN 0xfffffe.
func ready(s abi.QPState, n uint16) *Context {
	x := inState(s)
	x.Responder.CI, x.Responder.PI = 14, 14+n
	x.Responder.CommEst = true
	return x
}

func TestSilentChecks(t *testing.T) {
	v6 := func(x *Context, p *port.RxPkt) {
		x.Common.V6, x.Common.DGID, x.Common.SIP = true, roce.HostIPv6(2), roce.HostIPv6(1)
		p.V6, p.SIP, p.DIP = true, roce.HostIPv6(2), roce.HostIPv6(1)
	}
	for _, c := range []struct {
		name   string
		change func(x *Context, p *port.RxPkt)
		want   abi.Counter
	}{
		{"good", func(x *Context, p *port.RxPkt) {}, 0},
		{"good, IPv6", v6, 0},
		{"no QP", func(x *Context, p *port.RxPkt) { *x = Context{} }, abi.RxDropBadQPN},
		{"CNP", func(x *Context, p *port.RxPkt) { p.Opcode = roce.CNP }, abi.RxDropOther},
		{"UC", func(x *Context, p *port.RxPkt) { p.Opcode = roce.UCSendOnly }, abi.RxDropBadTransport},
		{"UD", func(x *Context, p *port.RxPkt) { p.Opcode = roce.UDSendOnly }, abi.RxDropBadTransport},
		{"no transport", func(x *Context, p *port.RxPkt) { p.Opcode = 0x80 }, abi.RxDropBadTransport},
		{"other key", func(x *Context, p *port.RxPkt) { p.PKey = 0xfffe }, abi.RxDropBadPKey},
		{"key 0", func(x *Context, p *port.RxPkt) { p.PKey = 0x8000 }, abi.RxDropBadPKey},
		{"limited member of a full one", func(x *Context, p *port.RxPkt) { p.PKey = 0x7fff }, 0},
		{"source", func(x *Context, p *port.RxPkt) { p.SIP[15]++ }, abi.RxDropBadAddress},
		{"destination", func(x *Context, p *port.RxPkt) { p.DIP[15]++ }, abi.RxDropBadAddress},
		{"source, IPv6", func(x *Context, p *port.RxPkt) { v6(x, p); p.SIP[0]++ }, abi.RxDropBadAddress},
		{"destination, IPv6", func(x *Context, p *port.RxPkt) { v6(x, p); p.DIP[0]++ }, abi.RxDropBadAddress},
		{"another own address", func(x *Context, p *port.RxPkt) { p.DIP = gids.GID[5] }, abi.RxDropBadAddress},
		{"VLAN of none", func(x *Context, p *port.RxPkt) { p.VLAN, p.TCI = true, 0xe005 }, abi.RxDropBadAddress},
		{"priority without VLAN", func(x *Context, p *port.RxPkt) { p.VLAN, p.TCI = true, 0xe000 }, 0},
		{"the VLAN, other priority", func(x *Context, p *port.RxPkt) {
			x.Common.VLAN, x.Common.TCI = true, 0x2005
			p.VLAN, p.TCI = true, 0xe005
		}, 0},
		{"another VLAN", func(x *Context, p *port.RxPkt) {
			x.Common.VLAN, x.Common.TCI = true, 0x2005
			p.VLAN, p.TCI = true, 0x2015
		}, abi.RxDropBadAddress},
		{"no tag", func(x *Context, p *port.RxPkt) { x.Common.VLAN, x.Common.TCI = true, 0x2005 }, abi.RxDropBadAddress},
		{"raw frame", func(x *Context, p *port.RxPkt) { p.Raw = true }, abi.RxDropBadTransport},
		{"family", func(x *Context, p *port.RxPkt) { p.V6 = true }, abi.RxDropBadAddress},
		{"state before key", func(x *Context, p *port.RxPkt) { x.Common.State, p.PKey = abi.QPInit, 1 }, abi.RxDropBadState},
		{"transport before state", func(x *Context, p *port.RxPkt) { x.Common.State, p.Opcode = abi.QPInit, roce.UCSendOnly }, abi.RxDropBadTransport},
		{"key before address", func(x *Context, p *port.RxPkt) { p.PKey, p.SIP[15] = 1, 99 }, abi.RxDropBadPKey},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := ready(abi.QPRTS, 1)
			p := from2(roce.RCSendOnly, 0xfffffe)
			c.change(x, &p)
			before := *x
			v, w := x.judge(p)
			require.Equal(t, c.want, v.Drop)
			if c.want == 0 {
				require.Equal(t, port.RxPlace, v.Action)
				return
			}
			require.Equal(t, port.RxDrop, v.Action)
			require.Zero(t, w)
			require.Equal(t, before, *x)
		})
	}
}

func TestStatesThatReceive(t *testing.T) {
	for _, s := range states {
		x := ready(s, 1)
		x.send(1) // one packet in flight
		v, _ := x.judge(from2(roce.RCSendOnly, 0xfffffe))
		request := s == abi.QPRTR || s == abi.QPRTS || s == abi.QPSQD || s == abi.QPSQE
		require.Equal(t, request, v.Action == port.RxPlace, "request in %v", s)
		if !request && s != abi.QPReset && s != abi.QPInit {
			require.Equal(t, abi.RxDropBadState, v.Drop, "request in %v", s)
		}
		x = inState(s)
		x.send(1)
		v, _ = x.judge(from2(roce.RCAck, 0xfffff0))
		require.Equal(t, s == abi.QPRTS || s == abi.QPSQD, v.Action == port.RxAck, "response in %v", s)
	}
}

// A message of three packets and one of one packet, over the end of the ring and
// of the PSNs.
func TestSendInOrder(t *testing.T) {
	x := ready(abi.QPRTS, 3)
	wqe := func(index, next uint16) port.RxVerdict {
		return port.RxVerdict{
			Action: port.RxPlace, QPN: 1, Target: port.TargetRecv, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
			RQIdx: index, RQAddr: 0x20000 + 64*port.BusAddr(index%16), RQStride: 64, RQLog: 4, RQNext: next, RQPD: 7,
		}
	}
	ack := func(send bool, psn roce.PSN, credits uint8, msn port.MSN) port.AckReq {
		return port.AckReq{Send: send, QPN: 1, PSN: psn, Syndrome: credits, MSN: msn}
	}
	for i, c := range []struct {
		op       roce.Opcode
		len      uint16
		ackReq   bool
		expected roce.PSN
		want     port.RxVerdict
	}{
		{roce.RCSendFirst, 1024, false, 0xffffff, func() port.RxVerdict {
			v := wqe(14, 2)
			v.TakesWQE, v.Ack = true, ack(false, 0xfffffe, 2, 0)
			return v
		}()},
		{roce.RCSendMiddle, 1024, true, 0, func() port.RxVerdict {
			v := wqe(14, 2)
			v.Offset, v.Ack = 1024, ack(true, 0xffffff, 2, 0)
			return v
		}()},
		{roce.RCSendLastImm, 1, true, 1, func() port.RxVerdict {
			v := wqe(14, 2)
			v.Offset, v.EndsWQE, v.Ack = 2048, true, ack(true, 0, 2, 1)
			return v
		}()},
		{roce.RCSendOnlyImm, 1024, false, 2, func() port.RxVerdict {
			v := wqe(15, 1)
			v.TakesWQE, v.EndsWQE, v.Ack = true, true, ack(false, 1, 1, 2)
			return v
		}()},
		{roce.RCSendOnly, 0, true, 3, func() port.RxVerdict {
			v := wqe(16, 0)
			v.TakesWQE, v.EndsWQE, v.Ack = true, true, ack(true, 2, 0, 3)
			return v
		}()},
	} {
		p := from2(c.op, x.Responder.Expected)
		p.Len, p.AckReq = c.len, c.ackReq
		v, w := x.judge(p)
		require.Equal(t, c.want, v, "packet %d", i)
		require.Equal(t, InResponder, w)
		require.Equal(t, c.expected, x.Responder.Expected)
	}
	require.Equal(t, port.MSN(3), x.Responder.MSN)
	require.Equal(t, IncomingNone, x.Responder.Incoming)
}

func TestMSNWraps(t *testing.T) {
	x := ready(abi.QPRTS, 1)
	x.Responder.MSN = 0xffffff
	v, _ := x.judge(from2(roce.RCSendOnly, 0xfffffe))
	require.Equal(t, port.MSN(0), v.Ack.MSN)
}

func TestDuplicate(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     roce.Opcode
		back   uint32
		ackReq bool
		reply  bool
	}{
		{"SEND", roce.RCSendOnly, 1, true, true},
		{"SEND that asks for nothing", roce.RCSendFirst, 1, false, false},
		{"SEND, oldest", roce.RCSendOnly, 1 << 23, true, true},
		{"WRITE", roce.RCWriteLast, 3, true, true},
		{"READ: none is saved", roce.RCReadRequest, 1, true, false},
		{"atomic: none is saved", roce.RCFetchAdd, 1, true, false},
		{"reserved", 0x15, 1, true, false},
	} {
		for _, nak := range []NakState{NakNone, NakSequence, NakRNR} {
			x := ready(abi.QPRTS, 1)
			x.Responder.MSN, x.Responder.Nak = 5, nak
			before := *x
			p := from2(c.op, x.Responder.Expected.Sub(c.back))
			p.AckReq, p.Len, p.Pad = c.ackReq, 9999, 3 // a fault in a duplicate is no fault
			v, w := x.judge(p)
			require.Zero(t, w)
			require.Equal(t, before, *x, c.name)
			require.Equal(t, abi.DuplicateRequest, v.Drop)
			require.Equal(t, c.reply, v.Action == port.RxReply, c.name)
			want := port.AckReq{}
			if c.reply {
				want = port.AckReq{Send: true, QPN: 1, PSN: 0xfffffd, Syndrome: 1, MSN: 5}
			}
			require.Equal(t, want, v.Ack, c.name)
		}
	}
}

func TestGap(t *testing.T) {
	x := ready(abi.QPRTS, 8)
	nak := port.AckReq{Send: true, QPN: 1, PSN: 0xfffffe, Syndrome: 0x60}
	v, w := x.judge(from2(roce.RCSendOnly, 0xffffff))
	require.Equal(t, port.RxReply, v.Action)
	require.Equal(t, nak, v.Ack)
	require.Equal(t, abi.OutOfSequence, v.Drop)
	require.Equal(t, InResponder, w)
	for i := range uint32(3) { // told once
		v, w = x.judge(from2(roce.RCSendOnly, roce.PSN(0xfffffe).Add(2+i)))
		require.Equal(t, port.RxDrop, v.Action)
		require.False(t, v.Ack.Send)
		require.Zero(t, w)
	}
	v, _ = x.judge(from2(roce.RCSendOnly, 0xfffffe)) // the expected one
	require.Equal(t, port.RxPlace, v.Action)
	v, _ = x.judge(from2(roce.RCReadRequest, 1)) // the next gap, told before the opcode is looked at
	require.Equal(t, port.AckReq{Send: true, QPN: 1, PSN: 0xffffff, Syndrome: 0x60, MSN: 1}, v.Ack)
	// The farthest gap, and one more, which is the oldest duplicate.
	x = ready(abi.QPRTS, 1)
	v, _ = x.judge(from2(roce.RCSendOnly, roce.PSN(0xfffffe).Add(1<<23-1)))
	require.Equal(t, abi.OutOfSequence, v.Drop)
	v, _ = x.judge(from2(roce.RCSendOnly, roce.PSN(0xfffffe).Add(1<<23)))
	require.Equal(t, abi.DuplicateRequest, v.Drop)
}

func TestReceiverNotReady(t *testing.T) {
	x := ready(abi.QPRTS, 0)
	rnr := port.AckReq{Send: true, QPN: 1, PSN: 0xfffffe, Syndrome: 0x20 | 12}
	for range 2 { // each time that it comes
		v, w := x.judge(from2(roce.RCSendFirst, 0xfffffe))
		require.Equal(t, port.RxReply, v.Action)
		require.Equal(t, rnr, v.Ack)
		require.Equal(t, abi.OutOfBuffer, v.Drop)
		require.Equal(t, InResponder, w)
		require.Equal(t, roce.PSN(0xfffffe), x.Responder.Expected)
	}
	v, _ := x.judge(from2(roce.RCSendMiddle, 0xffffff))
	require.Equal(t, port.RxDrop, v.Action, "no sequence NAK behind an RNR NAK")
	x.Responder.PI++
	p := from2(roce.RCSendFirst, 0xfffffe)
	p.Len = 1024
	v, _ = x.judge(p)
	require.Equal(t, port.RxPlace, v.Action)
	require.Equal(t, NakNone, x.Responder.Nak)
}

func TestInvalidRequests(t *testing.T) {
	const mid = true // a SEND has begun
	for _, c := range []struct {
		name   string
		begun  bool
		op     roce.Opcode
		len    uint16
		pad    uint8
		offset uint32
		status abi.WCStatus
		vendor abi.VendorErr
		wqe    bool // a receive WQE ends in error
	}{
		{"middle of nothing", !mid, roce.RCSendMiddle, 1024, 0, 0, abi.StatusLocQPOp, abi.VendorRecvSequence, false},
		{"last of nothing", !mid, roce.RCSendLast, 5, 0, 0, abi.StatusLocQPOp, abi.VendorRecvSequence, false},
		{"last with immediate of nothing", !mid, roce.RCSendLastImm, 5, 0, 0, abi.StatusLocQPOp, abi.VendorRecvSequence, false},
		{"write middle of nothing", !mid, roce.RCWriteMiddle, 1024, 0, 0, abi.StatusLocQPOp, abi.VendorRecvSequence, false},
		{"first in a message", mid, roce.RCSendFirst, 1024, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvSequence, true},
		{"only in a message", mid, roce.RCSendOnly, 1, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvSequence, true},
		{"write in a message", mid, roce.RCWriteOnly, 1, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvSequence, true},
		{"a message goes on as a write", mid, roce.RCWriteMiddle, 1024, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvSequence, true},
		{"read in a message", mid, roce.RCReadRequest, 0, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvSequence, true},
		{"write, not enabled", !mid, roce.RCWriteOnly, 0, 0, 0, abi.StatusLocQPOp, abi.VendorRecvOp, false},
		{"read, not enabled", !mid, roce.RCReadRequest, 0, 0, 0, abi.StatusLocQPOp, abi.VendorRecvOp, false},
		{"compare and swap, not enabled", !mid, roce.RCCmpSwap, 0, 0, 0, abi.StatusLocQPOp, abi.VendorRecvOp, false},
		{"fetch and add, not enabled", !mid, roce.RCFetchAdd, 0, 0, 0, abi.StatusLocQPOp, abi.VendorRecvOp, false},
		{"reserved", !mid, 0x15, 1, 0, 0, abi.StatusLocQPOp, abi.VendorRecvOp, false},
		{"reserved in a message", mid, 0x1f, 1, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvOp, true},
		{"short first", !mid, roce.RCSendFirst, 1023, 0, 0, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"long first", !mid, roce.RCSendFirst, 1025, 0, 0, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"padded first", !mid, roce.RCSendFirst, 1024, 1, 0, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"short middle", mid, roce.RCSendMiddle, 0, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"padded middle", mid, roce.RCSendMiddle, 1024, 2, 1024, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"empty last", mid, roce.RCSendLast, 0, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"long last", mid, roce.RCSendLast, 1025, 0, 1024, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"long only", !mid, roce.RCSendOnly, 1025, 0, 0, abi.StatusLocQPOp, abi.VendorRecvLength, true},
		{"over 2^31", mid, roce.RCSendLast, 1, 0, 1 << 31, abi.StatusLocLen, abi.VendorRecvTooLong, true},
		{"over 2^31 in the middle", mid, roce.RCSendMiddle, 1024, 0, 1<<31 - 1023, abi.StatusLocLen, abi.VendorRecvTooLong, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := ready(abi.QPRTS, 3)
			x.Common.Access = 0
			x.SQ.PI = 4
			x.send(2)
			x.Responder.MSN = 9
			index := uint16(14)
			if c.begun {
				x.Responder.Incoming, x.Responder.Held, x.Responder.Offset = IncomingSend, 13, c.offset
				index = 13
			}
			p := from2(c.op, 0xfffffe)
			p.Len, p.Pad = c.len, c.pad
			v, w := x.judge(p)
			require.Equal(t, port.RxReply, v.Action)
			require.Equal(t, port.AckReq{Send: true, QPN: 1, PSN: 0xfffffe, Syndrome: 0x61, MSN: 9}, v.Ack)
			require.Equal(t, abi.RespRemoteInvalidRequest, v.Drop)
			require.Equal(t, c.wqe, v.Error)
			require.Equal(t, c.status, v.Status)
			require.Equal(t, c.vendor, v.Vendor)
			if c.wqe {
				require.Equal(t, index, v.RQIdx)
				require.True(t, v.EndsWQE)
				require.Equal(t, !c.begun, v.TakesWQE)
			}
			notes := NoteEvent | NoteActivate | NoteFlushRQ
			if !c.wqe {
				notes |= NoteReqErr
			}
			require.Equal(t, notes, x.Common.Pending)
			require.Equal(t, InCommon|InRequester|InResponder, w)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.Equal(t, Requester{Una: 0xfffff0, Asked: 0xfffff0, Fail: FailFlush, Stop: 0xfffff0, Status: c.status, Vendor: c.vendor}, x.Requester)
			require.Equal(t, IncomingNone, x.Responder.Incoming)
			require.False(t, x.expectsResponse(), "everything is flushed")
		})
	}
}

func TestLengthsThatAreRight(t *testing.T) {
	for _, c := range []struct {
		op     roce.Opcode
		len    uint16
		pad    uint8
		offset uint32
	}{
		{roce.RCSendOnly, 0, 0, 77}, {roce.RCSendOnly, 1024, 0, 77}, {roce.RCSendOnly, 1, 3, 1 << 31},
		{roce.RCSendFirst, 1024, 0, 1 << 31}, {roce.RCSendMiddle, 1024, 0, 1024},
		{roce.RCSendLast, 1, 3, 1024}, {roce.RCSendLast, 1024, 0, 1<<31 - 1024},
	} {
		x := ready(abi.QPRTS, 1)
		x.Responder.Offset = c.offset
		p := port.RxPkt{Opcode: c.op, Len: c.len, Pad: c.pad}
		require.Zero(t, x.wrongLength(&p), "%+v", c)
	}
}

// The order of the checks: no receive WQE comes before a wrong length, a wrong
// opcode before both.
func TestOrderOfChecks(t *testing.T) {
	x := ready(abi.QPRTS, 0)
	p := from2(roce.RCSendOnly, 0xfffffe)
	p.Len = 5000
	v, _ := x.judge(p)
	require.Equal(t, abi.OutOfBuffer, v.Drop)
	v, _ = x.judge(from2(0x15, 0xfffffe))
	require.Equal(t, abi.VendorRecvOp, v.Vendor)
}

func TestCommEst(t *testing.T) {
	x := ready(abi.QPRTR, 4)
	x.Responder.CommEst = false
	x.judge(from2(roce.RCSendOnly, 5)) // a gap
	require.Zero(t, x.Common.Pending)
	x.judge(from2(roce.RCSendOnly, 0xfffffe))
	require.Equal(t, NoteCommEst, x.Common.Pending)
	x.Common.Pending = 0
	x.judge(from2(roce.RCSendOnly, 0xffffff))
	require.Zero(t, x.Common.Pending, "once")
	x = ready(abi.QPRTS, 4)
	x.Responder.CommEst = false
	x.judge(from2(roce.RCSendOnly, 0xfffffe))
	require.Zero(t, x.Common.Pending, "in RTR only")
}
