package scenario

import (
	"fmt"
	"io"
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
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1)) // a device has no end
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("%s: longer than %d bytes", path, maxFile)
	}
	return Read(path, data)
}
