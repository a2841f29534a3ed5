package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"rnic/bench/kernel/nic"
	"rnic/bench/kernel/verilog"
	"rnic/hdl"
	"rnic/waves"
)

// recording is a way to run the design, with waves or without, always from the start
// and with the file closed in the end: what is measured is all that it takes.
type recording struct {
	simulator, shows string
	suffix           string // of the file; empty: no waves
	run              func(r *recording, l load, cycles int, file string) (ns float64, err error)
	options          waves.Options
	program          string // Verilator's

	spent   []float64 // ns of processor time
	lasted  []float64 // ns of wall time
	changes int       // value changes of a run
	size    int64     // bytes of the file
	packed  int64     // of a VCD: bytes that vcd2fst makes of it
}

func recordings() []*recording {
	portable := waves.Options{Profile: waves.Portable}
	control := portable
	control.Control = true
	return []*recording{
		{simulator: "hdl", shows: "-", run: runHDL},
		{simulator: "hdl", shows: "all", suffix: "vcd", options: portable, run: runHDL},
		{simulator: "hdl", shows: "all", suffix: "fst", options: portable, run: runHDL},
		{simulator: "hdl", shows: "control", suffix: "vcd", options: control, run: runHDL},
		{simulator: "hdl", shows: "control", suffix: "fst", options: control, run: runHDL},
		{simulator: "Verilator", shows: "-", run: runVerilator},
		{simulator: "Verilator", shows: "all", suffix: "vcd", run: runVerilator},
		{simulator: "Verilator", shows: "all", suffix: "fst", run: runVerilator},
	}
}

// compareWaves measures what waves cost here and in Verilator, in turns.
func compareWaves(w io.Writer, plan plan) (err error) {
	if plan.rounds < 1 || plan.cycles < 1 {
		return fmt.Errorf("%d rounds of %d cycles: at least 1 of 1", plan.rounds, plan.cycles)
	}
	if err := verilog.Missing(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(plan.files, "bench-waves-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := buildAll(dir)
	if err != nil {
		return err
	}
	byLoad := make([][]*recording, len(loads))
	for i := range loads {
		byLoad[i] = recordings()
		for _, r := range byLoad[i] {
			r.program = programs[r.suffix]
		}
	}
	for range plan.rounds {
		for i, l := range loads {
			for _, r := range byLoad[i] {
				if err := r.turn(dir, l, plan.cycles); err != nil {
					return fmt.Errorf("%s %s: %w", r.simulator, r.suffix, err)
				}
			}
		}
	}
	wavesTable(w, byLoad, plan)
	return nil
}

// buildAll builds Verilator's models, by the suffix of what they write, all at once.
// They have no CRC: what it takes is no matter of waves.
func buildAll(dir string) (map[string]string, error) {
	type built struct {
		suffix, program string
		err             error
	}
	configs := map[string]verilog.Config{"": {}, "vcd": {Trace: true}, "fst": {Trace: true, FST: true}}
	all := make(chan built)
	for suffix, c := range configs {
		go func() {
			p, err := verilog.Build(filepath.Join(dir, "verilator-"+suffix), c)
			all <- built{suffix, p, err}
		}()
	}
	programs := map[string]string{}
	var errs []error
	for range configs {
		b := <-all
		programs[b.suffix] = b.program
		errs = append(errs, b.err)
	}
	return programs, errors.Join(errs...)
}

// turn is one run. The file of the first is looked at; all are removed.
func (r *recording) turn(dir string, l load, cycles int) error {
	file := filepath.Join(dir, "waves."+r.suffix)
	runtime.GC() // of what the run before has left
	start := time.Now()
	ns, err := r.run(r, l, cycles, file)
	r.spent, r.lasted = append(r.spent, ns), append(r.lasted, float64(time.Since(start).Nanoseconds()))
	if err != nil || r.suffix == "" {
		return err
	}
	if r.size == 0 {
		if err := r.look(file); err != nil {
			return err
		}
	}
	return os.Remove(file)
}

// look measures a file, and what vcd2fst makes of a VCD.
func (r *recording) look(file string) error {
	st, err := os.Stat(file)
	if err != nil {
		return err
	}
	r.size = st.Size()
	if r.suffix != "vcd" {
		return nil
	}
	if r.changes, err = countChanges(file); err != nil {
		return err
	}
	if _, err := exec.LookPath("vcd2fst"); err != nil {
		return nil // the column stays empty
	}
	packed := file + ".fst"
	if out, err := exec.Command("vcd2fst", "-4", "-v", file, "-f", packed).CombinedOutput(); err != nil {
		return fmt.Errorf("vcd2fst: %w: %s", err, out)
	}
	if st, err = os.Stat(packed); err != nil {
		return err
	}
	r.packed = st.Size()
	return os.Remove(packed)
}

func runHDL(r *recording, l load, cycles int, file string) (float64, error) {
	k, err := hdl.Elaborate("nic", nic.New(nic.Config{Active: l.active}), hdl.Options{})
	if err != nil {
		return 0, err
	}
	create := waves.Create
	if r.suffix == "fst" {
		create = waves.CreateFST
	}
	start := processorTime()
	if r.suffix == "" {
		err = k.Run(uint64(cycles))
		return float64((processorTime() - start).Nanoseconds()), err
	}
	v, err := create(file, r.options, k)
	if err != nil {
		return 0, err
	}
	if err := k.Run(uint64(cycles)); err != nil {
		return 0, err
	}
	err = v.Close()
	return float64((processorTime() - start).Nanoseconds()), err
}

func runVerilator(r *recording, l load, cycles int, file string) (float64, error) {
	m, err := verilog.Start(r.program)
	if err != nil {
		return 0, err
	}
	if r.suffix != "" {
		err = m.Dump(file)
	}
	if err == nil {
		_, _, err = m.Run(l.active, uint64(cycles))
	}
	if e := m.Close(); err == nil {
		err = e
	}
	return float64(m.Spent().Nanoseconds()), err
}
