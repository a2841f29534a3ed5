package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/scatter"
)

// step is a packet with its verdict.
type step struct {
	op  roce.Opcode
	len int
	v   port.RxVerdict
}

// play has the steps come one behind the other, in arrival order.
func play(t *testing.T, p scatter.Params, steps []step) *bench {
	return playWith(t, setup{scatter: p}, steps)
}

func playWith(t *testing.T, s setup, steps []step) *bench {
	b := newBench(t, s, hdl.Options{Strict: true})
	b.host.latency, b.Mpt.Latency = 125, nil
	b.buf.onFree = func() {}
	n := 0
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		v := port.RxVerdict{Action: port.RxFailed}
		if o.Kind == port.RxPacket {
			v = steps[n].v
			n++
		}
		v.QPN, v.PD, v.RQPD = o.QPN, testPD, testPD
		return v
	}
	for i, s := range steps {
		pkt := port.RxPkt{QPN: s.v.QPN, Opcode: s.op, PSN: roce.PSN(i), Len: uint16(s.len), Imm: uint32(i)<<8 | uint32(s.v.RQIdx)}
		if s.op.HasIETH() {
			pkt.Imm = uint32(i) << 8
		}
		var ok bool
		pkt.BufAddr, pkt.FrameBeats, ok = b.buf.put(54, make([]byte, s.len))
		require.True(t, ok)
		b.Pkt.Push(pkt)
	}
	return b
}

// settle runs until everything is over.
func (b *bench) settle() {
	require.NoError(b.t, b.k.Run(b.k.Cycle()+5000))
	require.Empty(b.t, b.buf.frames)
	require.Zero(b.t, b.Scat.Front.Q.Counted)
	require.Zero(b.t, b.Scat.Collect.Q.Atomics.Used)
}

// arrived is the cycle in which the n-th packet is seen by ack_gen.
func arrived(n int) uint64 { return uint64(n) + 1 }

func ackOf(n port.QPN) step {
	return step{op: roce.RCAck, v: port.RxVerdict{QPN: n, Action: port.RxAck, Event: port.AckEvent{QPN: n}}}
}

const lkey = port.Key(abi.AccessLocalWrite) << keyAccess

// responseOf is a READ response into a send WQE that is not there yet.
func responseOf(n port.QPN) step {
	return step{roce.RCReadRespOnly, 64, port.RxVerdict{
		QPN: n, Action: port.RxPlace, Target: port.TargetSend, SQ: port.SQRef{Base: 0x4000, Log: 4, Last: true},
		HasEvent: true, Event: port.AckEvent{QPN: n, Una: 1},
	}}
}

func writeOf(n port.QPN) step {
	return step{roce.RCWriteOnly, 64, port.RxVerdict{
		QPN: n, Action: port.RxPlace, Target: port.TargetRemote, Ack: port.AckReq{Send: true, QPN: n},
		Remote: port.Remote{VA: 0x10000, Key: hotKey, Range: 64, Access: uint8(abi.AccessRemoteWrite)},
	}}
}

func atomicOf(n port.QPN, va port.VA) step {
	return step{roce.RCFetchAdd, 0, port.RxVerdict{
		QPN: n, Action: port.RxPlace, Target: port.TargetRemote, Job: port.Job{Kind: port.JobAtomic, QPN: n, VA: va},
		Remote: port.Remote{VA: va, Key: hotKey, Range: 8, Access: uint8(abi.AccessRemoteAtomic)},
	}}
}

func readOf(n port.QPN) step {
	key := port.Key(abi.AccessRemoteRead) << keyAccess
	return step{roce.RCReadRequest, 0, port.RxVerdict{
		QPN: n, Action: port.RxPlace, Target: port.TargetRemote, Job: port.Job{Kind: port.JobRead, QPN: n, Len: 100},
		Remote: port.Remote{VA: 0x10000, Key: key, Range: 100, Access: uint8(abi.AccessRemoteRead)},
	}}
}

// TestAckPasses: an acknowledgement waits for what its own QP has read, not for
// others.
func TestAckPasses(t *testing.T) {
	b := play(t, scatter.Params{}, []step{responseOf(1), ackOf(2), ackOf(1), ackOf(1), ackOf(65), ackOf(66)})
	postRead(b)
	b.settle()
	at := map[port.QPN][]uint64{}
	for i, e := range b.Event.Got {
		at[e.QPN] = append(at[e.QPN], b.Event.At[i])
	}
	require.Len(t, at[1], 3)
	t.Logf("%d cycles from RxPkt to the event of another QP, %d behind a response", at[2][0]-arrived(1), at[1][1]-arrived(2))
	require.LessOrEqual(t, at[2][0]-arrived(1), uint64(10))
	require.LessOrEqual(t, at[66][0]-arrived(5), uint64(10))
	require.Greater(t, at[1][0], uint64(125))
	require.Greater(t, at[1][1], at[1][0])
	require.Greater(t, at[65][0], at[1][0], "shares QP 1's counter")
	require.EqualValues(t, 1, b.Event.Got[2].Una, "the response's event is the first of its QP")
}

// postRead puts the send WQE of responseOf into memory.
func postRead(b *bench) {
	data := make([]byte, abi.UnitSize)
	sge := abi.SGE{Addr: 0x7000, Length: 64, LKey: abi.Key(lkey)}
	abi.WQEControlLayout.Encode(&abi.WQEControl{Op: abi.OpRead, Units: 1, NumSGE: 1}, data)
	abi.SGELayout.Encode(&sge, data[abi.WQEDataOffset:])
	b.host.write(0x4000, data)
}

// TestNoEventPasses: while a response that could not be placed is dealt with, no
// acknowledgement of its QP goes on, by whichever way.
func TestNoEventPasses(t *testing.T) {
	b := play(t, scatter.Params{}, []step{responseOf(1), ackOf(1), ackOf(2)}) // the WQE's memory is empty: of no length
	verdict := b.Qpc.Answer
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		v := verdict(o)
		if o.Kind == port.RxFault {
			require.Equal(t, port.RxOp{Kind: port.RxFault, QPN: 1, Send: true, Status: abi.StatusLocLen, Vendor: abi.VendorRespLength}, o)
			v.HasEvent, v.Event = true, port.AckEvent{QPN: 1, Fail: true}
		}
		return v
	}
	b.Qpc.Latency = func() uint64 {
		if len(b.Qpc.Seen) > 3 { // the fault
			return 500
		}
		return 3
	}
	require.NoError(t, b.k.Run(400))
	require.Len(t, b.Event.Got, 1)
	b.settle()
	require.Equal(t, []port.AckEvent{{QPN: 2}, {QPN: 1, Fail: true}}, b.Event.Got)
	require.Empty(t, b.Resp.Got, "no NAK")
}

// TestAtomicsOverlap: atomics of different QPs are under way together, up to 8; a
// second one of a QP waits, and what writes behind it, but not its READs.
func TestAtomicsOverlap(t *testing.T) {
	var steps []step
	for n := range port.QPN(9) {
		steps = append(steps, atomicOf(n, 0x1000))
	}
	b := play(t, scatter.Params{}, steps)
	b.Atomic.Latency = func() uint64 { return 200 }
	b.settle()
	require.Len(t, b.Atomic.At, 9)
	require.Less(t, b.Atomic.At[7], b.Atomic.At[0]+8)
	require.Greater(t, b.Atomic.At[8], b.Atomic.At[0]+200)

	b = play(t, scatter.Params{}, []step{atomicOf(1, 0x1000), readOf(1), writeOf(2), writeOf(1), atomicOf(1, 0x1000)})
	b.Atomic.Latency = func() uint64 { return 200 }
	b.settle()
	first := b.Atomic.At[0]
	require.Less(t, b.Resp.At[1], first+10, "a READ's answer waits in responder")
	require.Less(t, b.Write.At[0], first+10, "of another QP")
	require.Greater(t, b.Write.At[1], first+200)
	require.Greater(t, b.Atomic.At[1], b.Write.At[1])
}

// TestInvalidateWaits: a key is made invalid behind the atomics that were translated
// by it, and before what comes later; it costs some cycles.
func TestInvalidateWaits(t *testing.T) {
	send := func(n port.QPN, i uint16) step {
		return step{roce.RCSendOnlyInv, 0, port.RxVerdict{
			QPN: n, Action: port.RxPlace, Target: port.TargetRecv, TakesWQE: true, EndsWQE: true, RQIdx: i,
			RQAddr: 0x4000 + port.BusAddr(i)*32, RQStride: 32, RQLog: 4, RQNext: 15 - i,
		}}
	}
	b := play(t, scatter.Params{}, []step{atomicOf(1, 0x1000), send(2, 0), send(2, 1), send(2, 2), send(2, 3)})
	b.Atomic.Latency = func() uint64 { return 300 }
	for i := range uint16(4) {
		data := make([]byte, 32)
		abi.RWQEControlLayout.Encode(&abi.RWQEControl{Index: i}, data)
		b.host.write(0x4000+port.BusAddr(i)*32, data)
	}
	b.settle()
	require.Len(t, b.CQE.Got, 4)
	for i, c := range b.CQE.Got {
		require.Equal(t, abi.StatusSuccess, c.Status)
		require.EqualValues(t, abi.CQEWithInv, c.Flags)
		require.EqualValues(t, (i+1)<<8, c.Imm)
		require.True(t, b.killed[port.Key(c.Imm)])
	}
	require.Greater(t, b.CQE.At[0], b.Atomic.At[0]+300)
	per := (b.CQE.At[3] - b.CQE.At[0]) / 3
	t.Logf("%d cycles for each SEND with invalidate", per)
	require.LessOrEqual(t, per, uint64(9))
}

// TestRates: the interval of each kind, without a gap in arrival.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     func(port.QPN) step
		cycles float64
		last   func(b *bench) uint64
	}{
		{"acknowledgements", ackOf, 1, func(b *bench) uint64 { return b.Event.At[len(b.Event.At)-1] }},
		{"READ requests", readOf, 1, func(b *bench) uint64 { return b.Resp.At[len(b.Resp.At)-1] }},
		{"WRITEs of 64 bytes", writeOf, 2, func(b *bench) uint64 { return b.Resp.At[len(b.Resp.At)-1] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var steps []step
			for i := range 80 {
				steps = append(steps, c.of(port.QPN(i%7)))
			}
			b := play(t, scatter.Params{}, steps)
			b.settle()
			per := float64(c.last(b)-arrived(0)-20) / 80
			t.Logf("%.2f cycles each", per)
			require.LessOrEqual(t, per, c.cycles+0.2)
		})
	}
}

// TestReadLatency: from the READ request at ack_gen to its job at responder.
func TestReadLatency(t *testing.T) {
	b := play(t, scatter.Params{}, []step{readOf(1)})
	b.settle()
	t.Logf("%d cycles from RxPkt to Job, 3 each of them in qpc and mpt", b.Resp.At[0]-arrived(0))
	require.LessOrEqual(t, b.Resp.At[0]-arrived(0), uint64(18))
}
