package story_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb/story"
)

// first is the first packet that is wanted.
func first(s *story.Story, is func(*story.Packet) bool) *story.Packet {
	for _, p := range s.Packets {
		if is(p) {
			return p
		}
	}
	return nil
}

func caused(s *story.Story, cause string) *story.Packet {
	return first(s, func(p *story.Packet) bool { return p.Cause == cause })
}

// TestCauses: who caused what, and what became of it.
func TestCauses(t *testing.T) {
	t.Run("RNR", func(t *testing.T) {
		s := play(t, "rnr_nak", "", nil, false)
		p, nak := caused(s, story.AfterRNR), caused(s, story.RNRNAK)
		require.NotNil(t, p)
		require.Equal(t, nak.ID, p.Because)
		require.Equal(t, "dropped: out_of_buffer", s.Packet(nak.Because).Fate)
		require.Equal(t, p.PSN, s.Packet(nak.Because).PSN)
		w := s.WR(p.WR)
		require.Equal(t, "SUCCESS", w.Status)
		require.Greater(t, w.Tries, 1)
		waits := ""
		for _, x := range w.Waits {
			waits += x.For + " "
		}
		require.Contains(t, waits, story.ForRNRTimer)
	})
	t.Run("timeout", func(t *testing.T) {
		s := play(t, "timeout_retry", "", nil, false)
		p := caused(s, story.AfterTimeout)
		require.NotNil(t, p)
		require.Equal(t, -1, p.Because)
		require.Equal(t, "TIMEOUT", p.Why[0].Value)
		timer := false
		for _, x := range s.WR(p.WR).Waits {
			timer = timer || x.For == story.ForRetryTimer && x.ToPs == p.Why[0].Ps
		}
		require.True(t, timer)
	})
	t.Run("lost answer", func(t *testing.T) {
		s := play(t, "lost_ack", "", nil, false)
		ack := first(s, func(p *story.Packet) bool { return p.Cause == story.Ack && p.Fate == story.DroppedOnWire })
		p := caused(s, story.AfterTimeout)
		e, err := s.ExplainPacket(p.ID)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(e.Statements), "what the timer waits for ends with "+ack.Label()+"; dropped on the wire")
		require.Contains(t, fmt.Sprint(e.Statements), "lost by a fault (drop a ack)")
		e, err = s.ExplainWR(p.WR)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(e.Statements), "it is answered by "+ack.Label()+": acknowledgement because of ")
	})
	t.Run("implied", func(t *testing.T) {
		s := play(t, "lost_read_response", "", nil, false)
		p := caused(s, story.AfterImpliedNAK)
		require.NotNil(t, p)
		require.Equal(t, "RC_READ_REQ", p.Opcode)
		require.True(t, strings.HasPrefix(s.Packet(p.Because).Opcode, "RC_READ_RESP"), s.Packet(p.Because).Opcode)
		d := caused(s, story.Duplicate)
		require.Equal(t, p.ID, d.Because)
		require.Equal(t, p.WR, d.WR)
	})
	t.Run("R_Key", func(t *testing.T) {
		s := play(t, "nak_remote_access", "", nil, false)
		nak := caused(s, story.NAK)
		require.Equal(t, "NAK_REMOTE_ACCESS", nak.Syndrome)
		asked := s.Packet(nak.Because)
		require.Equal(t, nak.PSN, asked.PSN)
		w := s.WR(asked.WR)
		require.Equal(t, "REM_ACCESS_ERR", w.Status)
		asks := slices.IndexFunc(asked.Why, func(e story.Event) bool { return strings.HasPrefix(e.Text, "scatter asks mpt for key 0x") })
		require.NotEqual(t, -1, asks)
		require.Equal(t, "mpt refuses key "+asked.Why[asks].Value+": BAD_ACCESS", asked.Why[asks+1].Text)
		require.Equal(t, "it could not be placed: qpc answers NAK_REMOTE_ACCESS", asked.Why[asks+2].Text)
		of, err := s.ExplainWR(w.ID)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(of.Statements), "it is answered by packet")
		for _, e := range []func() (*story.Explanation, error){
			func() (*story.Explanation, error) { return s.ExplainRun(), nil },
			func() (*story.Explanation, error) { return s.ExplainQP(w.Host, w.QPN) },
		} {
			e, err := e()
			require.NoError(t, err)
			said := 0
			for _, x := range e.Statements {
				if strings.Contains(x.Text, fmt.Sprintf("WR %d ", w.ID)) && strings.Contains(x.Text, " ends with ") {
					said++
					require.Equal(t, "REM_ACCESS_ERR", x.Value, x.Signal)
				}
			}
			require.Equal(t, 1, said)
		}
		e, err := s.ExplainQP("host_a", asked.QPN)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(e.Statements), "the send queue fails")
	})
	t.Run("ICRC", func(t *testing.T) {
		c := lossy
		c.faults = []string{"corrupt b send nth=3", "badfcs b nth=6", "duplicate b nth=8"}
		s := run(t, c)
		p := first(s, func(p *story.Packet) bool { return p.Fate == story.Corrupted })
		require.NotNil(t, p)
		require.Equal(t, "0x1", p.Why[len(p.Why)-1].Value)
		require.Contains(t, p.Why[len(p.Why)-1].Signal, "pkt_rx.stats.drop_icrc")
		require.Contains(t, p.Why[len(p.Why)-2].Text, "corrupt")
	})
}

// TestToldOnce: what happens to a packet, look-ups and verdicts, is told of it alone. The
// answer names it, and has what happens to itself.
func TestToldOnce(t *testing.T) {
	c := lossy
	c.faults = []string{"drop 4%", "duplicate 3%", "reorder 2%"}
	c.count = 24
	stories := []*story.Story{run(t, c)}
	for _, name := range []string{"nak_remote_access", "nak_invalid_request", "nak_remote_operational", "nak_sequence", "rnr_nak", "read", "fetch_add", "lost_read_response"} {
		stories = append(stories, play(t, name, "", nil, false))
	}
	answers := map[string]int{}
	for _, s := range stories {
		of := map[story.At]string{}
		for _, p := range s.Packets {
			for _, e := range p.Why {
				if strings.HasPrefix(p.Cause, "retry") && e.Ps <= p.Ps {
					continue // each of those that are sent again names why
				}
				require.Empty(t, of[e.At], "%s: %s", p.Label(), e.Text)
				of[e.At] = p.Label() + ": " + e.Text
			}
			if b := s.Packet(p.Because); b != nil && !strings.HasPrefix(p.Cause, "retry") {
				answers[p.Cause]++
				require.Equal(t, "described to pkt_tx", p.Why[0].Text, p.Label())
				judged := false
				for _, e := range b.Why {
					judged = judged || strings.HasPrefix(e.Text, "qpc judges it") && e.Ps < p.Ps
				}
				require.True(t, judged, "%s because of %s", p.Label(), b.Label())
			}
		}
	}
	looked := 0
	for _, l := range stories[1].Lines() { // QPs have it too
		if strings.Contains(l.Text, "mpt refuses key") {
			looked++
		}
	}
	require.Equal(t, 1, looked)
	for _, cause := range []string{story.Ack, story.NAK, story.RNRNAK, story.ReadResponse, story.AtomicResponse, story.Duplicate} {
		require.Positive(t, answers[cause], cause)
	}
}

// TestLossyStory: the numbers agree with each other and with the counters.
func TestLossyStory(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
		c := lossy
		c.op, c.count, c.faults = op, 40, []string{"drop 4%"}
		if op == abi.OpFetchAdd {
			c.size = 8
		}
		s := run(t, c)
		ids := map[int]bool{}
		sent := map[string]uint64{}
		retries := 0
		for _, p := range s.Packets {
			require.False(t, ids[p.ID])
			ids[p.ID] = true
			sent[p.Host]++
			require.NotEqual(t, story.Unknown, p.Cause, p.Label())
			if strings.HasPrefix(p.Cause, "retry after") && p.Cause != story.AfterTimeout || strings.Contains(p.Cause, "response") || strings.Contains(p.Cause, "acknowl") {
				b := s.Packet(p.Because)
				require.NotNil(t, b, p.Label())
				require.NotEqual(t, p.Host, b.Host)
				require.Less(t, b.ArrivePs, p.Ps)
				require.GreaterOrEqual(t, b.ArrivePs, b.EndPs)
			}
			if strings.HasPrefix(p.Cause, "retry") {
				retries++
			}
			require.Equal(t, p.Fate == story.DroppedOnWire, p.ArrivePs < 0)
		}
		require.Positive(t, retries)
		for h, n := range sent {
			require.Equal(t, s.Counters[h]["tx_packets"], n)
		}
		requests := 0
		for _, w := range s.WRs {
			if w.Queue != "sq" {
				continue
			}
			requests++
			require.Equal(t, "SUCCESS", w.Status)
			last := int64(-1)
			order := []string{}
			for _, x := range w.Stages {
				require.GreaterOrEqual(t, x.Ps, last)
				last = x.Ps
				order = append(order, x.Name)
			}
			require.Subset(t, order, []string{story.Posted, story.Doorbell, story.WQERead, story.Entered, story.FirstPacket, story.LastPacket, story.Acknowledged, story.CQEWritten})
			for _, id := range w.Packets {
				require.Equal(t, w.ID, s.Packet(id).WR)
			}
			for _, x := range w.Waits {
				require.Less(t, x.FromPs, x.ToPs)
			}
		}
		require.Equal(t, c.count, requests)
		for _, h := range s.Hosts {
			sum := int64(0)
			for _, x := range s.Spent[h] {
				require.GreaterOrEqual(t, x.Ps, int64(0))
				sum += x.Ps
			}
			require.Equal(t, s.EndPs, sum)
		}
	}
}

// TestBounded: a long run keeps the newest, and says so.
func TestBounded(t *testing.T) {
	c := lossy
	c.count, c.limit, c.faults = 200, 64, nil
	s := run(t, c)
	require.Len(t, s.Packets, 64)
	require.LessOrEqual(t, len(s.WRs), 64)
	require.Positive(t, s.Forgotten.Packets)
	sent := s.Counters["host_a"]["tx_packets"] + s.Counters["host_b"]["tx_packets"]
	require.Equal(t, sent, s.Forgotten.Packets+64)
	require.Equal(t, s.Counters["host_a"]["tx_bytes"]+s.Counters["host_b"]["tx_bytes"], s.Forgotten.Bytes+bytesOf(s))
	require.Equal(t, uint64(400), s.Forgotten.WRs+uint64(len(s.WRs)))
	all := c
	all.limit = 0
	f := run(t, all)
	require.Zero(t, f.Forgotten)
	require.Equal(t, f.Spent, s.Spent)
}

func bytesOf(s *story.Story) (n uint64) {
	for _, p := range s.Packets {
		n += uint64(p.Bytes)
	}
	return n
}

// TestCallbacks: each packet and each WR is told of once, with its ID.
func TestCallbacks(t *testing.T) {
	var packets, wrs [2][]int
	c := lossy
	c.watch = func(r *story.Recorder) {
		r.OnPacket(func(p *story.Packet) { packets[p.ID&1] = append(packets[p.ID&1], p.ID) })
		r.OnWR(func(w *story.WR) { wrs[w.ID&1] = append(wrs[w.ID&1], w.ID) })
	}
	s := run(t, c)
	n := [2]int{}
	for _, p := range s.Packets {
		require.Equal(t, p.ID, packets[p.ID&1][n[p.ID&1]])
		n[p.ID&1]++
	}
	require.Equal(t, [2]int{len(packets[0]), len(packets[1])}, n)
	for _, l := range wrs {
		slices.Sort(l)
	}
	for _, w := range s.WRs {
		i, found := slices.BinarySearch(wrs[w.ID&1], w.ID)
		require.True(t, found)
		wrs[w.ID&1] = slices.Delete(wrs[w.ID&1], i, i+1)
	}
	require.Empty(t, wrs[0])
	require.Empty(t, wrs[1])
}

// TestExplain: every statement of an explanation is one of the story.
func TestExplain(t *testing.T) {
	s := run(t, lossy)
	known := map[story.At]bool{}
	for _, a := range statements(s) {
		known[a] = true
	}
	check := func(e *story.Explanation) {
		require.NotEmpty(t, e.Of)
		require.NotEmpty(t, e.Statements)
		for _, x := range e.Statements {
			require.True(t, x.Signal == "" || known[x.At], "%+v", x)
		}
	}
	check(s.ExplainRun())
	for _, w := range s.WRs {
		e, err := s.ExplainWR(w.ID)
		require.NoError(t, err)
		check(e)
		for _, x := range w.Waits {
			require.LessOrEqual(t, x.FromPs, x.Ps, "%s %+v", w.Label(), x)
			require.LessOrEqual(t, x.Ps, x.ToPs, "%s %+v", w.Label(), x)
		}
	}
	for _, q := range s.QPs {
		e, err := s.ExplainQP(q.Host, q.QPN)
		require.NoError(t, err)
		check(e)
	}
	for _, p := range s.Packets {
		e, err := s.ExplainPacket(p.ID)
		require.NoError(t, err)
		check(e)
	}
	retry := caused(s, story.AfterNAK)
	e, err := s.ExplainPacket(retry.ID)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(e.Statements), "what the NAK misses is packet 8 ")
	require.Contains(t, fmt.Sprint(e.Statements), "drop b nth=5")
	for _, err := range []error{second(s.ExplainWR(1000)), second(s.ExplainPacket(-1)), second(s.ExplainQP("host_c", 2))} {
		require.Error(t, err)
	}
}

func second[T any](_ T, err error) error { return err }
