package main_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
	"rnic/waves/vcdnorm"
	"rnic/waves/wavetest"
)

// probed does in this process what `rnic run` does, and gives the first cycle in which
// each stream moved.
func probed(t testing.TB, job transfer.Job, streams ...string) map[string]uint64 {
	t.Helper()
	c := tb.Config{Seed: 1}
	c.SetLink(100, 300_000)
	c.SetPCIe(250_000)
	b, err := tb.New(c)
	require.NoError(t, err)
	defer b.Close()
	probes := map[string]*tb.Probe{}
	for _, s := range streams {
		for _, h := range b.Hosts {
			if strings.HasPrefix(s, h.K.Name()+".") {
				probes[s], err = tb.NewProbe(h.K, 1, s)
				require.NoError(t, err)
			}
		}
	}
	job.Driver.Seed = 1
	_, err = job.Run(b)
	require.NoError(t, err)
	at := map[string]uint64{}
	for s, p := range probes {
		require.Len(t, p.Cycles(s), 1, s)
		at[s] = p.Cycles(s)[0]
	}
	require.Len(t, at, len(streams))
	return at
}

// parse reads a VCD of a run, which keeps to the strict dialect.
func parse(t testing.TB, path ...string) *vcdnorm.File {
	t.Helper()
	f, err := vcdnorm.Check(bytes.NewReader(read(t, path...)))
	require.NoError(t, err)
	return f
}

// Streams that are looked at.
const (
	doorbell = "host_a.nic.csr.qp_bell.put"
	sending  = "host_a.nic.mac.transmit.tx.put"
	judged   = "host_b.nic.ack_gen.issue.pkt.take"
	acking   = "host_b.nic.mac.transmit.tx.put"
	complete = "host_a.nic.cq_writer.send.take"
)

const period = tb.PeriodPs

// GTKWave reads from the file what probes in the model and the packets on the wire say.
func TestGTKWaveReadsTheRun(t *testing.T) {
	dir := t.TempDir()
	file, data := random(t, dir, 16384)
	at := probed(t, transfer.Job{Data: bytes.NewReader(data), MTU: roce.MTU1024, QPs: 2, MsgSize: 4096, Depth: 16}, doorbell, sending, judged, acking, complete)
	type look struct {
		ps           int64
		signal, want string
	}
	for _, profile := range []string{"rich", "portable"} {
		t.Run(profile, func(t *testing.T) {
			rnic(t, dir, "run", file, "--vcd", "--pcap", "--profile", profile, "--qps", "2", "--out", profile)
			frames := capture(t, filepath.Join(dir, profile, "host_a.pcapng"))
			first, err := roce.ParseFrame(frames[0].data)
			require.NoError(t, err)
			require.Equal(t, roce.RCSendFirst, first.BTH.Opcode)
			ack := 0
			for frames[ack].out {
				ack++
			}
			psn := fmt.Sprintf("%06X", uint32(first.BTH.PSN))
			bell, out, cqe := int64(at[doorbell])*period, int64(at[sending])*period, int64(at[complete])*period
			looks := []look{
				{bell - 1, "host_a.nic.csr.qp_bell.fire", "0"},
				{bell, "host_a.nic.csr.qp_bell.fire", "1"},
				{bell + period, "host_a.nic.qpc.bell.head.qpn[23:0]", "000002"},
				{out - 1, "host_a.nic.mac.transmit.tx.fire", "0"},
				{out, "host_a.nic.mac.transmit.tx.fire", "1"},
				{out, "host_a.nic.pkt_tx.send.payload.head.pkt.psn[23:0]", psn},
				{frames[0].ps, "host_a.wire.from_nic.fire", "1"},
				{frames[0].ps, "host_a.wire.from_nic.head.last", "1"},
				{frames[0].ps - period, "host_a.wire.from_nic.head.last", "0"},
				{int64(at[judged]) * period, "host_b.nic.ack_gen.issue.pkt.head.psn[23:0]", psn},
				{int64(at[acking]) * period, "host_b.nic.mac.transmit.tx.fire", "1"},
				{frames[ack].ps, "host_a.wire.to_nic.fire", "1"},
				{cqe, "host_a.nic.cq_writer.send.fire", "1"},
				{cqe, "host_a.nic.cq_writer.send.head.qpn[23:0]", "000002"},
			}
			// An enum has its name beside its value in one profile.
			enum := func(ps int64, signal, width, name, value string) {
				if profile == "rich" {
					looks = append(looks, look{ps, signal + "_name", name})
				}
				looks = append(looks, look{ps, signal + width, value})
			}
			enum(bell-1, "host_a.nic.wqe_sched.fetch.reader.ctx.state", "[2:0]", "RESET", "000")
			enum(out, "host_a.nic.wqe_sched.fetch.reader.ctx.state", "[2:0]", "RTS", "011")
			enum(out, "host_a.nic.pkt_tx.send.payload.head.pkt.opcode", "[7:0]", "RC_SEND_FIRST", "00")
			enum(int64(at[judged])*period, "host_b.nic.ack_gen.issue.pkt.head.opcode", "[7:0]", "RC_SEND_FIRST", "00")
			enum(cqe, "host_a.nic.cq_writer.send.head.status", "[7:0]", "SUCCESS", "00")

			var script, want strings.Builder
			f := parse(t, dir, profile, "rnic.vcd")
			fmt.Fprintf(&script, "say \"[gtkwave::getNumFacs] [gtkwave::getMinTime] [gtkwave::getMaxTime] [gtkwave::getTimeDimension]\"\n")
			fmt.Fprintf(&want, "%d 0 %d p\n", len(f.Vars), f.End)
			for _, l := range looks {
				fmt.Fprintf(&script, "gtkwave::addSignalsFromList [list {%s}]\n", l.signal)
			}
			for _, l := range looks {
				fmt.Fprintf(&script, "gtkwave::setMarker %d\nsay \"%d [gtkwave::getTraceValueAtMarkerFromName {%s}]\"\n", l.ps, l.ps, l.signal)
				fmt.Fprintf(&want, "%d %s\n", l.ps, l.want)
			}
			got := wavetest.GTKWave(t, script.String(), filepath.Join(dir, profile, "rnic.vcd"))
			require.Equal(t, want.String(), got)
		})
	}
}

// The save file shows the way of a SEND, by blocks, with names and markers.
func TestSaveFile(t *testing.T) {
	dir := t.TempDir()
	file, data := random(t, dir, 16384)
	rnic(t, dir, "run", file, "--vcd", "--qps", "1", "--no-push", "--mtu", "4096", "--msg-size", "16384")
	job := transfer.Job{Data: bytes.NewReader(data), MTU: roce.MTU4096, QPs: 1, MsgSize: 16384, Depth: 16}
	job.Driver.NoPush = true
	at := probed(t, job, doorbell, sending, acking, complete)

	text := string(read(t, dir, "out", "rnic.gtkw"))
	for _, g := range []struct {
		name    string
		signals int
	}{
		{"host_a: doorbell, WQE", 7}, {"host_a: payload, packets out", 6}, {"host_b: packets in, payload to memory", 7},
		{"host_b: CQE, ACK", 4}, {"host_a: ACK, CQE", 5},
	} {
		_, rest, ok := strings.Cut(text, "@800200\n-"+g.name+"\n")
		require.True(t, ok, g.name)
		body, _, ok := strings.Cut(rest, "@1000200\n-"+g.name+"\n")
		require.True(t, ok, g.name)
		require.Equal(t, g.signals, strings.Count(body, "\n+{"), "signals of %s that there are", g.name)
	}

	script := `
foreach m {A B C D E} { say "$m [gtkwave::getNamedMarker $m]" }
say "shown [expr [gtkwave::getWindowStartTime] < %[1]d && [gtkwave::getWindowEndTime] > %[4]d]"
gtkwave::setMarker %[1]d
say [gtkwave::getTraceValueAtMarkerFromName csr/qp_bell/fire]
gtkwave::setMarker %[2]d
foreach s {wqe_sched/pick/qpn wqe_sched/fetch/reader/ctx/state pkt_tx/send/payload/head/pkt/opcode retrans/used} {
	say "$s [gtkwave::getTraceValueAtMarkerFromName $s]"
}
`
	script = fmt.Sprintf(script, at[doorbell]*period, at[sending]*period, at[acking]*period, at[complete]*period)
	want := fmt.Sprintf(`A %d
B %d
C %d
D %d
E -1
shown 1
1
wqe_sched/pick/qpn 000002
wqe_sched/fetch/reader/ctx/state RTS
pkt_tx/send/payload/head/pkt/opcode RC_SEND_FIRST
retrans/used 1
`, at[doorbell]*period, at[sending]*period, at[acking]*period, at[complete]*period)
	got := wavetest.GTKWave(t, script, filepath.Join(dir, "out", "rnic.vcd"), filepath.Join(dir, "out", "rnic.gtkw"))
	require.Equal(t, want, got)
}

// A window and a choice of scopes show what the whole file shows.
func TestWindow(t *testing.T) {
	dir := t.TempDir()
	rnic(t, dir, "run", "--vcd", "--out", "whole")
	whole := parse(t, dir, "whole", "rnic.vcd")
	byPath := map[string]*vcdnorm.Var{}
	for _, v := range whole.Vars {
		byPath[v.Path] = v
	}
	for _, c := range []struct {
		args     []string
		from, to int64 // ps
		scopes   []string
	}{
		{[]string{"--from", "70us", "--scope", "nic.pkt_tx"}, 70_000_000, whole.End, []string{"host_a.nic.pkt_tx.", "host_b.nic.pkt_tx."}},
		{[]string{"--to", "78123000ps"}, 0, 78_123_000, []string{"host_a.", "host_b."}},
		{[]string{"--to", "78.123us"}, 0, 78_123_000, []string{"host_a.", "host_b."}},
		{[]string{"--from", "77us", "--to", "79us", "--scope", "host_a.nic.qpc", "--scope", "nic.mac"}, 77_000_000, 79_000_000, []string{"host_a.nic.qpc.", "host_a.nic.mac.", "host_b.nic.mac."}},
		{[]string{"--scope", "host_b.nic.*.state", "--from", "10us", "--to", "20us"}, 10_000_000, 20_000_000, []string{"host_b.nic."}},
	} {
		rnic(t, dir, append([]string{"run", "--vcd", "--out", "part"}, c.args...)...)
		part := parse(t, dir, "part", "rnic.vcd")
		require.Equal(t, c.from, part.Start, "%v", c.args)
		require.Equal(t, c.to, part.End, "%v", c.args)
		require.NotEmpty(t, part.Vars)
		for _, v := range part.Vars {
			chosen := strings.HasSuffix(v.Path, ".clk") || strings.HasSuffix(v.Path, ".reset") // always
			for _, s := range c.scopes {
				chosen = chosen || strings.HasPrefix(v.Path, s)
			}
			require.True(t, chosen, v.Path)
			require.NotNil(t, byPath[v.Path], v.Path)
			var want []vcdnorm.Change
			for _, ch := range byPath[v.Path].Changes {
				switch {
				case ch.Time <= c.from:
					want = []vcdnorm.Change{{Time: c.from, Value: ch.Value}}
				case ch.Time <= c.to:
					want = append(want, ch)
				}
			}
			require.True(t, slices.Equal(want, v.Changes), "%v: %s", c.args, v.Path)
		}
		vcd := filepath.Join(dir, "part", "rnic.vcd")
		wavetest.RoundTrip(t, vcd)
		got := wavetest.GTKWave(t, `say "[gtkwave::getNumFacs] [gtkwave::getMinTime] [gtkwave::getMaxTime]"`, vcd, filepath.Join(dir, "part", "rnic.gtkw"))
		require.Equal(t, fmt.Sprintf("%d %d %d\n", len(part.Vars), c.from, c.to), got)
	}
}

func TestFSTAndBack(t *testing.T) {
	dir := t.TempDir()
	for _, profile := range []string{"rich", "portable"} {
		rnic(t, dir, "run", "--vcd", "--profile", profile)
		wavetest.RoundTrip(t, filepath.Join(dir, "out", "rnic.vcd"))
	}
}

// An FST shows what the VCD of the same run shows, and its save file opens it.
func TestFST(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--qps", "2"}, {"--profile", "portable"}, {"--from", "70us", "--to", "78.123us", "--scope", "nic.pkt_tx"}, {"--strict", "--op", "read"},
	} {
		rnic(t, dir, append([]string{"run", "--vcd", "--fst"}, args...)...)
		wavetest.Same(t, filepath.Join(dir, "out", "rnic.vcd"), filepath.Join(dir, "out", "rnic.fst"))
	}
	for _, profile := range []string{"rich", "portable"} {
		require.NotContains(t, rnic(t, dir, "run", "--fst", "--profile", profile, "--out", profile), "vcd")
		text := string(read(t, dir, profile, "rnic.gtkw"))
		require.Contains(t, text, "[dumpfile] \"rnic.fst\"\n")
		got := wavetest.GTKWave(t, `
gtkwave::setMarker [gtkwave::getNamedMarker B]
foreach s {wqe_sched/fetch/reader/ctx/state pkt_tx/send/payload/head/pkt/opcode} {
	say "$s [gtkwave::getTraceValueAtMarkerFromName $s]"
}`, filepath.Join(dir, profile, "rnic.fst"), filepath.Join(dir, profile, "rnic.gtkw"))
		require.Equal(t, "wqe_sched/fetch/reader/ctx/state RTS\npkt_tx/send/payload/head/pkt/opcode RC_SEND_FIRST\n", got)
	}
}
