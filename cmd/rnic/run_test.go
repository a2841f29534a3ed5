package main_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
)

// result is the JSON form of a run.
type result struct {
	Verified      *bool    `json:"verified"`
	Op            string   `json:"op"`
	Transport     string   `json:"transport"`
	Sent          int      `json:"sent"`
	Received      int      `json:"received"`
	Lost          *int     `json:"lost"`
	Messages      int      `json:"messages"`
	Packets       int      `json:"packets"`
	Bytes         int64    `json:"bytes"`
	Cycles        uint64   `json:"cycles"`
	SimNs         float64  `json:"sim_ns"`
	GoodputGbps   *float64 `json:"goodput_gbps"`
	WireLimitGbps float64  `json:"wire_limit_gbps"`
	WallS         float64  `json:"wall_s"`
	CyclesPerS    float64  `json:"cycles_per_s"`
	Seed          *uint64  `json:"seed"`
	Files         []string `json:"files"`
	Counters      []struct {
		Name string `json:"name"`
		A    uint64 `json:"host_a"`
		B    uint64 `json:"host_b"`
	} `json:"counters"`
	Faults []faultOf `json:"faults"`
}

// faultOf is what came of a fault at a host.
type faultOf struct {
	Fault   string `json:"fault"`
	Host    string `json:"host"`
	Matched uint64 `json:"matched"`
	Struck  uint64 `json:"struck"`
}

// runJSON is a run with --json.
func runJSON(t testing.TB, dir string, args ...string) result {
	t.Helper()
	var r result
	out := rnic(t, dir, append([]string{"run", "--json"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &r), out)
	require.NotNil(t, r.Verified)
	require.True(t, *r.Verified)
	return r
}

func TestRunJSON(t *testing.T) {
	dir := t.TempDir()
	r := runJSON(t, dir, "--vcd", "--pcap", "--out", "o", "--seed", "7")
	require.Equal(t, 4, r.Messages)
	require.Equal(t, 16, r.Packets)
	require.Equal(t, int64(16384), r.Bytes)
	require.Equal(t, float64(r.Cycles)*4, r.SimNs)
	require.InDelta(t, 100*1024.0/(1024+82), r.WireLimitGbps, 0.01)
	require.LessOrEqual(t, *r.GoodputGbps, r.WireLimitGbps)
	require.Greater(t, *r.GoodputGbps, 0.97*r.WireLimitGbps)
	require.Positive(t, r.WallS)
	require.InEpsilon(t, float64(r.Cycles)/r.WallS, r.CyclesPerS, 1e-6)
	require.Equal(t, uint64(7), *r.Seed)
	require.Equal(t, []string{"o/rnic.vcd", "o/rnic.gtkw", "o/rnic.sucl", "o/host_a.pcapng", "o/host_b.pcapng"}, r.Files)
	for _, f := range r.Files {
		require.FileExists(t, filepath.Join(dir, f))
	}

	r = runJSON(t, dir)
	require.NotNil(t, r.Files, "no files are an empty list")
	require.Empty(t, r.Files)
	require.Equal(t, uint64(1), *r.Seed)
}

// Every operation carries the file, and says which it was.
func TestOperations(t *testing.T) {
	dir := t.TempDir()
	file, _ := random(t, dir, 8000)
	for op, packets := range map[string][2]uint64{ // of each host, ACKs of requests aside
		"send": {8, 0}, "send-imm": {8, 0}, "write": {8, 0}, "write-imm": {8, 0}, "read": {2, 8}, "cas": {1000, 1000}, "faa": {1000, 1000},
	} {
		r := runJSON(t, dir, file, "--op", op, "--stats")
		require.Equal(t, op, r.Op)
		require.Equal(t, int64(8000), r.Bytes, op)
		require.Equal(t, int(packets[0]), r.Packets, op)
		require.Equal(t, "tx_packets", r.Counters[0].Name)
		require.Equal(t, packets[0], r.Counters[0].A, op)
		require.GreaterOrEqual(t, r.Counters[0].B, max(1, packets[1]), op)
		for _, c := range r.Counters {
			require.NotZero(t, c.A+c.B, c.Name)
		}
	}
	require.Equal(t, "send", runJSON(t, dir).Op)
	require.Equal(t, 1, runJSON(t, dir, "/dev/null", "--op", "read").Messages)
	require.Equal(t, 2000, runJSON(t, dir, file, "--op", "write", "--msg-size", "4").Messages)
}

// Every transport carries the file, and says which it was.
func TestTransports(t *testing.T) {
	dir := t.TempDir()
	file, _ := random(t, dir, 10_001)
	for _, c := range []struct {
		transport, op     string
		messages, packets int
	}{
		{"rc", "send", 3, 10}, {"uc", "send", 3, 10}, {"uc", "send-imm", 3, 10}, {"uc", "write", 3, 10}, {"uc", "write-imm", 3, 10},
		{"ud", "send", 10, 10}, {"ud", "send-imm", 10, 10},
	} {
		for _, more := range [][]string{{}, {"--ipv6", "--vlan", "40965"}, {"--srq"}} {
			if c.op == "write" && len(more) == 1 {
				continue
			}
			r := runJSON(t, dir, append([]string{file, "--transport", c.transport, "--op", c.op, "--stats"}, more...)...)
			require.Equal(t, c.transport, r.Transport)
			require.Equal(t, int64(10_001), r.Bytes, c)
			require.Equal(t, c.messages, r.Messages, c)
			require.Equal(t, c.messages, r.Sent, c)
			require.Equal(t, c.messages, r.Received, c)
			require.Zero(t, *r.Lost)
			require.Equal(t, c.packets, r.Packets, c)
			answers := uint64(0)
			for _, n := range r.Counters {
				if n.Name == "acks_sent" {
					answers = n.B
				}
			}
			require.Equal(t, c.transport == "rc", answers > 0, "%v", c)
		}
	}
	require.Equal(t, 1, runJSON(t, dir, "/dev/null", "--transport", "ud").Messages)
	require.Equal(t, 40, runJSON(t, dir, file, "--transport", "ud", "--mtu", "256").Messages, "messages are as long as the MTU")
	require.Equal(t, 21, runJSON(t, dir, file, "--transport", "ud", "--msg-size", "500").Messages)
}

// What uc and ud lose is told, and the rest is verified.
func TestLostMessages(t *testing.T) {
	dir := t.TempDir()
	r := runJSON(t, dir, "--transport", "ud", "--fault", "drop b nth=5", "--fault", "duplicate b nth=7")
	require.Equal(t, []int{16, 15, 16, 1}, []int{r.Sent, r.Messages, r.Received, *r.Lost})
	require.Equal(t, int64(15*1024), r.Bytes)
	out := rnic(t, dir, "run", "--transport", "uc", "--fault", "drop b first nth=2", "--srq", "--vlan", "7")
	require.Regexp(t, `^sent            4 messages
received        3, all verified at the far side; 0 of them again
lost            1
counted         rx_drop_other 3, out_of_sequence 3
packets         16
bytes           12288
`, out)
}

func TestStats(t *testing.T) {
	out := rnic(t, t.TempDir(), "run", "--stats")
	require.Regexp(t, `(?m)^counter +host a +host b$`, out)
	require.Regexp(t, `(?m)^tx_packets +16 +5$`, out)
	require.NotContains(t, out, "rx_drop_bad_icrc")
	all := runJSON(t, t.TempDir(), "--stats", "--all")
	require.Len(t, all.Counters, abi.NumCounters)
	require.Empty(t, runJSON(t, t.TempDir()).Counters)
}

// Flags do what they say.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	file, data := random(t, dir, 10_001)
	base := runJSON(t, dir, file)
	require.Equal(t, int64(len(data)), base.Bytes)
	require.Equal(t, 3, base.Messages)
	require.Equal(t, 4+4+2, base.Packets)

	require.Equal(t, 16+16+8, runJSON(t, dir, file, "--mtu", "256").Packets)
	require.Equal(t, 11, runJSON(t, dir, file, "--msg-size", "1000").Messages)
	require.InDelta(t, 10, runJSON(t, dir, file, "--link-rate", "10").WireLimitGbps, 1)

	one := func(args ...string) uint64 {
		return runJSON(t, dir, append([]string{"--qps", "1", "--msg-size", "16384"}, args...)...).Cycles
	}
	// One message: the wire is crossed by it and by its acknowledgement, and PCIe by
	// far more than that while the driver sets up.
	require.Greater(t, one("--link-latency", "10us"), one()+2*9700/4)
	require.Greater(t, one("--pcie-latency", "1us"), one()+20*750/4)
	// A WQE that is fetched costs a read.
	require.Greater(t, one("--no-push"), one()+500/4)

	require.Equal(t, 1, runJSON(t, dir, "/dev/null").Packets, "an empty message has a packet")
	deep := runJSON(t, dir, file, "--qps", "1", "--msg-size", "64", "--depth", "16")
	shallow := runJSON(t, dir, file, "--qps", "1", "--msg-size", "64", "--depth", "1")
	require.Greater(t, shallow.Cycles, 2*deep.Cycles)
}

func TestLimitsOfTheFlags(t *testing.T) {
	dir := t.TempDir()
	file, _ := random(t, dir, 2000)
	for _, args := range [][]string{
		{"--link-latency", "20ns"}, {"--link-latency", "5ms"}, {"--link-rate", "1"},
		{"--pcie-latency", "4ns"}, {"--pcie-latency", "20us"},
		{"--qps", "512"}, {"--depth", "1"}, {"--depth", "2048"}, {"--msg-size", "67108864"}, {"--msg-size", "1", "--qps", "512"},
	} {
		require.Equal(t, int64(2000), runJSON(t, dir, append(args, file)...).Bytes, "%v", args)
	}
}

func TestTable(t *testing.T) {
	out := rnic(t, t.TempDir(), "run", "--vcd", "--pcap", "--out", "o")
	wall := regexp.MustCompile(`(?m)^wall time +\d+\.\d\d s, \d+ cycles/s$`)
	require.Regexp(t, wall, out)
	r := runJSON(t, t.TempDir())
	require.Regexp(t, `^messages        4, all verified at the far side
packets         16
bytes           16384
cycles          \d+
simulated time  \d+\.\d{3} us
goodput         9\d\.\d\d Gb/s of 92\.59 that the wire allows
time a message  35\d\.\d ns
wall time       .*
wrote           o/rnic.vcd
wrote           o/rnic.gtkw
wrote           o/rnic.sucl
wrote           o/host_a.pcapng
wrote           o/host_b.pcapng
$`, out)
	require.Contains(t, out, "cycles          "+jsonNumber(t, r.Cycles)+"\n")

	one := rnic(t, t.TempDir(), "run", "--msg-size", "16384")
	require.NotContains(t, one, "goodput", "one message has no rate")
	require.NotContains(t, one, "time a message")
	require.NotContains(t, one, "wrote")
}

func jsonNumber(t testing.TB, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestHelp(t *testing.T) {
	out := rnic(t, t.TempDir(), "help")
	require.Equal(t, out, rnic(t, t.TempDir(), "--help"))
	for _, c := range []string{"run", "bench", "regs", "area"} {
		require.Regexp(t, `(?m)^  `+c+`\b`, out)
	}
	run := rnic(t, t.TempDir(), "run", "--help")
	require.Equal(t, run, rnic(t, t.TempDir(), "help", "run"))
	for _, f := range []string{"mtu", "qps", "transport", "srq", "ipv6", "vlan", "msg-size", "depth", "seed", "link-rate", "link-latency", "pcie-latency", "op", "fault", "timeout", "retry-cnt", "rnr-retry", "stats", "all", "pcie-profile", "vcd", "pcap", "out", "waves", "scope", "from", "to", "json"} {
		require.Contains(t, run, "--"+f)
	}
}
