package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pcapOf is the path of a shipped capture.
func pcapOf(t testing.TB, name string) string {
	p, err := filepath.Abs(filepath.Join("../../testdata/pcaps", name+".pcap"))
	require.NoError(t, err)
	return p
}

// The table has both sides beside each other, what was lost, and ends with the sum.
func TestReplayTable(t *testing.T) {
	out := rnic(t, t.TempDir(), "replay", pcapOf(t, "v_rc_loss_seq_nak"))
	for _, want := range []string{
		"v_rc_loss_seq_nak.pcap: 9 frames, 9 of RC\n",
		"1. 10.0.0.2 QP 000047 -> 10.0.0.1 QP 000047: MTU 1024, 7 requests, 2 answers\n",
		"the model as responder: 1 same, 1 legal, 0 wrong\n",
		"lost: its PSN is asked for by the NAK of frame 5\n",
		"the model as requester: 7 same, 0 legal, 0 wrong; work requests: 1 SUCCESS\n",
		"(IBTA 9.7.7.2)",
		"\n8 same, 1 legal, 0 wrong\n",
	} {
		require.Contains(t, out, want)
	}
	require.Regexp(t, `post SEND 4000 B +1 +SEND_FIRST 001000 1024 B +SEND_FIRST 001000 1024 B +same\n`, out)
	require.Equal(t, out, rnic(t, t.TempDir(), "replay", pcapOf(t, "v_rc_loss_seq_nak")), "the same each time")
	require.NotContains(t, rnic(t, t.TempDir(), "replay", "--differing", pcapOf(t, "v_rc_loss_seq_nak")), "  same\n")
}

// JSON says the same; --qp and --role choose.
func TestReplayJSON(t *testing.T) {
	var r struct {
		Frames, Packets, Same, Legal, Wrong int
		Conversations                       []struct {
			Name    string
			Results []struct {
				Role string
				Done []string
				Rows []struct{ Verdict string }
			}
		}
	}
	out := rnic(t, t.TempDir(), "replay", "--json", "--role", "requester", "--qp", "0x43", pcapOf(t, "v_rc_nak_remote_access"))
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, 6, r.Frames)
	require.Len(t, r.Conversations, 1)
	require.Len(t, r.Conversations[0].Results, 1)
	require.Equal(t, "requester", r.Conversations[0].Results[0].Role)
	require.Equal(t, []string{"1 REM_ACCESS_ERR"}, r.Conversations[0].Results[0].Done)
	require.Equal(t, 1, r.Same)
	require.Zero(t, r.Wrong+r.Legal)
}

// What the model sent and was given can be replayed in its turn.
func TestReplayPcap(t *testing.T) {
	dir := t.TempDir()
	out := rnic(t, dir, "replay", "--pcap", "--role", "requester", pcapOf(t, "v_rc_all_ops"))
	require.Contains(t, out, "wrote out/replay.pcapng\n")
	frames := capture(t, filepath.Join(dir, "out", "replay.pcapng"))
	require.Len(t, frames, 38) // one more lifts the limit of credits
	for i := 1; i < len(frames); i++ {
		require.GreaterOrEqual(t, frames[i].ps, frames[i-1].ps)
	}
	require.Contains(t, rnic(t, dir, "replay", "out/replay.pcapng"), " 0 wrong\n")
}

// What was recorded of a run with faults replays from either end.
func TestReplayRun(t *testing.T) {
	for _, op := range []string{"send", "write-imm", "read"} {
		dir := t.TempDir()
		rnic(t, dir, "run", "--pcap", "--op", op, "--fault", "drop a nth=2", "--fault", "drop b nth=2")
		for _, host := range []string{"host_a", "host_b"} {
			require.Contains(t, rnic(t, dir, "replay", "out/"+host+".pcapng"), " 0 wrong\n", "%s %s", op, host)
		}
	}
}

// Something wrong ends with 1, behind the table.
func TestReplayWrong(t *testing.T) {
	out, stderr, err := call(t, t.TempDir(), "replay", "--lost", "none", pcapOf(t, "v_rc_loss_seq_nak"))
	require.Error(t, err)
	require.Contains(t, out, "WRONG: ")
	require.Regexp(t, `^rnic: v_rc_loss_seq_nak.pcap: \d+ wrong\n$`, stderr)
}

// What can't be replayed, and flags that make no sense, are one line.
func TestReplayRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("this is no capture, though it is long enough"), 0o666))
	lost := pcapOf(t, "v_rc_loss_seq_nak")
	for want, args := range map[string]string{
		"replay: which capture?":                                 "",
		"text: neither pcap nor pcapng":                          "text",
		"open nowhere: no such file":                             "nowhere",
		"--qp 5: the capture has 10.0.0.2":                       "--qp 5 " + lost,
		"--qp x: no number of 24 bits":                           "--qp x " + lost,
		"--lost 40: no packet that is replayed is in this frame": "--lost 40 " + lost,
		"is no number of a frame":                                "--lost 1,b " + lost,
		"--mtu 1000: must be":                                    "--mtu 1000 " + lost,
		"--timeout 30: must be":                                  "--timeout 30 " + lost,
		"--retry-cnt 8: must be":                                 "--retry-cnt 8 " + lost,
		"--rnr-retry 8: must be":                                 "--rnr-retry 8 " + lost,
	} {
		require.Contains(t, refused(t, dir, append([]string{"replay"}, strings.Fields(args)...)...), want)
	}
}

// The table in docs/replay.md is the one in the code.
func TestReplayDoc(t *testing.T) {
	require.Contains(t, string(read(t, docs, "replay.md"))+"\n", "\n"+rnic(t, t.TempDir(), "replay", "--differences")+"\n")
}
