package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/latency"
)

// way is the stages of one latency.
type way struct {
	Name      string  `json:"name"`
	Op        string  `json:"op"`
	T         uint64  `json:"t_cycles"`    // doorbell at the NIC to first bit on the wire, less PCIe reads
	Turn      uint64  `json:"turn_cycles"` // last bit of a request to first bit of its answer, less PCIe reads; 0: none
	X         uint64  `json:"x_cycles"`    // last bit to the payload's write leaving
	PayloadNs float64 `json:"payload_ns"`
	LatencyNs float64 `json:"latency_ns"`
	SendCQENs float64 `json:"send_cqe_ns"`
	Stages    []stage `json:"stages"`
	Return    []stage `json:"return"` // from the payload's write to the sender's CQE

	cycles, size int
}

// stage is one line of a way.
type stage struct {
	Stage  string  `json:"stage"`
	Block  string  `json:"block"`
	Cycles uint64  `json:"cycles"`
	Ns     float64 `json:"ns"`
	Since  uint64  `json:"since_doorbell"` // its end, cycles
}

// followed are the ways that the bench follows.
var followed = []struct {
	op   abi.WQEOp
	mode latency.Mode
}{
	{abi.OpSend, latency.Fetched}, {abi.OpSend, latency.Inline}, {abi.OpSend, latency.Pushed},
	{abi.OpWrite, latency.Pushed}, {abi.OpRead, latency.Pushed}, {abi.OpFetchAdd, latency.Pushed},
}

// follow measures the way of one message.
func follow(c tb.Config, op abi.WQEOp, m latency.Mode, size int) (way, error) {
	r, err := latency.Measure(c, op, m, size)
	if err != nil {
		return way{}, err
	}
	return way{
		Name: fmt.Sprintf("latency, %s", m), Op: op.String(), T: r.T, Turn: r.Turn, X: r.X,
		PayloadNs: ns(r.Payload), LatencyNs: ns(r.Latency), SendCQENs: ns(r.SendCQE),
		Stages: stages(r.Stages), Return: stages(r.Return), cycles: int(r.Latency), size: size,
	}, nil
}

func ns(cycles uint64) float64 { return float64(cycles) * nsPerCycle }

func stages(from []latency.Stage) []stage {
	var to []stage
	for _, s := range from {
		to = append(to, stage{s.Name, s.Block, s.Cycles, ns(s.Cycles), s.Since})
	}
	return to
}

// ends says where the latency of an operation ends.
var ends = map[string]string{
	"SEND": "the receiver's CQE in memory", "WRITE": "the payload in memory",
	"READ": "the requester's CQE in memory", "FETCH_ADD": "the requester's CQE in memory",
}

// printWays prints the stages of each way, then what they come to.
func printWays(out io.Writer, ways []way) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, y := range ways {
		fmt.Fprintf(w, "\n%s: one %s of %d bytes, doorbell to %s\n", y.Name, y.Op, y.size, ends[y.Op])
		fmt.Fprintln(w, "stage\tblock\tcycles\tns\tsince doorbell")
		for _, s := range y.Stages {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%d\n", s.Stage, s.Block, s.Cycles, s.Ns, s.Since)
		}
		fmt.Fprintf(w, "sum\t\t%d\t%.0f\t\n", y.cycles, y.LatencyNs)
		if len(y.Return) > 0 {
			fmt.Fprintln(w, "and back from the payload's write to the sender's CQE\t\t\t\t")
		}
		for _, s := range y.Return {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%d\n", s.Stage, s.Block, s.Cycles, s.Ns, s.Since)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nname\top\tpayload ns\tlatency ns\tsender's CQE ns\tT\tturn\tX\tNICs' cycles\t")
	for _, y := range ways {
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%.0f\t%d\t%d\t%d\t%d\t\n", y.Name, y.Op, y.PayloadNs, y.LatencyNs, y.SendCQENs, y.T, y.Turn, y.X, y.T+y.Turn+y.X)
	}
	return w.Flush()
}
