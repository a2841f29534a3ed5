package abi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocateNamedPlaces(t *testing.T) {
	for _, c := range []struct {
		off  uint32
		r    Region
		page uint8
		rel  uint32
	}{
		{0, RegionGlobal, 0, 0},
		{RegCyclesHi, RegionGlobal, 0, RegCyclesHi},
		{0xffc, RegionGlobal, 0, 0xffc},
		{0x1000, RegionCounters, 0, 0},
		{CounterAddr(NumCounters - 1), RegionCounters, 0, (NumCounters - 1) * 8},
		{CounterAddr(NumCounters), RegionUnmapped, 0, NumCounters * 8},
		{0x20ff, RegionMSIXTable, 0, 0xff},
		{0x2100, RegionUnmapped, 0, 0x100},
		{0x3007, RegionMSIXPBA, 0, 7},
		{0x3008, RegionUnmapped, 0, 8},
		{0x4000, RegionUnmapped, 0, 0},
		{0xfffff, RegionUnmapped, 0, 0xfff},
		{0x100000, RegionDoorbell, 0, 0},
		{0x100007, RegionDoorbell, 0, 7},
		{0x100008, RegionUnmapped, 0, 8},
		{0x1ff000, RegionDoorbell, 255, 0},
		{0x1017ff, RegionUnmapped, 1, 0x7ff},
		{0x101800, RegionPush, 1, 0},
		{0x10183f, RegionPush, 1, 63},
		{0x101840, RegionUnmapped, 1, 0x840},
		{BARSize, RegionUnmapped, 0, 0},
		{0xffffffff, RegionUnmapped, 0, 0xfff},
	} {
		r, page, rel := Locate(c.off)
		require.Equal(t, c.r, r, "%#x", c.off)
		require.Equal(t, c.page, page, "%#x", c.off)
		require.Equal(t, c.rel, rel, "%#x", c.off)
	}
}

// TestLocateSizes counts the bytes of each region over the whole BAR.
func TestLocateSizes(t *testing.T) {
	var n [8]int
	for off := uint32(0); off < BARSize; off++ {
		r, _, _ := Locate(off)
		n[r]++
	}
	require.Equal(t, PageSize, n[RegionGlobal])
	require.Equal(t, NumCounters*8, n[RegionCounters])
	require.Equal(t, MSIXCount*MSIXEntryLayout.Size, n[RegionMSIXTable])
	require.Equal(t, 8, n[RegionMSIXPBA])
	require.Equal(t, UARPages*8, n[RegionDoorbell])
	require.Equal(t, UARPages*PushSize, n[RegionPush])
}

func TestAddressesLocate(t *testing.T) {
	for p := range UARPages {
		r, page, rel := Locate(DoorbellAddr(uint8(p)))
		require.Equal(t, []any{RegionDoorbell, uint8(p), uint32(0)}, []any{r, page, rel})
		r, page, rel = Locate(PushAddr(uint8(p)))
		require.Equal(t, []any{RegionPush, uint8(p), uint32(0)}, []any{r, page, rel})
	}
	require.Equal(t, "doorbell", RegionDoorbell.String())
	require.Equal(t, "invalid", Region(7).String())
}
