package page_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// contrasts lists the texts, and the colours of the canvases, that are too pale: under
// 4.5 to 1 (WCAG 2.2, 1.4.3), of bars and lines under 3 (1.4.11). Colours are made plain
// by a canvas of one pixel.
const contrasts = `(() => {
  const g = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const rgb = c => { g.clearRect(0, 0, 1, 1); g.fillStyle = c; g.fillRect(0, 0, 1, 1); return [...g.getImageData(0, 0, 1, 1).data]; };
  const luminance = ([r, g, b]) => { const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const ratio = (a, b) => { const [x, y] = [luminance(rgb(a)), luminance(rgb(b))].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] > 0) return c; } return colours.bg; };
  const bad = [];
  let seen = 0;
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("script, .hidden, noscript") || e.disabled || !e.checkVisibility()) continue;
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && e.tagName !== "INPUT") continue;
    seen++;
    const r = ratio(getComputedStyle(e).color, behind(e));
    if (r < 4.5) bad.push(e.tagName + " " + e.className + " " + r.toFixed(2));
  }
  for (const name of ["text", "muted", "accent", ...KINDS, "lost"]) for (const on of ["bg", "panel", "select"]) {
    if (name === "accent" && on === "select") continue;
    const r = ratio(colours[name], colours[on]);
    if (r < 4.5) bad.push(name + " on " + on + " " + r.toFixed(2));
  }
  for (const list of ["series", "stages", "waits"]) for (const [k, c] of colours[list].entries()) {
    const r = ratio(c, colours.bg);
    if (!(r >= 3)) bad.push(list + " " + k + " " + c + " " + r.toFixed(2));
  }
  return seen > 100 ? bad.join("; ") : "only " + seen + " texts";
})()`

// TestLook demands of the page what a person needs to read it: contrast in both schemes,
// no scrolling sideways, a ring around what has the focus, and paper.
func TestLook(t *testing.T) {
	c := open(t, made(t, sample(400)), 1280, 900)
	c.eval(`selectPacket(stepWrong(1) ?? L.selected), document.getElementById("help").open = document.getElementById("packet-table").open = true`)
	for _, dark := range []bool{false, true} {
		for _, width := range []int{1280, 800} {
			t.Run(fmt.Sprintf("dark %v, %d wide", dark, width), func(t *testing.T) {
				c.size(width, 900)
				c.dark(dark)
				require.Empty(t, c.eval(contrasts))
				require.LessOrEqual(t, c.number("document.documentElement.scrollWidth"), width)
				require.Greater(t, c.number("laneX(document.getElementById('ladder').clientWidth)[1] - laneX(document.getElementById('ladder').clientWidth)[0]"), 200)
			})
		}
	}
	require.NotEqual(t, c.eval("colours.bg"), func() any { c.dark(false); return c.eval("colours.bg") }(), "the schemes differ, and the canvases follow")

	t.Run("keyboard", func(t *testing.T) {
		c.size(1280, 900)
		c.eval(`document.getElementById("help").open = document.getElementById("packet-table").open = false, document.activeElement.blur(), scrollTo(0, 0)`)
		var order []string
		for range 60 {
			c.keys("Tab")
			id := c.eval(`(e => e.id || e.className || e.tagName)(document.activeElement)`).(string)
			if len(order) > 0 && id == "BODY" {
				break
			}
			require.Equal(t, "solid 2px", c.eval(`(s => s.outlineStyle + " " + s.outlineWidth)(getComputedStyle(document.activeElement))`), "no ring around %s", id)
			order = append(order, id)
		}
		at := -1
		for _, id := range []string{"skip", "qp", "kind-request", "kind-retry", "fate", "search", "reset", "wrong-next", "fold", "zoom-in", "ladder", "work", "chart-bandwidth", "chart-outstanding", "chart-depth"} {
			k := -1
			for i, o := range order {
				if o == id {
					k = i
				}
			}
			require.Greater(t, k, at, "%s in %v", id, order)
			at = k
		}
	})
	t.Run("reader", func(t *testing.T) {
		var tree struct {
			Nodes []struct {
				Ignored bool
				Role    struct{ Value string }
				Name    struct{ Value string }
			}
		}
		c.call("Accessibility.enable", nil, nil)
		c.call("Accessibility.getFullAXTree", nil, &tree)
		roles := map[string]int{}
		for _, n := range tree.Nodes {
			if n.Ignored {
				continue
			}
			roles[n.Role.Value]++
			switch n.Role.Value {
			case "button", "checkbox", "combobox", "searchbox", "application", "region", "image", "img", "table", "heading", "link":
				if n.Role.Value != "table" {
					require.NotEmpty(t, n.Name.Value, n.Role.Value)
				}
			}
		}
		for role, least := range map[string]int{"application": 5, "status": 1, "main": 1, "search": 1, "complementary": 1, "heading": 7, "table": 3, "searchbox": 1} {
			require.GreaterOrEqual(t, roles[role], least, role)
		}
	})
	t.Run("print", func(t *testing.T) {
		var pdf struct{ Data string }
		c.dark(true)
		c.call("Page.printToPDF", map[string]any{"printBackground": true}, &pdf)
		b, err := base64.StdEncoding.DecodeString(pdf.Data)
		require.NoError(t, err)
		pages := strings.Count(string(b), "/Type /Page\n")
		require.True(t, pages >= 2 && pages <= 8, "%d pages", pages)
		c.call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
		require.Equal(t, "none", c.eval(`getComputedStyle(document.getElementById("filters")).display`))
		require.Equal(t, "rgb(255, 255, 255)", c.eval(`getComputedStyle(document.body).backgroundColor`))
	})
	c.quiet()
}

// TestTenThousand has a page of 10,000 packets cost what its data cost: compared with a
// page of 1,000 on the same machine, loading at most thrice the tenfold, a move of the
// window at most four times as long, and no element of its own for a packet.
func TestTenThousand(t *testing.T) {
	type cost struct {
		load, move float64
		elements   int
	}
	measure := func(n int) cost {
		s := sample(n)
		c := open(t, made(t, s), 1280, 900)
		least := cost{load: 1e9, move: 1e9, elements: c.number("document.querySelectorAll('*').length")}
		require.Equal(t, len(s.Packets), c.number("rnic.view().shown"))
		for range 3 {
			least.load = min(least.load, c.eval("rnic.loadMs").(float64))
			least.move = min(least.move, c.eval(`{
			  rnic.setView(0, 4e6);
			  let least = 1e9;
			  for (let k = 0; k < 40; k++) {
			    const began = performance.now();
			    for (let m = 0; m < 8; m++) { L.from += 2e5; rnic.paint(); charts.forEach(paintChart); }
			    least = Math.min(least, (performance.now() - began) / 8);
			  }
			  least;
			}`).(float64))
			c.call("Page.reload", nil, nil)
			time.Sleep(50 * time.Millisecond)
			c.ready()
		}
		c.eval("rnic.setView(0, 1e15)")
		c.settle()
		require.Equal(t, len(s.Packets), c.number(`document.getElementById("ladder").dataset.inview`), "the whole run can be seen at once")
		c.quiet()
		return least
	}
	small, large := measure(1000), measure(10_000)
	t.Logf("1,000 packets: %.1f ms to load, %.2f ms a move; 10,000: %.1f ms, %.2f ms", small.load, small.move, large.load, large.move)
	require.Less(t, large.load, 30*small.load)
	require.Less(t, large.move, 4*small.move)
	require.Less(t, large.elements, small.elements+100, "bins of histograms and no more")
}
