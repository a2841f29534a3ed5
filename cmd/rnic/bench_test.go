package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/tb"
)

func bench() *benchCmd {
	return &benchCmd{Seed: 1, timing: timing{LinkRate: 100, LinkLatency: 300 * time.Nanosecond, PcieLatency: 250 * time.Nanosecond, PcieProfile: "constant"}}
}

// measured is what `rnic bench` prints.
var measured = sync.OnceValues(func() (results, error) { return bench().measure() })

// The figures that the NIC is built for.
func TestBenchReachesItsGoals(t *testing.T) {
	r, err := measured()
	require.NoError(t, err)
	seen := map[string]int{}
	for _, x := range r.Rows {
		seen[x.Name]++
		switch {
		case x.LatencyNs > 0:
			require.Zero(t, x.GoodputGbps)
		case x.Name == "both ways":
			require.GreaterOrEqual(t, x.GoodputGbps, 0.95*x.WireLimitGbps, "%+v", x)
		case x.Name == "goodput":
			require.GreaterOrEqual(t, x.GoodputGbps, 0.995*x.WireLimitGbps, "%+v", x)
			require.Less(t, x.GoodputGbps, 1.001*x.WireLimitGbps, "%+v", x)
		case x.Size >= 1023:
			require.GreaterOrEqual(t, x.GoodputGbps, 0.97*x.WireLimitGbps, "%+v", x)
			require.Less(t, x.GoodputGbps, 1.001*x.WireLimitGbps, "%+v", x)
		case x.Op == "FETCH_ADD":
			require.LessOrEqual(t, x.CyclesPerMsg, 160.0, "%+v", x)
		case x.Op == "READ":
			require.LessOrEqual(t, x.CyclesPerMsg, []float64{8, 25}[16/x.QPs/16], "%+v", x)
		case x.QPs == 256: // more than have receive WQEs on chip
			require.LessOrEqual(t, x.CyclesPerMsg, 4.5, "%+v", x)
		case x.QPs >= 16:
			require.LessOrEqual(t, x.CyclesPerMsg, 4.0, "%+v", x)
			require.Positive(t, x.CyclesPerMsg)
		default:
			require.LessOrEqual(t, x.CyclesPerMsg, 16.0, "%+v", x)
			require.Positive(t, x.CyclesPerMsg)
		}
	}
	require.Equal(t, map[string]int{
		"goodput": 15, "both ways": 6, "odd size": 18, "message rate": 13,
		"latency, fetched": 1, "latency, inline": 1, "latency, pushed": 4,
		"jitter, fetched": 1, "jitter, pushed": 1,
	}, seen)

	var out bytes.Buffer
	require.NoError(t, printRows(&out, r.Rows))
	require.Equal(t, len(r.Rows)+1, bytes.Count(out.Bytes(), []byte("\n")))
}

// The figures in README.md are those that `rnic bench` prints.
func TestReadmeFigures(t *testing.T) {
	r, err := measured()
	require.NoError(t, err)
	find := func(name string, qps, mtu int) row {
		i := slices.IndexFunc(r.Rows, func(x row) bool { return x.Name == name && x.QPs == qps && x.MTU == mtu })
		require.GreaterOrEqual(t, i, 0, "%s, %d QPs, MTU %d", name, qps, mtu)
		return r.Rows[i]
	}
	perMessage := func(qps int) float64 { return find("message rate", qps, 1024).CyclesPerMsg }
	thousands := func(ns float64) string { return fmt.Sprintf("%d,%03d ns", int(ns)/1000, int(ns)%1000) }
	pcie := 0.0
	for _, s := range r.Stages[0].Stages {
		if s.Block == "pcie" {
			pcie += s.Ns
		}
	}
	many, pushed := find("message rate", 16, 1024), r.Stages[2]
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, want := range []string{
		fmt.Sprintf("| %.2f / %.2f / %.2f Gb/s |", find("goodput", 1, 256).GoodputGbps,
			find("goodput", 1, 1024).GoodputGbps, find("goodput", 1, 4096).GoodputGbps),
		fmt.Sprintf("16 QPs | one every %.2f cycles, %.0f M/s | %.2f cycles on the wire |", many.CyclesPerMsg,
			1e6/tb.PeriodPs/many.CyclesPerMsg, 64*8*1000/many.WireLimitGbps/tb.PeriodPs),
		fmt.Sprintf("256 QPs | one every %.1f cycles |", perMessage(256)),
		fmt.Sprintf("one QP | one every %.0f cycles |", perMessage(1)),
		fmt.Sprintf("| %s | of it %s PCIe,", thousands(r.Stages[0].CQENs), thousands(pcie)),
		fmt.Sprintf("| %s | doorbell to wire and wire to posted write: %d cycles |", thousands(pushed.CQENs), pushed.T+pushed.X),
	} {
		require.True(t, strings.Contains(string(text), want), "README.md lacks: %s", want)
	}
}

// The way of a message, as printed and as JSON.
func TestBenchStages(t *testing.T) {
	c := bench()
	c.Stages = true
	r, err := c.measure()
	require.NoError(t, err)
	require.Len(t, r.Rows, 6)
	require.Len(t, r.Stages, 6)
	for _, w := range r.Stages {
		var cycles uint64
		var ns float64
		for _, s := range w.Stages {
			cycles, ns = cycles+s.Cycles, ns+s.Ns
			require.Equal(t, cycles, s.Since)
		}
		require.Equal(t, w.LatencyNs, ns)
		require.LessOrEqual(t, w.T+w.X, uint64(100))
	}
	require.LessOrEqual(t, r.Stages[2].T+r.Stages[2].X, uint64(48))
	require.Less(t, r.Stages[2].LatencyNs+500, r.Stages[1].LatencyNs)
	require.Less(t, r.Stages[1].LatencyNs+500, r.Stages[0].LatencyNs)

	var out bytes.Buffer
	require.NoError(t, printWays(&out, r.Stages))
	for _, s := range []string{"register write", "WQE read", "payload read", "first bit on the wire", "CQE in memory", "payload in memory", "word read", "response cut", "NICs' cycles"} {
		require.Contains(t, out.String(), s)
	}

	b, err := json.Marshal(r)
	require.NoError(t, err)
	var doc map[string][]map[string]any
	require.NoError(t, json.Unmarshal(b, &doc))
	var keys []string
	for k := range doc["rows"][0] {
		keys = append(keys, k)
	}
	require.ElementsMatch(t, []string{
		"name", "op", "size", "qps", "mtu", "goodput_gbps", "wire_limit_gbps", "cycles_per_msg", "latency_ns", "p99_ns", "p99.9_ns", "pcie_profile",
	}, keys)
	require.NotEmpty(t, doc["stages"][0]["stages"])
}

// Latencies follow the flags.
func TestBenchFollowsItsFlags(t *testing.T) {
	near, far := bench(), bench()
	near.Stages, far.Stages = true, true
	near.PcieLatency, far.PcieLatency = 240*time.Nanosecond, 640*time.Nanosecond
	far.LinkLatency += time.Microsecond
	a, err := near.measure()
	require.NoError(t, err)
	b, err := far.measure()
	require.NoError(t, err)
	for i, crossings := range []float64{6, 4, 2, 2, 4, 4} {
		links := []float64{1, 1, 1, 1, 2, 2}[i]
		require.Equal(t, a.Rows[i].LatencyNs+crossings*400+links*1000, b.Rows[i].LatencyNs)
	}
	bad := bench()
	bad.LinkRate = 0
	_, err = bad.measure()
	require.ErrorContains(t, err, "--link-rate")
}
