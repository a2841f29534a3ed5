package story_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	known := func(id int) bool {
		return slices.ContainsFunc(s.Packets, func(p *story.Packet) bool { return p.ID == id })
	}
	for _, p := range s.Packets {
		if !known(p.Because) {
			p.Because = -1
		}
		p.WR = -1
	}
	s.Packets[0].WR = s.WRs[0].ID
	for _, w := range s.WRs {
		w.Packets = slices.DeleteFunc(w.Packets, func(id int) bool { return !known(id) })
	}
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
	at := func(text string) string { return strconv.Itoa(strings.Index(good, text)) }
	for want, text := range map[string]string{
		`byte 0: EOF`:               "",
		`unexpected EOF`:            good[:len(good)/2],
		`byte 1: invalid character`: "\x1f\x8b" + good,
		`something follows`:         good + "x",
		`byte ` + at(`"wrs":[`) + `: the story has the unknown key "wrz"`:             strings.Replace(good, `"wrs":[`, `"wrz":[`, 1),
		`byte ` + at(`"cause"`) + `: packets[0] has the unknown key "Cause"`:          strings.Replace(good, `"cause"`, `"Cause"`, 1),
		`byte ` + at(`"cycle":13810`) + `: wrs[0].stages[0] has the unknown key "at"`: strings.Replace(good, `"cycle":13810`, `"at":"]\\\"{"`, 1),
		`byte ` + at(`"end_ps"`) + `: the story has the key "clock_ps" twice`:         strings.Replace(good, `"end_ps"`, `"clock_ps"`, 1),
		`: spent has the key "host_a" twice`:                                          strings.Replace(good, `"host_b":[`, `"host_\u0061":[`, 1),
		`: wrs[0].stages[0].ps is null`:                                               strings.Replace(good, `"ps":55240000`, `"ps": null `, 1),
		`: qps[0].outstanding[0] has 1 elements: must be 2`:                           strings.Replace(good, `"outstanding":[[`, `"outstanding":[[1],[`, 1),
		`: qps[0].outstanding[0] has more than 2 elements`:                            strings.Replace(good, `"outstanding":[[`, `"outstanding":[[1,2,3],[`, 1),
		`packets[3], ID `:          edit(func(s *story.Story) { s.Packets[3].ID = s.Packets[1].ID }),
		`: packets[1] has that ID`: edit(func(s *story.Story) { s.Packets[3].ID = s.Packets[1].ID }),
		`: wrs[0] has that ID`:     edit(func(s *story.Story) { s.WRs[1].ID = s.WRs[0].ID }),
		`packets[2], ID 1002: because: there is no packet 990`: edit(func(s *story.Story) { s.Packets[2].ID, s.Packets[2].Host, s.Packets[2].Because = 1002, "host_a", 990 }),
		`because: packet 1002 is not before it`:                edit(func(s *story.Story) { s.Packets[2].ID, s.Packets[2].Host, s.Packets[2].Because = 1002, "host_a", 1002 }),
		`packets[2], ID 1003: that is no ID of host_a`:         edit(func(s *story.Story) { s.Packets[2].ID, s.Packets[2].Host = 1003, "host_a" }),
		`packets[2], ID 1002: wr: there is no work request 77`: edit(func(s *story.Story) { s.Packets[2].ID, s.Packets[2].Host, s.Packets[2].WR = 1002, "host_a", 77 }),
		`wrs[0], ID 1: packets: there is no packet 998`:        edit(func(s *story.Story) { s.WRs[0].Packets = []int{998} }),
		`qps[1]: host_a QP 2 is qps[0], too`:                   edit(func(s *story.Story) { s.QPs = append(s.QPs, s.QPs[0]) }),
		`clock_ps of type int64`:                               strings.Replace(good, `"clock_ps":4000`, `"clock_ps":"4000"`, 1),
		`no story: clock_ps 0`:                                 strings.Replace(good, `"clock_ps":4000`, `"clock_ps":0`, 1),
		`packets[1], ID 10: "host_c" is no host of the run`:    edit(func(s *story.Story) { s.Packets[1].Host = "host_c" }),
		`wrs[0], ID 1: "" is no host of the run`:               edit(func(s *story.Story) { s.WRs[0].Host = "" }),
		`qps[0]: "host_c" is no host of the run`:               edit(func(s *story.Story) { s.QPs[0].Host = "host_c" }),
		`bandwidth[1]: "host_c" is no host of the run`:         edit(func(s *story.Story) { s.Bandwidth[1].Host = "host_c" }),
		`spent: "x" is no host of the run`:                     edit(func(s *story.Story) { s.Spent["x"] = nil }),
		`wrs[1], ID 3: stages: -2 ps is no time`:               edit(func(s *story.Story) { s.WRs[1].Stages[0].Ps = -2 }),
		`qps[0]: events: `:                                     edit(func(s *story.Story) { s.QPs[0].Events[1].Ps = 1 << 62 }),
		`packets[4] is null`:                                   edit(func(s *story.Story) { s.Packets[4] = nil }),
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
