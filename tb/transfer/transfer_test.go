package transfer_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

func payload(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func run(t *testing.T, c tb.Config, j transfer.Job) (transfer.Result, uint64) {
	t.Helper()
	b, err := tb.New(c)
	require.NoError(t, err)
	defer b.Close()
	r, err := j.Run(b)
	require.NoError(t, err)
	return r, b.World.Digest()
}

func TestFirstLight(t *testing.T) {
	r, _ := run(t, tb.Config{Seed: 1}, transfer.Job{Data: bytes.NewReader(payload(16<<10, 1)), MTU: roce.MTU1024, QPs: 4, MsgSize: 4096, Depth: 4})
	require.Equal(t, 4, r.Messages)
	require.Equal(t, 16, r.Packets)
}

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		mtu                        roce.MTU
		qps, size, n, depth, batch int
	}{
		{roce.MTU4096, 1, 65536, 32, 8, 1}, {roce.MTU1024, 1, 65536, 32, 8, 1}, {roce.MTU256, 1, 65536, 16, 8, 1},
		{roce.MTU1024, 16, 64, 4000, 64, 8}, {roce.MTU1024, 1, 64, 1000, 64, 8}, {roce.MTU1024, 1, 8, 100, 1, 1},
	} {
		r, _ := run(t, tb.Config{Seed: 1}, transfer.Job{Data: bytes.NewReader(payload(c.size*c.n, 1)), MTU: c.mtu, QPs: c.qps, MsgSize: c.size, Depth: c.depth, Batch: c.batch})
		t.Logf("%+v: %.2f of %.2f Gb/s, %.2f cycles a message, %d cycles", c, r.GoodputGbps, r.WireLimitGbps, r.CyclesPerMessage, r.Cycles)
	}
}
