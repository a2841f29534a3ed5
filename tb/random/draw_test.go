package random_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/random"
)

// tally counts how often what is named was so.
type tally map[string]int

func (t tally) note(name string, ok bool) {
	if ok {
		t[name]++
	} else {
		t[name] += 0
	}
}

// TestDrawCovers: the seeds of TestSeeds have among them all that random traffic is
// meant to try, each more than once.
func TestDrawCovers(t *testing.T) {
	got := tally{}
	note := got.note
	for seed := uint64(1); seed <= 60; seed++ {
		s := random.Draw(seed, random.Options{})
		note("throttled uplink", s.Bench.Host.Up.Seed != 0)
		note("throttled downlink", s.Bench.Host.Down.Seed != 0)
		note("mixed completions", s.Bench.Host.Shuffle)
		note("no budget", s.Budget >= 1<<30)
		note("least tags", s.Bench.NIC.Dma.Tags == 5)
		note("one line for WQEs", s.Bench.NIC.Sched.Lines == 1)
		note("one entry outstanding", s.Bench.NIC.Sched.Entries == 1)
		note("one message a QP", s.Bench.NIC.QPC.Messages == 1)
		note("small receive buffer", s.Bench.NIC.Rx.LogBeats == 8)
		note("one QP", len(s.Phases[0].Pairs) == 1)
		note("many QPs", len(s.Phases[0].Pairs) > 10)
		note("pollers that spin", s.Style.Spin)
		note("closed", s.Close)
		note("payload that can't be read", s.Unreadable != 0)
		note("admin commands beside the traffic", s.Style.Churn > 0)
		for _, p := range s.Phases {
			phase(note, &p)
		}
	}
	for name, n := range got {
		require.Greater(t, n, 1, name)
	}
}

func phase(note func(string, bool), p *random.Phase) {
	for _, c := range p.Cuts[1] {
		note("cut by RESET", c.Way == random.ToReset)
		note("cut by ERR", c.Way == random.ToErr)
		note("cut by destroying", c.Way == random.ToDestroy)
	}
	for i, f := range p.Fates {
		note("reset", f == random.Reset)
		note("kept", f == random.Keep)
		note("IPv6", p.Pairs[i].IPv6)
		for m := roce.MTU256; m <= roce.MTU4096; m++ {
			note("MTU "+m.String(), p.Pairs[i].MTU == m)
		}
		for h, e := range p.Pairs[i].Ends {
			note("CQ of both queues", e.SendCQ == e.RecvCQ)
			note("SIG_ALL", e.SigAll)
			note("receives for nothing", len(p.Flows[h][i].Extra) > 0)
			psn := int(e.PSN)
			for _, m := range p.Flows[h][i].Messages {
				message(note, &m, &p.Pairs[i])
				psn += int(p.Pairs[i].MTU.Packets(uint32(len(m.Data))))
			}
			note("PSN wraps", psn >= 1<<24)
		}
	}
	for _, arenas := range p.Arenas {
		note("several regions", len(arenas) > 2)
		for _, a := range arenas {
			note("region at an odd address", (a.InPage+a.From)%2 == 1)
			note("contiguous memory", a.Contiguous)
			note("region that only sends", a.ReadOnly && len(a.Spans) > 0)
		}
	}
}

func message(note func(string, bool), m *random.Message, p *random.Pair) {
	n, unit := len(m.Data), p.MTU.Bytes()
	note("NOP", m.Op == abi.OpNop)
	operation(note, m, p)
	if m.Op == abi.OpNop {
		return
	}
	note("bad key of a send", m.Fault == random.SendKey)
	note("short receive", m.Fault == random.RecvShort)
	note("bad key of a receive", m.Fault == random.RecvKey)
	note("SEND_IMM", m.Op == abi.OpSendImm)
	note("solicited", m.Solicited)
	note("unsignalled", !m.Completes)
	note("inline", m.Inline)
	note("empty, no SGE", n == 0 && len(m.Src) == 0 && len(m.Dst) == 0)
	note("one byte less than packets", n > unit && n%unit == unit-1)
	note("whole packets", n > 0 && n%unit == 0)
	note("one byte more than packets", n > unit && n%unit == 1)
	note("long", n > 30_000)
	note("16 SGEs sent", len(m.Src) == 16)
	note("16 SGEs received", len(m.Dst) == 16)
	for _, s := range append(append([]random.Span{}, m.Src...), m.Dst...) {
		note("empty SGE", s.Len == 0 && n > 0)
		note("empty SGE of no key", s.Garbage)
	}
}
