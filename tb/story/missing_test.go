package story_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl"
	"rnic/rtl/port"
	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/story"
	"rnic/tb/transfer"
	"rnic/waves"
)

// broken tells the story of a run with a module of a test in a NIC, and looks up what it
// says.
func broken(t *testing.T, insert func(int, *rtl.NIC) any, change ...func(*transfer.Job)) *story.Story {
	t.Helper()
	b, err := tb.New(tb.Config{Seed: 1, Insert: insert})
	require.NoError(t, err)
	defer b.Close()
	rec, err := story.Attach(b, story.Options{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "x.fst")
	w, err := waves.CreateFST(path, waves.Options{}, b.Hosts[0].K, b.Hosts[1].K)
	require.NoError(t, err)
	job := transfer.Job{Data: strings.NewReader(strings.Repeat("x", 16384)), Op: abi.OpSend, MTU: roce.MTU1024, QPs: 4, MsgSize: 4096, Depth: 8}
	job.Driver.NoPush = true
	for _, f := range change {
		f(&job)
	}
	_, err = job.Run(b)
	require.NoError(t, w.Close())
	s := rec.Finish()
	if err != nil {
		s.Failure = err.Error()
	}
	require.Empty(t, lookUp(t, path, statements(s)))
	return readBack(t, s)
}

func plug(t *testing.T, spec string) func(int, *rtl.NIC) any {
	insert, err := hang.ParsePlug(spec)
	require.NoError(t, err)
	return insert
}

// TestNeverAnswered: the NIC that owes an acknowledgement and does not send it is named.
func TestNeverAnswered(t *testing.T) {
	for _, spec := range []string{"b answers lose=3", "b frames lose=3", "b payload stop=9"} {
		t.Run(spec, func(t *testing.T) {
			s := broken(t, plug(t, spec))
			found := false
			for _, w := range s.WRs {
				if w.Vendor != "TIMEOUT" {
					continue
				}
				found = true
				last := s.Packet(w.Packets[len(w.Packets)-1])
				text := said(s.ExplainWR(w.ID))
				require.Equal(t, spec == "b payload stop=9", strings.Contains(text, ", the receive that it went to, has no CQE"), text)
				require.Contains(t, text, fmt.Sprintf("packet %d: it asks for an answer, and none to it leaves host_b up to cycle ", last.ID))
			}
			require.True(t, found)
			for _, w := range s.WRs {
				if w.Status == "SUCCESS" && w.Queue == "sq" {
					require.NotContains(t, said(s.ExplainWR(w.ID)), "asks for an answer")
				}
			}
		})
	}
}

// TestSilentRetry: so it is where the retry succeeds.
func TestSilentRetry(t *testing.T) {
	timeout, retries := uint8(4), uint8(7)
	s := broken(t, plug(t, "b answers lose=3"), func(j *transfer.Job) { j.Retries = transfer.Retries{Timeout: &timeout, RetryCnt: &retries} })
	require.NotContains(t, s.Failure, "RETRY_EXC")
	p := caused(s, story.AfterTimeout)
	text := said(s.ExplainPacket(p.ID))
	require.Regexp(t, `packet \d+: it asks for an answer, and none to it leaves host_b up to cycle \d+`, text)
	require.Equal(t, 1, strings.Count(text, "none to it leaves"))
}

// TestNeverLeft: the packet that a NAK misses and that has never left its host is named,
// with the cycle in which pkt_tx was asked for it, if it was.
func TestNeverLeft(t *testing.T) {
	short := func(j *transfer.Job) { j.Data, j.MsgSize = strings.NewReader(strings.Repeat("x", 64)), 2 } // a beat a frame
	for spec, asked := range map[string]bool{"a packets lose=6": false, "a frames lose=6": true} {
		t.Run(spec, func(t *testing.T) {
			s := broken(t, plug(t, spec), short)
			nak := caused(s, story.NAK)
			require.NotNil(t, nak)
			text := said(s.ExplainPacket(nak.ID))
			require.Contains(t, text, fmt.Sprintf("what the NAK misses, PSN %#x, has not left host_a before packet %d", nak.PSN, nak.Because))
			require.Equal(t, asked, strings.Contains(text, fmt.Sprintf("pkt_tx is asked for PSN %#x, which does not leave", nak.PSN)))
		})
	}
}

// TestLostDoorbell: a doorbell that qpc never gets is named.
func TestLostDoorbell(t *testing.T) {
	s := broken(t, func(h int, n *rtl.NIC) any {
		if h == 1 {
			return nil
		}
		return (&hang.Plug[port.QPDoorbell]{Lose: 3}).Between(&n.CSR.QPBell, &n.QPC.Bell, 4)
	})
	for _, text := range []string{said(s.ExplainRun(), nil), said(s.ExplainQP("host_a", 4))} {
		require.Contains(t, text, "a doorbell says that work requests up to index 1 of its sq are posted, and qpc does not have it up to the end of the run")
	}
	require.NotContains(t, said(s.ExplainRun(), nil), "the root")
}

// TestEndedEarly: what is under way when another work request fails is not called stuck.
func TestEndedEarly(t *testing.T) {
	s := broken(t, plug(t, "a packets lose=6"))
	text := said(s.ExplainRun(), nil)
	require.Contains(t, text, "has not ended: it was under way when the run ended: the last that happened to it, ")
	require.NotContains(t, text, "stuck")
}

// TestForgottenAnswers: that an answer is not kept does not make it one that never left.
func TestForgottenAnswers(t *testing.T) {
	for _, limit := range []int{0, 64} {
		c := lossy
		c.op, c.qps, c.count, c.limit, c.faults = abi.OpRead, 16, 16, limit, []string{"drop a read-response qp=2 times=4"}
		s := run(t, c)
		require.Equal(t, limit > 0, s.Forgotten.Packets > 0)
		require.NotNil(t, caused(s, story.AfterTimeout))
		for _, x := range s.Leads() {
			require.NotContains(t, x.Text, "none to it leaves", limit)
		}
	}
}
