package responder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/responder"
)

const (
	ackSyndrome = 31
	nakSyndrome = 0x60
)

func ack(n port.QPN, psn roce.PSN) port.Job {
	return port.Job{Kind: port.JobAck, QPN: n, PSN: psn, Syndrome: ackSyndrome, MSN: port.MSN(psn)}
}

func nak(n port.QPN, psn roce.PSN) port.Job {
	j := ack(n, psn)
	j.Syndrome = nakSyndrome
	return j
}

func read(n port.QPN, psn roce.PSN, va port.VA, length uint32, mtu uint16) port.Job {
	return port.Job{Kind: port.JobRead, QPN: n, PSN: psn, Syndrome: ackSyndrome, MSN: 7, VA: va, Key: 0x1234, Len: length, MTU: mtu}
}

func atomic(n port.QPN, psn roce.PSN) port.Job {
	return port.Job{Kind: port.JobAtomic, QPN: n, PSN: psn, Syndrome: ackSyndrome, MSN: 9, Len: 8, MTU: 1024, Op: roce.RCFetchAdd}
}

func (b *bench) psns(n port.QPN) (list []roce.PSN) {
	for _, p := range b.Pkt.Got {
		if p.QPN == n {
			list = append(list, p.PSN)
		}
	}
	return list
}

func TestRead(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.give(read(1, 0xfffffe, 0x1000, 256*3+1, 256))
	b.run(t, 50)
	pkt := func(op roce.Opcode, psn roce.PSN, n uint16) port.TxPkt {
		p := port.TxPkt{QPN: 1, Resp: true, Opcode: op, PSN: psn, Len: n, NumPieces: 1}
		if op != roce.RCReadRespMiddle {
			p.Syndrome, p.MSN = ackSyndrome, 7
		}
		return p
	}
	require.Equal(t, []port.TxPkt{
		pkt(roce.RCReadRespFirst, 0xfffffe, 256),
		pkt(roce.RCReadRespMiddle, 0xffffff, 256),
		pkt(roce.RCReadRespMiddle, 0, 256),
		pkt(roce.RCReadRespLast, 1, 1),
	}, b.Pkt.Got)
	piece := func(va port.VA, n uint16) port.TxPiece {
		return port.TxPiece{Access: uint8(abi.AccessRemoteRead), Key: 0x1234, VA: va, Len: n}
	}
	require.Equal(t, []port.TxPiece{piece(0x1000, 256), piece(0x1100, 256), piece(0x1200, 256), piece(0x1300, 1)}, b.Piece.Got)
	require.Equal(t, []port.RespDone{{QPN: 1}}, b.Done.Got)
}

// TestReadOnly has READs of one packet, and of none.
func TestReadOnly(t *testing.T) {
	for _, n := range []uint32{0, 1, 4096} {
		b := open(t, responder.Params{LogQP: 2})
		b.give(read(1, 5, 0x1000, n, 4096))
		b.run(t, 50)
		pieces := min(n, 1)
		require.Equal(t, []port.TxPkt{{
			QPN: 1, Resp: true, Opcode: roce.RCReadRespOnly, PSN: 5, Syndrome: ackSyndrome, MSN: 7,
			Len: uint16(n), NumPieces: uint8(pieces),
		}}, b.Pkt.Got)
		require.Len(t, b.Piece.Got, int(pieces))
		require.Len(t, b.Done.Got, 1)
	}
}

func TestAtomic(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.give(atomic(1, 5), ack(1, 6), ack(2, 1))
	b.run(t, 50)
	require.Equal(t, []roce.PSN{1}, b.psns(2), "others go on")
	require.Empty(t, b.psns(1))
	b.result(port.AtomicRes{QPN: 1, PSN: 5, Value: 0x1122334455667788})
	b.run(t, 50)
	require.Equal(t, port.TxPkt{
		QPN: 1, Resp: true, Opcode: roce.RCAtomicAck, PSN: 5, Syndrome: ackSyndrome, MSN: 9,
		Reth: port.Reth{Swap: 0x1122334455667788},
	}, b.Pkt.Got[1])
	require.Equal(t, ack(1, 6).PSN, b.Pkt.Got[2].PSN)
	require.Equal(t, []port.RespDone{{QPN: 1}}, b.Done.Got)
}

// TestAtomicFailed has an acknowledgement that is to be reported instead of sent.
func TestAtomicFailed(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.give(atomic(1, 5))
	b.result(port.AtomicRes{QPN: 1, PSN: 5, Err: true})
	b.run(t, 50)
	require.Equal(t, []port.TxPkt{{QPN: 1, Resp: true, Opcode: roce.RCAtomicAck, PSN: 5, Syndrome: ackSyndrome, MSN: 9, Unread: true}}, b.Pkt.Got)
	require.Len(t, b.Done.Got, 1)
}

// TestResultsBeforeJobs has all results of a QP come before its jobs can leave.
func TestResultsBeforeJobs(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.Pkt.Shut = true
	b.give(ack(1, 0), ack(1, 1), ack(1, 2), ack(1, 3))
	for i := range 16 {
		b.result(port.AtomicRes{QPN: 1, PSN: roce.PSN(10 + i), Slot: uint8(i), Value: uint64(100 + i)})
	}
	b.run(t, 100)
	for i := range 16 {
		j := atomic(1, roce.PSN(10+i))
		j.Slot = uint8(i)
		b.give(j)
	}
	b.Pkt.Shut = false
	b.run(t, 200)
	last := b.Pkt.Got[len(b.Pkt.Got)-16:]
	for i, p := range last {
		require.Equal(t, roce.PSN(10+i), p.PSN)
		require.Equal(t, uint64(100+i), p.Reth.Swap)
	}
	require.Len(t, b.Done.Got, 16)
}

func TestTooManyResults(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	for range 17 {
		b.result(port.AtomicRes{QPN: 1})
	}
	require.ErrorContains(t, b.k.Run(50), "QP 1 has more results")
}

func TestNothing(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.give(port.Job{QPN: 1}, port.Job{Purge: true, QPN: 1})
	b.run(t, 50)
	require.Empty(t, b.Pkt.Got)
	require.Equal(t, 2, b.Feed.Sent)
}

// TestCoalescing has acknowledgements wait behind a packet that pkt_tx does not
// take: the last of each run is sent, and every NAK.
func TestCoalescing(t *testing.T) {
	for _, c := range []struct {
		off  bool
		want []roce.PSN
	}{{false, []roce.PSN{0, 1, 2, 5, 6, 8, 9, 12}}, {true, []roce.PSN{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}} {
		b := open(t, responder.Params{LogQP: 2, NoCoalesce: c.off})
		b.Pkt.Shut = true
		b.give(ack(2, 0), ack(2, 1), nak(2, 2)) // fill the way to pkt_tx
		b.run(t, 50)
		b.give(ack(1, 3), ack(1, 4), ack(1, 5), nak(1, 6), ack(1, 7), ack(1, 8), read(1, 9, 0, 1, 256), ack(1, 10), ack(1, 11), ack(1, 12))
		b.run(t, 50)
		b.Pkt.Shut = false
		b.run(t, 100)
		require.Equal(t, c.want, append(b.psns(2), b.psns(1)...))
	}
}

func TestPurge(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.Pkt.Shut = true
	b.give(read(1, 0, 0, 1<<20, 256), ack(1, 5000), ack(2, 1), atomic(3, 8))
	b.run(t, 50)
	b.give(port.Job{Purge: true, QPN: 1}, port.Job{Purge: true, QPN: 3}, ack(1, 6000), atomic(3, 9))
	b.run(t, 50)
	require.Equal(t, 2, b.DUT.Jobs.Len(), "a purge is not taken before the packets before it")
	b.Pkt.Shut = false
	b.run(t, 50)
	b.result(port.AtomicRes{QPN: 3, PSN: 9, Value: 1})
	b.run(t, 150)
	require.Equal(t, []roce.PSN{0, 1, 6000}, b.psns(1), "two were in the stream already")
	require.Equal(t, []roce.PSN{1}, b.psns(2))
	require.Equal(t, []roce.PSN{9}, b.psns(3))
	require.Equal(t, []port.RespDone{{QPN: 3}}, b.Done.Got)
}

// TestPurgeBehindResults has results come just before the purge: they are not those
// of the next life.
func TestPurgeBehindResults(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2})
	b.Pkt.Shut = true
	b.give(ack(2, 0), ack(2, 1), ack(2, 2), nak(1, 0))
	for i := range 6 {
		b.give(atomic(1, roce.PSN(10+i)))
	}
	b.run(t, 50)
	for i := range 6 {
		b.result(port.AtomicRes{QPN: 1, PSN: roce.PSN(10 + i), Value: uint64(i)})
	}
	b.give(port.Job{Purge: true, QPN: 1}, atomic(1, 20))
	b.run(t, 50)
	b.Pkt.Shut = false
	b.run(t, 50)
	b.result(port.AtomicRes{QPN: 1, PSN: 20, Value: 99})
	b.run(t, 50)
	require.Equal(t, []roce.PSN{20}, b.psns(1))
	require.EqualValues(t, 99, b.Pkt.Got[len(b.Pkt.Got)-1].Reth.Swap)
}

// TestFatalNak has a READ end in the middle: a NAK takes its place, and the place of
// all behind it.
func TestFatalNak(t *testing.T) {
	for _, c := range []struct {
		name    string
		packets uint32 // of the READ
		budget  int
		jobs    int
	}{{"rest in the list", 100, 4, 10}, {"rest in the slice", 10, 16, 10}, {"last place", 100, 4, 4}} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, responder.Params{LogQP: 2, Budget: c.budget, Jobs: c.jobs})
			for i := range c.jobs { // use each entry once
				b.give(atomic(3, roce.PSN(i)))
			}
			b.run(t, 50)
			for range c.jobs {
				b.result(port.AtomicRes{QPN: 3})
			}
			b.run(t, 50)
			require.Len(t, b.Done.Got, c.jobs)
			b.Pkt.Got, b.Done.Got = nil, nil
			b.Pkt.Shut = true
			b.give(ack(2, 0), read(1, 10, 0, c.packets*256, 256), ack(1, 200), atomic(1, 201))
			b.run(t, 50)
			fatal := nak(1, 10)
			fatal.Syndrome = 0x62
			b.give(fatal, ack(2, 1))
			b.run(t, 50)
			b.Pkt.Shut = false
			b.run(t, 200)
			require.Equal(t, []roce.PSN{10, 10}, b.psns(1), "one was in the stream already")
			require.Equal(t, []roce.PSN{0, 1}, b.psns(2))
			require.EqualValues(t, 0x62, b.Pkt.Got[2].Syndrome)
			require.Empty(t, b.Done.Got)
			require.Zero(t, b.DUT.Q.Used, "what was forgotten is free again")
		})
	}
}

// TestNakInOrder has a fatal NAK for a request leave behind the READ before it.
func TestNakInOrder(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2, Budget: 4})
	fatal := nak(1, 40)
	fatal.Syndrome = 0x61
	b.give(read(1, 10, 0, 30*256, 256), fatal)
	b.run(t, 100)
	require.Len(t, b.psns(1), 31)
	require.Equal(t, []port.RespDone{{QPN: 1}}, b.Done.Got)
}

// TestFullPool holds back jobs, and nothing else.
func TestFullPool(t *testing.T) {
	b := open(t, responder.Params{LogQP: 2, Jobs: 3})
	for i := range 10 {
		b.give(atomic(port.QPN(i&1), roce.PSN(i)))
	}
	b.run(t, 200)
	require.Equal(t, 3+2, b.Feed.Sent)
	require.EqualValues(t, 3, b.DUT.Q.Used)

	b = open(t, responder.Params{LogQP: 2, Jobs: 3})
	for i := range 10 {
		j := atomic(port.QPN(i&1), roce.PSN(i))
		j.Slot = uint8(i / 2)
		b.give(j)
		b.result(port.AtomicRes{QPN: j.QPN, PSN: j.PSN, Slot: j.Slot, Value: uint64(i)})
	}
	b.run(t, 300)
	require.Len(t, b.Pkt.Got, 10)
	for _, p := range b.Pkt.Got {
		require.Equal(t, uint64(p.PSN), p.Reth.Swap)
	}
}
