package retrans_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// wire is a message of n packets from psn on, known by its unit index.
func wire(qpn port.QPN, unit uint16, psn roce.PSN, n uint32) port.Sent {
	return port.Sent{
		QPN: qpn, UnitIdx: unit, Op: abi.OpSend, Signaled: true, SendCQN: 7,
		FirstPSN: psn, LastPSN: psn.Add(n - 1), ByteLen: n * 100,
	}
}

// local is a message that needs no answer.
func local(qpn port.QPN, unit uint16, psn roce.PSN, status abi.WCStatus) port.Sent {
	return port.Sent{
		QPN: qpn, Kind: port.SentLocal, UnitIdx: unit, Op: abi.OpNop, Signaled: true, SendCQN: 7,
		FirstPSN: psn, LastPSN: psn, Status: status,
	}
}

// ended is what the tests of order and status look at.
type ended struct {
	Unit   uint16
	Status abi.WCStatus
}

func (b *bench) ended(qpn port.QPN) (e []ended) {
	for _, c := range b.CQE.Got {
		if c.QPN == qpn && !c.Purge {
			e = append(e, ended{c.UnitIdx, c.Status})
		}
	}
	return e
}

const flushed = abi.StatusWRFlush

func TestAcknowledgedMessagesComplete(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 10, 0xfffffe, 1), wire(3, 11, 0xffffff, 3), wire(3, 13, 2, 1))
	b.run(t, 20)
	require.Empty(t, b.CQE.Got)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 1}) // ends within the second
	b.run(t, 20)
	require.Equal(t, []port.CQEReq{{CQN: 7, QPN: 3, UnitIdx: 10, Opcode: abi.WCSend, ByteLen: 100}}, b.CQE.Got)
	require.Equal(t, []port.Retire{{Kind: port.RetireDone, QPN: 3, Messages: 1, Oldest: 11, Una: 1}}, b.Retire.Got)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 3})
	b.run(t, 20)
	require.Equal(t, []ended{{10, 0}, {11, 0}, {13, 0}}, b.ended(3))
	require.Equal(t, port.Retire{Kind: port.RetireDone, QPN: 3, Messages: 2, Una: 3}, b.Retire.Got[1])
	require.Equal(t, 3, b.freed())
}

// TestOpcodes has each operation complete as verbs name it, with its length.
func TestOpcodes(t *testing.T) {
	want := []abi.WCOpcode{
		abi.OpSend: abi.WCSend, abi.OpSendImm: abi.WCSend, abi.OpSendInv: abi.WCSend, abi.OpWrite: abi.WCWrite, abi.OpWriteImm: abi.WCWrite,
		abi.OpRead: abi.WCRead, abi.OpCompareSwap: abi.WCCompareSwap, abi.OpFetchAdd: abi.WCFetchAdd, abi.OpLocalInv: abi.WCLocalInv,
		abi.OpBindMW: abi.WCBindMW, abi.OpFastReg: abi.WCFastReg, abi.OpNop: abi.WCNop,
	}
	b := open(t)
	for op := range want {
		s := wire(3, uint16(op), roce.PSN(5+op), 1)
		s.Op, s.ByteLen = abi.WQEOp(op), uint32(1000+op)
		b.Sent.Push(s)
	}
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 5 + roce.PSN(len(want))})
	b.Ack.NotBefore = func(int) uint64 { return 100 }
	b.run(t, 200)
	require.Len(t, b.CQE.Got, len(want))
	for op, c := range b.CQE.Got {
		require.Equal(t, want[op], c.Opcode)
		require.Equal(t, uint32(1000+op), c.ByteLen)
	}
}

// TestLongestRead has all PSNs that may be outstanding belong to one READ, and
// only the last response say so.
func TestLongestRead(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, roce.MaxOutstanding))
	b.run(t, 20)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5})
	b.run(t, 20)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 5 + roce.MaxOutstanding - 1})
	b.run(t, 20)
	require.Empty(t, b.CQE.Got)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 5 + roce.MaxOutstanding})
	b.run(t, 20)
	b.Sent.Push(wire(3, 2, 5+roce.MaxOutstanding, roce.MaxOutstanding))
	b.run(t, 20)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 5})
	b.run(t, 20)
	require.Equal(t, []ended{{1, 0}, {2, 0}}, b.ended(3))
}

func TestUnsignaledSuccessIsSilent(t *testing.T) {
	b := open(t)
	s, f := wire(3, 1, 5, 1), wire(3, 2, 6, 1)
	s.Signaled, f.Signaled = false, false
	b.Sent.Push(s, f)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5})
	b.run(t, 20)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 6, Flush: true})
	b.run(t, 20)
	require.Equal(t, []ended{{2, flushed}}, b.ended(3))
	require.Equal(t, abi.VendorFlush, b.CQE.Got[0].Vendor)
	require.Equal(t, 2, b.retired(3))
}

func TestLocalMessagesEndInTheirTurn(t *testing.T) {
	b := open(t)
	b.Sent.Push(local(3, 1, 5, 0), wire(3, 2, 5, 1), local(3, 3, 6, 0), local(3, 4, 6, abi.StatusLocQPOp))
	b.run(t, 20)
	require.Equal(t, []ended{{1, 0}}, b.ended(3))
	require.Equal(t, abi.WCOpcode(abi.OpNop.WCOpcode()), b.CQE.Got[0].Opcode)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6})
	b.run(t, 20)
	require.Equal(t, []ended{{1, 0}, {2, 0}, {3, 0}, {4, abi.StatusLocQPOp}}, b.ended(3))
}

// TestFailureWaitsForThoseBeforeIt has a fault in the third message's second packet.
func TestFailureWaitsForThoseBeforeIt(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), local(3, 3, 7, 0), wire(3, 4, 7, 3), wire(3, 5, 10, 1))
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 8, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD})
	b.run(t, 30)
	require.Empty(t, b.CQE.Got)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6})
	b.run(t, 30)
	require.Equal(t, []ended{{1, 0}}, b.ended(3))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 7})
	b.Sent.Push(local(3, 6, 11, 0), wire(3, 7, 11, 1))
	b.run(t, 30)
	require.Equal(t, []ended{{1, 0}, {2, 0}, {3, 0}, {4, abi.StatusLocProt}, {5, flushed}, {6, flushed}, {7, flushed}}, b.ended(3))
	require.Equal(t, abi.VendorLKeyPD, b.CQE.Got[3].Vendor)
	b.Sent.Push(wire(3, 8, 12, 1), local(3, 9, 13, 0))
	b.run(t, 30)
	require.Equal(t, []ended{{8, flushed}, {9, flushed}}, b.ended(3)[7:])
	require.Equal(t, 9, b.freed())
}

func TestOlderFailureCounts(t *testing.T) {
	for _, first := range []roce.PSN{6, 7} {
		b := open(t)
		b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(3, 3, 7, 1))
		b.run(t, 20)
		b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: first, Status: abi.WCStatus(first)})
		b.run(t, 20)
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 13 - first, Status: abi.WCStatus(13 - first)})
		b.run(t, 20)
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 6, Fail: true, FailPSN: 6, Status: 6})
		b.run(t, 20)
		require.Equal(t, []ended{{1, 0}, {2, 6}, {3, flushed}}, b.ended(3))
	}
}

func TestFlushIsNotOvertaken(t *testing.T) {
	b := open(t)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 6, Flush: true})
	b.run(t, 20)
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 5}, port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 6, Status: abi.StatusRetryExc})
	b.run(t, 20)
	b.Sent.Push(wire(3, 1, 6, 1), wire(3, 2, 7, 1))
	b.run(t, 20)
	require.Equal(t, []ended{{1, flushed}, {2, flushed}}, b.ended(3))
}

// TestFlushAfterFailure flushes those that still wait for their acknowledgement,
// and the one that was to fail with them.
func TestFlushAfterFailure(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(3, 3, 7, 1))
	b.Event.Push(
		port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 7, Status: abi.StatusLocProt},
		port.AckEvent{QPN: 3, Una: 6, Flush: true})
	b.run(t, 30)
	require.Equal(t, []ended{{1, 0}, {2, flushed}, {3, flushed}}, b.ended(3))
}

// TestAnswersToWhatIsNotSentYet: a peer that guesses gets nothing stuck.
func TestAnswersToWhatIsNotSentYet(t *testing.T) {
	b := open(t)
	b.Ack.Push(
		port.AckEvent{QPN: 3, Una: 6},
		port.AckEvent{QPN: 4, Una: 6, Fail: true, FailPSN: 6, Status: abi.StatusRemOp})
	b.run(t, 20)
	b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(4, 1, 5, 1), wire(4, 2, 6, 2), wire(4, 3, 8, 1))
	b.run(t, 30)
	require.Equal(t, []ended{{1, 0}}, b.ended(3))
	require.Equal(t, []ended{{1, 0}, {2, abi.StatusRemOp}, {3, flushed}}, b.ended(4))
}

func TestPurgeDropsTheQP(t *testing.T) {
	b := open(t)
	for i := range uint16(20) {
		b.Sent.Push(wire(3, i, roce.PSN(5+i), 1), wire(4, i, roce.PSN(5+i), 1))
	}
	b.run(t, 200)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 9, Status: abi.StatusLocProt})
	b.run(t, 20)
	b.Purge.Push(port.Purge{QPN: 3}, port.Purge{QPN: 5})
	b.run(t, 100)
	require.Equal(t, []port.CQEReq{{Purge: true, QPN: 3}, {Purge: true, QPN: 5}}, b.CQE.Got)
	require.Equal(t, 20, b.freed())
	require.Zero(t, b.retired(3))

	// One that was on its way is ignored; the next life starts with other PSNs.
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 0x800000, Fail: true, FailPSN: 0x800000, Status: abi.StatusRemOp})
	b.run(t, 20)
	b.Sent.Push(wire(3, 100, 0x10, 1), wire(3, 101, 0x11, 1))
	b.run(t, 20)
	require.Empty(t, b.ended(3))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 0x11})
	b.run(t, 20)
	require.Equal(t, []ended{{100, 0}}, b.ended(3))
	b.Ack.Push(port.AckEvent{QPN: 4, Una: 5 + 20})
	b.run(t, 100)
	require.Len(t, b.ended(4), 20)
}

// TestPurgeComesAfterAll has the marker arrive while what is before it waits.
func TestPurgeComesAfterAll(t *testing.T) {
	t.Run("Sent", func(t *testing.T) {
		b := open(t)
		b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(3, 3, 7, 1), wire(4, 1, 5, 1))
		b.Purge.Push(port.Purge{QPN: 4})
		b.Purge.NotBefore = func(int) uint64 { return 3 }
		b.run(t, 50)
		require.Equal(t, 1, b.freed())
		require.Equal(t, []port.CQEReq{{Purge: true, QPN: 4}}, b.CQE.Got)
	})
	t.Run("Event", func(t *testing.T) {
		b := open(t)
		b.Event.Push(port.AckEvent{QPN: 5}, port.AckEvent{QPN: 4, Una: 5, Flush: true})
		b.Purge.Push(port.Purge{QPN: 4})
		b.Purge.NotBefore = func(int) uint64 { return 1 }
		b.run(t, 50)
		b.Sent.Push(wire(4, 1, 5, 1))
		b.run(t, 50)
		require.Equal(t, []port.CQEReq{{Purge: true, QPN: 4}}, b.CQE.Got)
	})
}

// TestFirstAnswerAfterPurge comes while its message waits behind others.
func TestFirstAnswerAfterPurge(t *testing.T) {
	b := open(t)
	b.Purge.Push(port.Purge{QPN: 4})
	b.run(t, 50)
	b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(3, 3, 7, 1), wire(4, 1, 5, 1))
	b.Ack.Push(port.AckEvent{QPN: 4, Una: 6})
	at := b.k.Cycle() + 5
	b.Ack.NotBefore = func(int) uint64 { return at }
	b.run(t, 50)
	require.Equal(t, []ended{{1, 0}}, b.ended(4))
}

// TestPurgeWaitsForRoom drops entries when it can, and sleeps until then.
func TestPurgeWaitsForRoom(t *testing.T) {
	b := open(t)
	b.Retire.Shut = true
	for i := range uint16(40) {
		b.Sent.Push(local(4, i, 5, 0), local(5, i, 5, 0), wire(3, i, roce.PSN(i), 1))
	}
	b.Purge.Push(port.Purge{QPN: 3})
	b.Purge.NotBefore = func(int) uint64 { return 400 }
	b.k.Go("opener", func(th *hdl.Thread) {
		th.Sleep(5000)
		b.Retire.Shut = false
		b.Retire.Wake()
	})
	require.NoError(t, b.k.Run(4000))
	require.Less(t, b.k.Stats().Steps, uint64(300))
	require.NotContains(t, b.CQE.Got, port.CQEReq{Purge: true, QPN: 3})
	require.NoError(t, b.k.Run(6000))
	require.Contains(t, b.CQE.Got, port.CQEReq{Purge: true, QPN: 3})
	require.Equal(t, 120, b.freed())
}

// TestNoTimeoutWhileDropping has the alarm of a QP come while its list is dropped.
func TestNoTimeoutWhileDropping(t *testing.T) {
	b := open(t)
	for i := range uint16(500) {
		b.Sent.Push(armed(wire(3, i, roce.PSN(i), 1), 2200))
	}
	b.Purge.Push(port.Purge{QPN: 3})
	b.Purge.NotBefore = func(int) uint64 { return 2000 }
	b.run(t, 10000)
	require.Equal(t, 500, b.freed())
	require.Greater(t, b.CQE.At[0], uint64(2250))
	require.Empty(t, b.Retire.Got)
}
