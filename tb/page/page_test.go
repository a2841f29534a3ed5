package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/page"
	"rnic/tb/story"
)

func made(t testing.TB, s *story.Story) []byte {
	t.Helper()
	b, err := page.HTML("a run", s)
	require.NoError(t, err)
	return b
}

// The same story gives the same bytes, and a packet takes few of them.
func TestSmallAndTheSame(t *testing.T) {
	b := made(t, sample(10_000))
	require.Equal(t, b, made(t, sample(10_000)))
	require.Less(t, (len(b)-len(made(t, sample(1))))/10_000, 200, "bytes a packet, its share of work requests with it")
	for _, mark := range []string{"{{", "}}", "http://", "https://", "src=", "@import", "url("} {
		require.NotContains(t, strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", ""), mark, "the page is one file")
	}
}

// A host that the run does not have is an error, whoever names it.
func TestUnknownHost(t *testing.T) {
	for name, spoil := range map[string]func(*story.Story){
		"packet 0":           func(s *story.Story) { s.Packets[0].Host = "host_c" },
		"work request 0":     func(s *story.Story) { s.WRs[0].Host = "host_c" },
		"QP 16":              func(s *story.Story) { s.QPs[0].Host = "host_c" },
		`bandwidth of "host`: func(s *story.Story) { s.Bandwidth[0].Host = "host_c" },
	} {
		s := sample(10)
		spoil(s)
		_, err := page.HTML("a run", s)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "host_c")
	}
}

// Whatever a run holds, its page opens without a word on the console.
func TestOddStories(t *testing.T) {
	none := &story.Story{ClockPs: 4000, Hosts: []string{"host_a", "host_b"}}
	const text = `</script><script>console.error("out")</script><!--<b>&amp;"'` + "\u2028{{DATA}}"
	odd := sample(40)
	odd.QPs[0].Transport, odd.WRs[0].Op, odd.WRs[0].Status, odd.WRs[1].Status = text, text, text, ""
	odd.WRs[1].Stages, odd.WRs[2].Stages, odd.WRs[2].Packets = nil, odd.WRs[2].Stages[:1], []int{1 << 40}
	p := odd.Packets[3]
	p.Opcode, p.Signal, p.Value, p.Cause, p.Fate, p.Syndrome, p.Because = text, text, text, story.Unknown, text, text, 1<<40
	odd.Packets[4].ArrivePs, odd.Packets[4].Fate = -1, story.OnWire
	odd.Packets[5].EndPs = odd.Packets[5].Ps
	odd.Forgotten.Packets = 7
	odd.Failure = text + "\nsecond"
	one := sample(1)
	one.Packets, one.WRs, one.QPs = one.Packets[:1], nil, nil
	for _, s := range []*story.Story{none, odd, one} {
		b, err := page.HTML(text, s)
		require.NoError(t, err)
		c := open(t, b, 1000, 700)
		require.Equal(t, text, c.eval("document.title"))
		c.eval(`document.getElementById("ladder").focus()`)
		c.keys("ArrowDown", "ArrowDown", "n", "p", "+", "-", "0", "End", "Home", "ArrowRight", "ArrowLeft", "PageDown")
		if len(s.Packets) > 3 {
			c.eval("selectPacket(3), selectWR(indexOfWR.get(0)), 1")
			require.Contains(t, c.eval(`document.getElementById("details").textContent`), text)
			c.eval("selectPacket(3), 1")
			require.Contains(t, c.eval(`document.getElementById("details").textContent`), text)
			require.Contains(t, c.eval(`document.getElementById("forgotten").textContent`), "7 packets")
			require.Equal(t, text+"\nsecond", c.eval(`document.getElementById("failure").textContent`))
			require.Equal(t, true, c.eval(`document.getElementById("failure").checkVisibility()`))
		} else {
			require.Equal(t, false, c.eval(`document.getElementById("failure").checkVisibility()`))
		}
		c.eval("applyFilter()")
		c.quiet()
	}
}
