package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/transfer"
)

// report is what a run came to, and its JSON form.
type report struct {
	Verified      bool        `json:"verified"`
	Op            string      `json:"op"`        // as --op has it
	Transport     string      `json:"transport"` // as --transport has it
	Messages      int         `json:"messages"`  // received and verified, each once
	Sent          int         `json:"sent"`
	Received      int         `json:"received"`          // and verified, those that came again too
	Lost          int         `json:"lost"`              // of those sent
	Dropped       []count     `json:"dropped,omitempty"` // counters of drops that are not 0, if messages are lost: a packet may be in two
	Packets       int         `json:"packets"`
	Bytes         int64       `json:"bytes"`
	Cycles        uint64      `json:"cycles"`
	SimNs         float64     `json:"sim_ns"`
	GoodputGbps   float64     `json:"goodput_gbps"` // 0 for one message
	WireLimitGbps float64     `json:"wire_limit_gbps"`
	WallS         float64     `json:"wall_s"`
	CyclesPerS    float64     `json:"cycles_per_s"`
	Seed          uint64      `json:"seed"`
	Files         []string    `json:"files"`
	Counters      []count     `json:"counters,omitempty"` // with --stats
	Faults        []faultLine `json:"faults,omitempty"`   // with --fault

	nsPerMessage float64 // at the receiver, 0 for one message
}

func newReport(res transfer.Result, wall time.Duration, seed uint64, files []string) report {
	r := report{
		Verified: true, Messages: res.Messages, Sent: res.Messages + res.Lost, Received: res.Messages + res.Repeated, Lost: res.Lost, Packets: res.Packets, Bytes: res.Bytes, Cycles: res.Cycles,
		SimNs: float64(res.Cycles) * tb.PeriodPs / 1000, GoodputGbps: res.GoodputGbps, WireLimitGbps: res.WireLimitGbps,
		WallS: wall.Seconds(), CyclesPerS: float64(res.Cycles) / wall.Seconds(), Seed: seed, Files: files,
		nsPerMessage: res.CyclesPerMessage * tb.PeriodPs / 1000,
	}
	for c := abi.RxDropOverflow; c <= abi.OutOfBuffer && res.Lost > 0; c++ {
		if a, b := res.Counters[0][c], res.Counters[1][c]; a != 0 || b != 0 {
			r.Dropped = append(r.Dropped, count{c.String(), a, b})
		}
	}
	return r
}

func (p *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// table is for people. A rate needs two messages.
func (p *report) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if p.Sent == p.Received && p.Lost == 0 {
		fmt.Fprintf(w, "messages\t%d, all verified at the far side\n", p.Messages)
	} else {
		fmt.Fprintf(w, "sent\t%d messages\n", p.Sent)
		fmt.Fprintf(w, "received\t%d, all verified at the far side; %d of them again\n", p.Received, p.Received-p.Messages)
		fmt.Fprintf(w, "lost\t%d\n", p.Lost)
	}
	if len(p.Dropped) > 0 {
		var why []string
		for _, c := range p.Dropped {
			why = append(why, fmt.Sprintf("%s %d", c.Name, c.A+c.B))
		}
		fmt.Fprintf(w, "counted\t%s\n", strings.Join(why, ", "))
	}
	fmt.Fprintf(w, "packets\t%d\n", p.Packets)
	fmt.Fprintf(w, "bytes\t%d\n", p.Bytes)
	fmt.Fprintf(w, "cycles\t%d\n", p.Cycles)
	fmt.Fprintf(w, "simulated time\t%.3f us\n", p.SimNs/1000)
	if p.WireLimitGbps > 0 && p.nsPerMessage > 0 {
		fmt.Fprintf(w, "goodput\t%.2f Gb/s of %.2f that the wire allows\n", p.GoodputGbps, p.WireLimitGbps)
	}
	if p.nsPerMessage > 0 {
		fmt.Fprintf(w, "time a message\t%.1f ns\n", p.nsPerMessage)
	}
	fmt.Fprintf(w, "wall time\t%.2f s, %.0f cycles/s\n", p.WallS, p.CyclesPerS)
	for _, f := range p.Files {
		fmt.Fprintf(w, "wrote\t%s\n", f)
	}
	if len(p.Faults) > 0 {
		fmt.Fprint(w, "\nfault\thost\tmatched\tstruck\n")
	}
	for _, f := range p.Faults {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\n", f.Fault, f.Host, f.Matched, f.Struck)
	}
	if len(p.Counters) > 0 {
		fmt.Fprint(w, "\ncounter\thost a\thost b\n")
	}
	for _, c := range p.Counters {
		fmt.Fprintf(w, "%s\t%d\t%d\n", c.Name, c.A, c.B)
	}
	return w.Flush()
}

// count is a counter of both NICs at the end of a run.
type count struct {
	Name string `json:"name"`
	A    uint64 `json:"host_a"`
	B    uint64 `json:"host_b"`
}

// counters are those that are not 0 at one NIC at least, or all, in their order.
func counters(res *transfer.Result, all bool) []count {
	var cs []count
	for _, c := range abi.Counters() {
		if a, b := res.Counters[0][c], res.Counters[1][c]; all || a != 0 || b != 0 {
			cs = append(cs, count{c.String(), a, b})
		}
	}
	return cs
}
