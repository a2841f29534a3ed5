package roce

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"
)

const probes = "go_probes_not_golden.pcap"

// capture returns the frames of a file of testdata/pcaps.
func capture(t testing.TB, path string) [][]byte {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	require.NoError(t, err)
	var frames [][]byte
	for {
		b, _, err := r.ReadPacketData()
		if err != nil {
			require.EqualError(t, err, "EOF")
			return frames
		}
		frames = append(frames, b)
	}
}

func captures(t testing.TB) []string {
	paths, err := filepath.Glob("../testdata/pcaps/*.pcap")
	require.NoError(t, err)
	require.Len(t, paths, 44)
	return paths
}

// isRoCE finds RoCE frames without the package's own parser.
func isRoCE(f []byte) bool {
	switch {
	case len(f) < 58:
		return false
	case f[12] == 0x08 && f[13] == 0:
		return f[23] == 17 && binary.BigEndian.Uint16(f[36:]) == 4791
	case f[12] == 0x86 && f[13] == 0xDD:
		return f[20] == 17 && binary.BigEndian.Uint16(f[56:]) == 4791
	}
	return false
}

// plainICRC is the ICRC by its definition, over a copy with the standard CRC.
func plainICRC(ip []byte) uint32 {
	m := append(bytes.Repeat([]byte{0xFF}, 8), ip...)
	h := m[8:]
	ones := []int{1, 8, 10, 11, 26, 27, 32}
	if ip[0]>>4 == 6 {
		h[0] |= 0x0F
		ones = []int{1, 2, 3, 7, 46, 47, 52}
	}
	for _, i := range ones {
		h[i] = 0xFF
	}
	return crc32.ChecksumIEEE(m)
}

// Every frame that Linux sent parses, has the ICRC that is derived here, and is
// equal byte for byte when it is put together again.
func TestLinuxFrames(t *testing.T) {
	total, v6 := 0, 0
	seen := map[Opcode]int{}
	for _, path := range captures(t) {
		if filepath.Base(path) == probes {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".pcap"), func(t *testing.T) {
			for i, f := range capture(t, path) {
				p, err := ParseFrame(f)
				if !isRoCE(f) {
					var d Drop
					require.ErrorAs(t, err, &d, "frame %d", i+1)
					require.True(t, d.Foreign() || d == DropShort, "frame %d: %v", i+1, err)
					continue
				}
				require.NoError(t, err, "frame %d", i+1)
				require.True(t, p.BTH.Opcode.Valid())
				ip := f[14 : len(f)-len(p.Trailer)]
				require.Equal(t, binary.LittleEndian.Uint32(ip[len(ip)-4:]), plainICRC(ip[:len(ip)-4]))
				require.Equal(t, p.ICRC, plainICRC(ip[:len(ip)-4]))
				require.Equal(t, f, p.Append(nil), "frame %d", i+1)
				require.Equal(t, len(f), p.Size())
				require.Equal(t, PadCnt(len(p.Payload)), p.BTH.PadCnt)
				require.Equal(t, [3]byte{}, p.Pad)
				if p.V6 {
					v6++
				}
				seen[p.BTH.Opcode]++
				total++
			}
		})
	}
	require.Equal(t, 868, total)
	require.Equal(t, 30, v6)
	t.Logf("%d frames: %v", total, seen)
}

// The probes are frames that are wrong on purpose, and Linux's answers.
func TestProbes(t *testing.T) {
	var got []string
	for _, f := range capture(t, "../testdata/pcaps/"+probes) {
		if !bytes.Equal(f[26:29], []byte{10, 0, 0}) || f[29] == 1 {
			if isRoCE(f) {
				_, err := ParseFrame(f)
				require.NoError(t, err, "an answer of Linux")
			}
			continue
		}
		p, err := ParseFrame(f)
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		require.Equal(t, f, p.Append(nil))
		got = append(got, p.BTH.Opcode.String())
	}
	require.Equal(t, []string{
		"RC_SEND_ONLY",               // plain
		"RC_SEND_ONLY",               // 14 bytes of Ethernet padding
		"RC_SEND_ONLY",               // a right UDP checksum
		"dropped: UDP checksum",      // a wrong one
		"dropped: ICRC",              // wrong
		"dropped: ICRC",              // big-endian
		"RC_SEND_ONLY",               // P_Key 0x7FFF
		"RC_SEND_ONLY",               // P_Key 0x1234: the QP's to judge
		"dropped: transport version", // 1
		"RC_SEND_ONLY",               // MigReq 0
		"RC_SEND_ONLY",               // FECN and BECN
		"RC_SEND_ONLY",               // ECN CE
		"RC_SEND_ONLY",               // TTL 1
		"RC_SEND_ONLY",               // PSN ahead
		"RC_SEND_ONLY",               // PSN behind
		"OP_0x15",                    // reserved
		"UC_SEND_ONLY",               // on an RC QP
		"RC_SEND_MIDDLE",             // first
		"RC_SEND_FIRST",              // shorter than the MTU
		"CNP",
		"RC_SEND_ONLY", // another source
	}, got)
}
