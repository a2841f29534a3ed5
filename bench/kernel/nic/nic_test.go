package nic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bench/kernel/nic"
	"rnic/hdl"
	"rnic/hdl/hdltest"
)

func elaborate(t hdltest.T, c nic.Config, o hdl.Options) (*nic.Design, *hdl.Kernel) {
	m := nic.New(c)
	k, err := hdl.Elaborate("nic", m, o)
	require.NoError(t, err)
	return m, k
}

// After a million cycles, what the machine in Verilog has too.
func TestChecksum(t *testing.T) {
	for c, want := range map[nic.Config][2]uint64{
		{Active: nic.FullLoad, CRC: true}:  {749701, 11826590007498069102},
		{Active: nic.FullLoad}:             {749701, 17441830485962847714},
		{Active: nic.LightLoad, CRC: true}: {43624, 13041617362782370937},
	} {
		m, k := elaborate(t, c, hdl.Options{})
		require.NoError(t, k.Run(1_000_000))
		require.Equal(t, want, [2]uint64{uint64(m.Sink.Q.Count), m.Sink.Q.Check}, "%+v", c)
	}
}

func TestStrictIsTheSame(t *testing.T) {
	for _, c := range []nic.Config{{Active: nic.FullLoad, CRC: true}, {Active: nic.LightLoad}} {
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, uint64) {
			m, k := elaborate(t, c, o)
			require.NoError(t, k.Run(5000))
			return k, m.Sink.Q.Check
		})
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	for _, active := range []uint64{nic.FullLoad, nic.LightLoad} {
		m, k := elaborate(t, nic.Config{Active: active, CRC: true}, hdl.Options{})
		require.NoError(t, k.Run(5000))
		before := m.Sink.Q.Count
		require.Zero(t, testing.AllocsPerRun(20_000, k.Step))
		require.Greater(t, m.Sink.Q.Count, before+500)
	}
}

// A light load costs the cycles in which something moves.
func TestIdleCyclesAreJumped(t *testing.T) {
	_, k := elaborate(t, nic.Config{Active: nic.LightLoad, CRC: true}, hdl.Options{})
	require.NoError(t, k.Run(100*nic.Window))
	require.Less(t, k.Stats().Steps, uint64(100*nic.Window/8))
}

func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		nic.Config
	}{
		{"full", nic.Config{Active: nic.FullLoad, CRC: true}},
		{"full-nocrc", nic.Config{Active: nic.FullLoad}},
		{"light", nic.Config{Active: nic.LightLoad, CRC: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, k := elaborate(b, c.Config, hdl.Options{})
			require.NoError(b, k.Run(4096))
			b.ResetTimer()
			require.NoError(b, k.Run(4096+uint64(b.N)))
		})
	}
}
