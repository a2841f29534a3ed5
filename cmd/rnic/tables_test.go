package main_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
)

// rnic regs lists what package abi describes, in its order.
func TestRegs(t *testing.T) {
	out := rnic(t, t.TempDir(), "regs")
	for _, want := range []string{
		"0x000000  ID                RO      0x43494e52                         The characters RNIC, R in the low byte: this is the device.\n",
		"0x000020  CTRL              RW      0x00000000                         Starts and stops the device.\n",
		"                                                [0]      Enable        1 starts the device with the admin rings as set; 0 stops the taking of new commands\n",
		"                                                [12:8]   LogMaxQP      log2 of the number of QPs; QPNs are below it\n",
		"0x002000  MSI-X table, 16 vectors of 16 bytes; pending bits at 0x3000\n",
		"0x100000  256 doorbell pages of 4096 bytes: doorbell at 0, pushed WQE at 0x800\n",
	} {
		require.Contains(t, out, want)
	}
	rest := out
	line := func(want string) {
		t.Helper()
		_, after, ok := strings.Cut(rest, want)
		require.True(t, ok, "%s, in order", want)
		rest = after
	}
	for _, r := range abi.Registers() {
		line(fmt.Sprintf("\n0x%06x  %s ", r.Offset, r.Name))
		for _, f := range r.Fields {
			if !f.Reserved && len(r.Fields) > 1 {
				line("  " + f.Name + " ")
			}
		}
	}
	for _, c := range abi.Counters() {
		line(fmt.Sprintf("\n0x%06x  %s ", abi.CounterAddr(c), c))
	}
}

// rnic area adds up to what the kernel counts, and stays within its budget.
func TestArea(t *testing.T) {
	b, err := tb.New(tb.Config{})
	require.NoError(t, err)
	defer b.Close()
	var ff, ram int
	for _, u := range b.Hosts[0].K.Area() {
		if strings.HasPrefix(u.Path, "host_a.nic.") {
			ff, ram = ff+u.FlipFlopBits, ram+u.RAMBits
		}
	}
	require.LessOrEqual(t, ram, 8<<20*8, "8 MiB of RAM at default sizes")
	require.Positive(t, ff)

	rows := func(args ...string) map[string][2]int {
		t.Helper()
		m := map[string][2]int{}
		var f, r int
		for i, l := range strings.Split(strings.TrimSpace(rnic(t, t.TempDir(), args...)), "\n") {
			w := strings.Fields(l)
			if i == 0 {
				require.Equal(t, []string{"block", "flip-flops", "RAM", "bits", "RAM", "KiB"}, w)
				continue
			}
			require.Len(t, w, 4, l)
			x, err := strconv.Atoi(w[1])
			require.NoError(t, err)
			y, err := strconv.Atoi(w[2])
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%.1f", float64(y)/8192), w[3])
			m[w[0]] = [2]int{x, y}
			if w[0] != "all" {
				f, r = f+x, r+y
			}
		}
		require.Equal(t, [2]int{f, r}, m["all"], "the rows add up")
		require.Equal(t, [2]int{ff, ram}, m["all"])
		return m
	}
	blocks := rows("area")
	require.Len(t, blocks, 17)
	for _, name := range []string{"csr", "admin", "qpc", "mpt", "dma", "wqe_sched", "rq_fetch", "cq_writer", "retrans", "pkt_tx", "pkt_rx", "ack_gen", "scatter", "responder", "atomic", "mac"} {
		require.Positive(t, blocks[name][0], name)
	}
	require.Equal(t, 128<<10*8, blocks["pkt_rx"][1], "rx_buf is 128 KiB")
	require.Greater(t, len(rows("area", "--all")), len(blocks))
}
