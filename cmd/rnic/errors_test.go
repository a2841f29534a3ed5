package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is wrong is one clear line.
func TestWrongFlags(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"run no/such.file", "open no/such.file: no such file or directory"},
		{"run .", "read .: is a directory"},
		{"run --mtu 1000", "--mtu 1000: must be 256, 512, 1024, 2048 or 4096"},
		{"run --mtu 0", "--mtu 0: must be 256, 512, 1024, 2048 or 4096"},
		{"run --qps 0", "0 QPs: must be 1 to 512"},
		{"run --qps 513", "513 QPs: must be 1 to 512"},
		{"run --qps=-1", "-1 QPs: must be 1 to 512"},
		{"run --msg-size 0", "messages of 0 bytes: must be 1 to 67108864"},
		{"run --msg-size 67108865", "messages of 67108865 bytes: must be 1 to 67108864"},
		{"run --msg-size=-5", "messages of -5 bytes: must be 1 to 67108864"},
		{"run --depth 0", "a depth of 0: must be 1 to 2048"},
		{"run --depth 2049", "a depth of 2049: must be 1 to 2048"},
		{"run --link-rate 0", "--link-rate 0: must be 1 to 100 Gb/s"},
		{"run --link-rate 101", "--link-rate 101: must be 1 to 100 Gb/s"},
		{"run --link-latency 19ns", "--link-latency 19ns: must be 20ns to 5ms"},
		{"run --link-latency 1s", "--link-latency 1s: must be 20ns to 5ms"},
		{"run --pcie-latency 3ns", "--pcie-latency 3ns: must be 4ns to 20µs"},
		{"run --pcie-latency 21us", "--pcie-latency 21µs: must be 4ns to 20µs"},
		{"bench --link-rate 0", "--link-rate 0: must be 1 to 100 Gb/s"},
		{"run --vcd --from=-1ns", "--from -1ns: must be 0s to 1000h0m0s"},
		{"run --vcd --from 2000h", "--from 2000h0m0s: must be 0s to 1000h0m0s"},
		{"run --vcd --to=-1ns", "--to -1ns: must be over 0s, to 1000h0m0s"},
		{"run --vcd --to 0s", "--to 0s: must be over 0s, to 1000h0m0s"},
		{"run --vcd --to c0", "--to 0s: must be over 0s, to 1000h0m0s"},
		{"run --from 0s", "--waves, --scope, --from and --to choose what --fst and --vcd write, and there is neither"},
		{"run --fst --from 1.5ns", "error: --from: 1.5ns: no whole number of ticks of 1ns"},
		{"run --fst --from 1ps", "error: --from: 1ps: no whole number of ticks of 1ns"},
		{"run --fst --to 99999999999999999999s", "error: --to: 99999999999999999999s: beyond 64 bits"},
		{"run --fst --from soon", `error: --from: "soon": must be as 123ns, 1.5us or c1234`},
		{"run --fst --from c1x", `error: --from: "c1x": must be c0 to c900000000000000`},
		{"run --fst --from c900000000000001", `error: --from: "c900000000000001": must be c0 to c900000000000000`},
		{"run --fst --from c100 --to c99", "--to 396ns: before --from 400ns"},
		{"run --around=", `--around "": must be nak, rnr, retry, timeout, cqe-error, drop, hang, assertion, 'qp N psn N' or 'cycle N', with '#N' behind it for the Nth`},
		{"run --vcd --from 2us --to 1us", "--to 1µs: before --from 2µs"},
		{"run --from 1us", "--waves, --scope, --from and --to choose what --fst and --vcd write, and there is neither"},
		{"run --waves control", "--waves, --scope, --from and --to choose what --fst and --vcd write, and there is neither"},
		{"run --fst --waves control --scope host_a.wire.from_nic.head.data", `waves: scope "host_a.wire.from_nic.head.data" selects nothing below host_a, host_b`},
		{"run --pcap --scope host_a", "--waves, --scope, --from and --to choose what --fst and --vcd write, and there is neither"},
		{"run --vcd --scope host_c", `waves: scope "host_c" selects nothing below host_a, host_b`},
		{"run --vcd --scope [", `waves: scope "[" is not a pattern`},
		{"run --vcd --out=", "--out: no name of a folder"},
		{"run --fst --out=", "--out: no name of a folder"},
		{"run --fst --scope host_c", `waves: scope "host_c" selects nothing below host_a, host_b`},
		{"run --op jump", `error: --op must be one of "send","send-imm","write","write-imm","read","cas","faa" but got "jump"`},
		{"run --transport rd", `error: --transport must be one of "rc","uc","ud" but got "rd"`},
		{"run --transport uc --op read", "READ over UC: must be SEND, SEND_IMM, WRITE or WRITE_IMM"},
		{"run --transport uc --op faa", "FETCH_ADD over UC: must be SEND, SEND_IMM, WRITE or WRITE_IMM"},
		{"run --transport ud --op write", "WRITE over UD: must be SEND or SEND_IMM"},
		{"run --transport ud --msg-size 1025", "--msg-size 1025: more than --mtu 1024, which is the most of --transport ud"},
		{"run --transport ud --mtu 1000", "--mtu 1000: must be 256, 512, 1024, 2048 or 4096"},
		{"run --transport uc --timeout 9", "--timeout: nothing is sent again with --transport uc"},
		{"run --transport ud --retry-cnt 0", "--retry-cnt: nothing is sent again with --transport ud"},
		{"run --transport uc --rnr-retry 7", "--rnr-retry: nothing is sent again with --transport uc"},
		{"run --srq --op read", "an SRQ with READ, which takes no receives"},
		{"run --srq --transport uc --op write", "an SRQ with WRITE, which takes no receives"},
		{"run --vlan 65536", `error: --vlan: expected a valid 16 bit uint but got "65536"`},
		{"run --vlan 4095", "VLAN 4095: must be 0 to 4094"},
		{"run --op cas --msg-size 16", "COMPARE_SWAP takes messages of 8 bytes: not 16"},
		{"run --op faa /dev/null", "FETCH_ADD takes data of a multiple of 8 bytes: not 0"},
		{"run --fault drop", `--fault "drop", at 5: says not at which host, which only a rate as 1% may leave open: must have a or b`},
		{"run --timeout 32", "a timeout of 32: must be 1 to 31"},
		{"run --retry-cnt 8", "a retry count of 8: must be 0 to 7"},
		{"run --rnr-retry 8", "an RNR retry count of 8: must be 0 to 7"},
		{"run --fault=", `--fault "", at 1: says not what is to happen: must have one of drop`},
		{"run --all", "--all chooses what --stats prints, and there is no --stats"},
		{"bench --pcie-profile x", `error: --pcie-profile must be one of "constant","uniform","xeon-e5","xeon-e5-cached","xeon-e5-iommu","xeon-e3" but got "x"`},
		{"run --seed=-1", `error: --seed: expected a valid 64 bit uint but got "-1"`},
		{"run --seed 18446744073709551616", `error: --seed: expected a valid 64 bit uint but got "18446744073709551616"`},
		{"run --qps many", `error: --qps: expected a valid 64 bit int but got "many"`},
		{"run --link-latency 5", `error: --link-latency: expected duration but got "5": time: missing unit in duration "5"`},
		{"run --vcd --profile x", `error: --profile must be one of "rich","portable" but got "x"`},
		{"run --no-such", "error: unknown flag --no-such"},
		{"run a b", "error: unexpected argument b"},
		{"walk", "error: unexpected argument walk"},
		{"area 1", "error: unexpected argument 1"},
		{"regs --json", "error: unknown flag --json"},
		{"", `error: expected one of "run", "bench", "replay", "connect", "regs", ...`},
	} {
		got := refused(t, dir, strings.Fields(c.args)...)
		require.True(t, got == c.want || strings.HasPrefix(got, c.want+","), "rnic %s: %s", c.args, got)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range left {
		require.Equal(t, "out", f.Name(), "nothing but an empty folder is left")
		sub, err := os.ReadDir(filepath.Join(dir, "out"))
		require.NoError(t, err)
		require.Empty(t, sub)
	}
}

func TestWindowBeyondTheRun(t *testing.T) {
	dir := t.TempDir()
	r := runJSON(t, dir)
	got := refused(t, dir, "run", "--vcd", "--from", "1s")
	require.Regexp(t, `^--from 1s: the run ended at 1\d\d\.\d+µs$`, got)
	require.NotZero(t, r.Cycles)
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := os.Stat("/proc/self/mem"); err == nil {
		require.Equal(t, "read /proc/self/mem: input/output error", refused(t, dir, "run", "/proc/self/mem"))
	}
	if os.Getuid() != 0 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o000))
		require.Equal(t, "open mine: permission denied", refused(t, dir, "run", "mine"))
	}
}

// A large file is read as its messages go: one that is cut short meanwhile is told.
func TestLargeFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "large"), nil, 0o666))
	require.NoError(t, os.Truncate(filepath.Join(dir, "large"), 64<<20+1)) // takes no room
	r := runJSON(t, dir, "large", "--msg-size", "33554432", "--mtu", "4096", "--qps", "1")
	require.Equal(t, int64(64<<20+1), r.Bytes)
	require.Equal(t, 3, r.Messages)
}

// A FIFO is a file like any other.
func TestRunFromAFIFO(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(p, 0o666))
	w := exec.Command("sh", "-c", "head -c 5000 /dev/zero >fifo")
	w.Dir = dir
	require.NoError(t, w.Start())
	require.Equal(t, int64(5000), runJSON(t, dir, "fifo").Bytes)
	require.NoError(t, w.Wait())
}

func TestFoldersThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	file, _ := random(t, dir, 100)
	require.Equal(t, "mkdir "+file+": not a directory", refused(t, dir, "run", "--vcd", "--out", file))
	require.Equal(t, "mkdir "+file+": not a directory", refused(t, dir, "run", "--pcap", "--out", file+"/sub"))
	if _, err := os.Stat("/proc/self"); err == nil {
		require.Equal(t, "mkdir /proc/rnic: no such file or directory", refused(t, dir, "run", "--vcd", "--out", "/proc/rnic"))
	}
	if os.Getuid() != 0 {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "shut"), 0o555))
		require.Equal(t, "waves: open shut/rnic.vcd: permission denied", refused(t, dir, "run", "--vcd", "--out", "shut"))
	}
	// A name that is taken by a folder.
	for _, f := range outputs {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "taken", f), 0o777))
		require.Contains(t, refused(t, dir, "run", "--vcd", "--pcap", "--out", "taken"), "open taken/"+f+": is a directory")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "taken")))
	}
}

// A full disk ends the run with its name, whichever file meets it.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	dir := t.TempDir()
	for _, f := range outputs {
		require.NoError(t, os.Mkdir(filepath.Join(dir, f), 0o777))
		require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, f, f)))
		require.Equal(t, "waves: write "+f+"/"+f+": no space left on device", refused(t, dir, "run", "--vcd", "--pcap", "--out", f))
	}
	// One line, however many files it meets: the views come first.
	require.NoError(t, os.Mkdir(filepath.Join(dir, "all"), 0o777))
	for _, f := range outputs {
		require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, "all", f)))
	}
	require.Equal(t, "waves: write all/rnic.gtkw: no space left on device", refused(t, dir, "run", "--vcd", "--pcap", "--out", "all"))
}

// Files of a story are whole or not there, however little room there is, and the error has
// the name of those that are not.
func TestNoHalfFiles(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--report", "--trace-events", "--out", "all")
	missing := 0
	for _, kib := range []string{"4", "24", "64", "80"} {
		c := exec.Command("sh", "-c", `ulimit -f "$1"; exec "$2" run --report --trace-events --out o`, "sh", kib, program)
		c.Dir = dir
		out, _ := c.CombinedOutput()
		for _, f := range files(t, filepath.Join(dir, "all")) {
			if _, err := os.Stat(filepath.Join(dir, "o", f)); err != nil {
				missing++
				continue
			}
			require.Equal(t, read(t, dir, "all", f), read(t, dir, "o", f), f)
			require.NotContains(t, string(out), "write o/"+f)
		}
		require.Subset(t, files(t, filepath.Join(dir, "all")), files(t, filepath.Join(dir, "o")))
		require.Contains(t, string(out), "file too large", string(out))
	}
	require.Positive(t, missing)
}

// Standard output that nobody reads, or that is full, is an error too.
func TestFullOutput(t *testing.T) {
	out, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer out.Close()
	for _, args := range [][]string{{"run"}, {"run", "--json"}, {"regs"}, {"area"}} {
		c := exec.Command(program, args...)
		c.Stdout = out
		var stderr strings.Builder
		c.Stderr = &stderr
		require.Error(t, c.Run(), "%v", args)
		require.Equal(t, "rnic: write /dev/stdout: no space left on device\n", stderr.String(), "%v", args)
	}
}
