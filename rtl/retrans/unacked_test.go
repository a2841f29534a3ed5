package retrans_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/retrans"
)

// gone has packets leave up to a PSN, which nobody answers.
func (b *bench) gone(qpn port.QPN, last roce.PSN) {
	b.Left.Push(port.Left{QPN: qpn, LastPSN: last, Unacked: true})
}

// again is a message of a generation.
func again(s port.Sent, gen uint8) port.Sent {
	s.Gen = gen
	return s
}

// TestUnackedMessagesEndWhenTheyHaveLeft, in order, those of several packets with the
// last of them; qpc hears of it.
func TestUnackedMessagesEndWhenTheyHaveLeft(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 0xfffffe, 1), wire(3, 2, 0xffffff, 3), local(3, 3, 2, 0), wire(3, 4, 2, 1))
	b.run(t, 20)
	for i := range uint32(5) {
		b.gone(3, roce.PSN(0xfffffe).Add(i))
		b.run(t, 20)
		require.Len(t, b.ended(3), []int{1, 1, 1, 3, 4}[i], i)
	}
	require.Equal(t, []ended{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, b.ended(3))
	var unas []string
	for _, r := range b.Retire.Got {
		unas = append(unas, fmt.Sprint(r.Kind, r.Messages, r.Una))
	}
	require.Equal(t, []string{"DONE 1 16777215", "DONE 0 0", "DONE 2 2", "DONE 1 3"}, unas)
	require.Equal(t, 4, b.freed())
}

// TestUnackedLeavesBeforeItsMessageIsKnown.
func TestUnackedLeavesBeforeItsMessageIsKnown(t *testing.T) {
	b := open(t)
	b.gone(3, 0x800005)
	b.run(t, 50)
	require.Empty(t, b.Retire.Got)
	b.Sent.Push(wire(3, 1, 0x800005, 1), wire(3, 2, 0x800006, 1))
	b.run(t, 50)
	require.Equal(t, []ended{{1, 0}}, b.ended(3))
}

// TestLongMessageIsHeardOf every 2^16 packets, though it does not end.
func TestLongMessageIsHeardOf(t *testing.T) {
	for _, first := range []roce.PSN{0xff, 0x10000, 0xfffff0} {
		b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
		b.Sent.Push(wire(3, 1, first, roce.MaxOutstanding))
		b.run(t, 20)
		// A packet in 1,000 is enough, and those with low bits that are all ones.
		next := first
		var want []roce.PSN
		for n := uint32(0); n < 1<<18; n++ {
			if next = first.Add(n); next&0xffff == 0xffff || n%1000 == 0 {
				b.gone(3, next)
			}
			if next&0xffff == 0xffff {
				want = append(want, next.Add(1))
			}
		}
		from := b.k.Cycle()
		b.Left.NotBefore = func(n int) uint64 { return from + 3*uint64(n) }
		b.run(t, 5000)
		var got []roce.PSN
		for _, r := range b.Retire.Got {
			require.Equal(t, port.Retire{Kind: port.RetireDone, QPN: 3, Oldest: 1, Una: r.Una}, r)
			got = append(got, r.Una)
		}
		require.Equal(t, want, got)
		require.Empty(t, b.CQE.Got)
		b.k.Close()
	}
}

// TestUnackedHasNoTimer.
func TestUnackedHasNoTimer(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 4), wire(3, 2, 9, 1))
	b.run(t, 20)
	b.gone(3, 6)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 9, Status: abi.StatusLocProt})
	b.run(t, 1<<30)
	require.Empty(t, b.Retire.Got)
}

// TestFailureIsOfItsGeneration: what is sent behind it in the same one is flushed; in
// the next the queue goes on, and what is told late of the failure does not count.
func TestFailureIsOfItsGeneration(t *testing.T) {
	for name, fail := range map[string]port.AckEvent{
		"fail":  {QPN: 3, Una: 5, Fail: true, FailPSN: 6, Status: abi.StatusLocProt},
		"flush": {QPN: 3, Una: 6, Flush: true},
	} {
		for _, g := range []uint8{0, 127, 128, 255} {
			b := open(t)
			fail.Gen = g
			b.Purge.Push(port.Purge{QPN: 3})
			b.run(t, 50)
			b.Sent.Push(again(wire(3, 1, 5, 1), g), again(wire(3, 2, 6, 2), g), again(wire(3, 3, 8, 1), g))
			b.gone(3, 5)
			b.run(t, 50)
			b.Event.Push(fail)
			b.run(t, 50)
			b.Sent.Push(again(wire(3, 4, 9, 1), g), again(local(3, 5, 10, flushed), g))
			b.run(t, 50)
			status := abi.StatusLocProt
			if !fail.Fail {
				status = flushed
			}
			want := []ended{{1, 0}, {2, status}, {3, flushed}, {4, flushed}, {5, flushed}}
			require.Equal(t, want, b.ended(3), name)

			b.Sent.Push(again(wire(3, 6, 10, 2), g+1), again(wire(3, 7, 12, 1), g+1))
			b.run(t, 50)
			b.Ack.Push(fail)
			b.run(t, 50)
			require.Len(t, b.ended(3), 5, name)
			b.gone(3, 11)
			b.run(t, 50)
			require.Equal(t, append(want, ended{6, 0}), b.ended(3), name)

			// The next failure is newer, wherever the first was.
			fail.FailPSN, fail.Una, fail.Gen = 12, 12, g+1
			b.Event.Push(fail)
			b.run(t, 50)
			require.Equal(t, append(want, ended{6, 0}, ended{7, status}), b.ended(3), name)
			fail.FailPSN, fail.Una = 6, 5
			if !fail.Fail {
				fail.Una = 6
			}
		}
	}
}

// TestNewerFailureBeforeItsMessages: one of the next generation is told before a
// message of that is known.
func TestNewerFailureBeforeItsMessages(t *testing.T) {
	for name, second := range map[string]port.AckEvent{
		"fail":  {QPN: 3, Una: 6, Fail: true, FailPSN: 7, Status: abi.StatusLocProt, Gen: 1},
		"flush": {QPN: 3, Una: 6, Flush: true, Gen: 1},
	} {
		for _, first := range []port.AckEvent{
			{QPN: 3, Una: 5, Flush: true},
			{QPN: 3, Una: 5, Fail: true, FailPSN: 5, Status: abi.StatusLocProt},
			{QPN: 3, Una: 5, Fail: true, FailPSN: 6, Status: abi.StatusLocProt},
		} {
			b := open(t)
			b.Sent.Push(wire(3, 1, 5, 1))
			b.Event.Push(first)
			b.run(t, 50)
			b.gone(3, 5)
			b.run(t, 50)
			b.Event.Push(second)
			b.run(t, 50)
			b.Ack.Push(first)
			b.run(t, 50)
			b.Sent.Push(again(wire(3, 2, 6, 1), 1), again(wire(3, 3, 7, 1), 1), again(wire(3, 4, 8, 1), 1))
			b.run(t, 50)
			b.gone(3, 6)
			b.run(t, 50)
			want := []ended{{2, 0}, {3, abi.StatusLocProt}, {4, flushed}}
			if !second.Fail {
				want = []ended{{2, flushed}, {3, flushed}, {4, flushed}}
			}
			require.Equal(t, want, b.ended(3)[1:], name)
		}
	}
}

// TestLongestMessageFails with its first packet; the next one starts 2^23 PSNs on.
func TestLongestMessageFails(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, roce.MaxOutstanding))
	b.run(t, 20)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 5, Status: abi.StatusLocProt})
	b.run(t, 20)
	const next = 5 + roce.MaxOutstanding
	b.Sent.Push(again(wire(3, 2, next, 1), 1), again(wire(3, 3, next+1, 1), 1))
	b.run(t, 20)
	require.Len(t, b.ended(3), 1)
	b.gone(3, next)
	b.run(t, 20)
	require.Equal(t, ended{2, 0}, b.ended(3)[1])
	require.Len(t, b.ended(3), 2)
}

// TestLateOfAnOlderGeneration: what left before a failure, told when the queue goes on.
func TestLateOfAnOlderGeneration(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 4))
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Flush: true})
	b.run(t, 50)
	b.Sent.Push(again(wire(3, 2, 9, 1), 1))
	b.gone(3, 9)
	b.run(t, 50)
	b.gone(3, 7)
	b.run(t, 50)
	b.Sent.Push(again(local(3, 3, 10, 0), 1))
	b.run(t, 50)
	require.Equal(t, []ended{{1, flushed}, {2, 0}, {3, 0}}, b.ended(3))
	require.EqualValues(t, 10, b.Retire.Got[2].Una)
}

// TestFailureAfterManyRewinds, without a message between; and before the first message
// of a life, whatever the lives before had.
func TestFailureAfterManyRewinds(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 1))
	for gen := range uint8(200) {
		b.Event.Push(rewind(3, 5, gen+1, 0))
		b.run(t, 20)
	}
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Fail: true, FailPSN: 5, Status: abi.StatusRetryExc, Gen: 200})
	b.run(t, 50)
	require.Equal(t, []ended{{1, abi.StatusRetryExc}}, b.ended(3))
	b.Purge.Push(port.Purge{QPN: 3})
	b.run(t, 50)
	b.Event.Push(port.AckEvent{QPN: 3, Una: 5, Flush: true, Gen: 200})
	b.run(t, 50)
	b.Sent.Push(again(wire(3, 2, 5, 1), 200))
	b.run(t, 50)
	require.Equal(t, ended{2, flushed}, b.ended(3)[1])
}

// TestFailureWhileDropping: nothing completes.
func TestFailureWhileDropping(t *testing.T) {
	for _, e := range []port.AckEvent{{QPN: 3, Una: 5, Flush: true, Gen: 1}, {QPN: 3, Una: 5, Fail: true, FailPSN: 5, Gen: 1}, {QPN: 3, Una: 5, Flush: true}} {
		b := open(t)
		for i := range uint16(40) {
			b.Sent.Push(wire(3, i, roce.PSN(5+i), 1))
		}
		b.run(t, 200)
		b.Retire.Shut = true
		b.k.Go("opener", func(th *hdl.Thread) {
			th.Sleep(500)
			b.Retire.Shut = false
			b.Retire.Wake()
		})
		b.Sent.Push(local(4, 0, 5, 0), local(5, 1, 5, 0), local(6, 2, 5, 0), local(7, 2, 5, 0))
		b.run(t, 50)
		b.Purge.Push(port.Purge{QPN: 3})
		b.run(t, 50)
		b.Ack.Push(e)
		b.run(t, 1000)
		require.Empty(t, b.ended(3))
		require.Contains(t, b.CQE.Got, port.CQEReq{Purge: true, QPN: 3})
	}
}

// TestFirstToLeaveAfterPurge does so while its message waits behind others.
func TestFirstToLeaveAfterPurge(t *testing.T) {
	for delay := range uint64(8) {
		b := open(t)
		b.Purge.Push(port.Purge{QPN: 4})
		b.run(t, 50)
		b.Sent.Push(wire(3, 1, 5, 1), wire(3, 2, 6, 1), wire(3, 3, 7, 1), wire(4, 1, 5, 1))
		b.gone(4, 5)
		at := b.k.Cycle() + delay
		b.Left.NotBefore = func(int) uint64 { return at }
		b.run(t, 50)
		require.LessOrEqual(t, len(b.ended(4)), 1)
		if delay >= 3 {
			require.Equal(t, []ended{{1, 0}}, b.ended(4))
		}
	}
}

// TestPurgedWhileLeaving: what is told of packets of an older life does not count.
func TestPurgedWhileLeaving(t *testing.T) {
	for delay := range uint64(12) {
		b := open(t)
		b.Sent.Push(wire(3, 1, 0x5000, 9))
		b.run(t, 20)
		for i := range roce.PSN(6) {
			b.gone(3, 0x5000+i)
		}
		from := b.k.Cycle()
		b.Purge.Push(port.Purge{QPN: 3})
		b.Purge.NotBefore = func(int) uint64 { return from + delay }
		b.run(t, 60)
		b.Sent.Push(wire(3, 2, 0x4ff8, 1))
		b.run(t, 60)
		require.Empty(t, b.ended(3))
		b.gone(3, 0x4ff8)
		b.run(t, 60)
		require.Equal(t, []ended{{2, 0}}, b.ended(3))
	}
}

// TestUnackedNeverWaits: packets of many QPs leave, one a cycle, while the lists are busy
// with something else and qpc takes nothing; all messages end.
func TestUnackedNeverWaits(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, retrans.Params{}, 0)
	defer b.k.Close()
	for i := range 512 {
		b.Sent.Push(wire(port.QPN(i%128), uint16(i), roce.PSN(0xfffe+i/128), 1))
	}
	b.run(t, 2000)
	b.Retire.Shut = true
	b.k.Go("opener", func(th *hdl.Thread) {
		th.Sleep(2000)
		b.Retire.Shut = false
		b.Retire.Wake()
	})
	for i := range 512 {
		b.gone(port.QPN(i%128), roce.PSN(0xfffe+i/128))
	}
	b.run(t, 512+10)
	require.Zero(t, b.Left.Pending())
	b.run(t, 5000)
	require.Len(t, b.CQE.Got, 512)
	require.Equal(t, 512, b.freed())
}

// TestUnackedSpeed has every message be one packet, of as many QPs.
func TestUnackedSpeed(t *testing.T) {
	for _, qps := range []int{1, 2, 64, 1024} {
		t.Run(fmt.Sprint(qps), func(t *testing.T) {
			b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
			defer b.k.Close()
			const messages = 1020
			for i := range messages {
				b.Sent.Push(wire(port.QPN(i%qps), uint16(i), roce.PSN(i/qps), 1))
				b.gone(port.QPN(i%qps), roce.PSN(i/qps))
			}
			b.Sent.NotBefore = func(n int) uint64 { return uint64(3 * n) }
			b.Left.NotBefore = func(n int) uint64 { return uint64(40 + 3*n) }
			b.run(t, 10000)
			require.Len(t, b.CQE.Got, messages)
			cycles := b.CQE.At[messages-1] - b.CQE.At[messages/2]
			t.Logf("%d cycles for %d messages", cycles, messages/2)
			require.EqualValues(t, 41+3*(messages-1)+4, b.CQE.At[messages-1]-1, "put 4 after it left")
			require.LessOrEqual(t, cycles, uint64(3*messages/2+10))
		})
	}
}
