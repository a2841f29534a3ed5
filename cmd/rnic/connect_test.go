package main_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/waves/wavetest"
)

// TestConnectWaves: a host whose wire leads outside has the rows and the views too. Its two
// QPs are connected to each other; a recording gives the same waves.
func TestConnectWaves(t *testing.T) {
	wavetest.Need(t, "fst2vcd")
	dir := t.TempDir()
	end := func(mine, far string) string {
		return "conn " + mine + " qpn=" + far + " gid=10.0.0.1 mac=02:00:00:00:00:01 psn=100 rpsn=100"
	}
	c := exec.Command(program, "connect", "dgram:"+filepath.Join(dir, "a")+","+filepath.Join(dir, "b"), "--fst", "--record", "--out", "o")
	c.Dir = dir
	c.Stdin = strings.NewReader(strings.Join([]string{
		"qp 1 gid=1 type=rc", "qp 2 gid=1 type=rc", end("1", "4"), end("2", "3"),
		"recv 2 off=4096 len=4096 id=7", "send 1 op=send off=0 len=3000 id=8", "poll 2 ms=1000", "",
	}, "\n"))
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	require.NoError(t, c.Run(), stderr.String())
	require.Regexp(t, `^= qpn=3\n= qpn=4\n= ok\n= ok\n= ok\n= ok\n= 2 \| .*\n$`, stdout.String())

	again := rnic(t, dir, "connect", "--replay", "o/recording", "--fst", "--vcd", "--out", "p")
	require.Equal(t, stdout.String(), again)
	require.Equal(t, read(t, dir, "o", "rnic.fst"), read(t, dir, "p", "rnic.fst"))
	require.FileExists(t, filepath.Join(dir, "p", "rnic.vcd"))
	f := wavetest.FST(t, filepath.Join(dir, "o", "rnic.fst"))
	for row, want := range map[string]string{
		"host_a.qp_3.send_0":                    "SEND #0 3000B psn=0x64..0x66",
		"host_a.qp_4.recv_0":                    "RECV #0 RC_SEND_FIRST psn=0x64",
		"host_a.nic.pkt_tx.ask.req.packet":      "RC_SEND_LAST qp=3 psn=0x66",
		"host_a.nic.scatter.front.place.packet": "RC_SEND_MIDDLE qp=4 psn=0x65",
	} {
		v := f.Find(row)
		require.NotNil(t, v, row)
		found := false
		for _, x := range v.Changes {
			found = found || strings.Contains(x.Value, want)
		}
		require.True(t, found, "%s: %s", row, want)
	}
	for _, view := range []string{"rnic.gtkw", "rnic.sucl", "views/host_a.qp_3.gtkw", "views/host_a.nic.dma.sucl", ".surfer/mappings/abi_QPState"} {
		require.FileExists(t, filepath.Join(dir, "o", view))
	}
}

// appear waits for files that are written beside a run.
func appear(t *testing.T, files ...string) {
	for _, f := range files {
		require.Eventually(t, func() bool { _, err := os.Stat(f); return err == nil }, time.Minute, time.Millisecond, f)
	}
}

// What a killed host leaves can be looked at: its views are there from the start.
func TestKilledConnectHasViews(t *testing.T) {
	dir := t.TempDir()
	c := exec.Command(program, "connect", "dgram:"+filepath.Join(dir, "a")+","+filepath.Join(dir, "b"), "--fst", "--out", "o")
	c.Dir = dir
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = in.Write([]byte("qp 1 gid=1 type=rc\n"))
	require.NoError(t, err)
	answer, err := bufio.NewReader(out).ReadString('\n')
	appear(t, filepath.Join(dir, "o", ".surfer", "mappings", "abi_QPState"))
	require.NoError(t, c.Process.Kill())
	require.NoError(t, err)
	require.Equal(t, "= qpn=3\n", answer)
	require.Error(t, c.Wait())
	for _, view := range []string{"rnic.fst", "rnic.gtkw", "rnic.sucl", ".surfer/mappings/abi_QPState"} {
		require.FileExists(t, filepath.Join(dir, "o", view))
	}
	rnic(t, dir, "wave", "o/rnic.fst", "-s", "host_a.clk")
}
