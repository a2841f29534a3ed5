package scenario

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// right is a scenario in which nothing is wrong.
const right = `qps:
  qa: {host: a, peer: qb}
  qb: {host: b}
mrs:
  source: {host: a, size: 64B}
  target: {host: b, size: 64B}
work:
  - {name: recv, qp: qb, op: recv, local: {mr: target}}
  - {name: send, qp: qa, op: send, local: {mr: source}, at: 1us}
faults:
  - drop b nth=1
expect:
  completions:
    - {wr: [send, recv]}
`

// What is wrong is told where it is, with a reason.
func TestWrong(t *testing.T) {
	_, err := Read("f", []byte(right))
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{"peer: qb", "pear: qb", `2:17: unknown key "pear" in a QP: did you mean "peer"?`},
		{"faults:", "fault:", `10:1: unknown key "fault" in a scenario: did you mean "faults"?`},
		{"peer: qb", "peer: qb, rnr-retry: 3", `2:27: unknown key "rnr-retry" in a QP: did you mean "rnr_retry"?`},
		{"peer: qb", "peer: qc", `2:23: no QP is named "qc": did you mean "qa"?`},
		{"peer: qb", "mtu: 1024B", `2:3: QP "qa" has no peer`},
		{"peer: qb", "peer: qb, mtu: 1024", `2:32: "1024": the unit is missing: must be bytes with a unit, as 64B, 4KiB or 1MiB`},
		{"peer: qb", "peer: qb, mtu: 1000B", `2:32: 1000B: must be 256B, 512B, 1024B, 2048B or 4096B`},
		{"peer: qb", "peer: qb, mtu: 512B", `2:3: qa and qb must have the same mtu and ipv6`},
		{"peer: qb", "peer: qb, retry_cnt: 8", `2:38: "8": must be a number from 0 to 7`},
		{"peer: qb", "peer: qb, retry_cnt: [1]", `2:38: a list: must be a number from 0 to 7`},
		{"peer: qb", "peer: qb, sig_all: 1", `2:36: "1": must be true or false`},
		{"peer: qb", "peer: qb, access: [remote_reed]", `2:36: "remote_reed" is no permission: did you mean "remote_read"?`},
		{"host: a, peer", "peer", `2:7: a QP without "host"`},
		{"qa: {", "QA: {", `2:3: "QA" is no name: must be of small letters, digits and _, and begin with a letter`},
		{"at: 1us", "at: 1", `9:61: "1": the unit is missing: must be a time with a unit, as 300ns, 4.5us, 1ms or 20cycles`},
		{"at: 1us", "at: 1us, at: 2us", `9:66: `},
		{"at: 1us", "at: -1us", `9:61: "-1us": must be a time with a unit, as 300ns, 4.5us, 1ms or 20cycles`},
		{"at: 1us", "after: [recv, sent]", `9:71: no step is named "sent": did you mean "send"?`},
		{"at: 1us", "after: send", `9:5: a step that waits for itself`},
		{"at: 1us", "imm: 1", `9:62: send has no imm`},
		{"op: send", "op: sent", `9:30: "sent" is no operation: did you mean "send"?`},
		{"op: send", "op: write", `9:5: write without "remote"`},
		{"mr: source", "mr: target", `9:48: "target" is memory of host b`},
		{"mr: source", "mr: source, size: 65B", `9:48: 65 bytes at 0 are not in "source", which has 64`},
		{"size: 64B}", "size: 64B, text: [x]}", `5:38: a list: must be text`},
		{"size: 64B}", "size: 2B, text: abc}", `5:37: content of 3 bytes in a region of 2`},
		{"size: 64B}", "hex: 0x}", `5:26: "0x": must be pairs of hex digits`},
		{"size: 64B}", "size: 64kB}", `5:27: "64kB": must be bytes with a unit, as 64B, 4KiB or 1MiB`},
		{"drop b nth=1", "drop b nht=1", `11:12: fault: "nht=1" is no word of a fault`},
		{"drop b nth=1", `"drop b nth=0"`, `11:13: fault: nth=0: must be a number from 1`},
		{"[send, recv]", "[send, receive]", `14:19: no step is named "receive": must be one of recv, send`},
		{"[send, recv]", "send, status: ok", `14:26: "ok" is no status: must be one of success, `},
		{"[send, recv]", "send, at: 1us", `14:22: "1us" is no range: must be as 2us..3us, 2us.. or ..3us`},
		{"[send, recv]", "send, at: 3us..2us", `14:22: "3us..2us": the range ends before it begins`},
		{"completions:", "counters: {a: {naks: 1}}\n  completions:", `13:18: unknown counter "naks": must be one of tx_packets, `},
		{"completions:", "states: {qa: dead}\n  completions:", `13:16: "dead" is no state: must be one of reset, `},
		{"completions:", "order: [{psn: +x}]\n  completions:", `13:17: "+x": must be a PSN`},
		{"completions:", "memory: [{mr: target}]\n  completions:", `13:12: memory without content: must have like, text, hex, u64 or pattern`},
		{"mrs:", "mrs: &x", `anchors, aliases and tags are no part of the language`},
		{"qps:", "qps: [", `no YAML: `},
		{right, "", `1:1: an empty file`},
		{right, "- 1", `1:1: a list: must be a mapping with a scenario`},
	} {
		require.Contains(t, right, c.old)
		_, err := Read("f", []byte(strings.Replace(right, c.old, c.new, 1)))
		require.Error(t, err, c.new)
		assert.Contains(t, err.Error(), c.want, c.new)
		require.Regexp(t, `^f:\d+:\d+: `, err.Error(), c.new)
	}
	_, err = Load("/nowhere.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// All that is wrong is told at once, in the order of the file, each once.
func TestAllWrong(t *testing.T) {
	_, err := Read("f", []byte("qps: {a: 1, b: {host: c}}\nwork: {op: run}\nx: 1\n"))
	require.EqualError(t, err, strings.Join([]string{
		`f:1:1: a scenario without "expect"`,
		`f:1:7: QP "a" has no peer`,
		`f:1:10: "1": must be a mapping with a QP`,
		`f:1:13: QP "b" has no peer`,
		`f:1:23: "c" is no host: must be one of a, b`,
		`f:2:7: a step without "qp"`,
		`f:2:12: "run" is no operation: must be one of send, send_imm, send_inv, write, write_imm, read, compare_swap, fetch_add, nop, recv, modify`,
		`f:3:1: unknown key "x" in a scenario: must be one of hosts, wire, nic, qps, mrs, work, faults, expect, settle, time_limit`,
	}, "\n"))
	_, err = Read("f", []byte(strings.Repeat("a: [\n", 3)))
	require.Error(t, err)
	_, err = Read("f", make([]byte, maxFile+1))
	require.EqualError(t, err, "f:1:1: a file of 1048577 bytes; at most 1048576")
}

// A file without an end is refused, whatever length it claims to have.
func TestEndless(t *testing.T) {
	_, err := Load("/dev/zero")
	require.EqualError(t, err, "/dev/zero: longer than 1048576 bytes")
}

// small tells whether a scenario can be run in no time.
func (s *Scenario) small() bool {
	n := uint64(0)
	for _, m := range s.MRs {
		n += m.Size
	}
	return n <= 1<<20 && len(s.Work) <= 50 && len(s.QPs) <= 8
}

// Nothing that a file says makes the reader panic, and what it refuses has a place.
func FuzzRead(f *testing.F) {
	for _, path := range files(f) {
		b, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte(right))
	f.Add([]byte("a: &x [*x]\n<<: !!t {? b : c}\n--- |\n x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read("f", b)
		if err != nil {
			require.Nil(t, s)
			require.Regexp(t, `^f:\d+:\d+: `, err.Error())
		}
	})
}

// Files with a few bytes changed, or a line left out or doubled, that are accepted all
// the same, do no harm when they run.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const letters = "ab0_19{}[]:,-+.\"'\n #&*|>!%@"
	ran := 0
	for _, path := range files(t) {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		for range 20 {
			text := string(b)
			if rng.IntN(2) == 0 {
				l := strings.SplitAfter(text, "\n")
				i := rng.IntN(len(l))
				l[i] = strings.Repeat(l[i], 2*rng.IntN(2))
				text = strings.Join(l, "")
			}
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(text))
				text = fmt.Sprintf("%s%c%s", text[:at], letters[rng.IntN(len(letters))], text[at+rng.IntN(2):])
			}
			s, err := Read("f", []byte(text))
			if err != nil || !s.small() {
				continue
			}
			ran++
			s.TimeLimit, s.Settle = 50*time.Microsecond, time.Microsecond
			if r, err := s.Run(Options{Seed: 1}); err == nil {
				require.NoError(t, r.Table(&strings.Builder{}))
			}
		}
	}
	require.Greater(t, ran, 50)
}
