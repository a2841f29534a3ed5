package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// TestLeads: what failed, and what was to follow and did not, is at the top of the page,
// each a button to what it is of; the keys for problems find the packets.
func TestLeads(t *testing.T) {
	s := sample(60)
	c := open(t, made(t, s), 1000, 800)
	require.Equal(t, false, c.eval(`document.getElementById("leads").checkVisibility()`))

	var quiet *story.Packet
	for _, p := range s.Packets {
		if p.AckReq && p.Cause == story.New && p.Fate == story.Delivered && p.ID > 20 {
			quiet = p
		}
	}
	at := story.At{Ps: quiet.Ps, Cycle: quiet.Cycle, Signal: "host_b.nic.ack_gen.judge.verdict.head.action", Value: "PLACE"}
	quiet.Why = append(quiet.Why, story.Event{At: at, Text: "it asks for an answer, and none to it leaves host_b up to cycle 99"})
	w := s.WR(quiet.WR)
	w.Status, w.Vendor = "RETRY_EXC_ERR", "TIMEOUT"
	s.QPs[0].Events = []story.Event{{At: at, Text: "a doorbell, and qpc does not have it up to the end of the run"}}
	s.WRs[0].Status, s.Failure = "", "the run does not go on since cycle 5"
	c = open(t, made(t, s), 400, 800)
	require.Equal(t, true, c.eval(`document.getElementById("leads").checkVisibility()`))
	require.Equal(t, 4, c.number(`document.querySelectorAll("#leads li").length`))
	require.Equal(t, 3, c.number(`document.querySelectorAll("#leads button").length`))
	require.Contains(t, c.eval(`document.getElementById("leads").textContent`), at.Signal+" = PLACE")
	require.Equal(t, true, c.eval(`document.documentElement.scrollWidth <= innerWidth`))

	c.eval(`document.querySelectorAll("#leads button")[0].click()`)
	require.Contains(t, c.eval(`document.getElementById("details").textContent`), "RETRY_EXC_ERR")
	c.eval(`document.querySelectorAll("#leads button")[1].click()`)
	require.Contains(t, c.eval(`document.getElementById("details").textContent`), "none to it leaves host_b")
	i := c.number("L.selected")
	require.Same(t, quiet, s.Packets[i])
	c.keys("p", "n")
	require.Equal(t, i, c.number("L.selected"))
	c.quiet()

	// Paper does not scroll.
	s.Failure += strings.Repeat("\nand so on", 60)
	c = open(t, made(t, s), 1000, 800)
	c.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	for _, at := range []string{"#failure", "#leads ol"} {
		require.Equal(t, true, c.eval(`(e => e.scrollHeight <= e.clientHeight + 1)(document.querySelector("`+at+`"))`), at)
	}

	s.Failure = story.Interrupted(5)
	c = open(t, made(t, s), 1000, 800)
	require.NotContains(t, c.eval(`document.getElementById("leads").textContent`), "has not ended")
}
