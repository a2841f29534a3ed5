package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// answerOf is a response to a READ or atomic.
func answerOf(op roce.Opcode, psn roce.PSN, size uint16) port.RxPkt {
	p := from2(op, psn)
	p.Len = size
	if op.HasAETH() {
		p.Syndrome = 31
	}
	return p
}

// A READ of three packets between two SENDs, a READ of one packet, an atomic.
func TestAnswers(t *testing.T) {
	x := reading(0, 2500, 0, 1024, -1) // PSNs 0, 1..3, 4, 5, 6
	x.SQ.PI, x.SQ.Exec, x.SQ.Entered = 100, 100, 100
	for i, c := range []struct {
		op       roce.Opcode
		psn      roce.PSN
		size     uint16
		unit     uint16
		offset   uint32
		last     bool
		answered uint8
	}{
		{roce.RCReadRespFirst, 1, 1024, 2, 0, false, 0}, // acknowledges the SEND before
		{roce.RCReadRespMiddle, 2, 1024, 2, 1024, false, 0},
		{roce.RCReadRespLast, 3, 452, 2, 2048, true, 1},
		{roce.RCReadRespOnly, 5, 1024, 4, 0, true, 2},
		{roce.RCAtomicAck, 6, 0, 5, 0, true, 3},
	} {
		v, w := x.judge(answerOf(c.op, una.Add(uint32(c.psn)), c.size))
		require.Equal(t, port.RxVerdict{
			Action: port.RxPlace, QPN: 1, PD: 7, RecvCQN: 12, SrcQPN: 0x22,
			Target: port.TargetSend, Offset: c.offset,
			SQ:       port.SQRef{Base: 0x10000, Log: 6, Idx: c.unit, Last: c.last},
			HasEvent: true, Event: port.AckEvent{QPN: 1, Una: una.Add(uint32(c.psn) + 1), Arm: 17 << 20},
		}, v, "response %d", i)
		require.Equal(t, InRequester, w)
		require.Equal(t, una.Add(uint32(c.psn)+1), x.Requester.Una)
		require.Equal(t, c.answered, x.Requester.Answered)
	}
	require.Equal(t, x.SQ.Next, x.Requester.Una)
}

func TestAnswerOfNoBytes(t *testing.T) {
	x := reading(0, 1, 0)
	x.Reads[0].Len = 0
	v, _ := x.judge(answerOf(roce.RCReadRespOnly, una.Add(1), 0))
	require.Equal(t, port.RxAck, v.Action, "nothing to place")
	require.Equal(t, port.TargetNone, v.Target)
	require.True(t, v.HasEvent)
	require.Equal(t, una.Add(2), v.Event.Una)
	require.Equal(t, uint8(1), x.Requester.Answered)
}

func TestAnswersThatAreWrong(t *testing.T) {
	bad, length := badOpcode, badLength
	pad := func(p port.RxPkt) port.RxPkt { p.Pad = 1; return p }
	with := func(s roce.Syndrome, p port.RxPkt) port.RxPkt { p.Syndrome = uint8(s); return p }
	at := func(n uint32) roce.PSN { return una.Add(n) }
	// PSNs: SEND 0, READ of 2,500 bytes 1..3, READ of 100 bytes 4, atomic 5, SEND 6.
	for _, c := range []struct {
		name string
		una  uint32 // how far it has come
		p    port.RxPkt
		want nak
	}{
		{"READ response to a SEND", 0, answerOf(roce.RCReadRespOnly, at(0), 4), bad},
		{"atomic response to a SEND", 0, answerOf(roce.RCAtomicAck, at(0), 0), bad},
		{"READ response to the last SEND", 6, answerOf(roce.RCReadRespOnly, at(6), 4), bad},
		{"middle first", 1, answerOf(roce.RCReadRespMiddle, at(1), 1024), bad},
		{"last first", 1, answerOf(roce.RCReadRespLast, at(1), 1024), bad},
		{"first again", 2, answerOf(roce.RCReadRespFirst, at(2), 1024), bad},
		{"only after first", 2, answerOf(roce.RCReadRespOnly, at(2), 1024), bad},
		{"atomic response to a READ", 1, answerOf(roce.RCAtomicAck, at(1), 0), bad},
		{"READ response to an atomic", 5, answerOf(roce.RCReadRespOnly, at(5), 8), bad},
		{"NAK syndrome", 1, with(roce.NAKSyndrome(roce.NAKRemoteAccess), answerOf(roce.RCReadRespFirst, at(1), 1024)), bad},
		{"RNR syndrome", 4, with(roce.RNRSyndrome(1), answerOf(roce.RCReadRespOnly, at(4), 100)), bad},
		{"NAK syndrome of an atomic", 5, with(roce.NAKSyndrome(roce.NAKRemoteAccess), answerOf(roce.RCAtomicAck, at(5), 0)), bad},
		{"short first", 1, answerOf(roce.RCReadRespFirst, at(1), 1023), length},
		{"long first", 1, answerOf(roce.RCReadRespFirst, at(1), 1025), length},
		{"padded first", 1, pad(answerOf(roce.RCReadRespFirst, at(1), 1024)), length},
		{"short middle", 2, answerOf(roce.RCReadRespMiddle, at(2), 1000), length},
		{"ends too early", 2, answerOf(roce.RCReadRespLast, at(2), 1024), length},
		{"does not end", 3, answerOf(roce.RCReadRespMiddle, at(3), 1024), length},
		{"short last", 3, answerOf(roce.RCReadRespLast, at(3), 451), length},
		{"long last", 3, answerOf(roce.RCReadRespLast, at(3), 453), length},
		{"empty last", 3, answerOf(roce.RCReadRespLast, at(3), 0), length},
		{"all at once", 1, answerOf(roce.RCReadRespOnly, at(1), 2500), length},
		{"a part as all", 1, answerOf(roce.RCReadRespOnly, at(1), 1024), length},
		{"short only", 4, answerOf(roce.RCReadRespOnly, at(4), 99), length},
		{"first of one", 4, answerOf(roce.RCReadRespFirst, at(4), 1024), length},
		{"payload of an atomic", 5, answerOf(roce.RCAtomicAck, at(5), 8), length},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := reading(0, 2500, 100, -1, 0)
			x.SQ.PI = 100
			x.Requester.Una = at(c.una)
			x.Requester.Answered = map[uint32]uint8{4: 1, 5: 2, 6: 3}[c.una]
			v, w := x.judge(c.p)
			require.Equal(t, port.RxAck, v.Action)
			require.Zero(t, v.Drop)
			require.Equal(t, InCommon|InRequester, w)
			require.True(t, v.HasEvent)
			require.Equal(t, port.AckEvent{
				QPN: 1, Una: c.p.PSN, Fail: true, FailPSN: c.p.PSN, Status: c.want.status, Vendor: c.want.vendor, Arm: 17 << 20,
			}, v.Event)
			require.Equal(t, abi.QPErr, x.Common.State)
			require.False(t, x.expectsResponse())
		})
	}
}

func TestReservedSyndromeOfAnAnswer(t *testing.T) {
	x := reading(1024)
	before := *x
	for _, s := range []uint8{0x40, 0x80, 0x65} {
		p := answerOf(roce.RCReadRespOnly, una, 1024)
		p.Syndrome = s
		v, w := x.judge(p)
		require.Equal(t, abi.RxDropOther, v.Drop)
		require.Zero(t, w)
	}
	require.Equal(t, before, *x)
	p := answerOf(roce.RCReadRespOnly, una, 1024)
	v, _ := x.judge(p)
	require.Equal(t, port.RxPlace, v.Action)
	x = reading(3000)
	x.Requester.Una = una.Add(1)
	p = answerOf(roce.RCReadRespMiddle, una.Add(1), 1024)
	p.Syndrome = 0x80 // it has none
	v, _ = x.judge(p)
	require.Equal(t, port.RxPlace, v.Action)
}

// Nothing but its own response may come before a READ is answered.
func TestImpliedNAK(t *testing.T) {
	ack := roce.ACKSyndrome(roce.NoCredits)
	at := func(n uint32) roce.PSN { return una.Add(n) }
	// PSNs: SEND 0, READ of 2,500 bytes 1..3, atomic 4, SEND 5, READ 6.
	for _, c := range []struct {
		name    string
		una     uint32
		p       port.RxPkt
		implied uint32 // PSN of the response that is missing; 0: none is
	}{
		{"ACK before the READ", 0, ackOf(at(0), ack), 0},
		{"NAK before the READ", 0, ackOf(at(0), 0x60), 0},
		{"NAK in place of the first response", 0, ackOf(at(1), 0x62), 0},
		{"RNR NAK in place of the first response", 0, ackOf(at(1), 0x21), 0},
		{"NAK in place of a later response", 3, ackOf(at(3), 0x63), 0},
		{"ACK of the READ", 0, ackOf(at(1), ack), 1},
		{"ACK within the READ", 2, ackOf(at(3), ack), 2},
		{"ACK of the next response", 2, ackOf(at(2), ack), 2},
		{"ACK behind the READ", 0, ackOf(at(5), ack), 1},
		{"NAK within the READ", 2, ackOf(at(3), 0x60), 2},
		{"NAK behind the READ", 0, ackOf(at(5), 0x61), 1},
		{"RNR NAK behind the READ", 3, ackOf(at(5), 0x21), 3},
		{"response beyond the next", 0, answerOf(roce.RCReadRespMiddle, at(2), 1024), 1},
		{"response of the next READ", 2, answerOf(roce.RCReadRespOnly, at(6), 10), 2},
		{"atomic response", 2, answerOf(roce.RCAtomicAck, at(4), 0), 2},
		{"ACK of the atomic", 4, ackOf(at(4), ack), 4},
		{"ACK behind the atomic", 4, ackOf(at(5), ack), 4},
		{"NAK in place of the atomic's", 4, ackOf(at(4), 0x61), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := reading(0, 2500, -1, 0, 10)
			x.Requester.Una = at(c.una)
			if c.una == 4 {
				x.Requester.Answered = 1
			}
			v, _ := x.judge(c.p)
			require.Equal(t, port.RxAck, v.Action)
			require.True(t, v.HasEvent)
			if c.implied == 0 {
				require.NotEqual(t, abi.ImpliedNakSeqErr, v.Drop)
				return
			}
			require.Equal(t, abi.ImpliedNakSeqErr, v.Drop)
			require.Equal(t, port.AckEvent{
				QPN: 1, Una: at(c.implied), Fail: true, FailPSN: at(c.implied),
				Status: abi.StatusRetryExc, Vendor: abi.VendorNAKSequence, Arm: 17 << 20,
			}, v.Event)
			require.Equal(t, at(c.implied), x.Requester.Una)
		})
	}
}

// Before a local fault READs go on to be answered, and none behind it.
func TestAnswersBeforeALocalFault(t *testing.T) {
	x := reading(2000, 0, 100)
	x.sqFault(&port.SQFault{PSN: una.Add(2), Status: abi.StatusLocProt})
	v, _ := x.judge(answerOf(roce.RCReadRespFirst, una, 1024))
	require.Equal(t, port.RxPlace, v.Action)
	require.True(t, v.Event.Fail)
	require.Equal(t, una.Add(1), v.Event.Una)
	v, _ = x.judge(answerOf(roce.RCReadRespLast, una.Add(1), 976))
	require.Equal(t, port.RxPlace, v.Action)
	v, _ = x.judge(answerOf(roce.RCReadRespOnly, una.Add(3), 100))
	require.Equal(t, abi.RxDropBadState, v.Drop)
}

// The window is opened by and by while a long READ comes in.
func TestActivationByAnswers(t *testing.T) {
	x := reading(100000)
	x.SQ.PI = 100
	told := 0
	for i := range uint32(98) {
		op := roce.RCReadRespMiddle
		size := uint16(1024)
		switch i {
		case 0:
			op = roce.RCReadRespFirst
		case 97:
			op, size = roce.RCReadRespLast, 100000-97*1024
		}
		v, _ := x.judge(answerOf(op, una.Add(i), size))
		require.Equal(t, port.RxPlace, v.Action)
		opens := x.opens(&v)
		if opens {
			told++
		}
		require.True(t, opens || i != 97, "at the end")
	}
	require.Equal(t, 98/16+1, told)
	x.SQ.Exec, x.SQ.Entered = x.SQ.PI, x.SQ.PI
	v, _ := x.judge(ackOf(una, 31))
	require.False(t, x.opens(&v), "a ghost")
}
