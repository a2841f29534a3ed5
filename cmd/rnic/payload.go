package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"rnic/tb/transfer"
)

// Sizes up to which a FILE is read before the run begins; a longer one is read as its
// messages go, if it is a regular file.
const (
	maxHeld   = 64 << 20
	maxStream = 1 << 30 // of a pipe or a device, which might not end
)

// payload is what is sent: FILE, or the built-in bytes without one. Close it after
// the run.
func payload(path string) (data transfer.Source, closer io.Closer, err error) {
	if path == "" {
		return bytes.NewReader(builtin()), io.NopCloser(nil), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	s, err := f.Stat()
	if err == nil && s.Mode().IsRegular() && s.Size() > maxHeld {
		return io.NewSectionReader(f, 0, s.Size()), f, nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxStream+1))
	if err != nil {
		return nil, nil, err
	}
	if len(b) > maxStream {
		return nil, nil, fmt.Errorf("%s: longer than %d bytes, and no regular file", path, maxStream)
	}
	return bytes.NewReader(b), io.NopCloser(nil), nil
}

// builtin is 16 KiB without a pattern.
func builtin() []byte {
	b := make([]byte, 16<<10)
	rng := rand.NewChaCha8([32]byte{'r', 'n', 'i', 'c'})
	_, _ = rng.Read(b) // never fails
	return b
}
