package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rnic/bench/kernel/nic"
	"rnic/bench/kernel/verilog"
	"rnic/hdl"
	"rnic/waves"
)

// builds are the models to compare with.
var builds = []verilog.Config{
	{CRC: true}, {CRC: false},
	{CRC: true, Trace: true}, {CRC: false, Trace: true},
}

// load is an activity of the source.
type load struct {
	name   string
	active uint64 // cycles of nic.Window
}

var loads = []load{{"full", nic.FullLoad}, {"5 %", nic.LightLoad}}

// pair is the same machine in both, at one load, with the times measured.
type pair struct {
	build verilog.Config
	load  load

	model        *verilog.Model
	design       *nic.Design
	kernel       *hdl.Kernel
	vcd          *waves.VCD
	ours, theirs []float64 // ns of processor time a clock
}

func newPair(program string, b verilog.Config, l load, files string) (*pair, error) {
	p := &pair{build: b, load: l, design: nic.New(nic.Config{Active: l.active, CRC: b.CRC})}
	var err error
	if p.kernel, err = hdl.Elaborate("nic", p.design, hdl.Options{}); err != nil {
		return nil, err
	}
	if b.Trace {
		if p.vcd, err = waves.Create(p.file(files, "hdl"), waves.Options{Profile: waves.Portable}, p.kernel); err != nil {
			return nil, err
		}
	}
	if p.model, err = verilog.Start(program); err == nil && b.Trace {
		err = p.model.Dump(p.file(files, "verilator"))
	}
	return p, err
}

// file is where a simulator's VCD goes.
func (p *pair) file(dir, simulator string) string {
	if dir == "" {
		return os.DevNull
	}
	return filepath.Join(dir, fmt.Sprintf("%s-%d-crc-%s.vcd", simulator, p.load.active, yes(p.build.CRC)))
}

// turn runs both on for some cycles, one after the other, and checks that they
// are in the same state.
func (p *pair) turn(cycles int) error {
	start := processorTime()
	if err := p.kernel.Run(p.kernel.Cycle() + uint64(cycles)); err != nil {
		return err
	}
	ours := processorTime() - start
	theirs, state, err := p.model.Run(p.load.active, uint64(cycles))
	if err != nil {
		return fmt.Errorf("the Verilator model stopped: %w", err)
	}
	if sink := &p.design.Sink.Q; state.Count != sink.Count || state.Check != sink.Check {
		return fmt.Errorf("cycle %d: hdl has %d beats, checksum %x, Verilator %d, %x", p.kernel.Cycle(), sink.Count, sink.Check, state.Count, state.Check)
	}
	p.ours = append(p.ours, float64(ours.Nanoseconds())/float64(cycles))
	p.theirs = append(p.theirs, float64(theirs.Nanoseconds())/float64(cycles))
	return nil
}

// close ends the model and closes the files.
func (p *pair) close() error {
	err := p.model.Close()
	if p.vcd != nil {
		err = errors.Join(err, p.vcd.Close())
	}
	return err
}
