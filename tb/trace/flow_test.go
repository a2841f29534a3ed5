package trace_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// arrows are the flows of a trace: name, and thread and time of both ends.
func arrows(t *testing.T, file []byte) (l []string) {
	t.Helper()
	c := check(t, file)
	var top struct {
		TraceEvents []written `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(file, &top))
	place := func(e written) string { return fmt.Sprintf("%d %s %s", e.Pid, c.threads[thread{e.Pid, e.Tid}], e.Ts) }
	begun := map[int]string{}
	for _, e := range top.TraceEvents {
		switch e.Ph {
		case "s":
			begun[e.ID] = place(e)
		case "f":
			l = append(l, fmt.Sprintf("%s: %s -> %s", e.Name, begun[e.ID], place(e)))
		}
	}
	return l
}

// Arrows begin where their cause is: at the receiver of another host's packet, when it comes
// in, or where this host has sent it. None goes back in time, or to one of the same time.
func TestArrows(t *testing.T) {
	packet := func(id int, host string, ps, arrive int64, because int, cause string) *story.Packet {
		p := &story.Packet{ID: id, Host: host, Ps: ps, EndPs: ps + 100_000, ArrivePs: arrive, Because: because, WR: -1, Cause: cause, Fate: story.Delivered, QPN: 5, PSN: 7}
		if cause != story.Ack {
			p.WR = 0
		}
		if arrive < 0 {
			p.Fate = story.DroppedOnWire
		}
		return p
	}
	s := &story.Story{ClockPs: 4000, EndPs: 10_000_000, Hosts: []string{"host_a", "host_b"}}
	first := packet(0, "host_a", 1_000_000, 1_400_000, -1, story.New)
	ack := packet(1, "host_b", 1_500_000, 1_900_000, 0, story.Ack)
	again := packet(2, "host_a", 3_000_000, 3_400_000, 0, story.AfterTimeout)
	s.Packets = []*story.Packet{first, ack, again}
	want := []string{
		"packet: 1 wire out 1.000 -> 2 wire in 1.300",
		"cause: 2 wire in 1.300 -> 2 wire out 1.500",
		"packet: 2 wire out 1.500 -> 1 wire in 1.800",
		"cause: 1 wire out 1.000 -> 1 wire out 3.000",
		"retry: 1 wire out 1.000 -> 1 wire out 3.000",
		"packet: 1 wire out 3.000 -> 2 wire in 3.300",
	}
	require.ElementsMatch(t, want, arrows(t, export(t, s)))

	// A cause that was lost on the wire has not come anywhere.
	first.ArrivePs, first.Fate = -1, story.DroppedOnWire
	require.ElementsMatch(t, []string{want[2], want[3], want[4], want[5]}, arrows(t, export(t, s)))

	// Of what comes in, or leaves, at the same time or later nothing is caused.
	for _, arrive := range []int64{1_600_000, 1_700_000} {
		first.ArrivePs, first.Fate = arrive, story.Delivered
		got := arrows(t, export(t, s))
		for _, l := range got {
			require.NotContains(t, l, "-> 2 wire out 1.500")
		}
		require.Len(t, got, 5)
	}
	again.Ps, again.EndPs, again.ArrivePs = first.Ps, first.EndPs, 3_000_000
	for _, l := range arrows(t, export(t, s)) {
		require.NotContains(t, l, "retry")
		require.NotContains(t, l, "cause: 1")
	}
}
