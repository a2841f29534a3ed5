package main

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"rnic/tb/loss"
)

// write writes the tables to a folder.
func (r *lossResults) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	goodput := [][]string{{
		"op", "mtu", "qps", "loss_percent", "ways", "goodput_gbps", "limit_gbps", "formula_gbps", "w_packets", "loop_by_nak_packets",
		"flight_packets", "lost_frames", "resent_bytes_per_loss", "naks", "timeouts", "timeout_us",
	}}
	for _, x := range r.Goodput {
		goodput = append(goodput, []string{
			x.Op, strconv.Itoa(x.MTU), strconv.Itoa(x.QPs), number(x.LossPercent), ways(x.BothWays), round(x.GoodputGbps), round(x.LimitGbps),
			round(x.FormulaGbps), round(x.W), round(x.LoopNAK), round(x.Flight), fmt.Sprint(x.Lost), round(x.BytesPerLoss), fmt.Sprint(x.Naks),
			fmt.Sprint(x.Timeouts), number(x.TimeoutUs),
		})
	}
	completion := [][]string{{"qps", "loss_percent", "mean_us", "slowest_us", "without_loss_us"}}
	for _, x := range r.Completion {
		completion = append(completion, []string{strconv.Itoa(x.QPs), number(x.LossPercent), round(x.MeanUs), round(x.MostUs), round(x.LeastUs)})
	}
	repair := [][]string{{"op", "bytes", "messages", "qps", "lost_packet", "gap_to_nak", "wire_busy", "nak_to_packet", "wire_busy", "loop", "in_flight"}}
	for _, x := range r.Repairs {
		line := []string{x.Op}
		for _, n := range []uint64{
			uint64(x.Size), uint64(x.Messages), uint64(x.QPs), uint64(x.Nth), x.Nak, x.NakBusy, x.React, x.Busy, x.Loop, uint64(x.InFlight),
		} {
			line = append(line, strconv.FormatUint(n, 10))
		}
		repair = append(repair, line)
	}
	timers := [][]string{{"timer", "code", "time_unit", "least", "most", "decision", "again"}}
	for _, x := range r.Timers {
		timers = append(timers, []string{
			x.Kind, fmt.Sprint(x.Code), fmt.Sprint(x.TimeUnit), fmt.Sprint(x.Least), fmt.Sprint(x.Most), fmt.Sprint(x.Decision), fmt.Sprint(x.Again),
		})
	}
	return errors.Join(
		writeCSV(dir, "loss-goodput.csv", goodput), writeCSV(dir, "loss-completion.csv", completion),
		writeCSV(dir, "loss-repair.csv", repair), writeCSV(dir, "loss-timers.csv", timers),
	)
}

// draw draws all pictures.
func (r *lossResults) draw(dir string) error {
	return errors.Join(
		r.goodput(false).save(dir, "loss-goodput"), r.goodput(true).save(dir, "loss-goodput-both-ways"),
		r.completion().save(dir, "loss-completion"), timeline(&r.line).save(dir, "loss-timeline"),
	)
}

// logLoss has shares of lost packets on a logarithmic axis; none is at its left end.
func (p *picture) logLoss() {
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks{
		{Value: noLoss, Label: "0"}, {Value: 0.01, Label: "0.01"}, {Value: 0.1, Label: "0.1"}, {Value: 0.5, Label: "0.5"},
		{Value: 1, Label: "1"}, {Value: 2, Label: "2"}, {Value: 5, Label: "5"},
	}
}

// noLoss is where on the axis nothing is lost.
const noLoss = 0.003

func (r *lossResults) goodput(both bool) *picture {
	title := "WRITE: goodput when packets are lost"
	if both {
		title += " both ways"
	}
	p := newPicture(title+", with what go-back-N leaves (dashed)", "lost, %", "Gb/s")
	p.logLoss()
	p.Y.Min, p.Y.Max = 0, 100
	p.Legend.Top, p.Legend.Left = false, true
	i := 0
	for _, mtu := range []int{1024, 4096} {
		for _, qps := range []int{1, 16} {
			var got, formula plotter.XYs
			for _, x := range r.Goodput {
				if x.Op == "WRITE" && x.MTU == mtu && x.QPs == qps && x.BothWays == both {
					at := max(noLoss, x.LossPercent)
					got, formula = append(got, plotter.XY{X: at, Y: x.GoodputGbps}), append(formula, plotter.XY{X: at, Y: x.FormulaGbps})
				}
			}
			p.line(fmt.Sprintf("MTU %d, %d QPs", mtu, qps), i, false, got)
			p.line("", i, true, formula)
			i++
		}
	}
	return p
}

func (r *lossResults) completion() *picture {
	p := newPicture("WRITEs of 2 MiB in all, MTU 1024: time until all is complete, without loss dashed", "lost, %", "us")
	p.logLoss()
	p.Y.Min = 0
	i := 0
	for _, qps := range []int{1, 16} {
		var mean, most, least plotter.XYs
		for _, x := range r.Completion {
			if x.QPs == qps {
				at := max(noLoss, x.LossPercent)
				mean, most = append(mean, plotter.XY{X: at, Y: x.MeanUs}), append(most, plotter.XY{X: at, Y: x.MostUs})
				least = append(least, plotter.XY{X: at, Y: x.LeastUs})
			}
		}
		p.line(fmt.Sprintf("%d QPs, mean of %d", qps, completionSeeds), i, false, mean)
		p.line(fmt.Sprintf("%d QPs, slowest", qps), i+1, false, most)
		p.line("", i, true, least)
		i += 2
	}
	return p
}

// kindColours are those of frames in the time line.
var kindColours = map[loss.Kind]color.Color{
	loss.Sent: color.Gray{160}, loss.Lost: color.RGBA{220, 0, 0, 255}, loss.InVain: color.RGBA{230, 150, 60, 255},
	loss.NAK: color.RGBA{130, 0, 200, 255}, loss.Again: color.RGBA{0, 140, 60, 255}, loss.Answer: color.RGBA{90, 130, 220, 255},
}

// timeline has each frame around a loss as a line from one host to the other.
func timeline(r *loss.Repair) *picture {
	p := newPicture("One lost packet of 1,024 bytes: from loss to repair", "cycles since the lost packet began", "")
	p.Y.Min, p.Y.Max = -0.35, 1.15
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: "host a"}, {Value: 0, Label: "host b"}}
	p.Legend.Top, p.Legend.YOffs = false, vg.Points(4)
	begin := int64(0)
	for _, c := range r.Crossings {
		if c.Kind == loss.Lost {
			begin = int64(c.From)
		}
	}
	named := map[loss.Kind]bool{}
	for _, c := range r.Crossings {
		pts := plotter.XYs{{X: float64(int64(c.From) - begin), Y: 1}, {X: float64(int64(c.To) - begin), Y: 0}}
		switch {
		case c.Back:
			pts[0].Y, pts[1].Y = 0, 1
		case c.To == 0:
			pts[1] = plotter.XY{X: pts[0].X + 60, Y: 0.4}
		}
		l, err := plotter.NewLine(pts)
		if err != nil {
			panic(err) // a NaN
		}
		l.Color, l.Width = kindColours[c.Kind], vg.Points(1)
		if c.Kind == loss.Lost || c.Kind == loss.NAK {
			l.Width = vg.Points(2)
		}
		p.Add(l)
		p.lines++
		if !named[c.Kind] {
			named[c.Kind] = true
			p.Legend.Add(c.Kind.String(), l)
		}
	}
	p.mark(r, float64(r.Loop))
	return p
}

// mark draws the parts of the loop below the hosts.
func (p *picture) mark(r *loss.Repair, loop float64) {
	var labels plotter.XYLabels
	span := func(y, from, to float64, name string) {
		l, err := plotter.NewLine(plotter.XYs{{X: from, Y: y}, {X: to, Y: y}})
		if err != nil {
			panic(err) // a NaN
		}
		l.Width = vg.Points(2.5)
		p.Add(l)
		labels.XYs = append(labels.XYs, plotter.XY{X: from, Y: y - 0.07})
		labels.Labels = append(labels.Labels, name)
	}
	for _, s := range r.Stages {
		switch s.Name {
		case gapSeen:
			span(-0.08, float64(s.Since), float64(s.Since+r.Nak), fmt.Sprintf("NAK: %d", r.Nak))
		case nakArrives:
			span(-0.08, float64(s.Since), float64(s.Since+r.Reaction), fmt.Sprintf("NAK to the packet again: %d", r.Reaction))
		}
	}
	span(-0.22, 0, loop, fmt.Sprintf("loop: %d cycles", r.Loop))
	l, err := plotter.NewLabels(labels)
	if err != nil {
		panic(err) // as many labels as points
	}
	for i := range l.TextStyle {
		l.TextStyle[i].Font.Size = vg.Points(9)
		l.TextStyle[i].XAlign = draw.XLeft
	}
	p.Add(l)
	p.X.Max = math.Max(p.X.Max, loop+80)
}

// Stages at whose ends the parts begin.
const (
	gapSeen    = "the next arrives"
	nakArrives = "link"
)
