package random_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

func data(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func send(t testing.TB, j transfer.Job) transfer.Result {
	b, err := tb.New(tb.Config{Seed: 1})
	require.NoError(t, err)
	defer b.Close()
	r, err := j.Run(b)
	require.NoError(t, err)
	require.EqualValues(t, int(j.Data.Size()), r.Bytes)
	return r
}

// TestLargeMessage sends 64 MiB as one message.
func TestLargeMessage(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	r := send(t, transfer.Job{Data: bytes.NewReader(data(size)), MTU: roce.MTU4096, QPs: 1, MsgSize: size, Depth: 1})
	require.Equal(t, 1, r.Messages)
	require.Equal(t, size/4096, r.Packets)
	t.Logf("%d cycles", r.Cycles)
}

// TestIndicesWrap sends so many messages over one QP that the 16-bit indices of both
// work queues and of the CQs begin again.
func TestIndicesWrap(t *testing.T) {
	t.Parallel()
	const n = 70_000
	r := send(t, transfer.Job{Data: bytes.NewReader(data(8 * n)), MTU: roce.MTU256, QPs: 1, MsgSize: 8, Depth: 64, Batch: 8})
	require.Equal(t, n, r.Messages)
}

// Benchmark2MiB sends 2 MiB in messages of 64 KiB.
func Benchmark2MiB(b *testing.B) {
	d := data(2 << 20)
	b.SetBytes(int64(len(d)))
	var cycles uint64
	for b.Loop() {
		cycles += send(b, transfer.Job{Data: bytes.NewReader(d), MTU: roce.MTU1024, QPs: 1, MsgSize: 64 << 10, Depth: 8}).Cycles
	}
	b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
}
