package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// datagramFrom is a datagram of anybody, of 100 bytes.
func datagramFrom() port.RxPkt {
	p := from2(roce.UDSendOnly, 77)
	p.SIP, p.SrcQPN, p.QKey, p.Len = roce.GIDFromIPv4(roce.HostIPv4(9)), 0x99, 0x80112233, 100
	return p
}

// listening is a QP in RTR with two receive WQEs from index 14 on.
func listening(typ abi.QPType) *Context {
	x := ofType(typ, abi.QPRTR)
	x.Responder.CI, x.Responder.PI = 14, 16
	return x
}

func TestDatagram(t *testing.T) {
	x := listening(abi.QPTypeUD)
	want := port.RxVerdict{
		Quiet: true, GRH: true, Action: port.RxPlace, QPN: 1, Target: port.TargetRecv, PD: 7, RQPD: 7, RecvCQN: 12, SrcQPN: 0x99,
		TakesWQE: true, EndsWQE: true, RQIdx: 14, RQAddr: 0x20000 + 64*14, RQStride: 64, RQLog: 4, RQNext: 1, Offset: 40, Ack: port.AckReq{MSN: 1},
	}
	v, w := x.judge(datagramFrom())
	require.Equal(t, want, v)
	require.Equal(t, InResponder, w)
	p := datagramFrom()
	p.V6, p.SIP, p.DIP, p.VLAN, p.TCI, p.Opcode = true, roce.HostIPv6(9), roce.HostIPv6(77), true, 0x123, roce.UDSendOnlyImm
	v, _ = x.judge(p)
	require.True(t, v.GRH && v.V6)
	require.Equal(t, uint16(15), v.RQIdx)
	v, w = x.judge(datagramFrom())
	require.Equal(t, abi.OutOfBuffer, v.Drop)
	require.Equal(t, port.RxDrop, v.Action)
	require.Zero(t, w)
	require.Zero(t, x.Common.Pending)
}

func TestDatagramsThatAreDropped(t *testing.T) {
	e := env
	e.Reg.MTU = 1024
	for _, c := range []struct {
		name   string
		change func(x *Context, p *port.RxPkt)
		want   abi.Counter
	}{
		{"good", func(x *Context, p *port.RxPkt) {}, 0},
		{"as long as the port's MTU", func(x *Context, p *port.RxPkt) { p.Len = 1024 }, 0},
		{"longer", func(x *Context, p *port.RxPkt) { p.Len = 1025 }, abi.RxDropOther},
		{"any PSN", func(x *Context, p *port.RxPkt) { p.PSN = 0xffffff }, 0},
		{"no bytes", func(x *Context, p *port.RxPkt) { p.Len = 0 }, 0},
		{"Q_Key", func(x *Context, p *port.RxPkt) { p.QKey = 0x112233 }, abi.RxDropBadQKey},
		{"not an address of the port", func(x *Context, p *port.RxPkt) { p.DIP[15]++ }, abi.RxDropBadAddress},
		{"no address", func(x *Context, p *port.RxPkt) { p.V6, p.DIP = true, [16]byte{} }, abi.RxDropBadAddress},
		{"another address of the port", func(x *Context, p *port.RxPkt) { p.DIP = gids.GID[5] }, 0},
		{"address before Q_Key", func(x *Context, p *port.RxPkt) { p.DIP[15]++; p.QKey = 0 }, abi.RxDropBadAddress},
		{"P_Key", func(x *Context, p *port.RxPkt) { p.PKey = 1 }, abi.RxDropBadPKey},
		{"reserved opcode", func(x *Context, p *port.RxPkt) { p.Opcode = 0x6a }, abi.RxDropOther},
		{"RC", func(x *Context, p *port.RxPkt) { p.Opcode = roce.RCSendOnly }, abi.RxDropBadTransport},
		{"raw", func(x *Context, p *port.RxPkt) { p.Raw = true }, abi.RxDropBadTransport},
		{"state", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPInit }, abi.RxDropBadState},
		{"SQE", func(x *Context, p *port.RxPkt) { x.Common.State = abi.QPSQE }, 0},
	} {
		x, p := listening(abi.QPTypeUD), datagramFrom()
		c.change(x, &p)
		before := *x
		v, _ := x.receive(&port.RxOp{QPN: 1, Pkt: p}, &e)
		require.Equal(t, c.want, v.Drop, c.name)
		require.Equal(t, c.want == 0, v.Action == port.RxPlace, c.name)
		if c.want != 0 {
			require.Equal(t, before, *x, c.name)
		}
	}
}

func TestRawFrame(t *testing.T) {
	x := listening(abi.QPTypeRaw)
	p := port.RxPkt{Raw: true, QPN: 1, Len: 1514, VLAN: true, TCI: 7}
	v, _ := x.judge(p)
	require.Equal(t, port.RxVerdict{
		Quiet: true, Action: port.RxPlace, QPN: 1, Target: port.TargetRecv, PD: 7, RQPD: 7, RecvCQN: 12,
		TakesWQE: true, EndsWQE: true, RQIdx: 14, RQAddr: 0x20000 + 64*14, RQStride: 64, RQLog: 4, RQNext: 1, Ack: port.AckReq{MSN: 1},
	}, v)
	for _, s := range states {
		x := listening(abi.QPTypeRaw)
		x.Common.State = s
		v, _ := x.judge(p)
		receives := s != abi.QPReset && s != abi.QPInit && s != abi.QPErr
		require.Equal(t, receives, v.Action == port.RxPlace, "%v", s)
		require.Equal(t, !receives, v.Drop == abi.RxDropBadState, "%v", s)
	}
	v, _ = x.judge(from2(roce.RCSendOnly, 1))
	require.Equal(t, abi.RxDropBadTransport, v.Drop)
	x.judge(p)
	v, _ = x.judge(p)
	require.Equal(t, abi.OutOfBuffer, v.Drop)
}

// The peer's fault costs a message, and nothing else: the receive WQEs are taken again
// from that of the message on.
func TestQuietFault(t *testing.T) {
	for _, typ := range unackedTypes {
		for _, c := range []struct {
			status abi.WCStatus
			count  abi.Counter
		}{
			{abi.StatusLocLen, abi.RespLocalLengthError}, {abi.StatusRemAccess, abi.RespRemoteAccessErrors}, {abi.StatusLocAccess, abi.RespRemoteAccessErrors},
		} {
			x := ofType(typ, abi.QPRTS)
			x.Responder.CI, x.Responder.PI, x.Responder.Incoming, x.Responder.Held = 17, 20, IncomingSend, 16
			x.SQ.PI = 1
			v, w := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 5, RQIdx: 15, Status: c.status, Vendor: abi.VendorRKeyPD}, &env)
			require.Equal(t, port.RxVerdict{
				Quiet: true, Action: port.RxFailed, Kind: port.RxFault, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: v.SrcQPN,
				Drop: c.count, Status: c.status, Vendor: abi.VendorRKeyPD,
			}, v)
			require.Equal(t, InResponder, w)
			require.Equal(t, abi.QPRTS, x.Common.State)
			require.Zero(t, x.Common.Pending)
			require.Equal(t, uint16(15), x.Responder.CI)
			require.Equal(t, IncomingNone, x.Responder.Incoming)
			// Once more, at another place.
			v, _ = x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 9, RQIdx: 17, Status: c.status}, &env)
			require.Equal(t, c.count, v.Drop)
			require.Equal(t, uint16(17), x.Responder.CI)
			// In ERR what was flushed behind it is flushed once more.
			x.Common.State = abi.QPErr
			x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 9, RQIdx: 16, Status: c.status}, &env)
			require.Equal(t, NoteFlushRQ, x.Common.Pending)
			require.Equal(t, uint16(16), x.Responder.CI)
			x.Common.State, x.Common.Pending = abi.QPReset, 0
			before := *x
			v, w = x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 9, RQIdx: 1, Status: c.status}, &env)
			require.Equal(t, port.RxFailed, v.Action)
			require.Zero(t, w)
			require.Equal(t, before, *x)
		}
	}
}

// A fault of its own takes the whole QP to ERR, without a NAK.
func TestLocalFaultOfTheReceiver(t *testing.T) {
	for _, typ := range unackedTypes {
		for _, c := range []struct {
			status abi.WCStatus
			count  abi.Counter
		}{{abi.StatusLocProt, abi.RespLocalProtectionErrors}, {abi.StatusLocQPOp, 0}} {
			x := listening(typ)
			x.Common.State = abi.QPRTS
			v, _ := x.receive(&port.RxOp{Kind: port.RxFault, QPN: 1, PSN: 5, RQIdx: 14, Status: c.status}, &env)
			require.Equal(t, port.RxFailed, v.Action)
			require.Equal(t, c.count, v.Drop)
			require.Zero(t, v.Ack)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.Equal(t, NoteEvent|NoteFlushRQ, x.Common.Pending)
			require.Equal(t, uint16(14), x.Responder.CI)
		}
	}
}
