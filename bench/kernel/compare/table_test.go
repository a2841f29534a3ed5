package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bench/kernel/verilog"
)

func TestTable(t *testing.T) {
	p := &pair{build: verilog.Config{CRC: true}, load: loads[1], ours: []float64{30, 10, 20}, theirs: []float64{50, 40, 80}}
	var b strings.Builder
	table(&b, []*pair{p}, plan{3, 20_000, ""})
	require.Regexp(t, `(?m)^ +5 % +yes +no +10\.0 +20\.0 +40\.0 +50\.0 +0\.250 +0\.400$`, b.String())
}

func TestMissingVerilatorIsAnError(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, compare(io.Discard, plan{rounds: 1, cycles: 10}), "verilator is not installed")
	require.EqualError(t, compare(io.Discard, plan{rounds: 0, cycles: 10}), "0 rounds of 10 cycles: at least 1 of 1")
}
