// Package verilog has the machine of package nic in Verilog, and runs it with
// Verilator: a process that holds the model takes commands, so that runs of both
// can take turns.
package verilog

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"rnic/roce"
)

//go:embed src
var sources embed.FS

// Missing says why Verilator cannot be run here, or is nil.
func Missing() error {
	for _, tool := range []string{"verilator", "g++", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is not installed; on Debian: apt-get install verilator g++ make", tool)
		}
	}
	return nil
}

// Version is what Verilator says of itself.
func Version() string {
	out, _ := exec.Command("verilator", "--version").Output()
	return strings.TrimSpace(string(out))
}

// Flags are those of every build, and CFlags what the C++ compiler gets.
var (
	Flags  = []string{"--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert"}
	CFlags = "-O3 -march=native"
)

// Config is what is fixed when a model is built.
type Config struct {
	CRC   bool
	Trace bool // can write waves: VCD
	FST   bool // with Trace: FST instead
	Probe bool // shows how full its slices and FIFOs are; to test with, not to measure
}

// Build compiles a model in a directory of its own and returns the program.
func Build(dir string, c Config) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	files, err := sources.ReadDir("src")
	if err != nil {
		return "", err
	}
	args := append([]string{"--top-module", "nic", "--Mdir", "obj", "-o", "nic", "-I."}, Flags...)
	for _, f := range files {
		b, err := sources.ReadFile("src/" + f.Name())
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), b, 0o666); err != nil {
			return "", err
		}
		args = append(args, f.Name())
	}
	if err := os.WriteFile(filepath.Join(dir, "crc512.vh"), []byte(crcTree()), 0o666); err != nil {
		return "", err
	}
	args = append(args, fmt.Sprintf("-GCRC=%d", map[bool]int{true: 1}[c.CRC]))
	if c.Trace {
		// All that a stream shows, at its width; what waits behind the head of a FIFO not.
		format := "--trace"
		if c.FST {
			format = "--trace-fst"
		}
		args = append(args, format, "--trace-max-width", "1024", "--trace-max-array", "1")
	}
	cflags := CFlags
	if c.Probe {
		args = append(args, "+define+PROBE")
		cflags = "-O1 -DPROBE" // compiles in half the time
	}
	args = append(args, "-CFLAGS", cflags, "-MAKEFLAGS", fmt.Sprintf("OPT_FAST='%s' OPT_GLOBAL='%[1]s'", cflags))
	cmd := exec.Command("verilator", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New("verilator: " + err.Error() + "\n" + string(out))
	}
	return filepath.Join(dir, "obj", "nic"), nil
}

// crcTree is CRC-32 over 512 bits as hardware has it: each bit of the next
// register is the parity of some bits of the data and of the register. The CRC is
// linear, so the bits are those that change it when they alone are set.
func crcTree() string {
	var data [32][64]byte
	var register [32]uint32
	var zero [64]byte
	for i := range 512 {
		var b [64]byte
		b[i/8] = 1 << (i % 8)
		column := roce.CRC(0).Beat(&b, 64)
		for j := range data {
			data[j][i/8] |= byte(column>>j&1) << (i % 8)
		}
	}
	for i := range 32 {
		column := roce.CRC(1<<i).Beat(&zero, 64)
		for j := range register {
			register[j] |= uint32(column>>j&1) << i
		}
	}
	s := "function [31:0] crc512(input [31:0] c, input [511:0] b); begin\n"
	for j := range data {
		s += fmt.Sprintf("  crc512[%d] = ^(b & 512'h", j)
		for i := range 64 {
			s += fmt.Sprintf("%02x", data[j][63-i])
		}
		s += fmt.Sprintf(") ^ ^(c & 32'h%08x);\n", register[j])
	}
	return s + "end endfunction\n"
}
