package waves_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/waves"
	"rnic/waves/wavetest"
)

func capture(t *testing.T) string {
	var b bytes.Buffer
	c, err := waves.NewCapture(&b, "host_a")
	require.NoError(t, err)
	for i, f := range frames(t) {
		require.NoError(t, c.Frame(int64(i)*1_500_000_123_999, i%2 == 0, f))
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	return b.String()
}

// frames is requests and acknowledgements between two hosts, the longest unpadded.
func frames(t *testing.T) (l [][]byte) {
	for i, n := range []int{0, 1, 9, 1024, 4096, 0} {
		p := roce.Packet{
			Eth: roce.Ethernet{Src: roce.HostMAC(1), Dst: roce.HostMAC(2)},
			IP4: roce.IPv4{DF: true, TTL: roce.DefaultTTL, Src: roce.HostIPv4(1), Dst: roce.HostIPv4(2)},
			UDP: roce.UDP{SrcPort: roce.SourcePort(0x11, 0x12)},
			BTH: roce.BTH{Opcode: roce.RCSendOnly, MigReq: true, PKey: roce.DefaultPKey, DestQP: 0x12, PSN: roce.PSN(i)},
		}
		if i == 5 {
			p.BTH.Opcode = roce.RCAck
		}
		p.SetPayload(make([]byte, n))
		f := p.Append(nil)
		_, err := roce.ParseFrame(f)
		require.NoError(t, err)
		l = append(l, f)
	}
	return l
}

func TestCaptureIsOfTheRunAlone(t *testing.T) {
	c := capture(t)
	require.Equal(t, c, capture(t))
	require.NotRegexp(t, `(?i)linux|amd64|arm64|gopacket|darwin`, c)
	require.Contains(t, c, "host_a")
}

// B258: time stamps in nanoseconds, whole packets, byte order stated.
func TestB258CaptureReadsBack(t *testing.T) {
	text := capture(t)
	require.Equal(t, "\x0a\x0d\x0d\x0a", text[:4])
	require.Equal(t, "\x4d\x3c\x2b\x1a", text[8:12])
	r, err := pcapgo.NewNgReader(strings.NewReader(text), pcapgo.DefaultNgReaderOptions)
	require.NoError(t, err)
	require.Equal(t, layers.LinkTypeEthernet, r.LinkType())
	for i, f := range frames(t) {
		data, info, err := r.ReadPacketData()
		require.NoError(t, err)
		require.Equal(t, f, data)
		require.Equal(t, len(f), info.Length)
		require.Equal(t, len(f), info.CaptureLength)
		require.Equal(t, int64(i)*1_500_000_123_999/1000, info.Timestamp.UnixNano())
	}
	in, err := r.Interface(0)
	require.NoError(t, err)
	require.Equal(t, "host_a", in.Name)
	require.Equal(t, uint8(9), uint8(in.TimestampResolution))
}

// B258: tshark reads every packet. Its guess that any small SEND is RPC over RDMA is
// turned off.
func TestB258TsharkReadsEveryPacket(t *testing.T) {
	wavetest.Need(t, "tshark")
	p := save(t, "x.pcapng", capture(t))
	got := wavetest.Tool(t, "", []string{"HOME=" + t.TempDir()}, "sh", "-c", `tshark -r "$0" --disable-protocol rpcordma -T fields -E separator=/s -e frame.time_epoch -e frame.interface_name -e frame.packet_flags_direction -e frame.cap_len -e frame.len -e infiniband.bth.opcode -e infiniband.bth.psn -e _ws.malformed 2>/dev/null`, p)
	want := ""
	for i, f := range frames(t) {
		ns := int64(i) * 1_500_000_123_999 / 1000
		op := 4
		if i == 5 {
			op = 17
		}
		want += fmt.Sprintf("%d.%09d host_a %s %d %d %d %d \n", ns/1e9, ns%1e9, []string{"0x00000002", "0x00000001"}[i%2], len(f), len(f), op, i)
	}
	require.Equal(t, want, got)
}

func TestCaptureErrors(t *testing.T) {
	_, err := waves.CreateCapture(filepath.Join(t.TempDir(), "no", "x.pcapng"), "a")
	require.ErrorContains(t, err, "no/x.pcapng: no such file or directory")

	c, err := waves.CreateCapture(full(t), "a")
	require.NoError(t, err)
	for range 10 {
		err = c.Frame(0, true, make([]byte, 4096))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.EqualError(t, c.Close(), "waves: write /dev/full: no space left on device")

	c, err = waves.CreateCapture(full(t), "a")
	require.NoError(t, err)
	require.NoError(t, c.Frame(0, true, make([]byte, 60)))
	require.ErrorIs(t, c.Close(), syscall.ENOSPC)
	require.ErrorIs(t, c.Frame(0, true, make([]byte, 60)), syscall.ENOSPC)

	p := filepath.Join(t.TempDir(), "x.pcapng")
	c, err = waves.CreateCapture(p, "a")
	require.NoError(t, err)
	require.NoError(t, c.Frame(1000, false, make([]byte, 60)))
	require.NoError(t, c.Close())
	b, err := os.ReadFile(p)
	require.NoError(t, err)
	require.Zero(t, len(b)%4)
	require.Greater(t, len(b), 100)
}
