package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb/loss"
)

// lossDoc is what docs/loss.md shows: a part of what bench --loss measures.
var lossDoc = sync.OnceValues(func() (r lossResults, err error) {
	c, err := bench().config(1)
	if err != nil {
		return r, err
	}
	var ls []loss.Load
	for _, qps := range []int{1, 16} {
		for _, drop := range lossRates {
			if drop != 100 {
				ls = append(ls, stream(abi.OpWrite, 1024, qps, drop, false, 8<<20))
			}
		}
	}
	if r.Goodput, err = measureGoodput(c, ls); err != nil {
		return r, err
	}
	if err = r.measureRepairs(c); err != nil {
		return r, err
	}
	r.Timers, err = measureTimers(c)
	return r, err
})

// longer are runs with longer and longer timeouts.
var longer = sync.OnceValues(func() ([]lossRow, error) {
	c, err := bench().config(1)
	if err != nil {
		return nil, err
	}
	var ls []loss.Load
	for t := uint8(1); t <= 7; t += 2 {
		l := stream(abi.OpWrite, 1024, 1, 30_000, false, 4<<20)
		l.Timeout = t
		ls = append(ls, l)
	}
	return measureGoodput(c, ls)
})

// docBlocks are the tables of docs/loss.md.
var docBlocks = map[string]func(*lossResults) string{
	"stages": func(r *lossResults) string {
		var b strings.Builder
		b.WriteString("| cycle | cycles | block | what happens |\n|--:|--:|---|---|\n")
		for _, s := range r.line.Stages {
			fmt.Fprintf(&b, "| %d | %d | %s | %s |\n", s.Since, s.Cycles, s.Block, s.Name)
		}
		return b.String()
	},
	"repairs": func(r *lossResults) string {
		var b strings.Builder
		b.WriteString("| messages | QPs | gap to NAK | of that a frame being sent | NAK to packet | of that frames being sent | loop | packets in flight |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, x := range r.Repairs {
			fmt.Fprintf(&b, "| %d of %d B | %d | %d | %d | %d | %d | %d | %d |\n", x.Messages, x.Size, x.QPs, x.Nak, x.NakBusy, x.React, x.Busy, x.Loop, x.InFlight)
		}
		return b.String()
	},
	"goodput": func(r *lossResults) string {
		var b strings.Builder
		b.WriteString("| QPs | lost | goodput | formula | W | of loops by NAK | lost packets | bytes again a loss | NAKs | timeouts |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, x := range r.Goodput {
			byNAK := ""
			if x.QPs == 1 {
				byNAK = fmt.Sprintf("%.1f", x.LoopNAK)
			}
			fmt.Fprintf(&b, "| %d | %g %% | %.1f %% | %.1f %% | %.1f | %s | %d | %.0f | %d | %d |\n", x.QPs, x.LossPercent, 100*x.GoodputGbps/x.LimitGbps,
				100*x.FormulaGbps/x.LimitGbps, x.W, byNAK, x.Lost, x.BytesPerLoss, x.Naks, x.Timeouts)
		}
		return b.String()
	},
	"longer": func(*lossResults) string {
		rows, err := longer()
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		b.WriteString("| timeout | lost packets | timeouts | goodput |\n|--:|--:|--:|--:|\n")
		for _, x := range rows {
			fmt.Fprintf(&b, "| %.1f us | %d | %d | %.1f %% |\n", x.TimeoutUs, x.Lost, x.Timeouts, 100*x.GoodputGbps/x.LimitGbps)
		}
		return b.String()
	},
	"timers": func(r *lossResults) string {
		var b strings.Builder
		b.WriteString("| timer | time unit | code | at least | at most | told after | sent again after |\n|---|--:|--:|--:|--:|--:|--:|\n")
		for _, x := range r.Timers {
			if x.Most == 0 && x.Code != 0 && x.Code != 1 && x.Code != 16 && x.Code != 31 {
				continue // all RNR waits take as many cycles more
			}
			most, told := "", ""
			if x.Most > 0 {
				most, told = fmt.Sprint(x.Most), fmt.Sprint(x.Decision)
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s | %d |\n", x.Kind, x.TimeUnit, x.Code, x.Least, most, told, x.Again)
		}
		return b.String()
	},
}

// The tables of docs/loss.md are those of the runs.
func TestLossDoc(t *testing.T) {
	r, err := lossDoc()
	require.NoError(t, err)
	path := filepath.Join("..", "..", "docs", "loss.md")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	got := string(b)
	for name, text := range docBlocks {
		begin := "<!-- " + name + " -->\n"
		head, rest, ok := strings.Cut(got, begin)
		require.True(t, ok, name)
		table, tail, ok := strings.Cut(rest, "<!-- end -->\n")
		require.True(t, ok, name)
		want := text(&r)
		if flag.Lookup("update").Value.String() == "true" {
			got = head + begin + want + "<!-- end -->\n" + tail
			continue
		}
		require.Equal(t, want, table, "go test ./cmd/rnic -run LossDoc -update")
	}
	if got != string(b) {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
	}
}

// What the prose of docs/loss.md says in figures.
func TestLossGoals(t *testing.T) {
	r, err := lossDoc()
	require.NoError(t, err)
	share := map[[2]float64]float64{}
	for _, x := range r.Goodput {
		require.InEpsilon(t, x.FormulaGbps, x.GoodputGbps, 0.05, "%+v", x)
		share[[2]float64{float64(x.QPs), x.LossPercent}] = 100 * x.GoodputGbps / x.LimitGbps
	}
	require.GreaterOrEqual(t, share[[2]float64{16, 0.1}], 98.5)
	require.GreaterOrEqual(t, share[[2]float64{16, 1}], 87.0)
	require.InDelta(t, 97.9, share[[2]float64{1, 0.1}], 0.2)
	require.InDelta(t, 83, share[[2]float64{1, 1}], 0.6)
	for _, x := range r.Repairs {
		require.LessOrEqual(t, x.Nak, uint64(50), "%+v", x)
	}
}

// Tables, CSV files and pictures have what was measured.
func TestLossOutputs(t *testing.T) {
	r, err := lossDoc()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, r.print(&out))
	require.Contains(t, out.String(), "ack timeout")
	require.Equal(t, len(r.Goodput)+len(r.Repairs)+len(r.Timers), strings.Count(out.String(), "\n")-4-3)
	dir := t.TempDir()
	require.NoError(t, r.write(dir))
	require.NoError(t, r.draw(dir))
	for name, lines := range map[string]int{
		"loss-goodput.csv": len(r.Goodput), "loss-repair.csv": len(r.Repairs), "loss-timers.csv": len(r.Timers), "loss-completion.csv": 0,
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, lines+1, bytes.Count(b, []byte("\n")), name)
	}
	for _, name := range []string{"loss-goodput.svg", "loss-goodput.png", "loss-timeline.svg"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Greater(t, len(b), 4000, name)
	}
	require.NoFileExists(t, filepath.Join(dir, "loss-completion.svg"), "of no points there is no picture")
}
