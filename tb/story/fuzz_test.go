package story_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/page"
	"rnic/tb/story"
	"rnic/tb/trace"
)

// small is a story of a few packets, that a fuzzer can change to some effect.
func small(t testing.TB) []byte {
	s, err := story.Read("testdata/lossy.json")
	require.NoError(t, err)
	s.WRs, s.Packets, s.QPs, s.Bandwidth = s.WRs[:2], s.Packets[4:9], s.QPs[:1], s.Bandwidth[:2]
	s.QPs[0].Events, s.QPs[0].Outstanding, s.QPs[0].SQDepth = s.QPs[0].Events[:3], s.QPs[0].Outstanding[:2], s.QPs[0].SQDepth[:2]
	s.Counters = nil
	b, err := s.JSON()
	require.NoError(t, err)
	return b
}

// readable has all that reads stories, but for the trace, read one.
func readable(t *testing.T, s *story.Story) {
	s.ExplainRun()
	for _, w := range s.WRs {
		_, err := s.ExplainWR(w.ID)
		require.NoError(t, err)
	}
	for _, p := range s.Packets {
		_, err := s.ExplainPacket(p.ID)
		require.NoError(t, err)
	}
	for _, q := range s.QPs {
		_, err := s.ExplainQP(q.Host, q.QPN)
		require.NoError(t, err)
	}
	require.NoError(t, s.WriteLog(io.Discard))
	_, err := page.HTML("changed", s)
	require.NoError(t, err)
}

// FuzzRead: whatever a file holds, it is refused, or all that reads stories can read it.
func FuzzRead(f *testing.F) {
	b := small(f)
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(`{"clock_ps":1,"hosts":["a"],"wrs":[{"host":"a","stages":[{"ps":-1}]}]}`))
	f.Add([]byte(`{"clock_ps":1,"hosts":["a"],"packets":[{"host":"a","id":3,"because":3,"cause":"NAK","syndrome":"NAK_SEQUENCE"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := story.Decode(bytes.NewReader(b))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		readable(t, s)
		require.NoError(t, trace.Write(filepath.Join(t.TempDir(), "trace.json"), s))
	})
}

// TestDamaged: an error names the place.
func TestDamaged(t *testing.T) {
	good := string(small(t))
	_, err := story.Decode(strings.NewReader(good))
	require.NoError(t, err)
	edit := func(change func(*story.Story)) string {
		s, err := story.Decode(strings.NewReader(good))
		require.NoError(t, err)
		change(s)
		b, err := json.Marshal(s)
		require.NoError(t, err)
		return string(b)
	}
	for want, text := range map[string]string{
		`byte 0: EOF`:                                  "",
		`unexpected EOF`:                               good[:len(good)/2],
		`byte 1: invalid character`:                    "\x1f\x8b" + good,
		`something follows`:                            good + "x",
		`unknown field "wrz"`:                          strings.Replace(good, `"wrs"`, `"wrz"`, 1),
		`clock_ps of type int64`:                       strings.Replace(good, `"clock_ps":4000`, `"clock_ps":"4000"`, 1),
		`no story: clock_ps 0`:                         strings.Replace(good, `"clock_ps":4000`, `"clock_ps":0`, 1),
		`packets[1]: "host_c" is no host of the run`:   edit(func(s *story.Story) { s.Packets[1].Host = "host_c" }),
		`wrs[0]: "" is no host of the run`:             edit(func(s *story.Story) { s.WRs[0].Host = "" }),
		`qps[0]: "host_c" is no host of the run`:       edit(func(s *story.Story) { s.QPs[0].Host = "host_c" }),
		`bandwidth[1]: "host_c" is no host of the run`: edit(func(s *story.Story) { s.Bandwidth[1].Host = "host_c" }),
		`spent: "x" is no host of the run`:             edit(func(s *story.Story) { s.Spent["x"] = nil }),
		`wrs[1]: stages: -2 ps is no time`:             edit(func(s *story.Story) { s.WRs[1].Stages[0].Ps = -2 }),
		`qps[0]: events: `:                             edit(func(s *story.Story) { s.QPs[0].Events[1].Ps = 1 << 62 }),
		`packets[4] is null`:                           edit(func(s *story.Story) { s.Packets[4] = nil }),
	} {
		_, err := story.Decode(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
	// Each cut of a file is refused.
	for n := range len(good) - 2 {
		_, err := story.Decode(strings.NewReader(good[:n]))
		require.Error(t, err)
	}
	large := filepath.Join(t.TempDir(), "story.json")
	require.NoError(t, os.WriteFile(large, []byte(good), 0o666))
	require.NoError(t, os.Truncate(large, 1<<30+1)) // without blocks on the disk
	_, err = story.Read(large)
	require.ErrorContains(t, err, "story.json: 1073741825 bytes: no story has over 1073741824")
}
