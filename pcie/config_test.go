package pcie

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var shape = Shape{BARSize: 2 << 20, Vectors: 16, Table: 0x2000, PBA: 0x3000}

func TestConfigRegisters(t *testing.T) {
	s := NewSpace(shape)
	for _, r := range []struct {
		off  uint16
		n    int
		want uint32
		what string
	}{
		{0x00, 4, 0x10F01AF4, "ids"},
		{0x04, 4, 0x00100000, "command 0, capabilities list"},
		{0x08, 4, 0x02000001, "class, revision"},
		{0x0E, 1, 0, "header type"},
		{0x10, 4, 4, "64-bit BAR"},
		{0x2C, 4, 0x10F01AF4, "subsystem"},
		{0x34, 1, 0x40, "capabilities"},
		{0x40, 2, 0x5011, "MSI-X, next 0x50"},
		{0x42, 2, 15, "16 vectors"},
		{0x44, 4, 0x2000, "table"},
		{0x48, 4, 0x3000, "pending bits"},
		{0x50, 4, 0x00020010, "PCI Express version 2, last"},
		{0x54, 4, 0x10008022, "payload 512, extended tags, role error, FLR"},
		{0x58, 2, 0x2910, "relaxed, extended tag, no snoop, read 512"},
		{0x5C, 4, 0x00000103, "Gen3 x16"},
		{0x62, 2, 0x0103, "Gen3 x16"},
		{0xFC, 4, 0, "nothing"},
		{0x100, 4, 0, "no extended capabilities"},
		{0x02, 4, 0xFFFFFFFF, "not aligned"},
		{0x00, 3, 0xFFFFFFFF, "no such size"},
	} {
		require.Equal(t, r.want, s.Read(r.off, r.n), "%#x: %s", r.off, r.what)
	}
}

func TestBARSizing(t *testing.T) {
	s := NewSpace(shape)
	s.Write(0x10, 4, 0xFFFFFFFF)
	s.Write(0x14, 4, 0xFFFFFFFF)
	require.Equal(t, uint32(0xFFE00004), s.Read(0x10, 4))
	require.Equal(t, uint32(0xFFFFFFFF), s.Read(0x14, 4))
	s.Write(0x10, 4, 0xD0345678)
	s.Write(0x14, 4, 0x38)
	c := s.Config()
	require.Equal(t, uint64(0x38_D020_0000), c.BAR())
}

func TestConfigLimits(t *testing.T) {
	s := NewSpace(shape)
	c := s.Config()
	require.Equal(t, 128, c.PayloadLimit())
	require.Equal(t, 512, c.ReadLimit())
	require.False(t, s.Write(0x58, 2, 5<<12|1<<5|1<<8))
	c = s.Config()
	require.Equal(t, 256, c.PayloadLimit())
	require.Equal(t, 4096, c.ReadLimit())
	require.True(t, c.Express.ExtTagEnable)
	s.Write(0x58, 2, 6<<12|7<<5)
	c = s.Config()
	require.Equal(t, 128, c.PayloadLimit(), "reserved")
	require.Equal(t, 128, c.ReadLimit(), "reserved")
	s.Write(0x04, 2, 6)
	c = s.Config()
	require.True(t, c.Memory && c.BusMaster)
	require.Equal(t, uint16(0x10), c.Status)
}

func TestFunctionLevelReset(t *testing.T) {
	s := NewSpace(shape)
	fresh := s
	require.True(t, s.Write(0x58, 2, 0x8000))
	require.True(t, s.Write(0x58, 4, 0x8000))
	require.True(t, s.Write(0x59, 1, 0x80))
	require.False(t, s.Write(0x58, 1, 0x80))
	require.False(t, s.Write(0x5A, 2, 0x8000))
	require.Zero(t, s.Read(0x58, 2)&0x8000, "reads 0")
	s.Write(0x42, 2, 0xC000)
	require.True(t, s.Config().MSIX.Enable && s.Config().MSIX.MaskAll)
	s.Reset()
	require.Equal(t, fresh, s)
	s.Reset()
	require.Equal(t, fresh, s)
}

// Whatever is written, only bits that Writable names change.
func TestConfigWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewSpace(shape)
		before := s
		for range rapid.IntRange(1, 20).Draw(t, "writes") {
			s.Write(rapid.Uint16Max(0x110).Draw(t, "off"), rapid.IntRange(0, 5).Draw(t, "size"), rapid.Uint32().Draw(t, "value"))
		}
		require.Equal(t, before.mask, s.mask)
		for i := range s.data {
			require.Zero(t, (s.data[i]^before.data[i])&^s.mask[i], "byte %#x", i)
		}
	})
}
