package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
	"rnic/tb/trace"
)

// written is a trace event as it is in the file; unknown fields are refused.
type written struct {
	Name string          `json:"name"`
	Cat  string          `json:"cat"`
	Ph   string          `json:"ph"`
	Ts   json.Number     `json:"ts"`
	Pid  int             `json:"pid"`
	Tid  int             `json:"tid"`
	ID   int             `json:"id"`
	Bp   string          `json:"bp"`
	S    string          `json:"s"`
	Args json.RawMessage `json:"args"`
}

type thread struct{ pid, tid int }

// checked is what check found.
type checked struct {
	threads map[thread]string
	slices  map[string]int // by category
	flows   map[string]int
	events  map[string]int // by phase
	counter map[string]bool
}

var usOf = regexp.MustCompile(`^(0|[1-9]\d*)\.(\d{3})$`)

// check is the format as Perfetto reads it: order, types, threads with one name each,
// slices that nest, flows that begin and end once, in a slice, and not backwards.
func check(t *testing.T, file []byte) checked {
	t.Helper()
	var top struct {
		DisplayTimeUnit string    `json:"displayTimeUnit"`
		TraceEvents     []written `json:"traceEvents"`
	}
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	d.UseNumber()
	require.NoError(t, d.Decode(&top))
	require.Equal(t, "ns", top.DisplayTimeUnit)
	c := checked{map[thread]string{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]bool{}}
	type open struct {
		name, cat string
		ts        int64
	}
	stack := map[thread][]open{}
	begun := map[int]written{}
	processes := map[int]bool{}
	last, meta := int64(0), true
	for _, e := range top.TraceEvents {
		what := fmt.Sprintf("%+v %s", e, e.Args)
		m := usOf.FindStringSubmatch(e.Ts.String())
		require.NotNil(t, m, what)
		ts, err := strconv.ParseInt(m[1]+m[2], 10, 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, ts, last, what)
		last = ts
		require.Positive(t, e.Pid, what)
		c.events[e.Ph]++
		at := thread{e.Pid, e.Tid}
		require.True(t, e.Ph == "M" || processes[e.Pid], what)
		require.Equal(t, e.Ph == "s" || e.Ph == "f", e.ID != 0, what)
		meta = meta && e.Ph == "M"
		switch e.Ph {
		case "M":
			require.True(t, meta, "metadata first: %s", what)
			var name struct{ Name string }
			require.NoError(t, json.Unmarshal(e.Args, &name))
			switch e.Name {
			case "process_name":
				require.False(t, processes[e.Pid], what)
				require.NotEmpty(t, name.Name)
				processes[e.Pid] = true
			case "thread_name":
				require.NotContains(t, c.threads, at)
				require.NotEmpty(t, name.Name)
				require.Positive(t, e.Tid)
				for k, n := range c.threads {
					require.False(t, k.pid == at.pid && n == name.Name, what)
				}
				c.threads[at] = name.Name
			default:
				require.Contains(t, []string{"process_sort_index", "thread_sort_index"}, e.Name)
				require.Regexp(t, `^\{"sort_index":\d+\}$`, string(e.Args))
			}
		case "B":
			require.NotEmpty(t, e.Name)
			require.NotEmpty(t, e.Cat)
			require.Contains(t, c.threads, at)
			stack[at] = append(stack[at], open{e.Name, e.Cat, ts})
			c.slices[e.Cat]++
			require.LessOrEqual(t, len(stack[at]), 2, what)
			if len(stack[at]) == 2 {
				require.Equal(t, "wr stage", stack[at][0].cat+" "+e.Cat)
			}
		case "E":
			require.NotEmpty(t, stack[at], what)
			stack[at] = stack[at][:len(stack[at])-1]
		case "i":
			require.Equal(t, "t", e.S)
			require.NotEmpty(t, e.Name)
			require.Contains(t, c.threads, at)
		case "C":
			require.Regexp(t, `^\{"[a-z]+":-?\d+(\.\d+)?\}$`, string(e.Args))
			c.counter[fmt.Sprint(e.Pid, " ", e.Name)] = true
		case "s", "f":
			open := stack[at]
			require.NotEmpty(t, open, what)
			require.Equal(t, ts, open[len(open)-1].ts, "a flow is at the beginning of its slice: %s", what)
			require.Equal(t, "packet", open[len(open)-1].cat)
			if e.Ph == "s" {
				require.NotContains(t, begun, e.ID, what)
				begun[e.ID] = e
				break
			}
			require.Equal(t, "e", e.Bp)
			require.Contains(t, begun, e.ID, what)
			s := begun[e.ID]
			require.Equal(t, s.Name+s.Cat, e.Name+e.Cat)
			switch e.Name {
			case "packet":
				require.NotEqual(t, s.Pid, e.Pid, what)
			case "retry":
				require.Equal(t, s.Pid, e.Pid, what)
			}
			begun[e.ID] = written{Ph: "ended"}
			c.flows[e.Name]++
		default:
			require.Fail(t, what)
		}
	}
	for at, s := range stack {
		require.Empty(t, s, "%v %s", at, c.threads[at])
	}
	for id, e := range begun {
		require.Equal(t, "ended", e.Ph, "flow %d", id)
	}
	return c
}

func export(t *testing.T, s *story.Story) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.json")
	require.NoError(t, trace.Write(path, s))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func lossy(t *testing.T) *story.Story {
	t.Helper()
	s, err := story.Read("../story/testdata/lossy.json")
	require.NoError(t, err)
	return s
}

// A lossy run has all of its parts in the trace, each once.
func TestLossy(t *testing.T) {
	s := lossy(t)
	b := export(t, s)
	require.Equal(t, b, export(t, s))
	c := check(t, b)
	packets, retries, stages, waits, instants := 0, 0, 0, 0, 0
	for _, p := range s.Packets {
		packets++
		if p.ArrivePs >= 0 {
			packets++
		}
		if strings.HasPrefix(p.Cause, "retry") {
			retries++
		}
	}
	for _, w := range s.WRs {
		stages += len(w.Stages) - 1
		if w.Status == "" {
			stages++
		}
		if w.Queue != "sq" {
			stages -= 2 // posted and rung: it lies ready
		}
		waits += len(w.Waits)
		instants += len(w.Stages)
	}
	for _, q := range s.QPs {
		instants += len(q.Events)
	}
	require.Equal(t, map[string]int{"packet": packets, "wr": len(s.WRs), "stage": stages, "wait": waits}, c.slices)
	require.Equal(t, instants, c.events["i"])
	require.Equal(t, packets-len(s.Packets), c.flows["packet"])
	require.Positive(t, retries)
	require.Equal(t, retries, c.flows["retry"])
	require.Positive(t, c.flows["cause"])
	require.True(t, c.counter["1 bandwidth"] && c.counter["2 bandwidth"])
	require.True(t, c.counter[fmt.Sprintf("1 QP %d outstanding", s.QPs[0].QPN)])
	names := map[string]int{}
	for _, n := range c.threads {
		names[n]++
	}
	require.Equal(t, 2, names["wire out"])
	require.Equal(t, 2, names["wire in"])
	require.Zero(t, names["wire out (2)"]+names["wire in (2)"], "a wire carries one packet at a time")
	require.Positive(t, names["nic.retrans"]+names["nic.wqe_sched"])
}

// What overlaps goes on further threads, and times in ps do not break the nesting.
func TestOverlap(t *testing.T) {
	s := &story.Story{ClockPs: 4000, EndPs: 100_000, Hosts: []string{"host_a", "host_b"}}
	stage := func(name string, ps int64) story.Stage {
		return story.Stage{Name: name, At: story.At{Ps: ps, Signal: "host_a.nic.csr.db"}}
	}
	for k, ps := range []int64{0, 999, 1000, 1001, 5999, 6000} {
		s.WRs = append(s.WRs, &story.WR{ID: 2 * k, Host: "host_a", QPN: 5, Queue: "sq", Op: "SEND", Stages: []story.Stage{stage("posted", ps), stage("polled", ps+4999), stage("doorbell", ps+1)}, Status: "SUCCESS"})
	}
	s.WRs = append(s.WRs, &story.WR{ID: 20, Host: "host_b", QPN: 5, Queue: "rq", Op: "RECV", Stages: []story.Stage{stage("posted", 7)}}, &story.WR{ID: 22, Host: "host_b", QPN: 5})
	c := check(t, export(t, s))
	require.Equal(t, map[string]int{"wr": 6, "stage": 12}, c.slices)
	require.Equal(t, 4+2, len(c.threads))
	check(t, export(t, &story.Story{ClockPs: 4000, Hosts: []string{"host_a"}}))
}

func TestUnknownHost(t *testing.T) {
	for _, spoil := range []func(*story.Story){
		func(s *story.Story) { s.Packets[0].Host = "x" },
		func(s *story.Story) { s.WRs[0].Host = "x" },
		func(s *story.Story) { s.QPs[0].Host = "x" },
		func(s *story.Story) { s.Bandwidth[0].Host = "x" },
	} {
		s := lossy(t)
		spoil(s)
		require.EqualError(t, trace.Write(filepath.Join(t.TempDir(), "t"), s), `trace: "x" is no host of the run`)
	}
	require.ErrorContains(t, trace.Write(t.TempDir(), lossy(t)), "trace: ")
}
