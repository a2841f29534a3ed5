package verilog

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Model is a built model in a process of its own.
type Model struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// State is what can be seen of the machine after a cycle, as package nic has it.
// Slices and Levels are there with Config.Probe only.
type State struct {
	Count          uint32
	Check          uint64
	Slices, Levels uint64
}

// Start runs a program that Build made.
func Start(program string) (*Model, error) {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Model{cmd, in, bufio.NewReader(out)}, nil
}

// Run runs on for some cycles, the source being active in so many of its window,
// and measures the processor time that they took.
func (m *Model) Run(active, cycles uint64) (took time.Duration, s State, err error) {
	if _, err = fmt.Fprintf(m.in, "run %d %d\n", active, cycles); err == nil {
		_, err = fmt.Fscanln(m.out, &took, &s.Count, &s.Check)
	}
	return took, s, err
}

// Probe runs on and returns the state after each cycle.
func (m *Model) Probe(active, cycles uint64) ([]State, error) {
	if _, err := fmt.Fprintf(m.in, "probe %d %d\n", active, cycles); err != nil {
		return nil, err
	}
	states := make([]State, cycles)
	for i := range states {
		s := &states[i]
		if _, err := fmt.Fscanln(m.out, &s.Count, &s.Check, &s.Slices, &s.Levels); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// Dump traces to a file from here on.
func (m *Model) Dump(file string) error {
	_, err := fmt.Fprintf(m.in, "dump %s\n", file)
	return err
}

// Close ends the process.
func (m *Model) Close() error {
	m.in.Close()
	return m.cmd.Wait()
}

// Spent is the processor time of the process on all its threads, once closed.
func (m *Model) Spent() time.Duration {
	return m.cmd.ProcessState.UserTime() + m.cmd.ProcessState.SystemTime()
}
