package responder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/responder"
)

// dup is the job of a duplicate.
func dup(j port.Job) port.Job {
	j.Again = true
	return j
}

// slotted is an atomic with its slot.
func slotted(n port.QPN, psn roce.PSN, slot uint8) port.Job {
	j := atomic(n, psn)
	j.Slot = slot
	return j
}

// TestAgainRead has a READ, and the rest of it asked for again, in one list: each is
// answered in its place, and tells of its own resource.
func TestAgainRead(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2, Budget: 2})
	b.give(read(1, 10, 0x1000, 256*4, 256), ack(1, 14), dup(read(1, 12, 0x1200, 256*2, 256)), ack(1, 14), ack(1, 15))
	b.run(t, 100)
	require.Equal(t, []roce.PSN{10, 11, 12, 13, 14, 12, 13, 15}, b.psns(1))
	for i, p := range b.Pkt.Got {
		require.Equal(t, i == 5 || i == 6, p.Again, "packet %d", i)
	}
	require.Equal(t, roce.RCReadRespFirst, b.Pkt.Got[5].Opcode)
	require.Equal(t, roce.RCReadRespLast, b.Pkt.Got[6].Opcode)
	require.EqualValues(t, 0x1200, b.Piece.Got[4].VA)
	require.Equal(t, []port.RespDone{{QPN: 1}, {QPN: 1, Again: true}}, b.Done.Got)
}

// TestAgainAtomic has an atomic asked for again before it is done, and after: it is not
// answered before itself, nor waits for a result of its own.
func TestAgainAtomic(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.give(slotted(1, 5, 3), dup(slotted(1, 5, 3)), slotted(1, 6, 4))
	b.run(t, 50)
	require.Empty(t, b.Pkt.Got)
	b.result(port.AtomicRes{QPN: 1, PSN: 5, Slot: 3, Value: 50})
	b.run(t, 50)
	require.Equal(t, []roce.PSN{5, 5}, b.psns(1))
	b.result(port.AtomicRes{QPN: 1, PSN: 6, Slot: 4, Value: 60})
	b.give(dup(slotted(1, 6, 4)), dup(slotted(1, 5, 3)))
	b.run(t, 50)
	require.Equal(t, []roce.PSN{5, 5, 6, 6, 5}, b.psns(1))
	for _, p := range b.Pkt.Got {
		require.Equal(t, roce.RCAtomicAck, p.Opcode)
		require.EqualValues(t, 10*p.PSN, p.Reth.Swap)
	}
	again := port.RespDone{QPN: 1, Again: true}
	require.Equal(t, []port.RespDone{{QPN: 1}, again, {QPN: 1}, again, again}, b.Done.Got)
}

// TestAgainLost has duplicates that are not answered: the slot has another value since,
// the memory could not be read, the key is bad. What is behind them goes on.
func TestAgainLost(t *testing.T) {
	bad := dup(read(1, 3, 0, 100, 256))
	bad.Kind = port.JobNone
	for _, c := range []struct {
		name string
		job  port.Job
		res  port.AtomicRes
	}{
		{"slot used anew", dup(slotted(1, 5, 3)), port.AtomicRes{QPN: 1, PSN: 21, Slot: 3}},
		{"unreadable", dup(slotted(1, 5, 3)), port.AtomicRes{QPN: 1, PSN: 5, Slot: 3, Err: true}},
		{"bad key", bad, port.AtomicRes{QPN: 1, PSN: 5, Slot: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, responder.Params{LogQP: 2})
			b.give(slotted(1, c.res.PSN, 3))
			b.result(c.res)
			b.run(t, 50)
			require.Len(t, b.Pkt.Got, 1)
			b.give(c.job, c.job, ack(1, 30))
			b.run(t, 50)
			require.Equal(t, []roce.PSN{c.res.PSN, 30}, b.psns(1))
			require.Equal(t, []port.RespDone{{QPN: 1}, {QPN: 1, Again: true}, {QPN: 1, Again: true}}, b.Done.Got)
			require.Zero(t, b.DUT.Q.Used)
		})
	}
}

// TestAgainPurge has the marker take the answers of duplicates too.
func TestAgainPurge(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	none := dup(port.Job{QPN: 1})
	b.Pkt.Shut = true
	b.give(ack(2, 0), ack(2, 1), ack(2, 2), dup(read(1, 0, 0, 1<<16, 256)), none, dup(slotted(1, 5, 3)), none)
	b.run(t, 50)
	b.give(port.Job{Purge: true, QPN: 1}, ack(1, 100))
	b.run(t, 50)
	b.Pkt.Shut = false
	b.run(t, 100)
	require.Equal(t, []roce.PSN{100}, b.psns(1))
	require.Empty(t, b.Done.Got)
	require.Zero(t, b.DUT.Q.Used)
}

// TestAgainFatalNak has the NAK of a READ come while a duplicate of it is answered:
// from its PSN on nothing is said.
func TestAgainFatalNak(t *testing.T) {
	for _, budget := range []int{4, 200} { // the rest in the list, in the slice
		b := open(t, responder.Params{LogQP: 2, Budget: budget})
		b.give(read(1, 10, 0, 8*256, 256))
		b.run(t, 50)
		require.Len(t, b.Done.Got, 1)
		fatal := nak(1, 12)
		fatal.Syndrome = 0x62
		b.Pkt.Shut = true
		b.give(dup(read(1, 10, 0, 100*256, 256)), ack(1, 200))
		b.run(t, 50)
		b.Pkt.Shut = false
		for len(b.psns(1)) < 8+4 {
			b.run(t, 1)
		}
		b.Pkt.Shut = true
		b.run(t, 10)
		b.give(fatal)
		b.run(t, 10)
		b.Pkt.Shut = false
		b.run(t, 200)
		psns := b.psns(1)
		require.Less(t, len(psns), 30)
		require.Equal(t, roce.PSN(12), psns[len(psns)-1])
		require.NotContains(t, psns, roce.PSN(200))
		require.Zero(t, b.DUT.Q.Used)
	}
}

// TestDuplicateAcks has acknowledgements of duplicates, whose PSN is that of the last
// request executed, wait with others: they never pass a READ, an atomic or a NAK, and
// the PSN of those that are sent never goes back.
func TestDuplicateAcks(t *testing.T) {
	const rnr = 0x25
	wait := nak(1, 8)
	wait.Syndrome = rnr
	b := open(t, responder.Params{LogQP: 2})
	b.Pkt.Shut = true
	b.give(ack(2, 0), ack(2, 1), ack(2, 2))
	b.run(t, 50)
	b.give(ack(1, 2), ack(1, 2), nak(1, 3), ack(1, 2), ack(1, 3), ack(1, 3), read(1, 4, 0, 512, 256), ack(1, 5), slotted(1, 6, 0), ack(1, 7), wait, ack(1, 7), ack(1, 7), ack(1, 8))
	b.result(port.AtomicRes{QPN: 1, PSN: 6})
	b.run(t, 50)
	b.Pkt.Shut = false
	b.run(t, 100)
	type sent struct {
		psn  roce.PSN
		synd uint8
	}
	var got []sent
	for _, p := range b.Pkt.Got[3:] {
		got = append(got, sent{p.PSN, p.Syndrome})
	}
	require.Equal(t, []sent{
		{2, ackSyndrome}, {3, nakSyndrome}, {3, ackSyndrome}, {4, ackSyndrome}, {5, ackSyndrome}, // the READ
		{5, ackSyndrome}, {6, ackSyndrome}, {7, ackSyndrome}, {8, rnr}, {8, ackSyndrome},
	}, got)
}

// TestAgainRate has duplicates take no longer than what they repeat.
func TestAgainRate(t *testing.T) {
	b := open(t, responder.Params{LogQP: 4})
	b.give(slotted(15, 0, 0)) // waits
	b.run(t, 50)
	for i := range 300 {
		b.give(dup(read(port.QPN(i%3), roce.PSN(i), 0, 8, 1024)))
	}
	b.run(t, 1000)
	require.Len(t, b.Pkt.Got, 300)
	require.LessOrEqual(t, b.Pkt.At[299]-b.Pkt.At[0], uint64(600))
}
