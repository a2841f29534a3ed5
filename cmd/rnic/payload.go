package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// maxFile is the most that a run takes: a FILE is held in memory.
const maxFile = 1 << 30

// payload is what is sent: FILE, or the built-in bytes without one.
func payload(path string) ([]byte, error) {
	if path == "" {
		return builtin(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s, err := f.Stat(); err == nil && s.Mode().IsRegular() && s.Size() > maxFile {
		return nil, tooLong(path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, tooLong(path)
	}
	return b, nil
}

func tooLong(path string) error { return fmt.Errorf("%s: longer than %d bytes", path, maxFile) }

// builtin is 16 KiB without a pattern.
func builtin() []byte {
	b := make([]byte, 16<<10)
	rng := rand.NewChaCha8([32]byte{'r', 'n', 'i', 'c'})
	_, _ = rng.Read(b) // never fails
	return b
}
