package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb/latency"
)

// small is what a bench measures, but little of each.
func small(t *testing.T, seed uint64) *results {
	c := bench()
	c.Seed = seed
	cfg, err := c.config(seed)
	require.NoError(t, err)
	r := &results{}
	for _, l := range []load{
		{"size", abi.OpWrite, 64, 2, 1024, 50, 8, 4, false, 0, false}, {"size", abi.OpWrite, 4096, 2, 1024, 8, 4, 1, false, 0, false},
		{"size", abi.OpRead, 64, 2, 4096, 50, 8, 4, false, 0, false}, {"size", abi.OpRead, 4096, 2, 4096, 8, 4, 1, false, 0, false},
		{"message rate", abi.OpSend, 64, 4, 1024, 100, 8, 4, false, 0, false}, {"message rate", abi.OpSend, 64, 1, 1024, 100, 8, 4, false, 0, false},
		{"message rate", abi.OpFetchAdd, 8, 1, 1024, 20, 8, 1, false, 0, false}, {"message rate", abi.OpFetchAdd, 8, 2, 1024, 20, 8, 1, false, 0, false},
	} {
		x, err := l.run(cfg)
		require.NoError(t, err)
		r.Rows = append(r.Rows, x)
	}
	for _, s := range []sample{
		{name: "distribution", profile: "xeon-e5", op: abi.OpRead, mode: latency.Pushed, size: 8, count: 30},
		{name: "distribution", profile: "constant", op: abi.OpRead, mode: latency.Pushed, size: 8, count: 30},
		{name: "latency by size", profile: "xeon-e5", op: abi.OpWrite, mode: latency.Fetched, size: 8, count: 20},
		{name: "latency by size", profile: "xeon-e5", op: abi.OpWrite, mode: latency.Fetched, size: 9000, count: 20},
	} {
		require.NoError(t, s.draw(cfg, c.roundTrip()))
		r.samples = append(r.samples, s)
		r.Rows = append(r.Rows, s.row())
	}
	for _, x := range []traffic{
		{op: abi.OpWrite, Size: 64, QPs: 4, Share: 0.1, messages: 300, depth: 16}, {op: abi.OpWrite, Size: 64, QPs: 4, Share: 0.3, messages: 300, depth: 16},
		{op: abi.OpWrite, Size: 64, QPs: 4, Share: 1, messages: 300, depth: 16},
		{op: abi.OpWrite, Size: 64, QPs: 2, messages: 64, depth: 8}, {op: abi.OpWrite, Size: 4096, QPs: 2, messages: 16, depth: 8},
		{op: abi.OpRead, Size: 64, QPs: 2, messages: 64, depth: 8}, {op: abi.OpRead, Size: 4096, QPs: 2, messages: 16, depth: 8},
	} {
		require.NoError(t, x.run(cfg))
		r.Traffic = append(r.Traffic, x)
	}
	for _, f := range followed {
		w, err := follow(cfg, f.op, f.mode, 8)
		require.NoError(t, err)
		r.Stages = append(r.Stages, w)
	}
	return r
}

// The tables and pictures of a bench: the same bytes for the same seed.
func TestTablesAndPictures(t *testing.T) {
	files := func(r *results) map[string]string {
		dir := filepath.Join(t.TempDir(), "a", "b")
		require.NoError(t, r.write(dir))
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		m := map[string]string{}
		for _, f := range list {
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			require.NoError(t, err)
			m[f.Name()] = string(b)
		}
		return m
	}
	r := small(t, 1)
	first := files(r)
	require.Equal(t, first, files(small(t, 1)))
	require.NotEqual(t, first["distribution.csv"], files(small(t, 2))["distribution.csv"])
	require.Len(t, first, 4+2*9)
	for _, name := range []string{"goodput-by-size-write", "goodput-by-size-read", "latency-by-size-write", "rate-by-qps", "latency-distribution", "stages", "latency-by-load", "pcie-bytes-by-size", "pcie-reads-by-size"} {
		require.True(t, strings.HasPrefix(first[name+".png"], "\x89PNG"), name)
		require.Contains(t, first[name+".svg"], "<svg", name)
	}
	require.Contains(t, first["rate-by-qps.svg"], "stroke-dasharray", "the limit of the wire")

	table := func(name string) [][]string {
		rows, err := csv.NewReader(strings.NewReader(first[name])).ReadAll()
		require.NoError(t, err)
		return rows
	}
	require.Len(t, table("results.csv"), 1+len(r.Rows))
	require.Equal(t, []string{"distribution", "READ", "8", "constant"}, table("distribution.csv")[len(table("distribution.csv"))-len(distinct(r))-1][:4])
	stages := 0
	for _, w := range r.Stages {
		stages += len(w.Stages) + len(w.Return)
	}
	require.Len(t, table("stages.csv"), 1+stages)
	require.Len(t, table("traffic.csv"), 1+len(r.Traffic))
	require.Contains(t, first["latency-by-load.svg"], "stroke-dasharray", "the limit of the wire")
	require.Contains(t, first["pcie-bytes-by-size.svg"], "stroke-dasharray", "the payload")

	slow, fast := r.Traffic[0], r.Traffic[2]
	require.Less(t, fast.Rate, fast.WireRate)
	require.InEpsilon(t, 0.1*slow.WireRate, slow.Rate, 0.15, "what is offered is what is done")
	require.Less(t, slow.Rate, fast.Rate)
	require.Less(t, slow.P50Ns, slow.P99Ns)
	require.Less(t, slow.P99Ns, fast.P99Ns)
	for _, x := range r.Traffic[3:] {
		n := float64(x.Size)
		if x.Op == "WRITE" {
			require.Greater(t, x.PCIe[0].Down, n, "%+v", x)
			require.Greater(t, x.PCIe[1].Up, n, "%+v", x)
			require.Positive(t, x.PCIe[0].MaxReads)
			require.Zero(t, x.PCIe[1].MaxReads)
			continue
		}
		require.Greater(t, x.PCIe[0].Up, n, "%+v", x)
		require.Greater(t, x.PCIe[1].Down, n, "%+v", x)
		require.Positive(t, x.PCIe[1].MaxReads)
	}
}

// distinct are the latencies of the samples behind the constant one.
func distinct(r *results) map[[2]uint64]bool {
	m := map[[2]uint64]bool{}
	for i, s := range r.samples[2:] {
		for _, c := range s.cycles {
			m[[2]uint64{uint64(i), c}] = true
		}
	}
	return m
}

func TestFolderOfTheTables(t *testing.T) {
	require.Error(t, (&results{}).write("/dev/null/x"))
}

// The limits are those of the frames: 82 bytes beside each payload, and what
// operations add.
func TestWireLimit(t *testing.T) {
	c, err := bench().config(1)
	require.NoError(t, err)
	for _, x := range []struct {
		op        abi.WQEOp
		size, mtu int
		want      float64
	}{
		{abi.OpSend, 1 << 20, 256, 75.74}, {abi.OpSend, 1 << 20, 4096, 98.04},
		{abi.OpWrite, 64, 1024, 100 * 64.0 / 162}, {abi.OpRead, 64, 1024, 100 * 64.0 / 150},
		{abi.OpRead, 3000, 1024, 100 * 3000.0 / (3000 + 3*82 + 8)}, {abi.OpFetchAdd, 8, 256, 100 * 8.0 / 110},
	} {
		require.InDelta(t, x.want, wireLimit(c, x.op, x.size, x.mtu), 0.01)
	}
}

// A jittering PCIe spreads latencies as its profile says.
func TestJitter(t *testing.T) {
	c := bench()
	c.PcieProfile = "xeon-e5"
	cfg, err := c.config(1)
	require.NoError(t, err)
	s := sample{profile: c.PcieProfile, op: abi.OpRead, mode: latency.Pushed, size: 8, count: 400}
	require.NoError(t, s.draw(cfg, c.roundTrip()))
	fixed := 1988.0 - 500
	require.InDelta(t, fixed+467, s.quantile(500), 20)
	require.InDelta(t, fixed+733, s.quantile(990), 60)
	require.LessOrEqual(t, s.quantile(1000), fixed+1213+8)
	c.PcieProfile = "none"
	_, err = c.config(1)
	require.ErrorContains(t, err, "none")
}
