package e2e_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb/e2e"
)

// TestGoldenICRC (B109): the ICRC of frames that another implementation has sent, of
// every kind and length, is the one that tests make and the NIC checks.
func TestGoldenICRC(t *testing.T) {
	files, err := filepath.Glob("../../testdata/pcaps/*.pcap")
	require.NoError(t, err)
	frames := 0
	for _, name := range files {
		if strings.Contains(name, "bad_icrc") || strings.Contains(name, "not_golden") {
			continue
		}
		f, err := os.Open(name)
		require.NoError(t, err)
		r, err := pcapgo.NewReader(f)
		require.NoError(t, err)
		for {
			b, _, err := r.ReadPacketData()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if _, err := roce.ParseFrame(b); err != nil {
				var d roce.Drop
				require.True(t, errors.As(err, &d) && d < roce.DropUDPLength, "%s: %v", name, err) // no RoCE
				continue
			}
			frames++
			if b[12] == 8 { // IPv4
				same(t, b, e2e.Reseal(append([]byte(nil), b...)))
			}
		}
		require.NoError(t, f.Close())
	}
	require.Greater(t, frames, 800)
}
