package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
	plans "rnic/tb/fault"
)

// TestFence (B155): what is sent behind a fence is what the READ before it brought.
func TestFence(t *testing.T) {
	w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	w.B.Recv(w.B.Recvs(0, 4096, 11, 12, 13)...)
	var wrs []driver.SendWR
	for i := range 3 {
		read, send := w.op(uint64(2*i), abi.OpRead, 0, 4000), w.op(uint64(2*i+1), abi.OpSend, 0, 4000)
		read.RemoteAddr, send.Fence = read.RemoteAddr+uint64(4000*i), true
		wrs = append(wrs, read, send)
	}
	w.A.Send(wrs[:2]...)
	w.A.Sent(e2e.OK(0, 1)...)
	w.B.Received(e2e.OK(11)...)
	w.A.Send(wrs[2], wrs[3])
	w.A.Sent(e2e.OK(2, 3)...)
	w.B.Received(e2e.OK(12)...)
	for i := range 2 {
		w.B.Demand(4096*i, w.b[farAt+4000*i:farAt+4000*(i+1)])
	}
	// An atomic, and a WRITE behind its fence: the old value goes back.
	faa, write := w.op(20, abi.OpFetchAdd, 64, 8), w.op(21, abi.OpWrite, 64, 8)
	faa.SwapAdd, write.Fence = 12345, true
	w.A.Send(faa, write)
	w.A.Sent(e2e.OK(20, 21)...)
	w.B.Demand(farAt, w.b[farAt:farAt+farSize])
	waiting := 0
	for _, f := range w.A.Seen { // and nothing has left before the answer was there
		switch op := f.BTH.Opcode; {
		case f.Tx && (op.IsReadRequest() || op.IsAtomic()):
			waiting++
		case !f.Tx && (op == roce.RCReadRespLast || op == roce.RCAtomicAck):
			waiting--
		case f.Tx && op.IsRequest():
			require.Zero(t, waiting)
		}
	}
	w.B.Fail()
	w.B.Received(e2e.Flushed(13)...)
}

// TestFenceUnderFaults (B155): responses of the READ before a fence are lost, late, or
// out of order. What is sent behind the fence is what the READ brought nevertheless, and
// the first time, too.
func TestFenceUnderFaults(t *testing.T) {
	for _, text := range []string{
		"drop a read-response", "drop a read-response psn=+1", "drop a read-response last", "drop a read-response times=4",
		"delay=5us a read-response psn=+1", "delay=1us a read-response times=all", "reorder a read-response", "duplicate a read-response",
	} {
		specs, err := plans.ParseAll(text)
		require.NoError(t, err, text)
		w := reach(t, driver.QPConfig{}, driver.ConnectOptions{Timeout: 9, RetryCnt: 7})
		plan := plans.New(1, specs...)
		plan.Attach(w.s.Bench)
		plan.Start(0)
		w.B.Recv(two(w)...)
		send := w.op(2, abi.OpSend, 50_000, 4000)
		send.Fence = true
		w.A.Send(w.op(1, abi.OpRead, 50_000, 4000), send)
		w.A.Sent(e2e.OK(1, 2)...)
		require.NoError(t, plan.Missed(), text)
		w.B.Received(e2e.OK(11)...)
		w.B.Demand(0, w.b[farAt:farAt+4000])
		for _, r := range w.s.A.Requests(0) {
			if r.BTH.Opcode.IsSend() {
				at := int(r.BTH.PSN.Diff(w.B.FirstPSN())-4) * 1024
				same(t, w.b[farAt+at:farAt+min(at+1024, 4000)], r.Payload)
			}
		}
		w.B.Fail()
		w.B.Received(e2e.Flushed(12)...)
		w.s.Close()
	}
}
