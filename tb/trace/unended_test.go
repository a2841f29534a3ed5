package trace_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// What has not ended goes to the end of the run, and says so in its name and its arguments.
func TestUnended(t *testing.T) {
	stage := func(name string, ps int64) story.Stage {
		return story.Stage{Name: name, At: story.At{Ps: ps, Signal: "host_a.nic.csr.db"}}
	}
	s := &story.Story{ClockPs: 4000, EndPs: 90_000_000, Hosts: []string{"host_a", "host_b"}, WRs: []*story.WR{
		{ID: 0, Host: "host_a", QPN: 5, Queue: "sq", Op: "SEND", Index: 0, Status: "SUCCESS", Stages: []story.Stage{stage("posted", 1_000_000), stage("polled", 2_000_000)}},
		{ID: 2, Host: "host_a", QPN: 5, Queue: "sq", Op: "READ", Index: 1, Stages: []story.Stage{stage("posted", 3_000_000), stage("entered", 4_000_000)}},
		{ID: 4, Host: "host_a", QPN: 5, Queue: "sq", Op: "READ", Index: 2, Stages: []story.Stage{stage("posted", 5_000_000)}},
	}}
	b := export(t, s)
	c := check(t, b)
	var top struct {
		TraceEvents []written `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(b, &top))
	var got []string
	stack := map[thread][]int{}
	for _, e := range top.TraceEvents {
		at := thread{e.Pid, e.Tid}
		switch e.Ph {
		case "B":
			stack[at] = append(stack[at], len(got))
			var args struct{ Ended *bool }
			require.NoError(t, json.Unmarshal(e.Args, &args))
			ended := ""
			if args.Ended != nil {
				ended = fmt.Sprintf(", ended %v", *args.Ended)
			}
			got = append(got, fmt.Sprintf("%s: %s%s: %s", c.threads[at], e.Name, ended, e.Ts))
		case "E":
			n := len(stack[at]) - 1
			got[stack[at][n]] += " to " + e.Ts.String()
			stack[at] = stack[at][:n]
		}
	}
	require.Equal(t, []string{
		"QP 5 sq: SEND #0, ended true: 1.000 to 2.000",
		"QP 5 sq: to polled: 1.000 to 2.000",
		"QP 5 sq: READ #1, not ended, ended false: 3.000 to 90.000",
		"QP 5 sq: to entered: 3.000 to 4.000",
		"QP 5 sq: not ended: 4.000 to 90.000",
		"QP 5 sq (2): READ #2, not ended, ended false: 5.000 to 90.000",
		"QP 5 sq (2): not ended: 5.000 to 90.000",
	}, got)
}
