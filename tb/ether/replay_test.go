package ether_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/console"
	"rnic/tb/ether"
	"rnic/waves"
)

// watched is a station whose port and waveforms are written, and its files.
type watched struct {
	*ether.Station
	pcap, vcd, rec bytes.Buffer
	replies        []string
	close          func()
}

func watch(t *testing.T, c ether.Config) *watched {
	s, err := ether.New(c, console.Program)
	require.NoError(t, err)
	w := &watched{Station: s}
	p, err := waves.NewCapture(&w.pcap, "host_a")
	require.NoError(t, err)
	s.Tap(func(f tb.Frame) { require.NoError(t, p.Frame(f.TimePs, f.Tx, f.Data)) })
	v, err := waves.New(&w.vcd, waves.Options{}, s.K)
	require.NoError(t, err)
	w.close = func() {
		require.NoError(t, p.Close())
		require.NoError(t, v.Close())
		s.Close()
	}
	return w
}

// run has the station execute lines, one when the one before is answered.
func (w *watched) run(t *testing.T, ctx context.Context, wire ether.Wire, lines func(ask func(string) string)) {
	in, out := make(chan string), make(chan string, 1)
	ctx, stop := context.WithCancel(ctx)
	go func() {
		lines(func(l string) string {
			in <- l
			r := <-out
			w.replies = append(w.replies, r)
			return r
		})
		stop()
	}()
	require.NoError(t, w.Run(ctx, wire, in, func(r string) { out <- r }))
}

// field is the value of name= in an answer.
func field(answer, name string) string {
	for _, f := range strings.Fields(answer) {
		if v, ok := strings.CutPrefix(f, name+"="); ok {
			return v
		}
	}
	return ""
}

// TestReplay: two stations of two programs, so to speak, talk over a socket in real
// time. What one of them did is repeated from its recording alone, to the bit: its
// answers, its packets, its waves.
func TestReplay(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "w")
	here, err := ether.OpenWire("listen:" + sock)
	require.NoError(t, err)
	defer here.Close()
	there, err := ether.OpenWire("dial:" + sock)
	require.NoError(t, err)
	defer there.Close()

	peer, err := ether.New(ether.Config{MAC: roce.HostMAC(2), IPv4: roce.HostIPv4(2), Seed: 2}, console.Program)
	require.NoError(t, err)
	defer peer.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan error, 1)
	known := make(chan string, 1)
	lines, answers := make(chan string), make(chan string, 8)
	go func() { ended <- peer.Run(ctx, there, lines, func(r string) { answers <- r }) }()
	ask := func(l string) string {
		lines <- l
		return <-answers
	}
	info := ask("info")
	require.Equal(t, "= qpn=3", ask("qp 1"))
	ask("conn 1 qpn=3 gid=10.0.0.1 mac=02:00:00:00:00:01 psn=100 rpsn=200 timeout=14 retry=7 rnr=7")
	ask("recv 1 off=0 len=4096 id=9")
	known <- info

	a := watch(t, ether.Config{Seed: 1})
	rec := a.Record(&a.rec)
	a.run(t, ctx, here, func(ask func(string) string) {
		info := <-known
		ask("qp 1")
		ask("conn 1 qpn=3 gid=10.0.0.2 mac=02:00:00:00:00:02 psn=200 rpsn=100 timeout=14 retry=7 rnr=7")
		ask("fill off=0 len=3000 seed=4")
		ask("send 1 op=send off=0 len=3000 id=1")
		ask(fmt.Sprintf("send 1 op=read off=8192 len=3000 id=2 addr=%s rkey=%s", field(info, "addr"), field(info, "rkey")))
		require.Equal(t, "= 2 | id=1 status=0 | id=2 status=0", ask("poll 2 ms=5000"))
		require.Equal(t, ask("sum off=0 len=3000"), ask("sum off=8192 len=3000"))
	})
	require.NoError(t, rec.Close())
	a.close()
	require.Equal(t, "= 1 | id=9 status=0 recv=3000", ask("poll 1 ms=0"))
	stop()
	require.NoError(t, <-ended)

	again, err := ether.Open(bytes.NewReader(a.rec.Bytes()))
	require.NoError(t, err)
	b := watch(t, again.Config)
	require.NoError(t, b.Replay(again, func(r string) { b.replies = append(b.replies, r) }))
	b.close()
	require.Equal(t, a.replies, b.replies)
	require.Greater(t, a.pcap.Len(), 6000)
	require.True(t, bytes.Equal(a.pcap.Bytes(), b.pcap.Bytes()), "packets")
	require.True(t, bytes.Equal(a.vcd.Bytes(), b.vcd.Bytes()), "waves: %d and %d bytes", a.vcd.Len(), b.vcd.Len())
}

// TestWrongRecordings: each fault is told, with its line.
func TestWrongRecordings(t *testing.T) {
	const head = "rnic recording 1 seed=1 mac=02:00:00:00:00:01 ipv4=10.0.0.1 ipv6=fe80::1 unit=0\n"
	for text, want := range map[string]string{
		"":                                       "recording: unexpected EOF",
		"else":                                   "does not begin with",
		strings.Replace(head, "seed", "sead", 1): "line 1",
		strings.Replace(head, "10.0.0.1", "fe80::2", 1): "not an address of that kind",
		strings.Replace(head, ":01", "", 1):             "line 1",
		head:                                            "ends without an end",
		head + "x end\n":                                "line 2",
		head + "9 line info\n8 end\n":                   "line 3: cycle 8 comes after 9",
		head + "9 frame 0102\n":                         "a frame of 2 bytes",
		head + "9 frame 0z\n":                           "line 2",
		head + "9 what\n":                               "neither frame nor line nor end",
	} {
		r, err := ether.Open(strings.NewReader(text))
		if err == nil {
			s, e := ether.New(r.Config, console.Program)
			require.NoError(t, e)
			err = s.Replay(r, func(string) {})
			s.Close()
		}
		require.ErrorContains(t, err, want, "%q", text)
	}
}
