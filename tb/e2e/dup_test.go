package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestDuplicateReads (B012): a READ again, or a part of it from one of its packets on,
// is answered from memory as it is now. One that asks for more, elsewhere, or by another
// key gets no answer, and one that is too old neither.
func TestDuplicateReads(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{MaxRdAtomic: 2, MaxDestRdAtomic: 2})
	psn, base := w.B.FirstPSN(), w.far.Addr
	other := region(t, w.s.B, w.s.B.PD, farAt, farSize, all).RKey
	old := w.op(1, abi.OpRead, 0, 100)
	read := w.op(2, abi.OpRead, 0, 5000) // PSNs 1 to 5
	add := w.op(3, abi.OpFetchAdd, 8192, 8)
	add.SwapAdd, add.RemoteAddr = 7, add.RemoteAddr+8192
	w.A.Send(old, read, add)
	w.A.Sent(e2e.OK(1, 2, 3)...)
	w.B.Fill(farAt, 5000, 77)
	now := e2e.Bytes(5000, 77)
	sum := w.B.Read(farAt+8192, 8)
	forge := func(op roce.Opcode, n uint32, va uint64, key, length uint32) roce.Packet {
		q := w.B.Forge(op, psn.Add(n), nil)
		q.RETH = roce.RETH{VA: va, RKey: key, Length: length}
		q.AtomicETH = roce.AtomicETH{VA: va, RKey: key, SwapAdd: 7}
		return q
	}
	key := uint32(w.far.RKey)
	for _, c := range []struct {
		name       string
		n          uint32
		va         uint64
		length     uint32
		key        uint32
		from, size int // what comes: packets from the first PSN on, bytes; 0: none
	}{
		{"all", 1, base, 5000, key, 0, 5000},
		{"the beginning", 1, base, 1024, key, 0, 1024},
		{"from the second packet on", 2, base + 1024, 3976, key, 1024, 3976},
		{"in the middle", 3, base + 2048, 1000, key, 2048, 1000},
		{"the end", 5, base + 4096, 904, key, 4096, 904},
		{"longer", 1, base, 5001, key, 0, 0},
		{"longer at the end", 5, base + 4096, 905, key, 0, 0},
		{"another address", 1, base + 4, 100, key, 0, 0},
		{"address and PSN do not agree", 2, base, 100, key, 0, 0},
		{"another key", 1, base, 5000, uint32(other), 0, 0},
		{"behind its packets", 6, base + 5*1024, 1, key, 0, 0},
		{"no longer kept", 0, base, 100, key, 0, 0},
	} {
		answers, acks := len(responses(w.s.B)), len(w.s.B.Answers(0))
		w.s.B.Arrive(forge(roce.RCReadRequest, c.n, c.va, c.key, c.length))
		got := responses(w.s.B)[answers:]
		require.Equal(t, (c.size+1023)/1024, len(got), c.name)
		require.Equal(t, acks, len(w.s.B.Answers(0)), c.name)
		var data []byte
		for i, r := range got {
			require.Equal(t, psn.Add(c.n+uint32(i)), r.BTH.PSN, c.name)
			data = append(data, r.Payload...)
		}
		same(t, now[c.from:c.from+c.size], data)
	}
	// The atomic again: the value it got, and the memory is not touched. Another is none.
	answers := len(responses(w.s.B))
	w.s.B.Arrive(forge(roce.RCFetchAdd, 6, base+8192, key, 0), forge(roce.RCCmpSwap, 6, base+8192, key, 0), forge(roce.RCFetchAdd, 5, base+8192, key, 0))
	got := responses(w.s.B)[answers:]
	require.Equal(t, 1, len(got))
	require.Equal(t, roce.RCAtomicAck, got[0].BTH.Opcode)
	require.Equal(t, psn.Add(6), got[0].BTH.PSN)
	w.A.Demand(8192, leBytes(got[0].AtomicAckETH.Orig))
	w.B.Demand(farAt+8192, sum)
	w.B.DemandState(abi.QPRTS)
}

// leBytes are the bytes of a value in memory.
func leBytes(v uint64) (b []byte) {
	for i := range 8 {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

// TestAckReq (B037): what asks for an acknowledgement gets one at once, and nothing else
// does: this responder merges what waits for the wire, and counts no packets. So many
// packets that do not ask cause none, before the first acknowledgement and after it.
func TestAckReq(t *testing.T) {
	const n = 32
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	p.B.Recv(p.B.Recvs(0, n*1024, 11, 12, 13)...)
	psn := p.B.FirstPSN()
	message := func(asks func(i int) bool) (ps []roce.Packet) {
		for i := range n {
			op := roce.RCSendMiddle
			switch i {
			case 0:
				op = roce.RCSendFirst
			case n - 1:
				op = roce.RCSendLast
			}
			q := p.B.Forge(op, psn, e2e.Bytes(1024, uint64(i)))
			q.BTH.AckReq = asks(i)
			psn, ps = psn.Add(1), append(ps, q)
		}
		return ps
	}
	for i := range 2 {
		from := len(s.B.Seen)
		m := message(func(i int) bool { return i == n-1 })
		s.B.Arrive(m[:n-1]...)
		require.Empty(t, s.B.Answers(from))
		from = len(s.B.Seen)
		s.B.Arrive(m[n-1])
		as := s.B.Answers(from)
		require.Equal(t, 1, len(as))
		require.Equal(t, psn.Sub(1), as[0].BTH.PSN)
		require.EqualValues(t, i+1, as[0].AETH.MSN)
		var came, left int64
		for _, f := range s.B.Seen[from:] {
			if f.Tx {
				left = f.Ps
			} else {
				came = f.Ps
			}
		}
		require.Less(t, left-came, int64(60*4000), "60 cycles")
	}
	// All ask: no PSN is acknowledged twice, and the last answer speaks for all.
	from := len(s.B.Seen)
	s.B.Arrive(message(func(int) bool { return true })...)
	as := s.B.Answers(from)
	last := as[len(as)-1]
	require.LessOrEqual(t, len(as), n)
	require.Equal(t, psn.Sub(1), last.BTH.PSN)
	require.EqualValues(t, 3, last.AETH.MSN)
	for i := range as[1:] {
		require.True(t, as[i].BTH.PSN.Before(as[i+1].BTH.PSN))
	}
	p.B.Received(e2e.OK(11, 12, 13)...)
	require.Empty(t, s.B.Faults())
}
