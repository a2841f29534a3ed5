package main_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/tb/story"
	"rnic/waves/wavetest"
)

var sentComment = regexp.MustCompile(`^packet (\d+) of (host_[ab]); (?:WR (\d+); )?cycle (\d+); (.+?)(?: because of packet (\d+))?$`)
var cameComment = regexp.MustCompile(`^packet (\d+) arrives; cycle (\d+)$`)

// TestSameTime takes each packet of the captures, and finds it by its comment in the story,
// in the log and in the waves, at the same time and for the same reason.
func TestSameTime(t *testing.T) {
	wavetest.Need(t, "fst2vcd")
	dir := t.TempDir()
	rnic(t, dir, "run", "--qps", "2", "--fault", "drop b nth=5", "--fault", "drop a ack nth=3", "--fst", "--pcap", "--story", "--out", "o")
	s, err := story.Read(filepath.Join(dir, "o", "story.json"))
	require.NoError(t, err)
	log := "\n" + string(read(t, dir, "o", "rnic.log"))
	w := wavetest.FST(t, filepath.Join(dir, "o", "rnic.fst"))
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	seen := map[string]int{}
	for _, host := range s.Hosts {
		f, err := os.Open(filepath.Join(dir, "o", host+".pcapng"))
		require.NoError(t, err)
		defer f.Close()
		r, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
		require.NoError(t, err)
		for {
			data, info, opts, err := r.ReadPacketDataWithOptions()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.Len(t, opts.Comments, 1)
			comment, ps := opts.Comments[0], info.Timestamp.UnixNano()*1000
			if m := cameComment.FindStringSubmatch(comment); m != nil {
				p := s.Packet(number(m[1]))
				require.Equal(t, p.ArrivePs, ps, comment)
				require.EqualValues(t, number(m[2]), ps/period, comment)
				require.Equal(t, "1", w.At(host+".wire.to_nic.fire", ps), comment)
				seen["came"]++
				continue
			}
			m := sentComment.FindStringSubmatch(comment)
			require.NotNil(t, m, comment)
			p := s.Packet(number(m[1]))
			require.NotNil(t, p, comment)
			require.Equal(t, host, p.Host)
			require.Equal(t, m[2], host)
			require.Equal(t, p.EndPs, ps, "a capture has the time of the last beat: %s", comment)
			require.EqualValues(t, p.Cycle, number(m[4]))
			require.Equal(t, p.Ps, int64(p.Cycle)*period)
			require.Equal(t, p.PSN, binary.BigEndian.Uint32(data[14+20+8+8:])&0xffffff, comment)
			require.Equal(t, p.Cause, m[5])
			if m[3] != "" {
				require.Equal(t, p.WR, number(m[3]))
				require.Contains(t, s.WR(p.WR).Packets, p.ID)
			}
			if m[6] != "" {
				require.Equal(t, p.Because, number(m[6]))
			}
			require.Contains(t, log, fmt.Sprintf("\n%s %s.wire.from_nic.fire=1: %s leaves: %s", story.Time(p.Ps), host, p.Label(), p.Cause))
			for _, at := range []int64{p.Ps, ps} {
				require.Equal(t, "1", w.At(host+".wire.from_nic.fire", at), comment)
				require.Contains(t, w.At(host+".wire.tx", at), fmt.Sprintf("%s qp=%d psn=0x%x", p.Opcode, p.DestQPN, p.PSN), comment)
			}
			seen[p.Cause]++
		}
	}
	for _, cause := range []string{story.New, story.AfterNAK, story.AfterTimeout, story.Ack, story.NAK, story.Duplicate, "came"} {
		require.Positive(t, seen[cause], "%s in %v", cause, seen)
	}
	require.Equal(t, len(s.Packets), sum(seen)-seen["came"])
	require.Equal(t, len(s.Packets)-strings.Count(log, "dropped on the wire\n"), seen["came"])
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}
