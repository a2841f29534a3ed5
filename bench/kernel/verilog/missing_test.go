package verilog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bench/kernel/verilog"
)

func TestMissingIsOneLine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.EqualError(t, verilog.Missing(), "verilator is not installed; on Debian: apt-get install verilator g++ make")
}
