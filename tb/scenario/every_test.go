package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
)

// mixture is a run of every operation that a connection has, on PSNs that wrap.
const mixture = `
hosts:
  a: {%[4]s}
  b: {%[4]s}
%[5]sqps:
  qa: {host: a, peer: qb, psn: 0xfffff6, mtu: 256B, timeout: 1, max_send: 64, %[1]s}
  qb: {host: b, psn: 0xfffffb, timeout: 1, min_rnr_timer: 1, mtu: 256B, %[2]s}
mrs:
  src: {host: a, size: 4KiB, pattern: random}
  got: {host: a, size: 8KiB}
  old: {host: a, size: 32B, pattern: ones}
  dst: {host: b, size: 8KiB}
  far: {host: b, size: 4KiB, pattern: random}
  word: {host: b, u64: 40}
  gone: {host: b, size: 64B}
  back: {host: b, size: 1KiB, pattern: random}
work:
  - {name: r1, qp: qb, op: recv, local: {mr: dst, size: 600B}, at: %[3]s}
  - {name: r2, qp: qb, op: recv, local: {mr: dst, offset: 600B, size: 400B}, at: %[3]s}
  - {name: r3, qp: qb, op: recv, at: %[3]s}
  - {name: r4, qp: qb, op: recv, local: {mr: dst, offset: 1000B, size: 24B}, at: %[3]s}
  - {name: r5, qp: qb, op: recv, at: %[3]s}
  - {name: ra, qp: qa, op: recv, local: {mr: got, offset: 7000B, size: 1000B}}
  - {name: s1, qp: qa, op: send, local: {mr: src, size: 600B}}
  - {name: w1, qp: qa, op: write, local: {mr: src, size: 500B}, remote: {mr: dst, offset: 2048B}}
  - {name: g1, qp: qa, op: read, local: {mr: got, size: 700B}, remote: {mr: far}}
  - {name: f1, qp: qa, op: fetch_add, add: 5, local: {mr: old, size: 8B}, remote: {mr: word}}
  - {name: s2, qp: qa, op: send_imm, imm: 0x1234, local: {mr: src, offset: 700B, size: 300B}}
  - {name: g2, qp: qa, op: read, local: {mr: got, offset: 700B, size: 256B}, remote: {mr: far, offset: 700B}}
  - {name: c1, qp: qa, op: compare_swap, compare: 45, swap: 100, local: {mr: old, offset: 8B, size: 8B}, remote: {mr: word}}
  - {name: w2, qp: qa, op: write_imm, imm: 7, local: {mr: src, offset: 1024B, size: 257B}, remote: {mr: dst, offset: 4096B}}
  - {name: s3, qp: qa, op: send_inv, invalidate: gone, inline: {text: "thirteen here"}}
  - {name: g3, qp: qa, op: read, local: {mr: got, offset: 1024B, size: 1000B}, remote: {mr: far, offset: 1024B}}
  - {name: f2, qp: qa, op: fetch_add, add: 1, local: {mr: old, offset: 16B, size: 8B}, remote: {mr: word}}
  - {name: w3, qp: qa, op: write, remote: {mr: dst}}
  - {name: s4, qp: qa, op: send}
  - {name: g4, qp: qa, op: read, remote: {mr: far}}
  - {name: g5, qp: qa, op: read, fence: true, local: {mr: got, offset: 3072B, size: 512B}, remote: {mr: dst, offset: 2048B}}
  - {name: c2, qp: qa, op: compare_swap, compare: 0, swap: 1, local: {mr: old, offset: 24B, size: 8B}, remote: {mr: word}}
  - {name: w4, qp: qa, op: write, local: {mr: src, offset: 3072B, size: 100B}, remote: {mr: dst, offset: 6144B}}
  - {name: b1, qp: qb, op: send, local: {mr: back, size: 600B}}
  - {name: b2, qp: qb, op: write, local: {mr: back, size: 300B}, remote: {mr: got, offset: 6000B}}
  - {name: b3, qp: qb, op: read, local: {mr: back, offset: 700B, size: 300B}, remote: {mr: src, offset: 3500B}}
faults: [%[6]s]
settle: 60us
expect:
  completions:
    - {wr: r1, byte_len: 600B}
    - {wr: r2, byte_len: 300B, imm: 0x1234}
    - {wr: r3, byte_len: 257B, imm: 7, opcode: recv_rdma_with_imm}
    - {wr: r4, byte_len: 13B, invalidated: gone}
    - {wr: r5, byte_len: 0B}
    - {wr: ra, byte_len: 600B}
    - {wr: [s1, w1, g1, f1, s2, g2, c1, w2, s3, g3, f2, w3, s4, g4, g5, c2, w4]}
    - {wr: [b1, b2, b3]}
  memory:
    - {mr: word, u64: 101}
    - {mr: old, u64: 40}
    - {mr: old, offset: 8B, u64: 45}
    - {mr: old, offset: 16B, u64: 100}
    - {mr: old, offset: 24B, u64: 101}
    - {mr: got, like: {mr: far, size: 956B}}
    - {mr: got, offset: 1024B, like: {mr: far, offset: 1024B, size: 1000B}}
    - {mr: got, offset: 3072B, like: {mr: src, size: 500B}}
    - {mr: got, offset: 7000B, like: {mr: back, size: 600B}}
    - {mr: got, offset: 6000B, like: {mr: back, size: 300B}}
    - {mr: back, offset: 700B, like: {mr: src, offset: 3500B, size: 300B}}
    - {mr: dst, like: {mr: src, size: 600B}}
    - {mr: dst, offset: 600B, like: {mr: src, offset: 700B, size: 300B}}
    - {mr: dst, offset: 1000B, text: "thirteen here"}
    - {mr: dst, offset: 2048B, like: {mr: src, size: 500B}}
    - {mr: dst, offset: 4096B, like: {mr: src, offset: 1024B, size: 257B}}
    - {mr: dst, offset: 6144B, like: {mr: src, offset: 3072B, size: 100B}}
  counters:
    a: {%[7]s}
    b: {%[7]s}
`

// variant is a way to run the mixture: attributes of its QPs, when the receives are
// posted, keys of the hosts and of the top.
type variant struct{ name, qa, qb, recvAt, host, top string }

var variants = []variant{
	{"plain", "max_rd_atomic: 16", "max_rd_atomic: 16", "0us", "time_unit: 4096ns", ""},
	{"one read", "max_rd_atomic: 1", "max_dest_rd_atomic: 1", "0us", "time_unit: 4096ns", ""},
	{"late receives", "max_rd_atomic: 3", "max_dest_rd_atomic: 3", "8us", "push: false", ""},
	{"window", "max_rd_atomic: 16", "max_rd_atomic: 16", "3us", "push: false", "nic: {window: 256KiB}\n"},
	{"no credits", "max_rd_atomic: 2", "max_dest_rd_atomic: 2", "6us", "time_unit: 4096ns", "nic: {credits: false}\n"},
	{"slow host", "max_rd_atomic: 16", "max_rd_atomic: 16", "1us", "pcie_latency: 2000ns", ""},
}

// read is the mixture with faults. Counters of errors may be anything but those of
// completions, which the acceptor judges by what it has seen.
func (v variant) read(faults ...string) (*Scenario, error) {
	var may []string
	for _, c := range abi.Counters() {
		if c != abi.ReqCQEError && c != abi.RespCQEError {
			may = append(may, c.String()+": 0..")
		}
	}
	for i, f := range faults {
		faults[i] = fmt.Sprintf("%q", f)
	}
	text := fmt.Sprintf(mixture, v.qa, v.qb, v.recvAt, v.host, v.top, strings.Join(faults, ", "), strings.Join(may, ", "))
	return Read("mixture.yaml", []byte(text))
}

// mishaps are what may happen to a packet: the last three come when others have, or
// when it was sent again.
var mishaps = []string{"drop", "duplicate", "duplicate=30us", "reorder=2", "delay=10us"}

// Each packet of the mixture, in either direction, is lost, doubled or late, and in some
// of the runs another one besides: whatever is struck, all completes, and every byte is
// there once.
func TestEveryPacket(t *testing.T) {
	for at, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			s, err := v.read()
			require.NoError(t, err)
			whole, err := s.Run(Options{Seed: 1})
			require.NoError(t, err)
			require.Empty(t, failures(whole))
			var all []string
			for _, p := range whole.Packets {
				to := "b"
				if p.Host == "b" {
					to = "a"
				}
				n := 1
				for _, o := range all {
					if strings.HasPrefix(o, to) {
						n++
					}
				}
				all = append(all, fmt.Sprintf("%s nth=%d", to, n))
			}
			require.Greater(t, len(all), 50)
			for i := range all {
				m := mishaps[(i+at)%len(mishaps)]
				if !testing.Short() {
					play(t, v, m+" "+all[i])
				}
				play(t, v, "drop "+all[i], m+" "+all[(7*i+at)%len(all)])
			}
		})
	}
}

// play runs a variant with faults. What has been struck may have kept another from being sent.
func play(t *testing.T, v variant, faults ...string) {
	what := fmt.Sprintf("%s: %q", v.name, faults)
	s, err := v.read(faults...)
	require.NoError(t, err)
	r, err := s.Run(Options{Seed: 1})
	require.NoError(t, err, what)
	for _, c := range r.Checks {
		require.True(t, c.Pass || c.Group == "faults", "%s: %s: %s: expected %s, came %s", what, c.Group, c.What, c.Want, c.Got)
	}
}

// The timer of what was answered in time may end while the answer waits to be placed, here
// for a send WQE that is read late. That is no timeout.
func TestPlacedLate(t *testing.T) {
	s, err := variants[0].read("pcie a read delay=60us nth=20")
	require.NoError(t, err)
	s.Expect.Counters[0][abi.LocalAckTimeoutErr] = Counted{Range: exactly(0)}
	r, err := s.Run(Options{Seed: 1})
	require.NoError(t, err)
	require.Empty(t, failures(r))
}

// A QP that an RNR NAK has wait for long waits on when what it was about is acknowledged
// after all: work requests behind it are late, and nothing hangs.
func TestWaitGoesOn(t *testing.T) {
	s, err := variants[0].read("corrupt a nth=16 field=syndrome set=0x3f repair")
	require.NoError(t, err)
	r, err := s.Run(Options{Seed: 1})
	require.NoError(t, err)
	require.Empty(t, failures(r))
	require.Greater(t, r.SimNs, 491.52e6)
}

// A completion that does not come is told in the report, with all that came, also when
// nothing at all moves any more.
func TestNeverCame(t *testing.T) {
	s, err := Read("f", []byte(`
qps: {qa: {host: a, peer: qb}, qb: {host: b}}
mrs: {m: {host: a, size: 8B}}
work:
  - {name: never, qp: qb, op: recv}
  - {name: nop, qp: qa, op: nop}
expect: {completions: [{wr: nop}, {wr: never}]}
`))
	require.NoError(t, err)
	r, err := s.Run(Options{Seed: 1})
	require.NoError(t, err)
	l := failures(r)
	require.Len(t, l, 2)
	require.Contains(t, l[0], "never: expected success")
	require.Contains(t, l[1], "an end")
}
