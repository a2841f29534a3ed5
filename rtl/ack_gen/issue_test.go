package ackgen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
)

// TestFlush: all QPs of the device fail at once, under traffic. Each is asked
// until it has nothing left, also when more is posted just as it says so.
func TestFlush(t *testing.T) {
	const qps, packets = 64, 400
	for _, p := range []ackgen.Params{{LogQP: 6}, {LogQP: 6, Ops: 2}} {
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, int) {
			b := newBench(t, p, o)
			left, again, flushed := [qps]int{}, [qps]int{}, [qps]int{}
			seen, lastPacket, longest := 0, 0, 0
			b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
				v := port.RxVerdict{Action: port.RxDrop}
				if o.Kind != port.RxFlushRQ {
					seen, lastPacket = seen+1, len(b.Qpc.Seen)
					return v
				}
				if seen < packets {
					longest = max(longest, len(b.Qpc.Seen)-lastPacket)
				}
				if v.Action = port.RxFlushed; left[o.QPN] == 0 {
					v.Action = port.RxNothing
					if again[o.QPN] > 0 {
						again[o.QPN]--
						left[o.QPN]++
						b.QPErr.Push(port.QPError{QPN: o.QPN})
					}
					return v
				}
				left[o.QPN]--
				flushed[o.QPN]++
				return v
			}
			for i := range port.QPN(qps) {
				left[i], again[i] = int(i%7), int(i%3)
				b.QPErr.Push(port.QPError{QPN: i})
			}
			for i := range packets {
				b.Pkt.Push(port.RxPkt{QPN: 1, PSN: roce.PSN(i), FrameBeats: 1})
			}
			require.NoError(t, b.k.Run(100_000))
			total := 0
			for i := range qps {
				require.Equal(t, i%7+i%3, flushed[i], "QP %d", i)
				total += flushed[i]
			}
			frames := 0
			for _, x := range b.Place.Got {
				if x.HasFrame {
					require.EqualValues(t, frames, x.PSN)
					frames++
				} else {
					require.Equal(t, port.RxFlushed, x.V.Action)
				}
			}
			require.Equal(t, packets, frames)
			require.Len(t, b.Place.Got, packets+total, "RxNothing has no Place")
			require.LessOrEqual(t, longest, 2, "flushes and packets take turns")
			return b.k, total
		})
	}
}

// TestPurge: a marker goes in order; nothing of the QP's old life comes after it.
func TestPurge(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	b.Purge.Push(port.Purge{QPN: 3, RX: true}, port.Purge{QPN: 5, RX: true})
	fault := func(n port.QPN) port.Placed {
		return port.Placed{Fault: true, QPN: n, PSN: 7, MSN: 9, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD}
	}
	b.Placed.Push(fault(3), placed(3, 1, port.JobRead), fault(4), placed(4, 1, port.JobAtomic), port.Placed{Purge: true, QPN: 3})
	b.Placed.Push(fault(3)) // of the next life
	b.Placed.NotBefore = func(int) uint64 { return 100 }
	b.TxFail.Push(port.SQFault{QPN: 3, PSN: 5}, port.SQFault{QPN: 4, PSN: 6}, port.SQFault{QPN: 3, PSN: 8})
	b.TxFail.NotBefore = func(n int) uint64 { return 50 + uint64(n)*50 }
	require.NoError(t, b.k.Run(300))
	require.Equal(t, []port.RxOp{
		{Kind: port.RxPurge, QPN: 3},
		{Kind: port.RxFault, Resp: true, QPN: 4, PSN: 6},
		{Kind: port.RxFault, QPN: 4, PSN: 7, MSN: 9, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD},
		{Kind: port.RxFault, QPN: 3, PSN: 7, MSN: 9, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD},
		{Kind: port.RxPurge, QPN: 5}, // waits for the first one's end
		{Kind: port.RxFault, Resp: true, QPN: 3, PSN: 8},
	}, b.Qpc.Seen)
	require.Len(t, b.Place.Got, 6)
	require.True(t, b.Place.Got[0].Purge)
	require.EqualValues(t, 3, b.Place.Got[0].V.QPN)
	require.Equal(t, []port.Job{placed(4, 1, port.JobAtomic).Job, {Purge: true, QPN: 3}}, b.Resp.Seen)
}

// TestPurgeMeetsFault: a fault is reported in the very cycles in which the marker
// is issued. It is executed before it or never.
func TestPurgeMeetsFault(t *testing.T) {
	after := 0
	for delay := range uint64(10) {
		b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
		b.Purge.Push(port.Purge{QPN: 3, RX: true})
		b.Purge.NotBefore = func(int) uint64 { return 5 }
		b.Placed.Push(port.Placed{Fault: true, QPN: 3}, port.Placed{Fault: true, QPN: 4}, port.Placed{Purge: true, QPN: 3})
		b.Placed.NotBefore = func(n int) uint64 { return delay + uint64(n/2)*50 }
		require.NoError(t, b.k.Run(200))
		seen := b.kinds()
		if seen[0] == port.RxPurge {
			after++
			require.Equal(t, []port.RxOpKind{port.RxPurge, port.RxFault}, seen, "delay %d", delay)
			require.EqualValues(t, 4, b.Qpc.Seen[1].QPN)
		} else {
			require.Equal(t, port.RxFault, seen[0])
			require.Len(t, seen, 3, "delay %d", delay)
		}
		require.False(t, b.AckGen.Issue.Q.Purging)
	}
	require.Greater(t, after, 2)
	require.Less(t, after, 9)
}

// TestPurgeForgets: answers that have not left, and a flush that has not begun.
func TestPurgeForgets(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	slow(&b.Qpc, 50)
	for n := range port.QPN(12) {
		b.QPErr.Push(port.QPError{QPN: n})
	}
	for i := range roce.PSN(6) {
		b.Placed.Push(placed(11, i, port.JobAck), placed(2, i, port.JobAck))
	}
	b.Placed.NotBefore = func(n int) uint64 { return uint64(n) * 20 }
	b.Purge.Push(port.Purge{QPN: 11, RX: true})
	b.Purge.NotBefore = func(int) uint64 { return 60 }
	require.NoError(t, b.k.Run(10_000))
	purged := false
	for _, o := range b.Qpc.Seen {
		purged = purged || o.Kind == port.RxPurge
		require.False(t, o.Kind == port.RxFlushRQ && o.QPN == 11)
	}
	require.True(t, purged)
	require.Len(t, b.Qpc.Seen, 12)
	two, eleven := 0, 0
	for _, p := range b.Resp.Seen {
		if p.QPN == 2 {
			two++
		} else {
			eleven++
		}
	}
	require.Equal(t, 6, two)
	require.Equal(t, 2, eleven, "only what responder had already")
}

// TestCounters: every counter that a verdict may name.
func TestCounters(t *testing.T) {
	s := port.RespStats{}
	for _, c := range []struct {
		action port.RxAction
		drop   abi.Counter
		n      *uint64
		other  bool
	}{
		{port.RxDrop, abi.RxDropBadQPN, &s.DropBadQPN, false},
		{port.RxDrop, abi.RxDropBadTransport, &s.DropBadTransport, false},
		{port.RxDrop, abi.RxDropBadState, &s.DropBadState, false},
		{port.RxDrop, abi.RxDropBadPKey, &s.DropBadPKey, false},
		{port.RxDrop, abi.RxDropBadAddress, &s.DropBadAddress, false},
		{port.RxDrop, abi.RxDropBadQKey, &s.DropBadQKey, false},
		{port.RxDrop, abi.RxDropOther, &s.DropOther, false},
		{port.RxDrop, abi.DuplicateRequest, &s.DuplicateRequest, true},
		{port.RxDrop, abi.OutOfSequence, &s.OutOfSequence, true},
		{port.RxDrop, abi.CQOverruns, new(uint64), true},
		{port.RxReply, abi.DuplicateRequest, &s.DuplicateRequest, false},
		{port.RxReply, abi.OutOfBuffer, &s.OutOfBuffer, false},
		{port.RxReply, abi.RespRemoteInvalidRequest, &s.RespRemoteInvalidRequest, false},
		{port.RxReply, abi.RespRemoteAccessErrors, &s.RespRemoteAccess, false},
		{port.RxAck, abi.PacketSeqErr, &s.PacketSeqErr, false},
		{port.RxAck, abi.RNRNakRetryErr, &s.RnrNakRetryErr, false},
		{port.RxAck, abi.ImpliedNakSeqErr, &s.ImpliedNakSeqErr, false},
		{port.RxAck, abi.ReqRemoteInvalidRequest, &s.ReqRemoteInvalidRequest, false},
		{port.RxAck, abi.ReqRemoteAccessErrors, &s.ReqRemoteAccessErr, false},
		{port.RxAck, abi.ReqRemoteOperational, &s.ReqRemoteOperational, false},
		{port.RxAck, 0, new(uint64), false},
		{port.RxPlace, 0, new(uint64), false},
		{port.RxFailed, abi.RespLocalLengthError, &s.RespLocalLengthError, false},
		{port.RxFailed, abi.RespLocalProtectionErrors, &s.RespLocalProtection, false},
		{port.RxFailed, abi.RespRemoteAccessErrors, &s.RespRemoteAccess, false},
		{port.RxPlace, abi.DuplicateRequest, &s.DuplicateRequest, false},
	} {
		b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
		v := port.RxVerdict{Action: c.action, Drop: c.drop}
		b.Qpc.Answer = func(port.RxOp) port.RxVerdict { return v }
		b.Pkt.Push(port.RxPkt{})
		require.NoError(t, b.k.Run(100))
		s = port.RespStats{}
		*c.n++
		if c.other {
			s.DropOther++
		}
		require.Equal(t, s, b.AckGen.Judge.Stats.Get(), "%v %v", c.action, c.drop)
		require.Len(t, b.Place.Got, 1)
	}
}

// TestInvalidRequests: a NAK invalid request counts once, whatever its reason.
func TestInvalidRequests(t *testing.T) {
	for _, drop := range []abi.Counter{abi.RespLocalLengthError, abi.RespRemoteInvalidRequest} {
		b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
		b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
			nak := roce.NAKSyndrome(roce.NAKInvalidRequest)
			return port.RxVerdict{Action: port.RxFailed, Drop: drop, Ack: port.AckReq{Send: true, Syndrome: uint8(nak)}}
		}
		b.Placed.Push(port.Placed{Fault: true, QPN: 3})
		require.NoError(t, b.k.Run(100))
		require.EqualValues(t, 1, b.AckGen.Judge.Stats.Get().RespRemoteInvalidRequest)
	}
}

// TestFaults: what scatter and pkt_tx tell reaches qpc as it is, scatter's first, and
// the verdict is known as that of a response's.
func TestFaults(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	b.TxFail.Push(port.SQFault{QPN: 1, PSN: 2, Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyUnknown})
	b.TxFail.NotBefore = func(int) uint64 { return 11 } // seen with those that take Reply a cycle more
	b.Placed.Push(
		port.Placed{Fault: true, QPN: 4, PSN: 5, MSN: 6, RQIdx: 77, Send: true, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD},
		port.Placed{Fault: true, QPN: 7, PSN: 8, MSN: 9, Silent: true, Status: abi.StatusMWBind, Vendor: abi.VendorInvalidate},
	)
	b.Placed.NotBefore = func(int) uint64 { return 10 }
	require.NoError(t, b.k.Run(100))
	require.Equal(t, []port.RxOp{
		{Kind: port.RxFault, QPN: 4, PSN: 5, MSN: 6, RQIdx: 77, Send: true, Status: abi.StatusLocProt, Vendor: abi.VendorLKeyPD},
		{Kind: port.RxFault, QPN: 7, PSN: 8, MSN: 9, Silent: true, Status: abi.StatusMWBind, Vendor: abi.VendorInvalidate},
		{Kind: port.RxFault, QPN: 1, PSN: 2, Resp: true, Status: abi.StatusRemAccess, Vendor: abi.VendorRKeyUnknown},
	}, b.Qpc.Seen)
	require.Len(t, b.Place.Got, 3)
	for i, p := range b.Place.Got {
		require.Equal(t, i == 0, p.Send)
		require.False(t, p.HasFrame)
		require.Equal(t, port.RxFault, p.V.Kind)
		require.Equal(t, b.Qpc.Seen[i].PSN, p.PSN)
	}
}

// TestPlace: a packet's Place has what scatter needs of it, and the number of messages
// before it.
func TestPlace(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	before := map[roce.Opcode]port.MSN{
		roce.RCSendFirst: 0, roce.RCSendOnlyInv: 0xffffff, roce.RCWriteMiddle: 0, roce.RCWriteLastImm: 0xffffff,
		roce.RCReadRequest: 0xffffff, roce.RCFetchAdd: 0xffffff, roce.RCReadRespLast: 0,
	}
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		return port.RxVerdict{Action: port.RxPlace, Target: port.TargetRemote, EndsWQE: o.Pkt.Opcode == roce.RCSendOnlyInv}
	}
	for op := range before {
		b.Pkt.Push(port.RxPkt{
			Opcode: op, QPN: 3, PSN: 4, Solicited: true, Imm: 5, Len: 6, BufAddr: 7, FrameBeats: 8, Reth: port.Reth{Swap: 9},
		})
	}
	require.NoError(t, b.k.Run(100))
	require.Len(t, b.Place.Got, len(before))
	for _, p := range b.Place.Got {
		op := p.Opcode
		require.Equal(t, port.Place{
			HasFrame: true, V: port.RxVerdict{
				Action: port.RxPlace, QPN: 3, Target: port.TargetRemote, EndsWQE: op == roce.RCSendOnlyInv,
			},
			Imm: 5, HasImm: op.HasImm(), Opcode: op, Solicit: true, Len: 6, BufAddr: 7, Beats: 8, PSN: 4, MSN: before[op], Value: 9,
		}, p)
	}
}
