package main_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/waves/wavetest"
)

// frame is a frame of a capture.
type frame struct {
	ps   int64
	out  bool
	data []byte
}

// capture reads a pcapng file to its end.
func capture(t testing.TB, path string) []frame {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	require.NoError(t, err)
	var frames []frame
	for {
		data, info, opts, err := r.ReadPacketDataWithOptions()
		if errors.Is(err, io.EOF) {
			return frames
		}
		require.NoError(t, err)
		require.Equal(t, info.Length, len(data))
		require.NotNil(t, opts.Flags)
		frames = append(frames, frame{
			ps: info.Timestamp.UnixNano() * 1000, out: opts.Flags.Direction == pcapgo.NgEpbFlagDirectionOutbound, data: data,
		})
	}
}

// icrc is the ICRC of an IPv4 RoCE frame and the one that it carries, written from the
// formula alone: CRC-32 over eight bytes of ones and the packet, with ones for all that
// routers change.
func icrc(t testing.TB, eth []byte) (computed, carried uint32) {
	t.Helper()
	require.Equal(t, []byte{0x08, 0x00, 0x45}, eth[12:15])
	ip := append([]byte(nil), eth[14:14+binary.BigEndian.Uint16(eth[16:])]...)
	n := len(ip) - 4
	carried = binary.LittleEndian.Uint32(ip[n:])
	ip[1], ip[8], ip[10], ip[11] = 0xff, 0xff, 0xff, 0xff // TOS, TTL, checksum
	ip[26], ip[27] = 0xff, 0xff                           // UDP checksum
	ip[32] = 0xff                                         // BTH: FECN, BECN, reserved
	ones := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	return crc32.Update(crc32.ChecksumIEEE(ones), crc32.IEEETable, ip[:n]), carried
}

// packet is what tshark makes of a frame.
type packet struct {
	time                      string
	src, dst                  string
	protocols                 string
	opcode, qpn, psn          int
	payload                   string // hexadecimal, with pad
	pad                       int
	syndrome, malformed, warn string
}

// tshark decodes a capture. Its guesses at what a SEND might carry are turned off.
func tshark(t testing.TB, path string) []packet {
	t.Helper()
	wavetest.Need(t, "tshark")
	fields := []string{
		"frame.time_epoch", "ip.src", "ip.dst", "frame.protocols", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn",
		"data.data", "infiniband.bth.padcnt", "infiniband.aeth.syndrome", "_ws.malformed", "_ws.expert.message",
	}
	cmd := `tshark -r "$0" --disable-protocol rpcordma --disable-protocol infiniband.eoib -T fields -E separator=/t -e ` + strings.Join(fields, " -e ") + " 2>/dev/null"
	out := wavetest.Tool(t, "", []string{"HOME=" + t.TempDir()}, "sh", "-c", cmd, path)
	var ps []packet
	for l := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		require.Len(t, f, len(fields), l)
		n := func(s string) int {
			v, err := strconv.ParseInt(s, 0, 64)
			require.NoError(t, err, l)
			return int(v)
		}
		ps = append(ps, packet{
			time: f[0], src: f[1], dst: f[2], protocols: f[3], opcode: n(f[4]), qpn: n(f[5]), psn: n(f[6]),
			payload: f[7], pad: n(f[8]), syndrome: f[9], malformed: f[10], warn: f[11],
		})
	}
	return ps
}

// Opcodes of RC, as the field writes them.
const (
	sendFirst, sendMiddle, sendLast, sendOnly = 0, 1, 2, 4
	acknowledge                               = 17
)

// tshark sees RC SENDs from a to b with consecutive PSNs, that carry the file, and
// acknowledgements from b to a up to the last PSN.
func TestPackets(t *testing.T) {
	for _, c := range []struct{ mtu, qps, msg, size int }{
		{1024, 4, 4096, 16384}, {256, 3, 1001, 20_000}, {4096, 2, 10_001, 40_002}, {512, 1, 7, 700}, {2048, 2, 13, 77}, {1024, 1, 4096, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			dir := t.TempDir()
			file, data := random(t, dir, c.size)
			r := runJSON(t, dir, file, "--pcap", "--mtu", strconv.Itoa(c.mtu), "--qps", strconv.Itoa(c.qps), "--msg-size", strconv.Itoa(c.msg))
			a, b := filepath.Join(dir, "out", "host_a.pcapng"), filepath.Join(dir, "out", "host_b.pcapng")

			fa, fb := capture(t, a), capture(t, b)
			sameWire(t, fa, fb)
			for _, f := range fa {
				computed, carried := icrc(t, f.data)
				require.Equal(t, computed, carried, "% x", f.data)
			}

			ps := tshark(t, a)
			require.Len(t, ps, len(fa))
			requests, payload := judge(t, ps, c.mtu, c.qps, r.Messages)
			require.Equal(t, r.Packets, requests)
			require.Equal(t, string(data), payload, "the packets carry the file")
			for i, p := range ps {
				require.Equal(t, fmt.Sprintf("%d.%09d", fa[i].ps/1e12, fa[i].ps/1000%1e9), p.time)
			}
			if c.mtu == 256 { // the packets are the same: once is enough
				requests, payload = judge(t, tshark(t, b), c.mtu, c.qps, r.Messages)
				require.Equal(t, r.Packets, requests)
				require.Equal(t, string(data), payload)
			}
		})
	}
}

// sameWire demands that what one host sent the other received, later by the latency.
// A capture sees a frame where it is in the cable: a cycle after the MAC that sent it,
// and a cycle before the one that receives it.
func sameWire(t testing.TB, a, b []frame) {
	t.Helper()
	require.Len(t, b, len(a))
	for _, dir := range []struct{ from, to []frame }{{a, b}, {b, a}} {
		var sent, got []frame
		for _, f := range dir.from {
			if f.out {
				sent = append(sent, f)
			}
		}
		for _, f := range dir.to {
			if !f.out {
				got = append(got, f)
			}
		}
		require.Len(t, got, len(sent))
		for i := range sent {
			require.Equal(t, sent[i].data, got[i].data)
			require.Equal(t, int64(300_000-2*4000), got[i].ps-sent[i].ps)
		}
	}
}

// judge checks the packets of a run, and gives the requests and what they carry.
// Message i goes over QP i mod qps.
func judge(t testing.TB, ps []packet, mtu, qps, messages int) (requests int, payload string) {
	t.Helper()
	next := map[int]int{}  // PSN that must come, by QP
	acked := map[int]int{} // PSN that was acknowledged last
	parts := map[int][]string{}
	open := map[int]string{}
	for _, p := range ps {
		require.Equal(t, "eth:ethertype:ip:udp:infiniband", strings.TrimSuffix(p.protocols, ":data"), "%+v", p)
		require.Empty(t, p.malformed)
		require.Empty(t, p.warn, "%+v", p)
		if p.opcode == acknowledge {
			require.Equal(t, "10.0.0.2 10.0.0.1", p.src+" "+p.dst)
			require.NotEmpty(t, p.syndrome)
			s, err := strconv.ParseUint(p.syndrome, 0, 8)
			require.NoError(t, err)
			require.Zero(t, s>>5, "neither NAK nor RNR NAK: %+v", p)
			acked[p.qpn] = p.psn
			continue
		}
		require.Equal(t, "10.0.0.1 10.0.0.2", p.src+" "+p.dst)
		requests++
		if want, ok := next[p.qpn]; ok {
			require.Equal(t, want, p.psn)
		}
		next[p.qpn] = (p.psn + 1) & 0xffffff
		n := len(p.payload)/2 - p.pad
		text := p.payload[:2*n]
		starts, ends := p.opcode == sendFirst || p.opcode == sendOnly, p.opcode == sendLast || p.opcode == sendOnly
		require.Contains(t, []int{sendFirst, sendMiddle, sendLast, sendOnly}, p.opcode)
		_, inside := open[p.qpn]
		require.Equal(t, !starts, inside, "%+v", p)
		if !ends {
			require.Equal(t, mtu, n)
		}
		require.LessOrEqual(t, n, mtu)
		open[p.qpn] += text
		if ends {
			parts[p.qpn] = append(parts[p.qpn], open[p.qpn])
			delete(open, p.qpn)
		}
	}
	require.Empty(t, open)
	require.Len(t, parts, min(qps, messages))
	// QPs have the same numbers at both hosts, one after the other.
	first := 1 << 24
	for q := range parts {
		first = min(first, q)
		require.Equal(t, (next[q]-1)&0xffffff, acked[q], "QP %d: the last packet is acknowledged", q)
	}
	var b strings.Builder
	for i := range messages {
		q := first + i%qps
		require.NotEmpty(t, parts[q])
		b.WriteString(parts[q][0])
		parts[q] = parts[q][1:]
	}
	raw := make([]byte, b.Len()/2)
	_, err := fmt.Sscanf(b.String(), "%x", &raw)
	if b.Len() > 0 {
		require.NoError(t, err)
	}
	return requests, string(raw)
}
