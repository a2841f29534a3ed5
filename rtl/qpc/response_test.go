package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// inFlight is a QP with n PSNs from 0xfffff0 on in flight.
func inFlight(n uint32) *Context {
	x := inState(abi.QPRTS)
	x.send(n)
	return x
}

// send has n packets described besides.
func (c *Context) send(n uint32) {
	s := &c.SQ
	s.Next = s.Next.Add(n)
	s.EnteredPSN, s.Top = s.Next, s.Next
}

func ackOf(psn roce.PSN, s roce.Syndrome) port.RxPkt {
	p := from2(roce.RCAck, psn)
	p.Syndrome = uint8(s)
	return p
}

func TestAcknowledgements(t *testing.T) {
	const una = 0xfffff0
	ack := roce.ACKSyndrome(roce.NoCredits)
	for _, c := range []struct {
		name string
		p    port.RxPkt
		una  roce.PSN // after, 0: ignored
	}{
		{"oldest", ackOf(una, ack), una + 1},
		{"coalesced", ackOf(una+7, ack), una + 8},
		{"last", ackOf(3, ack), 4},
		{"READ response in the past", from2(roce.RCReadRespOnly, una-1), 0},
		{"READ response in the future", from2(roce.RCReadRespOnly, 4), 0},
		{"atomic response in the future", from2(roce.RCAtomicAck, 4), 0},
		{"ghost: the last acknowledged again", ackOf(una-1, ack), 0},
		{"ghost: never sent", ackOf(4, ack), 0},
		{"ghost: far away", ackOf(0x800000, ack), 0},
		{"reserved kind", ackOf(una, 0x40), 0},
		{"reserved bit 7", ackOf(una, 0x80), 0},
		{"reserved NAK code", ackOf(una, 0x65), 0},
		{"NAK of another service", ackOf(una, roce.NAKSyndrome(roce.NAKInvalidRD)), 0},
		{"ghost NAK", ackOf(4, roce.NAKSyndrome(roce.NAKInvalidRequest)), 0},
		{"ghost RNR NAK", ackOf(una-1, roce.RNRSyndrome(1)), 0},
		{"with payload", func() port.RxPkt { p := ackOf(una, ack); p.Len = 4; return p }(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := inFlight(20)
			x.Requester.Unlimited = true
			want := *x
			v, w := x.judge(c.p)
			if c.una == 0 {
				require.Equal(t, port.RxDrop, v.Action)
				require.Equal(t, abi.RxDropOther, v.Drop)
				require.Zero(t, w)
			} else {
				require.Equal(t, port.RxAck, v.Action)
				require.Zero(t, v.Drop)
				require.Equal(t, port.AckEvent{QPN: 1, Una: c.una, Arm: 17 << 20}, v.Event)
				require.Equal(t, InRequester, w)
				want.Requester.Una = c.una
			}
			require.Equal(t, want, *x)
		})
	}
}

// While a service is open, what it may have sent may be acknowledged.
func TestAcknowledgementDuringService(t *testing.T) {
	x := inFlight(2)
	x.SQ.PI = 100
	x.get(&port.SQGet{Packets: 16}, &env)
	v, _ := x.judge(ackOf(2, 31))
	require.Equal(t, abi.RxDropOther, v.Drop, "2 in flight and 16 granted end before 2")
	v, _ = x.judge(ackOf(1, 31))
	require.Equal(t, port.RxAck, v.Action)
	require.Equal(t, roce.PSN(2), x.Requester.Una)
	x.put(&port.SQPut{NextPSN: 2, ExecIdx: 9})
	v, _ = x.judge(ackOf(2, 31))
	require.Equal(t, abi.RxDropOther, v.Drop)
	// The window bounds the grant.
	x = inFlight(120)
	x.SQ.PI = 100
	require.Equal(t, uint16(8), x.get(&port.SQGet{Packets: 16}, &env).Window)
	require.Equal(t, uint32(8), x.SQ.Granted)
}

func TestNAKs(t *testing.T) {
	for _, c := range []struct {
		name     string
		syndrome roce.Syndrome
		status   abi.WCStatus
		vendor   abi.VendorErr
		count    abi.Counter
	}{
		{"sequence", 0x60, abi.StatusRetryExc, abi.VendorNAKSequence, abi.PacketSeqErr},
		{"invalid request", 0x61, abi.StatusRemInvReq, abi.VendorNAKInvalid, abi.ReqRemoteInvalidRequest},
		{"remote access", 0x62, abi.StatusRemAccess, abi.VendorNAKAccess, abi.ReqRemoteAccessErrors},
		{"remote operation", 0x63, abi.StatusRemOp, abi.VendorNAKOperational, abi.ReqRemoteOperational},
		{"RNR", 0x20, abi.StatusRNRRetryExc, abi.VendorRNRNAK, abi.RNRNakRetryErr},
		{"RNR, longest", 0x3f, abi.StatusRNRRetryExc, abi.VendorRNRNAK, abi.RNRNakRetryErr},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := inFlight(20)
			x.SQ.PI, x.Responder.PI = 3, 1
			v, w := x.judge(ackOf(2, c.syndrome))
			require.Equal(t, port.RxAck, v.Action)
			require.Equal(t, c.count, v.Drop)
			require.Equal(t, port.AckEvent{
				QPN: 1, Una: 2, Fail: true, FailPSN: 2, Status: c.status, Vendor: c.vendor, Arm: 17 << 20,
			}, v.Event)
			require.Equal(t, InCommon|InRequester, w)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.Equal(t, NoteActivate|NoteFlushRQ, x.Common.Pending, "the event goes with the verdict")
			v, _ = x.judge(ackOf(3, 31))
			require.Equal(t, abi.RxDropBadState, v.Drop, "nothing more is acknowledged")
			require.Equal(t, v.Event, port.AckEvent{})
		})
	}
}

// Responses of a QP in ERR count as long as WQEs before the faulty one wait.
func TestAcknowledgementBeforeLocalFault(t *testing.T) {
	x := inFlight(20)
	x.sqFault(&port.SQFault{PSN: 0xfffffa, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD})
	fail := port.AckEvent{QPN: 1, Fail: true, FailPSN: 0xfffffa, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD, Arm: 17 << 20}
	for _, psn := range []roce.PSN{0xfffff3, 0xfffff9} {
		v, _ := x.judge(ackOf(psn, 31))
		fail.Una = psn + 1
		require.Equal(t, fail, v.Event, "the failure is repeated")
	}
	v, _ := x.judge(ackOf(0xfffff9, 31))
	require.Equal(t, abi.RxDropBadState, v.Drop)
}

// A NAK of an earlier WQE takes the place of a local fault of a later one.
func TestNAKBeforeLocalFault(t *testing.T) {
	x := inFlight(20)
	x.sqFault(&port.SQFault{PSN: 0xfffffa, Status: abi.StatusLocProt})
	v, _ := x.judge(ackOf(0xfffff5, 0x62))
	require.Equal(t, port.AckEvent{
		QPN: 1, Una: 0xfffff5, Fail: true, FailPSN: 0xfffff5, Status: abi.StatusRemAccess, Vendor: abi.VendorNAKAccess, Arm: 17 << 20,
	}, v.Event)
}
