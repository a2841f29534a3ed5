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

// TestSpeed has every message acknowledged by itself while others are sent.
func TestSpeed(t *testing.T) {
	for _, qps := range []int{1, 2, 64} {
		t.Run(fmt.Sprint(qps), func(t *testing.T) {
			b := newBench(t, hdl.Options{}, retrans.Params{}, 0)
			defer b.k.Close()
			const messages = 900
			for i := range messages {
				b.send(armed(wire(port.QPN(i%qps), uint16(i), roce.PSN(i/qps), 1), 1<<20))
				b.Ack.Push(port.AckEvent{QPN: port.QPN(i % qps), Una: roce.PSN(i/qps + 1), Arm: 1 << 20})
			}
			b.Ack.NotBefore = func(n int) uint64 { return uint64(100 + n) }
			b.Left.NotBefore = func(n int) uint64 { return uint64(90 + 3*n) }
			b.run(t, 10000)
			require.Len(t, b.CQE.Got, messages)
			require.Equal(t, messages, b.freed())
			cycles := b.CQE.At[messages-1] - b.CQE.At[messages/2]
			t.Logf("%d cycles for %d messages", cycles, messages/2)
			require.LessOrEqual(t, cycles, uint64(3*messages/2))
		})
	}
}

// TestSpeedOfOneAcknowledgement ends many entries at once.
func TestSpeedOfOneAcknowledgement(t *testing.T) {
	b := open(t)
	for i := range 1000 {
		b.Sent.Push(wire(3, uint16(i), roce.PSN(i), 1))
	}
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 1000})
	b.Ack.NotBefore = func(int) uint64 { return 3000 }
	b.run(t, 6000)
	require.Len(t, b.CQE.Got, 1000)
	require.LessOrEqual(t, b.CQE.At[0], uint64(3001+3))
	require.LessOrEqual(t, b.CQE.At[999]-b.CQE.At[0], uint64(1500))
}

func TestLatency(t *testing.T) {
	b := open(t)
	b.Sent.Push(wire(3, 1, 5, 1), local(3, 2, 6, 0))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 6})
	b.Ack.NotBefore = func(int) uint64 { return 99 } // at the head in 100
	b.run(t, 200)
	require.Equal(t, []uint64{103, 104}, b.CQE.At) // put in 102
	require.Equal(t, []uint64{104}, b.Retire.At)
	require.Equal(t, []uint64{104}, b.Free.At)
}

// TestShutCompletions lets cq_writer take nothing for long: all that comes in is
// taken, and ends later.
func TestShutCompletions(t *testing.T) {
	b := open(t)
	b.CQE.Shut = true
	for i := range uint32(256) {
		qpn := port.QPN(i % 64)
		b.Sent.Push(wire(qpn, uint16(i), roce.PSN(i/64), 1))
		b.Ack.Push(port.AckEvent{QPN: qpn, Una: roce.PSN(i/64 + 1)})
		b.Event.Push(port.AckEvent{QPN: 64, Una: 0, Fail: true, FailPSN: 1, Status: abi.StatusRetryExc})
	}
	b.Ack.NotBefore = func(n int) uint64 { return 1000 }
	b.Purge.Push(port.Purge{QPN: 3})
	b.Purge.NotBefore = func(n int) uint64 { return 1500 }
	require.Error(t, b.k.Run(3000)) // nothing moves any more
	require.Equal(t, []int{256, 256, 256, 1}, []int{b.Sent.Sent(), b.Ack.Sent(), b.Event.Sent(), b.Purge.Sent()})
	require.Empty(t, b.CQE.Got)

	steps := b.k.Stats().Steps
	require.Less(t, steps, uint64(1600))
}

// TestTurns has a QP with one message end it between those of one with many.
func TestTurns(t *testing.T) {
	b := open(t)
	for i := range 500 {
		b.Sent.Push(wire(3, uint16(i), roce.PSN(i), 1))
	}
	b.Sent.Push(wire(4, 1, 5, 1))
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 500}, port.AckEvent{QPN: 4, Una: 6})
	b.Ack.NotBefore = func(int) uint64 { return 2000 }
	b.run(t, 3000)
	require.Len(t, b.CQE.Got, 501)
	for i, c := range b.CQE.Got {
		if c.QPN == 4 {
			require.LessOrEqual(t, i, 2*8)
		}
	}
}

// TestTurnsUnderAcknowledgements has a QP that is acknowledged all the time and has
// much to end; it gets no more than its share.
func TestTurnsUnderAcknowledgements(t *testing.T) {
	b := open(t)
	for i := range 400 {
		b.Sent.Push(wire(3, uint16(i), roce.PSN(i), 1))
	}
	for i := range 200 {
		b.Sent.Push(wire(port.QPN(4+i%4), uint16(i), roce.PSN(i/4), 1))
	}
	b.Ack.Push(port.AckEvent{QPN: 3, Una: 100})
	for qpn := range port.QPN(4) {
		b.Ack.Push(port.AckEvent{QPN: 4 + qpn, Una: 50})
	}
	for i := range roce.PSN(300) {
		b.Ack.Push(port.AckEvent{QPN: 3, Una: 101 + i})
	}
	b.Ack.NotBefore = func(int) uint64 { return 2000 }
	b.run(t, 5000)
	require.Len(t, b.CQE.Got, 600)
	others, mine := 0, 0
	for _, c := range b.CQE.Got {
		if c.QPN == 3 {
			mine++
		} else if others++; others == 200 {
			break
		}
	}
	require.LessOrEqual(t, mine, 50+3*8)
}

// TestStorage holds the package comment to what it says.
func TestStorage(t *testing.T) {
	use := open(t).k.Area()
	require.Len(t, use, 3)
	const ack = 8 * 251 // the stream to Ack
	require.Equal(t, 1024*(225+81+57+16+24)+ack, use[0].RAMBits, use[0].Path)
	require.Equal(t, 1024*(281+24), use[1].RAMBits, use[1].Path)
	require.Equal(t, 2016*81, use[2].RAMBits, use[2].Path)
}
