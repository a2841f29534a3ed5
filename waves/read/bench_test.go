package read_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves"
	"rnic/waves/read"
)

// The speed of both readers over the same run, in bytes of the file and by changes.
func BenchmarkRead(b *testing.B) {
	v, f := both(b, 100_000, waves.Rich)
	for _, c := range []struct {
		name string
		data []byte
		open func() (*read.File, error)
	}{
		{"VCD", v, func() (*read.File, error) { return read.NewVCD("a.vcd", bytes.NewReader(v)) }},
		{"FST", f, func() (*read.File, error) { return read.NewFST("a.fst", bytes.NewReader(f), int64(len(f))) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			changes := 0
			for b.Loop() {
				r, err := c.open()
				require.NoError(b, err)
				for r.Next() {
					changes += len(r.Changed())
				}
				require.NoError(b, r.Err())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(changes), "ns/change")
		})
	}
}
