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
		case strings.HasPrefix(x.Name, "goodput, UD") && x.MTU == 256: // at the limit of PCIe: header, data and CQE
			require.GreaterOrEqual(t, x.GoodputGbps, 0.97*x.WireLimitGbps, "%+v", x)
		case strings.HasPrefix(x.Name, "goodput, "):
			require.GreaterOrEqual(t, x.GoodputGbps, 0.995*x.WireLimitGbps, "%+v", x)
			require.Less(t, x.GoodputGbps, 1.001*x.WireLimitGbps, "%+v", x)
			require.Zero(t, x.Lost, "%+v", x)
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
		"goodput, UC": 5, "goodput, UD": 5, "goodput, SRQ": 5, "goodput, UD, SRQ": 5,
		"message rate, SRQ": 1, "message rate, UC": 1, "message rate, UD": 1, "message rate, UD, SRQ": 1,
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
	find := func(name, op string, qps, mtu int) row {
		i := slices.IndexFunc(r.Rows, func(x row) bool { return x.Name == name && x.Op == op && x.QPs == qps && x.MTU == mtu })
		require.GreaterOrEqual(t, i, 0, "%s, %s, %d QPs, MTU %d", name, op, qps, mtu)
		return r.Rows[i]
	}
	goodput := func(name, op string, qps int) string {
		g := func(mtu int) float64 { return find(name, op, qps, mtu).GoodputGbps }
		return fmt.Sprintf("%.1f / %.1f / %.1f Gb/s", g(256), g(1024), g(4096))
	}
	every := func(op string, qps int) float64 { return find("message rate", op, qps, 1024).CyclesPerMsg }
	thousands := func(ns float64) string {
		if ns < 1000 {
			return fmt.Sprintf("%.0f ns", ns)
		}
		return fmt.Sprintf("%d,%03d ns", int(ns)/1000, int(ns)%1000)
	}
	takes := func(what string, i int) string {
		w := r.Stages[i]
		return fmt.Sprintf("| %s | %s | %d", what, thousands(w.LatencyNs), w.T+w.Turn+w.X)
	}
	many := find("message rate", "WRITE", 16, 1024)
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, want := range []string{
		"SENDs or WRITEs, MTU 256 / 1024 / 4096 | " + goodput("goodput", "SEND", 1) + " |",
		"SENDs or WRITEs, MTU 256 / 1024 / 4096 | " + goodput("goodput", "WRITE", 1) + " |",
		"64 KiB READs | " + goodput("goodput", "READ", 1) + " |",
		"both ways at once | " + goodput("both ways", "WRITE", 2) + " each way |",
		fmt.Sprintf("WRITEs, 16 QPs / one QP | one every %.1f cycles, %.0f M/s / %.1f cycles | %.2f cycles on the wire", many.CyclesPerMsg,
			many.rate(), every("WRITE", 1), 64*8*1000/many.WireLimitGbps/tb.PeriodPs),
		fmt.Sprintf("SENDs, 16 QPs / one QP | one every %.1f / %.1f cycles | %.2f cycles on the wire |", every("SEND", 16), every("SEND", 1),
			64*8*1000/find("message rate", "SEND", 16, 1024).WireLimitGbps/tb.PeriodPs),
		fmt.Sprintf("READs, 16 QPs / one QP | one every %.1f / %.0f cycles |", every("READ", 16), every("READ", 1)),
		fmt.Sprintf("fetch-and-add, one QP | one every %.0f cycles |", every("FETCH_ADD", 1)),
		takes("SEND, WQE and payload fetched", 0) + " |",
		takes("SEND, pushed inline WQE, to the peer's CQE in memory", 2) + " |",
		takes("WRITE, pushed inline WQE, to the payload in the peer's memory", 3) + " cycles |",
		takes("READ, pushed WQE, to the CQE in memory", 4) + " |",
		takes("fetch-and-add, pushed WQE", 5) + " |",
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
		"name", "op", "size", "qps", "mtu", "goodput_gbps", "wire_limit_gbps", "cycles_per_msg", "lost", "latency_ns", "p99_ns", "p99.9_ns", "pcie_profile",
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
