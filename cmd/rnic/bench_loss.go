package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"rnic/tb/loss"
)

// lossResults are what bench --loss prints.
type lossResults struct {
	Goodput    []lossRow       `json:"rows"`
	Completion []completionRow `json:"completion"`
	Repairs    []repairRow     `json:"repairs"`
	Timers     []timerRow      `json:"timers"`

	line loss.Repair // of one repair, with its frames
}

// lossRow is goodput under loss.
type lossRow struct {
	Op           string  `json:"op"`
	MTU          int     `json:"mtu"`
	QPs          int     `json:"qps"`
	LossPercent  float64 `json:"loss_percent"`
	BothWays     bool    `json:"both_ways"`
	GoodputGbps  float64 `json:"goodput_gbps"`
	LimitGbps    float64 `json:"limit_gbps"`
	FormulaGbps  float64 `json:"formula_gbps"`
	W            float64 `json:"w_packets"`    // of the formula
	LoopNAK      float64 `json:"loop_packets"` // repaired by a NAK, of one QP
	Flight       float64 `json:"flight_packets"`
	Lost         uint64  `json:"lost_frames"`
	BytesPerLoss float64 `json:"resent_bytes_per_loss"`
	Naks         uint64  `json:"naks"`
	Timeouts     uint64  `json:"timeouts"`
	TimeoutUs    float64 `json:"timeout_us"` // of the connection
}

// completionRow is how long a transfer of 2 MiB takes, of several seeds.
type completionRow struct {
	QPs         int     `json:"qps"`
	LossPercent float64 `json:"loss_percent"`
	MeanUs      float64 `json:"mean_us"`
	MostUs      float64 `json:"most_us"`
	LeastUs     float64 `json:"least_us"` // without loss
}

// repairRow is how one lost packet is repaired, cycles.
type repairRow struct {
	Op       string `json:"op"`
	Size     int    `json:"size"`
	Messages int    `json:"messages"`
	QPs      int    `json:"qps"`
	Nth      int    `json:"nth"`
	Nak      uint64 `json:"nak"`
	NakBusy  uint64 `json:"nak_wire_busy"`
	React    uint64 `json:"reaction"`
	Busy     uint64 `json:"reaction_wire_busy"`
	Loop     uint64 `json:"loop"`
	InFlight int    `json:"in_flight"`
}

// timerRow is when a timer ended, cycles.
type timerRow struct {
	Kind     string `json:"kind"`
	Code     uint8  `json:"code"`
	TimeUnit uint16 `json:"time_unit"`
	Least    uint64 `json:"least"`
	Most     uint64 `json:"most"` // 0: none
	Decision uint64 `json:"decision"`
	Again    uint64 `json:"again"`
}

// runLoss measures, writes and prints.
func (c *benchCmd) runLoss() error {
	cfg, err := c.config(c.Seed)
	if err != nil {
		return err
	}
	r, err := measureLoss(cfg, lossTotal)
	if err != nil {
		return err
	}
	if c.CSV != "" {
		if err := errors.Join(r.write(c.CSV), r.draw(c.CSV)); err != nil {
			return err
		}
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.print(os.Stdout)
}

func (r *lossResults) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "op\tMTU\tQPs\tloss %\tways\tGb/s\tlimit\t%\tformula %\tW\tby NAK\tlost\tresent B/loss\tNAKs\ttimeouts\tof us\t")
	for _, x := range r.Goodput {
		fmt.Fprintf(w, "%s\t%d\t%d\t%g\t%s\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t%.0f\t%d\t%d\t%.1f\t\n", x.Op, x.MTU, x.QPs, x.LossPercent, ways(x.BothWays),
			x.GoodputGbps, x.LimitGbps, 100*x.GoodputGbps/x.LimitGbps, 100*x.FormulaGbps/x.LimitGbps, x.W, x.LoopNAK, x.Lost, x.BytesPerLoss, x.Naks, x.Timeouts, x.TimeoutUs)
	}
	fmt.Fprintln(w, "\n2 MiB, QPs\tloss %\tmean us\tslowest\twithout loss\t")
	for _, x := range r.Completion {
		fmt.Fprintf(w, "%d\t%g\t%.1f\t%.1f\t%.1f\t\n", x.QPs, x.LossPercent, x.MeanUs, x.MostUs, x.LeastUs)
	}
	fmt.Fprintln(w, "\nbytes\tmessages\tQPs\tgap to NAK, cycles\twire busy\tNAK to packet\twire busy\tloop\tin flight\t")
	for _, x := range r.Repairs {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", x.Size, x.Messages, x.QPs, x.Nak, x.NakBusy, x.React, x.Busy, x.Loop, x.InFlight)
	}
	fmt.Fprintln(w, "\ntimer\tcode\ttime unit\tleast, cycles\tmost\tdecision\tagain\t")
	for _, x := range r.Timers {
		most := "-"
		if x.Most > 0 {
			most = fmt.Sprint(x.Most)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%d\t%d\t\n", x.Kind, x.Code, x.TimeUnit, x.Least, most, x.Decision, x.Again)
	}
	return w.Flush()
}

// ways says which frames are lost.
func ways(both bool) string {
	if both {
		return "both"
	}
	return "data"
}
