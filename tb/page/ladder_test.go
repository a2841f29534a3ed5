package page_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/story"
)

// drawn is what the canvas of the ladder has: how much of a line of the ladder is drawn, and
// whether the pixels of a cross at its end are, in a colour of the page.
const drawn = `(() => {
  const c = document.getElementById("ladder"), g = c.getContext("2d"), scale = devicePixelRatio;
  const probe = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const look = () => { copy.canvas.width = c.width; copy.canvas.height = c.height; copy.drawImage(c, 0, 0); };
  const rgb = colour => { probe.fillStyle = colour; probe.fillRect(0, 0, 1, 1); return probe.getImageData(0, 0, 1, 1).data; };
  const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  // isAt: a pixel is of a colour rather than of the page.
  const isAt = (x, y, colour) => { const [r, b, v, a] = copy.getImageData(Math.floor(x * scale), Math.floor(y * scale), 1, 1).data, p = rgb(colours.bg).map((under, k) => ([r, b, v][k] * a + under * (255 - a)) / 255); return far(p, rgb(colour)) < far(p, rgb(colours.bg)); };
  const lineOf = i => L.lines.find(l => l.i === i);
  window.ladderMarks = {
    end: i => lineOf(i).x1,
    share: (i, colour) => {
      const l = lineOf(i);
      let n = 0;
      look();
      for (let k = 0; k < 100; k++) if (isAt(l.x0 + (l.x1 - l.x0) * (5 + k * 0.85) / 100, l.y0 + (l.y1 - l.y0) * (5 + k * 0.85) / 100, colour)) n++;
      return n;
    },
    cross: (i, colour) => { const l = lineOf(i); look(); return [[-3, -3], [3, 3], [-3, 3], [3, -3]].every(([x, y]) => isAt(l.x1 + x, l.y1 + y, colour)); },
    // full: the head of its arrow is filled, as it is painted.
    full: i => {
      const p = CanvasRenderingContext2D.prototype, fill = p.fill;
      let n = 0;
      p.fill = function () { n++; };
      paintPacket(g, lineOf(i), false);
      p.fill = fill;
      return n === 1;
    },
  };
})()`

// TestMarks: what is sent again is dashed, what is lost or dropped ends in a cross before the
// other host, and all else in an arrow.
func TestMarks(t *testing.T) {
	s := sample(400)
	var plain []int // sent once, and delivered
	for i, p := range s.Packets {
		if p.Cause == story.New && p.Fate == story.Delivered && i > 20 {
			plain = append(plain, i)
		}
	}
	fresh, dropped, doubled := plain[0], plain[3], plain[6]
	s.Packets[dropped].Fate, s.Packets[doubled].Fate = "dropped: rx_drop_bad_state", story.DuplicateOfOne
	c := open(t, made(t, s), 1280, 900)
	c.eval(drawn)
	lost := slices.IndexFunc(s.Packets, func(p *story.Packet) bool { return p.Fate == story.DroppedOnWire })
	for what, i := range map[string]int{
		"retry": slices.IndexFunc(s.Packets, func(p *story.Packet) bool { return strings.HasPrefix(p.Cause, "retry") }),
		"new":   fresh, "lost": lost, "dropped": dropped, "duplicate": doubled,
	} {
		p := s.Packets[i]
		c.eval(fmt.Sprintf("select(null), rnic.setView(%d, %d)", p.Ps-40_000, p.Ps+1_000_000))
		c.settle()
		colour := fmt.Sprintf("colours[KINDS[P.kind[%d]]]", i)
		bad := what == "lost" || what == "dropped"
		if bad {
			colour = "colours.lost"
		}
		share := c.number(fmt.Sprintf("ladderMarks.share(%d, %s)", i, colour))
		if what == "retry" {
			require.True(t, share > 40 && share < 92, "%s: %d of 100", what, share)
		} else {
			require.Greater(t, share, 95, what)
		}
		require.Equal(t, bad, c.eval(fmt.Sprintf("ladderMarks.cross(%d, colours.lost)", i)), what)
		reaches := c.eval(fmt.Sprintf(`Math.abs(ladderMarks.end(%d) - laneX(document.getElementById("ladder").clientWidth)[P.to[%d]]) < 4`, i, i))
		require.Equal(t, !bad, reaches, "%s ends at the other host", what)
		if !bad { // that of a duplicate is hollow
			require.Equal(t, what != "duplicate", c.eval(fmt.Sprintf("ladderMarks.full(%d)", i)), "%s: the head of the arrow is full", what)
		}
	}
	c.quiet()
}

// TestZoom: wheel, drag, buttons and the map at the side move the window, and what is under
// the pointer stays there.
func TestZoom(t *testing.T) {
	s := sample(400)
	c := open(t, made(t, s), 1280, 900)
	c.eval(`document.getElementById("fold").click(), scrollTo(0, 0)`) // time goes evenly
	reset := func() {
		c.eval("select(null), rnic.setView(20e6, 24e6)")
		c.settle()
	}
	per := func() float64 { return c.eval("L.perPixel").(float64) }
	from := func() float64 { return c.eval("L.from").(float64) }
	box := func(what string) float64 {
		return c.eval(`document.getElementById("ladder").getBoundingClientRect().` + what).(float64)
	}
	reset()
	x, y := box("x")+box("width")/2, box("y")+200
	under := func() float64 { return c.eval("L.from + (200 - TOP) * L.perPixel").(float64) }

	reset()
	before, at := per(), under()
	c.wheel(x, y, -300, true)
	require.InEpsilon(t, before/math.E, per(), 0.01)
	require.InDelta(t, at, under(), before, "what is under the pointer stays")
	require.Equal(t, y, box("y")+200, "and so does the ladder")
	c.wheel(x, y, 300, true)
	require.InEpsilon(t, before, per(), 0.01)

	reset()
	before, at = per(), from()
	c.wheel(x, y, 100, false)
	require.InDelta(t, at+100*before, from(), before)
	require.InEpsilon(t, before, per(), 1e-9)

	reset()
	at = from()
	c.drag(x, y, x, y-80)
	require.InDelta(t, at+80*before, from(), 2*before, "what is under the pointer goes with it")
	require.Equal(t, -1, c.number("L.selected"), "a drag selects nothing")

	reset()
	for id, factor := range map[string]float64{"zoom-in": 1 / 1.5, "zoom-out": 1.5} {
		reset()
		c.eval(fmt.Sprintf("document.getElementById(%q).click()", id))
		require.InEpsilon(t, before*factor, per(), 0.001, id)
		require.InDelta(t, 22e6, c.eval("L.from + L.perPixel * ladderHeight() / 2"), 20_000, "the middle stays")
	}
	c.eval(`document.getElementById("zoom-all").click()`)
	c.settle()
	require.Equal(t, len(s.Packets), c.number(`document.getElementById("ladder").dataset.inview`))

	reset()
	c.mouse(box("x")+box("width")-8, box("y")+box("height")-40, true)
	require.Greater(t, from(), float64(s.EndPs)*0.8, "the map goes to the end")

	// What is selected stays where it is.
	reset()
	i := slices.IndexFunc(s.Packets, func(p *story.Packet) bool { return p.Ps > 23_000_000 })
	c.eval(fmt.Sprintf("selectPacket(%d)", i))
	c.settle()
	place := func() float64 { return c.eval(fmt.Sprintf("L.lines.find(l => l.i === %d).y0", i)).(float64) }
	y0 := place()
	c.eval(`document.getElementById("zoom-in").click()`)
	c.settle()
	require.InDelta(t, y0, place(), 1)
	c.quiet()
}

// TestKeys: those keys of the ladder, and of the page, that TestUse does not press.
func TestKeys(t *testing.T) {
	s := sample(400)
	c := open(t, made(t, s), 1280, 900)
	c.eval(`rnic.setView(0, 4e6), document.getElementById("ladder").focus()`)
	c.settle()
	from, high := c.number("L.from"), c.number("L.perPixel * ladderHeight()")
	c.keys("PageDown")
	require.InDelta(t, from+high*85/100, c.number("L.from"), 1000)
	c.keys("PageUp")
	require.InDelta(t, from, c.number("L.from"), 1000)
	per := c.number("L.perPixel * 1000")
	c.keys("=")
	require.InEpsilon(t, float64(per)/1.5, c.number("L.perPixel * 1000"), 0.01)
	c.keys("End", "Home")
	require.Equal(t, 0, c.number("L.selected"))
	c.keys("Escape")
	require.Equal(t, -1, c.number("L.selected"))
	open := func() any { return c.eval(`document.getElementById("help").open`) }
	require.Equal(t, false, open())
	c.keys("?")
	require.Equal(t, true, open())
	c.keys("?")
	require.Equal(t, false, open())

	c.eval(`document.getElementById("wrong-next").click()`)
	one := c.number("L.selected")
	require.NotEqual(t, -1, one)
	require.NotEqual(t, story.Delivered, s.Packets[one].Fate)
	c.eval(`document.getElementById("wrong-next").click()`)
	require.Greater(t, c.number("L.selected"), one)
	c.eval(`document.getElementById("wrong-prev").click()`)
	require.Equal(t, one, c.number("L.selected"))

	// Keys of the browser stay its own.
	c.eval(`document.getElementById("ladder").focus(), document.getElementById("ladder").dispatchEvent(new KeyboardEvent("keydown", { key: "n", ctrlKey: true, bubbles: true }))`)
	require.Equal(t, one, c.number("L.selected"))
	c.quiet()
}

// TestSameNumber: QPs of both hosts with one number are two.
func TestSameNumber(t *testing.T) {
	s := sample(200)
	for _, p := range s.Packets {
		for _, n := range []*uint32{&p.QPN, &p.DestQPN} {
			if *n >= 32 {
				*n -= 15 // 17 of host_b is the peer of 16
			}
		}
	}
	s.QPs = append(s.QPs, &story.QP{Host: "host_b", QPN: 17, Transport: "RC", Peer: 16})
	c := open(t, made(t, s), 1280, 900)
	for value, of := range map[string]func(*story.Packet) bool{
		"0:17": func(p *story.Packet) bool {
			return p.Host == "host_a" && p.QPN == 17 || p.Host == "host_b" && p.DestQPN == 17
		},
		"1:17": func(p *story.Packet) bool {
			return p.Host == "host_b" && p.QPN == 17 || p.Host == "host_a" && p.DestQPN == 17
		},
	} {
		c.eval(fmt.Sprintf(`{const e = document.getElementById("qp"); e.value = %q; e.dispatchEvent(new Event("change"))}`, value))
		n := 0
		for _, p := range s.Packets {
			if of(p) {
				n++
			}
		}
		require.Positive(t, n)
		require.Equal(t, n, c.number("shown.length"), value)
	}
	c.quiet()
}
