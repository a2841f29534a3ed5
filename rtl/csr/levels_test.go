package csr_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

func TestLevels(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
	b.settle(t)
	require.EqualValues(t, 1024, b.Csr.PortReg.Get().TimeUnit)
	require.EqualValues(t, 0xffff, b.Csr.PortReg.Get().PKey)
	b.Host.Push(mwr(abi.RegPortMACLo, le64(0x0200_0000_0001)...)...) // two registers at once
	b.Host.Push(mwr(abi.RegPortIPv4, le32(0x0a000001)...)...)
	b.Host.Push(mwr(abi.RegPortMTU, le32(5)...)...)
	b.Host.Push(mwr(abi.RegPortMTU, le32(6)...)...) // not an MTU: ignored
	b.Host.Push(mwr(abi.RegTimeUnit, le32(0)...)...)
	b.Host.Push(mwr(abi.RegAdminSQBaseLo, le64(0x12_3456_7000)...)...)
	b.Host.Push(mwr(abi.RegAdminDoorbell, le32(7)...)...)
	b.Host.Push(mwr(abi.RegRawQPN, le32(0xab123456)...)...) // 24 bits
	b.settle(t)
	p := b.Csr.PortReg.Get()
	require.Equal(t, port.QPN(0x123456), p.RawQPN)
	require.Equal(t, [6]byte{2, 0, 0, 0, 0, 1}, p.MAC)
	require.Equal(t, [4]byte{10, 0, 0, 1}, p.IPv4)
	require.EqualValues(t, 4096, p.MTU)
	require.EqualValues(t, 1, p.TimeUnit)
	a := b.Csr.AdminReg.Get()
	require.EqualValues(t, 0x12_3456_7000, a.SQBase)
	require.EqualValues(t, 7, a.PI)
	require.EqualValues(t, 1, b.counter(t, abi.MMIOWriteIgnored))
}

// TestGIDs: each entry of the table is four registers, but for that of the IPv4 address.
func TestGIDs(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
	b.settle(t)
	require.Zero(t, b.Csr.GIDs.Get())
	var want port.GIDTable
	for n := range want.GID {
		at := uint64(abi.RegPortGIDs + 16*(n-2))
		switch n {
		case 0:
			at = abi.RegPortGID0
		case 1:
			want.GID[n] = [16]byte{10: 0xff, 11: 0xff, 12: 10, 13: 1, 14: 2, 15: 3}
			b.Host.Push(mwr(abi.RegPortIPv4, le32(0x0a010203)...)...)
			continue
		}
		for i := range want.GID[n] {
			want.GID[n][i] = byte(16*n + i)
		}
		for i := 0; i < 16; i += 4 {
			b.Host.Push(mwr(at+uint64(i), le32(binary.BigEndian.Uint32(want.GID[n][i:]))...)...)
		}
	}
	b.settle(t)
	require.Equal(t, want, b.Csr.GIDs.Get())
	require.Equal(t, want.GID[0], b.Csr.PortReg.Get().GID0)
	b.Host.Push(mwr(abi.RegPortIPv4, le32(0)...)...)
	b.settle(t)
	require.Zero(t, b.Csr.GIDs.Get().GID[1], "no address, no entry")
}
