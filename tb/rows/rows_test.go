package rows_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl"
	"rnic/rtl/dma"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/rows"
	"rnic/tb/transfer"
	"rnic/waves"
	"rnic/waves/vcdnorm"
)

// seen is a run with rows.
type seen struct {
	f      *vcdnorm.File
	frames [2][]frame
	events []rows.Event
	digest uint64
	result transfer.Result
}

// frame is a frame as a tap sees it.
type frame struct {
	ps   int64
	tx   bool
	name string
	p    roce.Packet
	n    int
}

// observe runs a transfer of messages of 3,000 bytes over two QPs.
func observe(t *testing.T, watch bool, c tb.Config, op abi.WQEOp, messages, depth int, faults ...string) *seen {
	t.Helper()
	specs, err := fault.ParseAll(faults...)
	require.NoError(t, err)
	c.Digest = true
	c.NIC = rtl.Params{Dma: dma.Params{Timeout: 50_000}}
	b, err := tb.New(c)
	require.NoError(t, err)
	defer b.Close()
	s := &seen{}
	var buf bytes.Buffer
	var v *waves.VCD
	if watch {
		var hosts []rows.Host
		for _, h := range b.Hosts {
			hosts = append(hosts, rows.Host{K: h.K, NIC: h.NIC, Machine: h.Machine})
		}
		var per [2][]rows.Event
		r, err := rows.New(rows.Options{QPs: 2, Event: func(e rows.Event) { per[e.Host[5]-'a'] = append(per[e.Host[5]-'a'], e) }}, hosts...)
		require.NoError(t, err)
		for n, h := range b.Hosts {
			h.OnFault(func(f tb.Frame, _ uint64, v tb.Verdict) { r.Struck(n, f.TimePs, v.String(), v.Drop, f.Data) })
			h.Tap(func(f tb.Frame) {
				name := "no packet"
				p, err := roce.ParseFrame(f.Data)
				if err == nil {
					name = fmt.Sprintf("%v qp=%d psn=%#x", p.BTH.Opcode, p.BTH.DestQP, uint32(p.BTH.PSN))
				}
				s.frames[n] = append(s.frames[n], frame{f.TimePs, f.Tx, name, p, len(f.Data)})
			})
		}
		v, err = waves.New(&buf, waves.Options{Rows: r.List, Scopes: []string{"wire", "qp_*", "driver", "nic.*.drop", "nic.*.*.drop", "nic.*.*.*.packet", "nic.*.*.*.text"}}, b.Hosts[0].K, b.Hosts[1].K)
		require.NoError(t, err)
		defer func() { s.events = append(per[0], per[1]...) }()
	}
	data := make([]byte, 3000*messages)
	j := transfer.Job{Data: bytes.NewReader(data), Op: op, MTU: roce.MTU1024, QPs: 2, MsgSize: 3000, Depth: depth}
	if op >= abi.OpCompareSwap {
		j.Data, j.MsgSize = bytes.NewReader(data[:8*messages]), 8
	}
	if len(faults) > 0 {
		j.Faults = fault.New(1, specs...)
	}
	s.result, err = j.Run(b)
	require.NoError(t, err)
	s.digest = b.World.Digest()
	if watch {
		require.NoError(t, v.Close())
		s.f, err = vcdnorm.Check(bytes.NewReader(buf.Bytes()))
		require.NoError(t, err)
	}
	return s
}

// at is what a row shows at a time.
func (s *seen) at(t testing.TB, row string, ps int64) string {
	t.Helper()
	x := s.f.Find(row)
	require.NotNil(t, x, row)
	i, ok := slices.BinarySearchFunc(x.Changes, ps, func(c vcdnorm.Change, ps int64) int { return int(c.Time - ps) })
	if !ok {
		i--
	}
	return x.Changes[i].Value
}

// texts are what a row shows, one after the other, without what is empty.
func (s *seen) texts(t testing.TB, row string) (l []string) {
	t.Helper()
	x := s.f.Find(row)
	require.NotNil(t, x, row)
	for _, c := range x.Changes {
		if c.Value != "" {
			l = append(l, c.Value)
		}
	}
	return l
}

// Every frame on the wire has its name from its first beat to its last, of any
// operation, with losses, in fast and strict runs; and the run is the same without.
func TestWire(t *testing.T) {
	for _, c := range []struct {
		op     abi.WQEOp
		strict bool
		faults []string
	}{
		{abi.OpSend, false, nil},
		{abi.OpWriteImm, true, []string{"drop b nth=5"}},
		{abi.OpRead, false, []string{"drop a nth=4", "corrupt b byte=60 nth=3"}},
		{abi.OpFetchAdd, true, []string{"drop a nth=2"}},
	} {
		t.Run(fmt.Sprint(c.op, c.strict, c.faults), func(t *testing.T) {
			cfg := tb.Config{Seed: 1, Strict: c.strict}
			s := observe(t, true, cfg, c.op, 8, 4, c.faults...)
			require.Equal(t, observe(t, false, cfg, c.op, 8, 4, c.faults...).digest, s.digest)
			for n, host := range []string{"host_a", "host_b"} {
				require.Greater(t, len(s.frames[n]), 10)
				for _, f := range s.frames[n] {
					if f.name == "no packet" {
						continue
					}
					row := host + ".wire.rx"
					if f.tx {
						row = host + ".wire.tx"
					}
					at := f.ps
					if !f.tx {
						at += tb.PeriodPs // from the cable to the head of the MAC's stream
					}
					got := s.at(t, row, at)
					require.True(t, strings.HasPrefix(got, f.name), "%s at %d: %q, not %q", row, at, got, f.name)
					require.Equal(t, len(f.p.Payload) > 0, strings.Contains(got, fmt.Sprintf(" %dB", len(f.p.Payload))), got)
					require.Equal(t, f.p.BTH.AckReq, strings.HasSuffix(got, " ackreq"), got)
					if f.p.BTH.Opcode.HasAETH() {
						require.Contains(t, got, fmt.Sprintf(" %v msn=%d", f.p.AETH.Syndrome, f.p.AETH.MSN))
					}
					// It stands for as long as the wire has its beats.
					beats := int64((f.n+4+63)/64-1) * tb.PeriodPs
					require.Equal(t, got, s.at(t, row, at-beats), "%s from its first beat", got)
					require.NotEqual(t, got, s.at(t, row, at+tb.PeriodPs), "%s after its last beat", got)
				}
			}
		})
	}
}

// Each work request has a row from its doorbell to its CQE, with its PSNs; each
// packet is described, judged and placed under its name.
func TestWorkRequests(t *testing.T) {
	s := observe(t, true, tb.Config{Seed: 3}, abi.OpSend, 48, 16)
	for _, qp := range []string{"host_a.qp_2", "host_a.qp_3"} {
		require.Equal(t, []string{"RESET", "INIT", "RTR", "RTS"}, s.texts(t, qp+".state")[:4])
		began := map[string]bool{}
		for i := range 8 {
			for _, x := range s.texts(t, fmt.Sprintf("%s.send_%d", qp, i)) {
				require.Regexp(t, `^SEND #\d+ 3000B( psn=0x[0-9a-f]+\.\.0x[0-9a-f]+)?$`, x)
				began[strings.SplitN(x, " psn", 2)[0]] = true
			}
			row := s.f.Find(fmt.Sprintf("%s.send_%d", qp, i))
			require.Empty(t, row.Changes[len(row.Changes)-1].Value, "all have ended")
		}
		more := s.texts(t, qp+".send_8")
		require.NotEmpty(t, more, "16 are posted at once")
		require.Contains(t, more, "8 more")
		require.GreaterOrEqual(t, len(began), 8)
		require.Empty(t, s.texts(t, qp+".error"))
	}
	took := 0
	for _, qp := range []string{"host_b.qp_2", "host_b.qp_3"} {
		for i := range 3 {
			for _, x := range s.texts(t, fmt.Sprintf("%s.recv_%d", qp, i)) {
				if strings.HasPrefix(x, "RECV #") {
					took++
					require.Contains(t, x, "RC_SEND_FIRST")
				}
			}
		}
	}
	require.Equal(t, 48, took)
	for row, want := range map[string]string{
		"host_a.nic.pkt_tx.ask.req.packet":      `RC_SEND_MIDDLE qp=2 psn=0x[0-9a-f]+ 1024B`,
		"host_b.nic.pkt_tx.ask.resp.packet":     `RC_ACK qp=2 psn=0x[0-9a-f]+ ACK_\d+ msn=\d+`,
		"host_b.nic.ack_gen.issue.pkt.packet":   `RC_SEND_MIDDLE qp=2 psn=0x[0-9a-f]+ 1024B`,
		"host_b.nic.ack_gen.judge.verdict.text": `PLACE to RECV: RC_SEND_MIDDLE qp=2 psn=0x[0-9a-f]+ 1024B`,
		"host_b.nic.scatter.front.place.packet": `PLACE to RECV RC_SEND_MIDDLE qp=2 psn=0x[0-9a-f]+ 1024B`,
		"host_a.driver.thread_0":                `coordinator: Modify qp=2 RTS`,
		"host_b.driver.thread_1":                `receiver_0: (.*; )?PostRecv qp=2`,
		"host_a.driver.thread_1":                `sender_0: (.*; )?PostSend qp=2.* SEND`,
		"host_a.nic.ack_gen.judge.verdict.text": `ACK: RC_ACK qp=2 psn=0x[0-9a-f]+ ACK_\d+ msn=\d+`,
	} {
		re := regexp.MustCompile("^" + want)
		require.True(t, slices.ContainsFunc(s.texts(t, row), re.MatchString), "%s: %q", row, s.texts(t, row))
	}
}

// What is lost, dropped or in error is said, and is an event.
func TestWhatGoesWrong(t *testing.T) {
	s := observe(t, true, tb.Config{Seed: 1}, abi.OpSend, 8, 4, "drop b nth=3", "corrupt b byte=60 nth=9", "drop a ack nth=4")
	kinds := map[rows.Kind]int{}
	for _, e := range s.events {
		kinds[e.Kind]++
	}
	require.Equal(t, uint64(kinds[rows.NAK]), s.result.Counters[1][abi.NaksSent]+s.result.Counters[0][abi.NaksSent])
	require.Equal(t, []string{"lost: "}, prefixes(s.texts(t, "host_b.wire.fault"), 6)[:1])
	require.Regexp(t, `^rx_drop_bad_icrc: RC_SEND_\w+ qp=\d psn=0x[0-9a-f]+ \d+B`, s.texts(t, "host_b.nic.pkt_rx.drop")[0])
	dropped := uint64(0)
	for c := abi.RxDropOverflow; c <= abi.RxDropOther; c++ {
		dropped += s.result.Counters[0][c] + s.result.Counters[1][c]
	}
	require.Equal(t, uint64(kinds[rows.Drop]), dropped+2+uint64(kinds[rows.NAK]), "what a NAK is sent for is in no counter of drops")
	require.NotZero(t, kinds[rows.Retry])
	retried := false
	for i := range 8 {
		for _, qp := range []string{"qp_2", "qp_3"} {
			for _, x := range s.texts(t, fmt.Sprintf("host_a.%s.send_%d", qp, i)) {
				retried = retried || strings.HasSuffix(x, " retry 1")
			}
		}
	}
	require.True(t, retried)
}

func prefixes(l []string, n int) []string {
	out := make([]string, len(l))
	for i, s := range l {
		out[i] = s[:min(n, len(s))]
	}
	return out
}

// Whatever bytes a frame has, it is named, and only what is too short is not.
func FuzzFrame(f *testing.F) {
	p := roce.Packet{BTH: roce.BTH{Opcode: roce.RCAck, DestQP: 7, PSN: 0x12}, AETH: roce.AETH{Syndrome: 31, MSN: 5}}
	p.SetPayload(make([]byte, 100))
	f.Add(p.Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		text, enough := rows.Frame(b)
		require.Equal(t, enough, text != "")
		if q, err := roce.ParseFrame(b); err == nil {
			require.True(t, strings.HasPrefix(text, fmt.Sprintf("%v qp=%d psn=%#x", q.BTH.Opcode, q.BTH.DestQP, uint32(q.BTH.PSN))), text)
		}
	})
}

// BenchmarkRows is the cost of a run with waves, with and without rows.
func BenchmarkRows(b *testing.B) {
	for _, with := range []bool{false, true} {
		b.Run(fmt.Sprint(with), func(b *testing.B) {
			for b.Loop() {
				x, err := tb.New(tb.Config{Seed: 1})
				require.NoError(b, err)
				o := waves.Options{}
				if with {
					var hosts []rows.Host
					for _, h := range x.Hosts {
						hosts = append(hosts, rows.Host{K: h.K, NIC: h.NIC, Machine: h.Machine})
					}
					r, err := rows.New(rows.Options{QPs: 4}, hosts...)
					require.NoError(b, err)
					o.Rows = r.List
				}
				v, err := waves.New(io.Discard, o, x.Hosts[0].K, x.Hosts[1].K)
				require.NoError(b, err)
				j := transfer.Job{Data: bytes.NewReader(make([]byte, 1<<19)), Op: abi.OpSend, MTU: roce.MTU1024, QPs: 4, MsgSize: 4096, Depth: 16}
				_, err = j.Run(x)
				require.NoError(b, err)
				require.NoError(b, v.Close())
				x.Close()
			}
		})
	}
}
