package e2e_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// reach is a scene with a pair and a region of B that A has all rights to.
func reach(t *testing.T, c driver.QPConfig, o driver.ConnectOptions) *world {
	s := e2e.New(t, quick)
	if o.Timeout == 0 {
		o.Timeout = 12
	}
	w := &world{Pair: s.Join(s.A.QP(c), s.B.QP(c), o), t: t, s: s}
	w.far = region(t, s.B, s.B.PD, farAt, farSize, all)
	w.A.Fill(0, image, 1)
	w.B.Fill(0, image, 2)
	w.a, w.b = e2e.Bytes(image, 1), e2e.Bytes(image, 2)
	return w
}

// responses are the READ responses and atomic answers that a side has sent.
func responses(d *e2e.Side) (rs []roce.Packet) {
	for _, f := range d.Seen {
		if op := f.BTH.Opcode; f.Tx && f.Err == nil && op.IsResponse() && op != roce.RCAck {
			rs = append(rs, f.Packet)
		}
	}
	return rs
}

// TestReadDepth (B019): never more READs and atomics in flight than max_rd_atomic,
// and as many; 3 are 3.
func TestReadDepth(t *testing.T) {
	for _, depth := range []int{1, 3, 16} {
		w := reach(t, driver.QPConfig{MaxSend: 64, MaxRecv: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
			driver.ConnectOptions{MaxRdAtomic: depth, MaxDestRdAtomic: depth})
		var wrs []driver.SendWR
		var ids []uint64
		for i := range 40 {
			id := uint64(i)
			wr := w.op(id, abi.OpRead, 2048*(i%32), 2048)
			if i%5 == 4 {
				wr = w.op(id, abi.OpFetchAdd, 0, 8)
			}
			wrs, ids = append(wrs, wr), append(ids, id)
		}
		w.A.Send(wrs...)
		w.A.Sent(e2e.OK(ids...)...)
		out, most := 0, 0
		for _, f := range w.A.Seen {
			switch op := f.BTH.Opcode; {
			case f.Err == nil && f.Tx && (op.IsReadRequest() || op.IsAtomic() && op.IsRequest()):
				out++
			case f.Err == nil && !f.Tx && (op == roce.RCReadRespLast || op == roce.RCReadRespOnly || op == roce.RCAtomicAck):
				out--
			}
			most = max(most, out)
		}
		require.Equal(t, depth, most)
		require.Zero(t, out)
		w.s.Close()
	}
}

// TestTooManyReads (B019): a peer that has more READs in flight than may be is told
// so; those before are answered or not, the one too many is not.
func TestTooManyReads(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{MaxDestRdAtomic: 3})
	psn := w.B.FirstPSN()
	read := func(i, n uint32) roce.Packet {
		q := w.B.Forge(roce.RCReadRequest, psn.Add(i), nil)
		q.RETH = roce.RETH{VA: w.far.Addr, RKey: uint32(w.far.RKey), Length: n}
		return q
	}
	w.s.B.Arrive(read(0, farSize), read(16, farSize), read(32, farSize))
	require.Equal(t, 48, len(responses(w.s.B)), "three at a time are right")
	require.Empty(t, w.s.B.Answers(0))
	for i, r := range responses(w.s.B) {
		require.Equal(t, psn.Add(uint32(i)), r.BTH.PSN)
	}
	w.s.B.Arrive(read(48, farSize), read(64, farSize), read(80, farSize), read(96, 8), read(97, 8))
	answers := w.s.B.Answers(0)
	require.Equal(t, 1, len(answers))
	require.Equal(t, roce.NAKSyndrome(roce.NAKInvalidRequest), answers[0].AETH.Syndrome)
	require.Equal(t, psn.Add(96), answers[0].BTH.PSN)
	w.B.DemandState(abi.QPErr)
	events := w.s.B.Events()
	require.Equal(t, 1, len(events))
	require.Equal(t, abi.EventQPReqErr, events[0].Type)
}

// TestResponseOrder (B033): READs, atomics and what is only acknowledged are
// answered in the order of the requests, not interleaved.
func TestResponseOrder(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	w.B.Recv(two(w)...)
	w.A.Send(
		w.op(1, abi.OpRead, 0, 5000), w.op(2, abi.OpRead, 8192, 3), w.op(3, abi.OpFetchAdd, 12000, 8), w.op(4, abi.OpSend, 0, 100),
		w.op(5, abi.OpRead, 8200, 2000), w.op(6, abi.OpWrite, 0, 3000), w.op(7, abi.OpCompareSwap, 12008, 8), w.op(8, abi.OpSendImm, 0, 0),
	)
	w.A.Sent(e2e.OK(1, 2, 3, 4, 5, 6, 7, 8)...)
	w.B.Received(e2e.OK(11, 12)...)
	next := w.B.FirstPSN()
	for _, f := range w.B.Seen {
		op := f.BTH.Opcode
		if !f.Tx || !op.IsResponse() {
			continue
		}
		if op == roce.RCAck { // it may speak for those before it
			require.False(t, f.BTH.PSN.Before(next))
			next = f.BTH.PSN
		}
		require.Equal(t, next, f.BTH.PSN)
		next = next.Add(1)
	}
	require.Equal(t, roce.PSN(w.A.Query().NextPSN), next)
}

// TestElements (B126, B129, B130): 16 elements, some of no bytes, gathered and
// scattered by each operation; the RETH has their sum.
func TestElements(t *testing.T) {
	sizes := []int{1, 7, 16, 0, 100, 3, 0, 0, 1024, 1, 2, 0, 555, 64, 63, 65}
	total := 0
	for _, n := range sizes {
		total += n
	}
	w := reach(t, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxSendSGE: 16, MaxRecvSGE: 16}, driver.ConnectOptions{})
	list := func(e *e2e.End, base int) (l []driver.SGE, at []int) {
		for i, n := range sizes {
			at = append(at, base+150*i+1024*(i/9))
			g := e.MR.SGE(at[i], n)
			if n == 0 {
				g = driver.SGE{Addr: 5, LKey: 0xdead00}
			}
			l = append(l, g)
		}
		return l, at
	}
	gather, from := list(w.A, 10)
	var data []byte
	for i, n := range sizes {
		data = append(data, w.a[from[i]:from[i]+n]...)
	}
	scatter, to := list(w.B, 20_001)
	w.B.Recv(driver.RecvWR{ID: 11, SGEs: scatter})
	back, home := list(w.A, 30_003)
	send, write, read := w.op(1, abi.OpSend, 0, 0), w.op(2, abi.OpWrite, 0, 0), w.op(3, abi.OpRead, 0, 0)
	send.SGEs, write.SGEs, read.SGEs = gather, gather, back
	write.RemoteAddr += 77
	read.RemoteAddr += 77
	w.A.Send(send, write, read)
	sent := w.A.Sent(e2e.OK(1, 2, 3)...)
	require.EqualValues(t, total, sent[2].ByteLen)
	require.EqualValues(t, total, w.B.Received(e2e.OK(11)...)[0].ByteLen)
	copy(w.b[farAt+77:], data)
	for i, rest := 0, data; i < len(sizes); i++ {
		copy(w.b[to[i]:], rest[:sizes[i]])
		copy(w.a[home[i]:], rest[:sizes[i]])
		rest = rest[sizes[i]:]
	}
	w.A.Demand(0, w.a)
	w.B.Demand(0, w.b)
	lengths := map[roce.Opcode]uint32{}
	for _, r := range w.A.Requests(0) {
		if r.BTH.Opcode.HasRETH() {
			lengths[r.BTH.Opcode] = r.RETH.Length
		}
	}
	require.Equal(t, map[roce.Opcode]uint32{roce.RCWriteFirst: uint32(total), roce.RCReadRequest: uint32(total)}, lengths)
}

// TestAllLengths (B098, B138, B149): WRITE and READ of each small length and of those
// about the MTU and the pages, over frames that are not neighbours; bytes beside them
// stay.
func TestAllLengths(t *testing.T) {
	var lengths []int
	for n := 1; n <= 64; n++ {
		lengths = append(lengths, n)
	}
	for n := 1024 - 5; n <= 1024+5; n++ {
		lengths = append(lengths, n, n+1024)
	}
	lengths = append(lengths, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 8191, 8193, 12288, farSize-64)
	w := reach(t, driver.QPConfig{MaxSend: 32, MaxRecv: 1, MaxSendSGE: 1, MaxRecvSGE: 1}, driver.ConnectOptions{})
	for i, n := range lengths {
		at, from, to := (i*61)%64, 100+i, 40_000+3*i
		if i%2 == 1 && n < 4096 {
			at = 4096 - n/2 // over the end of a page
		}
		if at+n > farSize {
			at = farSize - n
		}
		write, read := w.op(1, abi.OpWrite, from, n), w.op(2, abi.OpRead, to, n)
		write.RemoteAddr += uint64(at)
		read.RemoteAddr += uint64(at)
		read.Fence = true
		w.A.Send(write, read)
		require.EqualValues(t, n, w.A.Sent(e2e.OK(1, 2)...)[1].ByteLen)
		copy(w.b[farAt+at:], w.a[from:from+n])
		copy(w.a[to:], w.a[from:from+n])
		w.A.Demand(to-64, w.a[to-64:to+n+64])
		w.B.Demand(farAt, w.b[farAt:farAt+farSize])
	}
	w.A.Demand(0, w.a)
	w.B.Demand(0, w.b)
}

// TestHeadersRDMA (B095, B113, B114, B117, B161): which packets of a message have
// which headers, and what is in them.
func TestHeadersRDMA(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	w.B.Recv(two(w)...)
	key := region(t, w.s.B, w.s.B.PD, farAt, 8, all).RKey
	binary.LittleEndian.PutUint64(w.b[farAt:], 0x0102030405060708)
	_, err := w.s.B.Buf.WriteAt(w.b[farAt:farAt+8], farAt)
	require.NoError(t, err)
	imm, inv := w.op(1, abi.OpWriteImm, 0, 2500), w.op(2, abi.OpSendInv, 0, 3072)
	imm.Imm, imm.RemoteAddr, inv.Imm = 0x11223344, imm.RemoteAddr+16, uint32(key)
	add := w.op(3, abi.OpFetchAdd, 50_000, 8)
	add.SwapAdd = 0x1112131415161718
	w.A.Send(imm, inv, add)
	w.A.Sent(e2e.OK(1, 2, 3)...)
	wcs := w.B.Received(e2e.OK(11, 12)...)
	require.EqualValues(t, 2500, wcs[0].ByteLen)
	require.EqualValues(t, 0x11223344, wcs[0].Imm)
	require.EqualValues(t, key, wcs[1].Imm)
	ops := []roce.Opcode{
		roce.RCWriteFirst, roce.RCWriteMiddle, roce.RCWriteLastImm,
		roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLastInv, roce.RCFetchAdd,
	}
	data := [][]byte{w.a[:1024], w.a[1024:2048], w.a[2048:2500], w.a[:1024], w.a[1024:2048], w.a[2048:3072], nil}
	headers := []int{16, 0, 4, 0, 0, 4, 28}
	var raw []e2e.Seen
	for _, f := range w.A.Seen {
		if f.Tx && f.BTH.Opcode.IsRequest() {
			raw = append(raw, f)
		}
	}
	require.Equal(t, len(ops), len(raw))
	for i, f := range raw {
		require.Equal(t, ops[i], f.BTH.Opcode)
		require.Equal(t, w.B.FirstPSN().Add(uint32(i)), f.BTH.PSN)
		same(t, data[i], f.Payload)
		require.Equal(t, 14+20+8+12+headers[i]+len(data[i])+4, f.Len)
	}
	require.Equal(t, roce.RETH{VA: imm.RemoteAddr, RKey: uint32(imm.RKey), Length: 2500}, raw[0].RETH)
	require.EqualValues(t, 0x11223344, raw[2].Imm.Imm)
	require.EqualValues(t, key, raw[5].IETH.RKey)
	require.Equal(t, roce.AtomicETH{VA: w.far.Addr, RKey: uint32(w.far.RKey), SwapAdd: 0x1112131415161718}, raw[6].AtomicETH)
	got := responses(w.s.B)
	require.Equal(t, 1, len(got))
	require.EqualValues(t, 0x0102030405060708, got[0].AtomicAckETH.Orig)
	w.A.Demand(50_000, []byte{8, 7, 6, 5, 4, 3, 2, 1})
	w.B.Demand(farAt, []byte{0x20, 0x1e, 0x1c, 0x1a, 0x18, 0x16, 0x14, 0x12})
}

// TestImmediateTakesReceive (B116): a WRITE with immediate takes a receive, of no
// bytes too; one without takes none.
func TestImmediateTakesReceive(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	w.B.Recv(two(w)...)
	w.A.Send(w.op(1, abi.OpWrite, 0, 8), w.op(2, abi.OpWriteImm, 0, 0), w.op(3, abi.OpWrite, 0, 3000),
		w.op(4, abi.OpWriteImm, 0, 3000), w.op(5, abi.OpWrite, 8, 8), w.op(6, abi.OpWriteImm, 100, 2000), w.op(7, abi.OpWrite, 0, 0))
	w.A.Sent(then(e2e.OK(1, 2, 3, 4, 5), e2e.All(abi.StatusRNRRetryExc, 6), e2e.Flushed(7))...)
	w.B.Received(e2e.OK(11, 12)...)
	answers := w.s.B.Answers(0)
	require.Equal(t, roce.RNRSyndrome(12), answers[len(answers)-1].AETH.Syndrome)
	w.B.DemandState(abi.QPRTS)
}

// TestNothingLost (B062): two WRITEs with a bad key and a SEND, then three more on
// the queue that has failed: as many completions as posts, in order.
func TestNothingLost(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	bad := w.op(1, abi.OpWrite, 0, 100)
	bad.RKey ^= 1
	again := bad
	again.ID = 2
	w.A.Send(bad, again, w.op(3, abi.OpSend, 0, 8))
	w.A.Sent(then(e2e.All(abi.StatusRemAccess, 1), e2e.Flushed(2, 3))...)
	w.A.Send(w.op(4, abi.OpRead, 0, 8), w.op(5, abi.OpFetchAdd, 0, 8), w.op(6, abi.OpWrite, 0, 8))
	w.A.Sent(e2e.Flushed(4, 5, 6)...)
	w.B.Demand(0, w.b)
	w.s.B.Events()
}

// TestRecords (B198, B199): an empty queue has no completion in its first pass; a
// receive doorbell moves no send queue; polling nothing rings no doorbell, polling
// a batch rings one.
func TestRecords(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	w.A.DemandNone(w.A.SCQ)
	w.A.DemandNone(w.s.A.CQ(1000))
	w.A.Recv(w.A.RecvWR(1, 0, 8))
	m := w.A.Query()
	require.EqualValues(t, 1, m.RQProducer)
	require.Zero(t, m.SQProducer)
	w.A.Send(w.op(1, abi.OpWrite, 0, 8), w.op(2, abi.OpWrite, 0, 8), w.op(3, abi.OpRead, 0, 8), w.op(4, abi.OpWrite, 0, 8))
	w.s.Sleep(settle)
	require.EqualValues(t, 1, w.A.Query().RQProducer)
	ids := []uint64{1, 2, 3, 4}
	var wc [8]driver.WC
	total := uint64(0)
	for range 16 {
		before, n := w.s.A.Counters()[abi.Doorbells], -1
		w.s.A.Do(func() { n, _ = w.A.SCQ.Poll(wc[:]) })
		w.s.Sleep(settle)
		rung := w.s.A.Counters()[abi.Doorbells] - before
		require.Equal(t, 4, n)
		require.LessOrEqual(t, rung, uint64(1))
		total += rung
		w.A.DemandNone(w.A.SCQ)
		w.s.Sleep(settle)
		require.Equal(t, before+rung, w.s.A.Counters()[abi.Doorbells], "of a poll that found nothing")
		var wrs []driver.SendWR
		for _, id := range ids {
			wrs = append(wrs, w.op(id, abi.OpWrite, 0, 8))
		}
		w.A.Send(wrs...)
		w.s.Sleep(settle)
	}
	require.NotZero(t, total)
	w.A.Sent(e2e.OK(ids...)...)
}

// settle is enough for all that is under way, cycles.
const settle = 4000
