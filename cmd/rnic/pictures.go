package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"rnic/abi"
	"rnic/tb/whole"
)

// draw draws each picture that has points.
func (r *results) draw(dir string) error {
	for _, op := range []string{"WRITE", "READ"} {
		if err := r.goodputBySize(op).save(dir, "goodput-by-size-"+lower[op]); err != nil {
			return err
		}
	}
	for _, op := range []string{"SEND", "WRITE", "READ"} {
		if err := r.latencyBySize(op).save(dir, "latency-by-size-"+lower[op]); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		picture *picture
		name    string
	}{{r.rateByQPs(), "rate-by-qps"}, {r.distribution(), "latency-distribution"}, {r.breakdown(), "stages"},
		{r.latencyByLoad(), "latency-by-load"}, {r.pcieBytes(), "pcie-bytes-by-size"}, {r.pcieReads(), "pcie-reads-by-size"}} {
		if err := p.picture.save(dir, p.name); err != nil {
			return err
		}
	}
	return nil
}

var lower = map[string]string{"SEND": "send", "WRITE": "write", "READ": "read"}

// picture is a plot, and how much is in it.
type picture struct {
	*plot.Plot
	lines int
}

func newPicture(title, x, y string) *picture {
	p := &picture{Plot: plot.New()}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	p.Add(plotter.NewGrid())
	return p
}

// logX has sizes and numbers of QPs on an axis of powers of two.
func (p *picture) logX(least, most float64) {
	p.X.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	for v := least; v <= most; v *= 4 {
		label := number(v)
		switch {
		case v >= 1<<20:
			label = number(v/(1<<20)) + " Mi"
		case v >= 1<<10:
			label = number(v/(1<<10)) + " Ki"
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
	p.X.Tick.Marker = ticks
}

// ticks125 are those of a logarithmic axis from 1 to 1,000.
var ticks125 = func() (t plot.ConstantTicks) {
	for _, v := range []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		t = append(t, plot.Tick{Value: v, Label: number(v)})
	}
	return t
}()

// line adds the points in the colour of that number; a ceiling is dashed and has no
// name of its own.
func (p *picture) line(name string, colour int, ceiling bool, pts plotter.XYs) {
	if len(pts) < 2 {
		return
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		panic(err) // a NaN
	}
	l.Color, l.Width = plotutil.SoftColors[colour%len(plotutil.SoftColors)], vg.Points(1.5)
	if ceiling {
		l.Width, l.Dashes = vg.Points(0.8), []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(l)
	p.lines++
	if name != "" {
		p.Legend.Add(name, l)
	}
}

// save writes the picture as SVG and PNG, if there is something in it.
func (p *picture) save(dir, name string) error {
	for _, ext := range []string{".svg", ".png"} {
		if p.lines == 0 {
			return nil
		}
		w, err := p.WriterTo(9*vg.Inch, 5*vg.Inch, ext[1:])
		if err != nil {
			return err
		}
		if err := whole.Write(filepath.Join(dir, name+ext), func(out io.Writer) error { _, err := w.WriteTo(out); return err }); err != nil {
			return err
		}
	}
	return nil
}

func (r *results) goodputBySize(op string) *picture {
	p := newPicture(op+": goodput by size, each MTU with the limit of the wire (dashed)", "bytes of a message", "Gb/s")
	p.logX(2, 1<<20)
	p.Y.Min, p.Y.Max = 0, 100
	for i, mtu := range mtus {
		var got, limit plotter.XYs
		for _, x := range r.Rows {
			if x.Name == "size" && x.Op == op && x.MTU == mtu {
				got = append(got, plotter.XY{X: float64(x.Size), Y: x.GoodputGbps})
				limit = append(limit, plotter.XY{X: float64(x.Size), Y: x.WireLimitGbps})
			}
		}
		p.line(fmt.Sprintf("MTU %d", mtu), i, false, got)
		p.line("", i, true, limit)
	}
	return p
}

func (r *results) rateByQPs() *picture {
	p := newPicture("Messages of 64 bytes, atomics of 8, with the limit of the wire (dashed)", "QPs", "million messages a second")
	p.logX(1, 256)
	p.Y.Min = 0
	for i, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
		var got, limit plotter.XYs
		for _, x := range r.Rows {
			if x.Name == "message rate" && x.Op == op.String() {
				got = append(got, plotter.XY{X: float64(x.QPs), Y: x.rate()})
				limit = append(limit, plotter.XY{X: float64(x.QPs), Y: x.WireLimitGbps * 1000 / 8 / float64(x.Size)})
			}
		}
		slices.SortFunc(got, byX)
		slices.SortFunc(limit, byX)
		p.line(op.String(), i, false, got)
		p.line("", i, true, limit)
	}
	return p
}

func byX(a, b plotter.XY) int { return int(math.Copysign(1, a.X-b.X)) }

func (r *results) latencyBySize(op string) *picture {
	p := newPicture(op+": latency by size, PCIe as of a Xeon E5, MTU 1024, with the least that wire and PCIe allow (dashed)", "bytes of a message", "us")
	p.logX(2, 1<<20)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ticks125
	var lines [4]plotter.XYs
	for i := range r.samples {
		if s := &r.samples[i]; s.name == "latency by size" && s.op.String() == op {
			for k, y := range []float64{s.quantile(500), s.quantile(990), s.quantile(999), s.floor} {
				lines[k] = append(lines[k], plotter.XY{X: float64(s.size), Y: y / 1000})
			}
		}
	}
	for i, name := range []string{"p50", "p99", "p99.9", ""} {
		p.line(name, i, i == 3, lines[i])
	}
	return p
}

func (r *results) distribution() *picture {
	p := newPicture("READ of 8 bytes: latency with each profile of PCIe reads", "latency, ns", "share of messages that take longer")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Min, p.Y.Max = 1e-3, 1
	p.Legend.Left = false
	i := 0
	for _, s := range r.samples {
		if s.name != "distribution" {
			continue
		}
		var pts plotter.XYs
		n := len(s.cycles) - len(s.cycles)/1000 // the slowest lie below the axis
		for k, c := range s.cycles[:n] {
			again := k > 0 && k+1 < n && s.cycles[k-1] == c && s.cycles[k+1] == c
			if y := 1 - float64(k)/float64(len(s.cycles)); !again {
				pts = append(pts, plotter.XY{X: ns(c), Y: y})
			}
		}
		p.line(s.profile, i, false, pts)
		i++
	}
	return p
}

// breakdown has a bar for each way, in which each block has a part.
func (r *results) breakdown() *picture {
	p := newPicture("One message of 8 bytes: where its time goes", "", "ns")
	p.Legend.Left = false
	var blocks, names []string
	for _, w := range r.Stages {
		names = append(names, w.Op+" "+w.Name[len("latency, "):])
		for _, s := range w.Stages {
			if !slices.Contains(blocks, s.Block) && s.Cycles > 0 {
				blocks = append(blocks, s.Block)
			}
		}
	}
	var below *plotter.BarChart
	for i, b := range blocks {
		v := make(plotter.Values, len(r.Stages))
		for k, w := range r.Stages {
			for _, s := range w.Stages {
				if s.Block == b {
					v[k] += s.Ns
				}
			}
		}
		bar, err := plotter.NewBarChart(v, vg.Points(40))
		if err != nil {
			panic(err) // no values
		}
		bar.LineStyle.Width, bar.Color = 0, shade(i, len(blocks))
		if below != nil {
			bar.StackOn(below)
		}
		p.Add(bar)
		p.Legend.Add(b, bar)
		below = bar
		p.lines++
	}
	p.NominalX(names...)
	p.X.Max = float64(len(names)) + 1.2 // room for the legend
	return p
}

// shade is one of n colours around the circle.
func shade(i, n int) color.Color {
	h := 6 * float64(i) / float64(n)
	f := func(k float64) uint8 {
		d := math.Abs(math.Mod(h+k, 6) - 3)
		return uint8(90 + 150*min(1, max(0, d-1)))
	}
	return color.RGBA{f(0), f(4), f(2), 255}
}
