package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// inView counts the packets of a window by the story alone. A lost packet is drawn for a
// while.
func inView(s *story.Story, from, to int64, of func(*story.Packet) bool) int {
	var flights []int64
	for _, p := range s.Packets {
		if p.ArrivePs > 0 {
			flights = append(flights, p.ArrivePs-p.Ps)
		}
	}
	slices.Sort(flights)
	n := 0
	for _, p := range s.Packets {
		until := p.ArrivePs
		if until < 0 {
			until = p.Ps + max(p.EndPs-p.Ps, flights[len(flights)/2]/2)
		}
		if of(p) && p.Ps <= to && until >= from {
			n++
		}
	}
	return n
}

func all(*story.Packet) bool { return true }

// TestUse uses the page of a lossy run as a person does, by mouse and by keys.
func TestUse(t *testing.T) {
	s := sample(400)
	c := open(t, made(t, s), 1280, 900)
	text := func(id string) string {
		return c.eval(fmt.Sprintf("document.getElementById(%q).textContent", id)).(string)
	}
	view := func() (from, to int64, n int) {
		return int64(c.number("rnic.view().from")), int64(c.number("rnic.view().to")), c.number(`document.getElementById("ladder").dataset.inview`)
	}
	choose := func(id, value string) {
		c.eval(fmt.Sprintf(`{const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event(e.tagName === "INPUT" ? "input" : "change"))}`, id, value))
		c.settle()
	}
	right := func(of func(*story.Packet) bool) {
		t.Helper()
		for _, w := range [][2]int64{{0, s.EndPs}, {0, 3_000_000}, {6_000_000, 9_000_000}, {s.EndPs / 2, s.EndPs/2 + 20_000_000}, {20_000_000, 21_000_000}} {
			c.eval(fmt.Sprintf("rnic.setView(%d, %d)", w[0], w[1]))
			c.settle()
			from, to, n := view()
			require.InDelta(t, w[0], from, 1000, "the window is what was asked for, to a ns")
			if narrowest := float64(s.ClockPs) / 40; c.eval("L.perPixel") != narrowest { // else a part of a gap that is folded
				require.InDelta(t, w[1], to, 1000, "%v", w)
			}
			require.Equal(t, inView(s, from, to, of), n, "%v", w)
		}
	}

	t.Run("ladder", func(t *testing.T) {
		_, _, n := view()
		require.Greater(t, n, 20, "at first, packets can be read")
		require.Less(t, n, 80)
		right(all)
		c.eval(`document.getElementById("fold").click()`)
		right(all)
		c.eval(`document.getElementById("fold").click()`)
	})
	t.Run("filter", func(t *testing.T) {
		choose("qp", "0:17")
		right(func(p *story.Packet) bool { return p.QPN == 17 || p.DestQPN == 17 })
		require.Equal(t, 19, c.number("shownWRs.length"))
		choose("fate", "1")
		right(func(p *story.Packet) bool {
			return (p.QPN == 17 || p.DestQPN == 17) && p.Fate == story.DroppedOnWire
		})
		choose("qp", "")
		choose("fate", "")
		choose("search", "psn 2005")
		right(func(p *story.Packet) bool { return p.PSN == 2005 })
		choose("search", "last host_a")
		right(func(p *story.Packet) bool { return p.Host == "host_a" && strings.HasSuffix(p.Opcode, "LAST") })
		choose("search", "")
		c.eval(`document.getElementById("kind-request").click()`)
		right(func(p *story.Packet) bool { return p.Cause != story.New })
		require.Contains(t, text("live"), fmt.Sprintf("%d of %d packets", inView(s, 0, s.EndPs, func(p *story.Packet) bool { return p.Cause != story.New }), len(s.Packets)))
		c.eval(`document.getElementById("kind-ack").click()`)
		right(func(p *story.Packet) bool { return p.Cause != story.New && p.Cause != story.Ack })
		c.eval(`document.getElementById("reset").click()`)
		right(all)
	})
	t.Run("keys", func(t *testing.T) {
		c.eval("select(null), rnic.setView(0, 4e6), document.body.focus()")
		c.keys("/")
		require.Equal(t, "search", c.eval("document.activeElement.id"))
		c.keys("p", "s", "n", "Escape")
		require.Equal(t, "", c.eval("filter.text"), "Escape empties the search")
		c.keys("Enter")
		require.Equal(t, "ladder", c.eval("document.activeElement.id"))
		c.keys("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
		require.Equal(t, "1", fmt.Sprint(c.eval("L.selected")))
		p := s.Packets[1]
		require.Equal(t, fmt.Sprintf("packet %d: RC SEND MIDDLE, PSN %#x, host_a to host_b at %d ns, new, delivered, work request 0", p.ID, p.PSN, p.Ps/1000), text("live"))
		require.Contains(t, text("details"), fmt.Sprintf("%d ns, cycle %d", p.Ps/1000, p.Cycle))
		require.Contains(t, text("details"), p.Signal+" = "+p.Value)
		before := c.number("L.perPixel * 1000")
		c.keys("+", "+")
		require.InEpsilon(t, float64(before)/2.25, c.number("L.perPixel * 1000"), 0.01)
		c.keys("-", "-")
		require.InEpsilon(t, before, c.number("L.perPixel * 1000"), 0.01)
		c.keys("n")
		bad := slices.IndexFunc(s.Packets, func(p *story.Packet) bool { return p.Fate == story.DroppedOnWire })
		require.Equal(t, bad, c.number("L.selected"))
		require.Contains(t, text("details"), "a fault dropped it")
		require.Contains(t, text("details"), "dropped on the wire")
		c.keys("End")
		require.Equal(t, len(s.Packets)-1, c.number("L.selected"))
		from, to, _ := view()
		require.True(t, from <= s.EndPs && to >= s.Packets[len(s.Packets)-1].Ps, "what is selected is in view")
		c.keys("ArrowLeft") // an ACK was caused by the last packet
		require.Equal(t, s.Packets[len(s.Packets)-1].Because, c.number("P.id[L.selected]"))
		c.keys("ArrowRight")
		require.Equal(t, len(s.Packets)-1, c.number("L.selected"))
		c.keys("0", "Enter")
		_, _, n := view()
		require.Equal(t, len(s.Packets), n)
		require.Equal(t, "details", c.eval("document.activeElement.id"))
		c.eval(`document.getElementById("work").focus()`)
		c.keys("Home", "ArrowDown", "ArrowDown")
		require.Equal(t, 2, c.number("Work.selected"))
		require.Contains(t, text("live"), "work request 4: host_a QP 18 SQ #0 SEND, 4096 bytes, SUCCESS")
		for _, g := range s.WRs[2].Stages {
			require.Contains(t, text("details"), fmt.Sprintf("%d ns, cycle %d", g.Ps/1000, g.Cycle))
		}
		c.eval(`document.getElementById("chart-bandwidth").focus()`)
		c.keys("ArrowRight")
		require.Contains(t, text("live"), "host_b 0 Gb/s")
	})
	t.Run("mouse", func(t *testing.T) {
		c.eval("scrollTo(0, 0), select(null), rnic.setView(0, 4e6)")
		c.settle()
		// A third of the way along the second packet's line.
		var at [2]float64
		for k, axis := range []string{"x", "y"} {
			at[k] = c.eval(fmt.Sprintf(`{const l = L.lines[1], b = document.getElementById("ladder").getBoundingClientRect(); b.%[1]s + l.%[1]s0 + (l.%[1]s1 - l.%[1]s0) / 3}`, axis)).(float64)
		}
		c.mouse(at[0], at[1], false)
		require.Contains(t, text("details"), fmt.Sprintf("cycle %d", s.Packets[1].Cycle))
		c.mouse(5, 5, false)
		require.NotContains(t, text("details"), "cycle 5")
		c.mouse(at[0], at[1], true)
		c.mouse(5, 5, false)
		require.Contains(t, text("details"), fmt.Sprintf("cycle %d", s.Packets[1].Cycle))
		c.eval(`document.getElementById("details").querySelector("button.link").click()`)
		require.Equal(t, 0, c.number("Work.selected"))
		require.Contains(t, text("details"), "Stages")
	})
	t.Run("address", func(t *testing.T) {
		c.eval(`location.hash = "#packet=` + fmt.Sprint(s.Packets[5].ID) + `"`)
		c.settle()
		require.Equal(t, 5, c.number("L.selected"))
		c.eval(`location.hash = "#wr=4"`)
		c.settle()
		require.Equal(t, 2, c.number("Work.selected"))
		c.eval(`location.hash = "#wr=99999"`)
		c.settle()
		require.Equal(t, 2, c.number("Work.selected"))
	})
	t.Run("labels", func(t *testing.T) {
		for _, x := range [][4]any{{78_316_000, 71_000_000_000, 150_000, "0.0783 ms"}, {78_316_000, 71_000_000_000, 2_000, "0.078316 ms"}, {55_500_000, 160_000_000, 300_000, "55.5 µs"}, {1_500, 4_000, 100, "1.5 ns"}} {
			require.Equal(t, x[3], c.eval(fmt.Sprintf("axisLabel(%d, %d, %d)", x[0], x[1], x[2])))
		}
	})
	t.Run("table", func(t *testing.T) {
		c.eval(`document.getElementById("packet-table").open = true`)
		c.settle()
		require.Equal(t, 50, c.number(`document.getElementById("packets").rows.length`))
		require.Equal(t, "Page 1 of 9", text("page"))
		row := c.eval(`[...document.getElementById("packets").rows[2].cells].map(c => c.textContent).join("|")`)
		p := s.Packets[2]
		require.Equal(t, fmt.Sprintf("#%d|%d ns|%d|host_a|16|32|RC SEND MIDDLE|%#x|1086|new|delivered", p.ID, p.Ps/1000, p.Cycle, p.PSN), row)
	})
	c.quiet()
}
