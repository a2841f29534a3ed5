package nic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bench/kernel/nic"
	"rnic/hdl"
)

func elaborate(t testing.TB, c nic.Config, o hdl.Options) (*nic.Design, *hdl.Kernel) {
	m := nic.New(c)
	k, err := hdl.Elaborate("nic", m, o)
	require.NoError(t, err)
	return m, k
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
