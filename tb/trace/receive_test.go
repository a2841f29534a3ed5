package trace_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// TestReceives: receives lie ready for long, hundreds at once; a slice is of the time in
// which one takes a message, so that a queue has a few threads, which are side by side.
func TestReceives(t *testing.T) {
	stage := func(name string, us int64) story.Stage {
		return story.Stage{Name: name, At: story.At{Ps: us * 1_000_000, Signal: "host_b.nic.csr.db"}}
	}
	s := &story.Story{ClockPs: 4000, EndPs: 900_000_000, Hosts: []string{"host_a", "host_b"}}
	for i := range int64(50) {
		w := &story.WR{ID: int(2*i + 1), Host: "host_b", QPN: uint32(3 + i%2), Queue: "rq", Op: "RECV", Index: uint16(i), Status: "SUCCESS"}
		w.Stages = []story.Stage{stage(story.Posted, i), stage(story.Doorbell, i+1)}
		switch {
		case i < 40:
			w.Stages = append(w.Stages, stage(story.Entered, 100+2*i), stage(story.CQEWritten, 104+2*i))
		case i < 42:
			w.Status, w.Stages = "", append(w.Stages, stage(story.Entered, 100+2*i))
		case i < 44:
			w.Status, w.Stages = "WR_FLUSH_ERR", append(w.Stages, stage(story.CQEWritten, 800))
		default:
			w.Status = "" // nothing came for it
		}
		s.WRs = append(s.WRs, w)
	}
	b := export(t, s)
	c := check(t, b)
	var names []string
	for _, n := range c.threads {
		if strings.Contains(n, " rq") {
			names = append(names, n)
		}
	}
	require.LessOrEqual(t, len(names), 6, names)
	var top struct {
		TraceEvents []struct {
			Name, Ph string
			Tid      int
			Args     struct {
				Name  string
				Index int `json:"sort_index"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(b, &top))
	name, index := map[int]string{}, map[int]int{}
	slicesOf := 0
	for _, e := range top.TraceEvents {
		switch {
		case e.Name == "thread_name":
			name[e.Tid] = e.Args.Name
		case e.Name == "thread_sort_index":
			index[e.Tid] = e.Args.Index
		case e.Ph == "B" && strings.HasPrefix(e.Name, "RECV #"):
			slicesOf++
		}
	}
	require.Equal(t, 44, slicesOf)
	var tids []int
	for tid := range name {
		if strings.Contains(name[tid], " rq") {
			tids = append(tids, tid)
		}
	}
	slices.SortFunc(tids, func(a, b int) int { return index[a] - index[b] })
	queue := func(tid int) string { return strings.SplitAfter(name[tid], " rq")[0] }
	for i := 1; i+1 < len(tids); i++ {
		if queue(tids[i-1]) != queue(tids[i]) {
			require.Equal(t, queue(tids[i]), queue(tids[i+1]), "lanes of a queue are apart")
		}
	}
}
