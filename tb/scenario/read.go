package scenario

import (
	"fmt"
	"os"
	"time"
)

// Read reads a file, which is called file in what it says. The error is an Errors.
func Read(file string, data []byte) (*Scenario, error) {
	r := &reader{file: file}
	s := &Scenario{
		File: file, Settle: 20 * time.Microsecond, TimeLimit: time.Second,
		Wire: Wire{100, 300 * time.Nanosecond},
	}
	for i := range s.Hosts {
		s.Hosts[i] = Host{PCIeLatency: 250 * time.Nanosecond}
	}
	if root := r.parse(data); root != nil {
		fill(r, root, "a scenario", topKeys, s)
		r.check(s)
	}
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	return s, nil
}

// Load reads the file of that path.
func Load(path string) (*Scenario, error) {
	f, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case f.Size() > maxFile:
		return nil, fmt.Errorf("%s: %d bytes; at most %d", path, f.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(path, data)
}
