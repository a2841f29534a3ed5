package page_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// TestSearch: numbers are meant exactly, in either notation; keys go to problems from
// anywhere; an address that is of nothing says so.
func TestSearch(t *testing.T) {
	s := sample(400)
	p := s.Packets[7]
	s.Packets[9].Fate = "dropped: rx_drop_bad_state"
	s.Packets[11].Fate = "refused: BAD_KEY (NAK_REMOTE_ACCESS)"
	c := open(t, made(t, s), 1280, 900)
	count := func(of func(*story.Packet) bool) (n int) {
		for _, p := range s.Packets {
			if of(p) {
				n++
			}
		}
		return n
	}
	for search, of := range map[string]func(*story.Packet) bool{
		fmt.Sprintf("psn %#x", p.PSN):     func(q *story.Packet) bool { return q.PSN == p.PSN },
		fmt.Sprintf("psn %d", p.PSN):      func(q *story.Packet) bool { return q.PSN == p.PSN },
		fmt.Sprintf("packet %d", p.ID):    func(q *story.Packet) bool { return q.ID == p.ID },
		fmt.Sprintf("#%d", p.ID):          func(q *story.Packet) bool { return q.ID == p.ID },
		fmt.Sprintf("cycle %d", p.Cycle):  func(q *story.Packet) bool { return q.Cycle == p.Cycle },
		"wr 4":                            func(q *story.Packet) bool { return q.WR == 4 },
		"qp 17":                           func(q *story.Packet) bool { return q.QPN == 17 || q.DestQPN == 17 },
		"rx_drop_bad":                     func(q *story.Packet) bool { return q == s.Packets[9] },
		fmt.Sprintf("wr %d middle", p.WR): func(q *story.Packet) bool { return q.WR == p.WR && q.Opcode == "RC_SEND_MIDDLE" },
	} {
		c.eval(fmt.Sprintf(`{const e = document.getElementById("search"); e.value = %q; e.dispatchEvent(new Event("input"))}`, search))
		require.Equal(t, count(of), c.number("shown.length"), search)
		require.Positive(t, count(of), search)
		if search == "wr 4" {
			require.Equal(t, 1, c.number("shownWRs.length"))
		}
	}
	c.eval(`document.getElementById("reset").click()`)

	require.Equal(t, "dropped: rx_drop_bad_state", c.eval("labelTail(9)"))
	require.Contains(t, c.eval("labelTail(11)"), "refused: BAD_KEY")
	require.Contains(t, c.eval(`document.getElementById("facts").textContent`), "2 dropped or refused")

	c.eval("select(null); document.activeElement.blur()")
	c.keys("n")
	one := c.number("L.selected")
	c.keys("n")
	require.Greater(t, c.number("L.selected"), one)
	c.keys("p")
	require.Equal(t, one, c.number("L.selected"), "one step a key")
	c.eval(`document.getElementById("ladder").focus()`)
	c.keys("n", "p")
	require.Equal(t, one, c.number("L.selected"), "one step a key in the ladder")

	missing := func() string {
		return c.eval(`(e => e.hidden ? "" : e.textContent)(document.getElementById("missing"))`).(string)
	}
	require.Empty(t, missing())
	c.eval(`location.hash = "#packet=9999"`)
	c.settle()
	require.Equal(t, "There is no packet 9999 in this page.", missing())
	c.eval(`location.hash = "#packet=2"`)
	c.settle()
	require.Empty(t, missing())
	c.quiet()
}

// TestStill: the axes of a run that stood still for most of its time end behind the last
// motion, and what has not ended goes on to there.
func TestStill(t *testing.T) {
	s := sample(60)
	last := s.EndPs
	w := s.WRs[1]
	w.Status, w.Stages, s.Unended = "", w.Stages[:3], 1
	s.EndPs, s.Failure = 71_381_736_000, "the run does not go on since cycle 19369"
	for i := range s.Bandwidth {
		s.Bandwidth[i].Gbps = 0
	}
	c := open(t, made(t, s), 1280, 900)
	require.LessOrEqual(t, c.number("D.axis"), int(last+last/10))
	require.GreaterOrEqual(t, c.number("Work.to"), c.number("D.axis"))
	require.Greater(t, c.number("Math.max(...D.bandwidth.map(b => b[2]))"), 10)
	c.eval("selectWR(1)")
	details := c.eval(`document.getElementById("details").textContent`)
	require.Contains(t, details, "Open for71.3")
	require.NotContains(t, details, "Took")
	require.Equal(t, "The run failed", c.eval(`document.getElementById("h-failed").textContent`))

	s.Failure = story.Interrupted(123)
	c = open(t, made(t, s), 1280, 900)
	require.Equal(t, "The run was interrupted", c.eval(`document.getElementById("h-failed").textContent`))
	require.Contains(t, c.eval(`document.getElementById("facts").textContent`), "1 under way")
	c.quiet()
}
