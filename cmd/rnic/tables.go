package main

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"rnic/tb/whole"
)

// write writes all results to a folder: tables, and a picture as SVG and PNG of
// whatever has enough points. The same results are the same bytes.
func (r *results) write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := errors.Join(r.writeRows(dir), r.writeStages(dir), r.writeDistribution(dir), r.writeTraffic(dir)); err != nil {
		return err
	}
	return r.draw(dir)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func round(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

func (r *results) writeRows(dir string) error {
	t := [][]string{{
		"name", "op", "bytes", "qps", "mtu", "goodput_gbps", "wire_limit_gbps", "cycles_per_msg", "mmsg_per_s",
		"latency_p50_ns", "latency_p99_ns", "latency_p99.9_ns", "pcie_profile",
	}}
	for i := range r.Rows {
		x, rate := &r.Rows[i], 0.0
		if x.CyclesPerMsg > 0 {
			rate = x.rate()
		}
		t = append(t, []string{
			x.Name, x.Op, strconv.Itoa(x.Size), strconv.Itoa(x.QPs), strconv.Itoa(x.MTU), round(x.GoodputGbps), round(x.WireLimitGbps),
			round(x.CyclesPerMsg), round(rate), number(x.LatencyNs), number(x.P99Ns), number(x.P999Ns), x.Profile,
		})
	}
	return writeCSV(dir, "results.csv", t)
}

func (r *results) writeStages(dir string) error {
	t := [][]string{{"name", "op", "bytes", "part", "stage", "block", "cycles", "ns", "since_doorbell"}}
	for i := range r.Stages {
		w := &r.Stages[i]
		for part, list := range [][]stage{w.Stages, w.Return} {
			for _, s := range list {
				t = append(t, []string{
					w.Name, w.Op, strconv.Itoa(w.size), []string{"there", "back"}[part], s.Stage, s.Block,
					strconv.FormatUint(s.Cycles, 10), number(s.Ns), strconv.FormatUint(s.Since, 10),
				})
			}
		}
	}
	return writeCSV(dir, "stages.csv", t)
}

func (r *results) writeDistribution(dir string) error {
	t := [][]string{{"name", "op", "bytes", "pcie_profile", "latency_ns", "messages"}}
	for _, s := range r.samples {
		for i := 0; i < len(s.cycles); {
			from := i
			for i < len(s.cycles) && s.cycles[i] == s.cycles[from] {
				i++
			}
			t = append(t, []string{s.name, s.op.String(), strconv.Itoa(s.size), s.profile, number(ns(s.cycles[from])), strconv.Itoa(i - from)})
		}
	}
	return writeCSV(dir, "distribution.csv", t)
}

func writeCSV(dir, name string, rows [][]string) error {
	return whole.Write(filepath.Join(dir, name), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}
