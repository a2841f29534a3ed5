package story_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/story"
	"rnic/tb/transfer"
)

// said are the lines of an explanation.
func said(e *story.Explanation, err error) string {
	if err != nil {
		return err.Error()
	}
	l := []string{e.Of}
	for _, x := range e.Statements {
		l = append(l, x.Text)
	}
	return strings.Join(l, "\n")
}

// TestRefused: the packet that a NAK is for was not delivered, and its story says why.
func TestRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"nak_remote_access", "BAD_ACCESS (NAK_REMOTE_ACCESS)"}, {"nak_invalid_request", "RECV_TOO_LONG (NAK_INVALID_REQUEST)"},
		{"nak_remote_operational", "BAD_KEY (NAK_REMOTE_OPERATION)"}, {"pcie_read_remote", "DMA_READ (NAK_REMOTE_OPERATION)"},
	} {
		t.Run(c[0], func(t *testing.T) {
			s := play(t, c[0], "", nil, false)
			nak := caused(s, story.NAK)
			p := s.Packet(nak.Because)
			require.Equal(t, story.Refused+c[1], p.Fate)
			text := said(s.ExplainPacket(p.ID))
			require.Contains(t, text, "qpc answers "+nak.Syndrome)
			if strings.HasPrefix(c[1], "BAD_") {
				require.Contains(t, text, fmt.Sprintf("packet %d: mpt refuses key ", p.ID))
				require.NotContains(t, said(s.ExplainPacket(nak.ID)), fmt.Sprintf("packet %d: mpt refuses key ", nak.ID))
			}
			require.NotContains(t, said(s.ExplainWR(p.WR)), "sent once and delivered")
		})
	}
}

// TestCopy: the story of a packet that came twice has both arrivals.
func TestCopy(t *testing.T) {
	s := play(t, "duplicate", "", nil, false)
	text := said(s.ExplainPacket(caused(s, story.Duplicate).Because))
	require.Contains(t, text, "a copy of it arrives; duplicate")
	require.Contains(t, text, "the copy: qpc judges it: REPLY")
}

// TestStuck: of a run that does not go on, everything says so, and what has not left is
// not called the last packet.
func TestStuck(t *testing.T) {
	insert, err := hang.ParsePlug("a keys stop=9")
	require.NoError(t, err)
	b, err := tb.New(tb.Config{Seed: 1, Insert: insert})
	require.NoError(t, err)
	defer b.Close()
	rec, err := story.Attach(b, story.Options{})
	require.NoError(t, err)
	job := transfer.Job{Data: strings.NewReader(strings.Repeat("x", 16384)), Op: abi.OpWrite, MTU: roce.MTU1024, QPs: 4, MsgSize: 4096, Depth: 8}
	_, err = job.Run(b)
	require.Error(t, err)
	s := rec.Finish()
	s.Failure = err.Error()
	open := 0
	for _, w := range s.WRs {
		if w.Queue != "sq" || w.Status != "" {
			continue
		}
		open++
		text := said(s.ExplainWR(w.ID))
		require.Contains(t, text, "it is stuck since cycle ")
		require.Contains(t, text, fmt.Sprintf(" of %d packets ha", w.Needs))
		require.Contains(t, said(s.ExplainQP(w.Host, w.QPN)), w.Label()+" has not ended: it is stuck since cycle ")
		for _, x := range w.Stages {
			require.NotEqual(t, story.LastPacket, x.Name)
		}
	}
	require.Positive(t, open)
	require.Equal(t, open, s.Unended)
	lines := strings.Split(said(s.ExplainRun(), nil), "\n")
	require.Equal(t, "the run failed: "+strings.Split(s.Failure, "\n")[0], lines[1])
	require.Contains(t, strings.Join(lines, "\n"), "the root: host_a.test")

	s.Failure = story.Interrupted(77)
	text := said(s.ExplainRun(), nil)
	require.Contains(t, text, "interrupted in cycle 77")
	require.NotContains(t, text, "failed")
	require.NotContains(t, text, "stuck")
}

// TestCredits: that the peer has no receive is said only where it has none.
func TestCredits(t *testing.T) {
	receive := func(from, to int64) *story.WR {
		w := &story.WR{ID: 1, Host: "host_b", QPN: 3, Queue: "rq", Stages: []story.Stage{{Name: story.Doorbell, At: story.At{Ps: from}}}}
		if to > 0 {
			w.Stages = append(w.Stages, story.Stage{Name: story.Entered, At: story.At{Ps: to}})
		}
		return w
	}
	for _, c := range []struct {
		from, to int64
		empty    bool
	}{{1000, 0, false}, {1000, 90_000, false}, {1000, 20_000, true}, {60_000, 0, true}} {
		s := &story.Story{ClockPs: 4000, EndPs: 100_000, Hosts: []string{"host_a", "host_b"}}
		s.QPs = []*story.QP{{Host: "host_a", QPN: 2, Peer: 3}}
		s.WRs = []*story.WR{{Host: "host_a", QPN: 2, Queue: "sq", Waits: []story.Wait{{FromPs: 40_000, ToPs: 80_000, For: story.ForCredits}}}, receive(c.from, c.to)}
		text := said(s.ExplainWR(0))
		require.Equal(t, c.empty, strings.Contains(text, "the peer has no receive posted"), c)
		require.Equal(t, !c.empty, strings.Contains(text, "the last ACK that came gives no more"), c)
	}
}
