package responder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/responder"
)

// delay is the number of cycles from a job at the head of Jobs to its packet at
// the head of Pkt, which is taken in that cycle.
func (b *bench) delay(job, pkt int) uint64 { return b.Pkt.At[pkt] - (b.Feed.At[job] + 1) }

func TestLatency(t *testing.T) {
	b := open(t, responder.Params{})
	b.give(ack(1, 5))
	b.run(t, 20)
	require.EqualValues(t, 1, b.delay(0, 0))
	b.give(read(1, 6, 0, 100, 1024))
	b.run(t, 20)
	require.EqualValues(t, 1, b.delay(1, 1))
	b.give(read(1, 6, 0, 1024*17, 1024))
	b.run(t, 50)
	require.EqualValues(t, 3, b.delay(2, 2))

	b = open(t, responder.Params{})
	b.give(atomic(2, 0)) // waits
	b.run(t, 20)
	b.give(ack(1, 5))
	b.run(t, 20)
	require.EqualValues(t, 3, b.delay(1, 0))
	b.result(port.AtomicRes{QPN: 2})
	at := b.k.Cycle() + 2 // at the head of AtomicRes
	b.run(t, 20)
	require.Equal(t, at+3, b.Pkt.At[1])
}

// TestAckRate has acknowledgements of all QPs come without a gap.
func TestAckRate(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks bool // something waits all the time
		cycles uint64
	}{{"idle", false, 1}, {"busy", true, 2}} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, responder.Params{LogQP: 4, NoCoalesce: true})
			if c.blocks {
				b.give(atomic(15, 0))
			}
			const acks = 600
			for i := range acks {
				b.give(ack(port.QPN(i%15), roce.PSN(i)))
			}
			b.run(t, 3*acks)
			require.Len(t, b.Pkt.Got, acks)
			cycles := b.Pkt.At[acks-1] - b.Pkt.At[0]
			t.Logf("%d cycles for %d", cycles, acks)
			require.LessOrEqual(t, cycles, c.cycles*acks)
		})
	}
}

// TestReadRate has READs of several QPs sent a packet a cycle, also while other
// jobs come.
func TestReadRate(t *testing.T) {
	for _, qps := range []int{1, 2, 3} {
		b := open(t, responder.Params{LogQP: 4})
		packets := 0
		for i := range qps {
			b.give(read(port.QPN(i), 0, 0, 256*1000, 256))
			packets += 1000
		}
		for i := range 100 {
			b.give(ack(port.QPN(i%16), 5000+roce.PSN(i)))
		}
		b.run(t, uint64(packets+200))
		var first, last uint64
		for i, p := range b.Pkt.Got {
			if p.NumPieces > 0 {
				if first == 0 {
					first = b.Pkt.At[i]
				}
				last = b.Pkt.At[i]
			}
		}
		require.Len(t, b.Piece.Got, packets)
		t.Logf("%d QPs: %d cycles for %d packets and %d acknowledgements", qps, last-first+1, packets, len(b.Pkt.Got)-packets)
		require.LessOrEqual(t, last-first+1, uint64(packets+150))
	}
}

// TestSmallReads has READs of one packet each.
func TestSmallReads(t *testing.T) {
	b := open(t, responder.Params{LogQP: 4})
	b.give(atomic(15, 0))
	for i := range 300 {
		b.give(read(port.QPN(i%3), roce.PSN(i), 0, 8, 1024))
	}
	b.run(t, 1000)
	require.Len(t, b.Pkt.Got, 300)
	require.LessOrEqual(t, b.Pkt.At[299]-b.Pkt.At[0], uint64(600))
}

// TestLongRead cuts a READ of 2^31 bytes, while a second QP has an acknowledgement
// now and then, which leaves after at most a budget of packets.
func TestLongRead(t *testing.T) {
	const length, mtu, every = 1 << 31, 4096, 1000
	b := newBench(t, hdl.Options{}, responder.Params{LogQP: 2}, 0)
	defer b.k.Close()
	const packets = uint32(length / mtu)
	sent, acks, behind := uint32(0), 0, 0
	var va port.VA = 0xfffffff000000000
	b.Pkt.OnTake = func(p port.TxPkt) {
		b.Pkt.Got, b.Pkt.At = b.Pkt.Got[:0], b.Pkt.At[:0]
		if p.QPN == 2 {
			acks++
			behind = 0
			return
		}
		want := roce.RCReadRespMiddle
		switch sent {
		case 0:
			want = roce.RCReadRespFirst
		case packets - 1:
			want = roce.RCReadRespLast
		}
		if p.Opcode != want || p.PSN != roce.PSN(0xff0000).Add(sent) || p.Len != mtu || len(b.Done.Got) > 0 {
			t.Fatalf("packet %d: %+v", sent, p)
		}
		if behind > 0 {
			behind++
		}
		require.LessOrEqual(t, behind, 16+1+2, "what was in the streams, and a budget")
		if sent++; sent%every == 0 && sent < packets-50 {
			b.give(ack(2, roce.PSN(sent/every)))
			behind = 1
		}
	}
	b.Piece.OnTake = func(p port.TxPiece) {
		b.Piece.Got, b.Piece.At = b.Piece.Got[:0], b.Piece.At[:0]
		if p.VA != va || p.Len != mtu {
			t.Fatalf("piece at %#x", p.VA)
		}
		va += port.VA(mtu)
	}
	b.give(read(1, 0xff0000, va, length, mtu))
	b.run(t, uint64(packets)+uint64(packets)/100+100)
	require.Equal(t, packets, sent)
	require.Equal(t, int((packets-51)/every), acks)
	require.Len(t, b.Done.Got, 1)
	require.Equal(t, port.VA(0xfffffff000000000+length), va)
}

// TestBudget has QPs with short READs and one with a long one share packets
// evenly.
func TestBudget(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2, Budget: 4})
	b.Pkt.Shut = true
	b.give(read(1, 0, 0, 256*100, 256))
	for i := range 40 {
		b.give(read(2, roce.PSN(i), 0, 100, 256))
	}
	b.run(t, 200)
	b.Pkt.Shut = false
	b.run(t, 200)
	run, share := 0, [4]int{}
	for i, p := range b.Pkt.Got[10:70] {
		if p.QPN != b.Pkt.Got[10+i-1].QPN {
			run = 0
		}
		run++
		share[p.QPN]++
		require.LessOrEqual(t, run, 4)
	}
	require.InDelta(t, 30, share[1], 4)
}

// TestStorage holds the package comment to what it says.
func TestStorage(t *testing.T) {
	use := open(t, responder.Params{}).k.Area()
	require.Len(t, use, 1)
	require.Equal(t, 1024*(95+204+44+44)+16384*89, use[0].RAMBits, use[0].Path)
}
