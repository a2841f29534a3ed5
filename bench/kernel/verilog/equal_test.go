package verilog_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bench/kernel/nic"
	"rnic/bench/kernel/verilog"
	"rnic/hdl"
)

// The machine in Go and in Verilog is the same one: after each cycle, as many
// beats wait in each slice and FIFO, as many have arrived, with the same checksum.
func TestCycleExact(t *testing.T) {
	if err := verilog.Missing(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	program, err := verilog.Build(t.TempDir(), verilog.Config{CRC: true, Probe: true})
	require.NoError(t, err)
	for _, active := range []uint64{nic.FullLoad, 700, nic.LightLoad} {
		model, err := verilog.Start(program)
		require.NoError(t, err)
		full, beats := sameEveryCycle(t, model, nic.Config{Active: active, CRC: true})
		require.NoError(t, model.Close())
		require.Greater(t, beats, uint32(10*active))
		if active == nic.FullLoad {
			require.Equal(t, uint64(1<<40-1), full, "every slice was full at times")
		}
	}
}

// sameEveryCycle runs both side by side. It returns which places of slices were
// ever taken, and how many beats arrived.
func sameEveryCycle(t *testing.T, model *verilog.Model, c nic.Config) (full uint64, beats uint32) {
	const cycles = 20_000
	want, err := model.Probe(c.Active, cycles)
	require.NoError(t, err)
	m := nic.New(c)
	k, err := hdl.Elaborate("nic", m, hdl.Options{})
	require.NoError(t, err)
	for i, w := range want {
		require.NoError(t, k.Run(uint64(i+1)))
		got := verilog.State{Count: m.Sink.Q.Count, Check: m.Sink.Q.Check, Slices: m.Slices(), Levels: m.Levels()}
		require.Equal(t, w, got, "after cycle %d", i)
		full |= w.Slices
	}

	// On the long run the checksum tells as much.
	_, last, err := model.Run(c.Active, 200_000)
	require.NoError(t, err)
	require.NoError(t, k.Run(cycles+200_000))
	require.Equal(t, last.Count, m.Sink.Q.Count)
	require.Equal(t, last.Check, m.Sink.Q.Check)
	return full, last.Count
}
