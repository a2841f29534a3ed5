package read_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves"
	"rnic/waves/read"
)

// through reads all of a file: how many steps there are, and why it ends.
func through(b []byte) (steps int, err error) {
	var f *read.File
	if len(b) > 0 && b[0] == 0 || len(b) > 0 && b[0] == 254 {
		f, err = read.NewFST("a.fst", bytes.NewReader(b), int64(len(b)))
	} else {
		f, err = read.NewVCD("a.vcd", bytes.NewReader(b))
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for f.Next() {
		steps++
		for _, id := range f.Changed() {
			_ = f.Raw(id)
		}
	}
	return steps, f.Err()
}

// samples are small files of every writer.
func samples(t testing.TB) map[string][]byte {
	v, f := both(t, 12, waves.Rich)
	m := map[string][]byte{"rnic.vcd": v, "rnic.fst": f}
	for _, name := range []string{"icarus.vcd", "ghdl.vcd", "verilator.vcd", "icarus-lz4.fst", "icarus-gzip.fst", "ghdl-zlib.fst", "verilator.fst"} {
		m[name] = bytesOf(t, "testdata", name)
	}
	return m
}

// A file that ends anywhere is told of, but for one that could have ended there.
func TestCut(t *testing.T) {
	for name, b := range samples(t) {
		whole, err := through(b)
		require.NoError(t, err, name)
		for n := range b {
			steps, err := through(b[:n])
			require.LessOrEqual(t, steps, whole)
			if err == nil {
				require.True(t, bytes.HasSuffix([]byte(name), []byte(".vcd")), "%s cut at %d of %d: %d of %d steps and no error", name, n, len(b), steps, whole)
				continue
			}
			var e *read.Error
			require.True(t, errors.As(err, &e), "%s cut at %d: %v", name, n, err)
			require.True(t, e.Line > 0 || e.Byte >= 0 && e.Byte <= int64(len(b)))
		}
	}
}

// A byte that is wrong leads to an error or to other values, no worse.
func TestFlipped(t *testing.T) {
	for _, b := range samples(t) {
		for i := range b {
			c := bytes.Clone(b)
			c[i] ^= []byte{0x01, 0x80, 0xff}[i%3]
			_, _ = through(c)
		}
	}
}

// The values before a cut are there: a section that is whole is read, then the error comes.
func TestCutSection(t *testing.T) {
	_, b := both(t, 20_000, waves.Portable)
	whole, err := through(b)
	require.NoError(t, err)
	steps, err := through(b[:len(b)-10])
	require.Greater(t, steps, 1000)
	require.Less(t, steps, whole)
	require.ErrorContains(t, err, "is cut at")
}

// What a killed writer of ours leaves: the last block is one to skip.
func TestUnfinishedSection(t *testing.T) {
	_, b := both(t, 20_000, waves.Portable)
	last := 0
	for at := 0; at < len(b); at += 1 + int(binary.BigEndian.Uint64(b[at+1:])) {
		last = at
	}
	b[last] = 255
	sections := binary.BigEndian.Uint64(b[65:])
	binary.BigEndian.PutUint64(b[65:], sections-1)
	f, err := read.NewFST("a.fst", bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	n := 0
	for f.Next() {
		n++
	}
	require.NoError(t, f.Err())
	require.Greater(t, n, 1000)
	require.Len(t, f.Notes(), 1)
	require.Regexp(t, `^a.fst: byte \d+: a section was not finished when the writer ended$`, f.Notes()[0])
	binary.BigEndian.PutUint64(b[65:], sections)
	_, err = through(b)
	require.ErrorContains(t, err, "sections of")
}

// Faults of an FST, each where it is.
func TestFSTFaults(t *testing.T) {
	_, good := both(t, 12, waves.Rich)
	u64 := func(at int, v uint64) func(b []byte) {
		return func(b []byte) { binary.BigEndian.PutUint64(b[at:], v) }
	}
	geo := 330
	hier := geo + 1 + int(binary.BigEndian.Uint64(good[geo+1:]))
	sec := hier + 1 + int(binary.BigEndian.Uint64(good[hier+1:]))
	end := len(good)
	require.Equal(t, []byte{3, 4, 8}, []byte{good[geo], good[hier], good[sec]})
	for _, c := range []struct {
		name   string
		damage func(b []byte)
		want   string
	}{
		{"the length of the head", u64(1, 330), "a.fst: byte 0: neither a VCD nor an FST"},
		{"the order of bytes", u64(25, 1), "a.fst: byte 25: the order of bytes of reals"},
		{"the timescale", func(b []byte) { b[73] = 100 }, "a.fst: byte 73: a tick of 1e100 s"},
		{"a block without a length", u64(geo+1, 0), "a.fst: byte 330: a block of 0 bytes"},
		{"a block that is too long", u64(sec+1, 1<<40), "a block of 1099511627776 bytes is cut at"},
		{"a block of no kind", func(b []byte) { b[geo] = 77 }, "a.fst: byte 330: a block of kind 77"},
		{"a second head", func(b []byte) { b[geo] = 0 }, "a.fst: byte 330: a second head"},
		{"no hierarchy", func(b []byte) { b[hier] = 255 }, "there is no hierarchy"},
		{"more variables than may be", u64(geo+17, 1<<30), "a.fst: byte 330: 1073741824 variables: at most 16777216"},
		{"widths that unpack to too much", u64(geo+9, 1<<25), "a.fst: byte 330: the widths: zlib"},
		{"one variable more", u64(geo+17, binary.BigEndian.Uint64(good[geo+17:])+1), "the width of variable"},
		{"a hierarchy that is huge", u64(hier+9, 1<<40), "a hierarchy of 1099511627776 bytes, at most 536870912"},
		{"a hierarchy that is longer", u64(hier+9, binary.BigEndian.Uint64(good[hier+9:])+1), "the hierarchy: gzip: unexpected EOF"},
		{"a hierarchy that is cut", u64(hier+9, binary.BigEndian.Uint64(good[hier+9:])-1), "the hierarchy ends within the scope top"},
		{"a section that ends before it begins", u64(sec+9, 1<<40), "a section from 1099511627776 to"},
		{"more times than bytes", u64(end-8, 1<<20), "1048576 times in"},
		{"times that are packed as more than there is", u64(end-16, 1<<20), "packed as 1048576, of a section of"},
		{"times that are not packed so", u64(end-24, 1000), "the times: zlib"},
		{"an index that is too long", func(b []byte) {
			u64(end-24-int(binary.BigEndian.Uint64(b[end-16:]))-8, 1<<30)(b)
		}, "an index of 1073741824 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bytes.Clone(good)
			c.damage(b)
			_, err := through(b)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzVCD(f *testing.F) {
	for name, b := range samples(f) {
		if bytes.HasSuffix([]byte(name), []byte(".vcd")) {
			f.Add(b)
		}
	}
	f.Add([]byte(head + "#0\n$dumpvars\n0!\nbx1 \"\nr1e3 #\ns\\040 $\n1%\n$end\n#7\n$dumpoff\nx!\n$end\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if f, err := read.NewVCD("a.vcd", bytes.NewReader(b)); err == nil {
			for last := uint64(0); f.Next(); last = f.Time() {
				require.GreaterOrEqual(t, f.Time(), last)
			}
		}
	})
}

func FuzzFST(f *testing.F) {
	for name, b := range samples(f) {
		if bytes.HasSuffix([]byte(name), []byte(".fst")) {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			return
		}
		if f, err := read.NewFST("a.fst", bytes.NewReader(b), int64(len(b))); err == nil {
			for last := uint64(0); f.Next(); last = f.Time() {
				require.GreaterOrEqual(t, f.Time(), last)
			}
			f.Close()
		}
	})
}
