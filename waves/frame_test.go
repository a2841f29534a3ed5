package waves_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
)

// Each section begins with the values that the VCD has then, for whoever opens a file
// in the middle.
func TestFramesOfSections(t *testing.T) {
	a := elaborate(t, "host_a", 9, hdl.Options{})
	top := &struct{ M oddities }{}
	top.M.Mem.Init(2, hdl.ReadFirst)
	b, err := hdl.Elaborate("host_b", top, hdl.Options{PeriodPs: 3103})
	require.NoError(t, err)
	run := func() { require.ErrorIs(t, hdl.NewWorld(75, a, b).Run(nil, 20_000), hdl.ErrLimit) }
	vcd, fst := both(t, waves.Options{}, run, a, b)
	f := check(t, string(bytesOf(t, vcd)))
	file := bytesOf(t, fst)
	n := 0
	for len(file) > 0 {
		size := binary.BigEndian.Uint64(file[1:])
		block := file[9 : size+1]
		kind := file[0]
		file = file[size+1:]
		if kind != 8 {
			continue
		}
		if n++; n <= 2 {
			continue // nothing is known before the first instant, at which both begin
		}
		begin := int64(binary.BigEndian.Uint64(block))
		r := bytes.NewReader(block[24:])
		digits, err := binary.ReadUvarint(r)
		require.NoError(t, err)
		_, err = binary.ReadUvarint(r)
		require.NoError(t, err)
		_, err = binary.ReadUvarint(r)
		require.NoError(t, err)
		z, err := zlib.NewReader(r)
		require.NoError(t, err)
		frame := make([]byte, digits)
		_, err = io.ReadFull(z, frame)
		require.NoError(t, err)
		for _, v := range f.Vars {
			if v.Kind != "string" {
				require.Equal(t, f.At(v.Path, begin), string(frame[:v.Width]), "%s at %d", v.Path, begin)
				frame = frame[v.Width:]
			}
		}
		require.Empty(t, frame)
	}
	require.Greater(t, n, 4)
}
