package transfer_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
	"rnic/tb/transfer"
	"rnic/waves"
)

// simulate runs a job as often as the benchmark asks and reports the speed of the
// simulator: cycles of both hosts together, set-up included.
func simulate(b *testing.B, j transfer.Job, attach func(*tb.Bench) io.Closer) {
	var cycles uint64
	b.SetBytes(j.Data.Size())
	b.ReportAllocs()
	for b.Loop() {
		bench, err := tb.New(tb.Config{Seed: 1})
		require.NoError(b, err)
		var c io.Closer
		if attach != nil {
			c = attach(bench)
		}
		r, err := j.Run(bench)
		require.NoError(b, err)
		if c != nil {
			require.NoError(b, c.Close())
		}
		bench.Close()
		cycles += r.Cycles
	}
	b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(cycles), "ns/cycle")
}

// large is the transfer that people begin with: a file of 2 MiB.
func large() transfer.Job {
	return transfer.Job{Data: bytes.NewReader(payload(2<<20, 1)), MTU: roce.MTU1024, QPs: 4, MsgSize: 4096, Depth: 16}
}

func BenchmarkTransfer(b *testing.B) {
	b.Run("2MiB", func(b *testing.B) { simulate(b, large(), nil) })
	b.Run("64B", func(b *testing.B) {
		simulate(b, transfer.Job{Data: bytes.NewReader(payload(8000*64, 1)), MTU: roce.MTU1024, QPs: 16, MsgSize: 64, Depth: 64, Batch: 8}, nil)
	})
	b.Run("2MiB_vcd", func(b *testing.B) {
		simulate(b, large(), func(t *tb.Bench) io.Closer {
			v, err := waves.New(io.Discard, waves.Options{}, t.Hosts[0].K, t.Hosts[1].K)
			require.NoError(b, err)
			return v
		})
	})
	b.Run("2MiB_fst", func(b *testing.B) {
		simulate(b, large(), func(t *tb.Bench) io.Closer {
			v, err := waves.NewFST(discard{}, waves.Options{}, t.Hosts[0].K, t.Hosts[1].K)
			require.NoError(b, err)
			return v
		})
	})
}

// discard is io.Discard at any offset.
type discard struct{}

func (discard) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// BenchmarkIdle is a clock cycle of two NICs at rest, which a thread a host keeps
// from being jumped.
func BenchmarkIdle(b *testing.B) {
	bench, err := tb.New(tb.Config{Seed: 1})
	require.NoError(b, err)
	defer bench.Close()
	for _, h := range bench.Hosts {
		h.Go("ticker", func(t *hdl.Thread, _ *host.Bus) {
			for range b.N {
				t.Sleep(1)
			}
		})
	}
	require.NoError(b, bench.Run(1<<40))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/cycle")
}
