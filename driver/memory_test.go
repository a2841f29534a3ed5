package driver_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/driver"
)

// A buffer behaves like a slice, whatever frames lie behind it.
func TestBufferIsASlice(t *testing.T) {
	_, d := start(t, driver.Config{})
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 20_000).Draw(rt, "size")
		b, err := d.AllocBuffer(size, rapid.IntRange(0, 4095).Draw(rt, "offset"))
		require.NoError(rt, err)
		model := make([]byte, size)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			off := rapid.IntRange(0, size+10).Draw(rt, "off")
			p := rapid.SliceOfN(rapid.Byte(), 0, 9000).Draw(rt, "data")
			room := min(len(p), max(0, size-off))
			n, err := b.WriteAt(p, int64(off))
			require.Equal(rt, room, n)
			if room < len(p) {
				require.ErrorIs(rt, err, io.ErrShortWrite)
			} else {
				require.NoError(rt, err)
			}
			copy(model[min(off, size):], p)
		}
		all := make([]byte, size+1)
		n, err := b.ReadAt(all, 0)
		require.ErrorIs(rt, err, io.EOF)
		require.True(rt, bytes.Equal(model, all[:n]))
		require.NoError(rt, b.Free())
	})
}

func TestBufferAddresses(t *testing.T) {
	m, d := start(t, driver.Config{})
	a, err := d.AllocBuffer(10_000, 4000)
	require.NoError(t, err)
	require.Equal(t, 10_000, a.Len())
	require.Len(t, a.Pages(), 4)
	require.EqualValues(t, 4000, a.Addr%4096)
	b, err := d.AllocBuffer(0, 0)
	require.NoError(t, err)
	require.Len(t, b.Pages(), 1, "an address is somewhere")
	require.Greater(t, b.Addr, a.Addr-4000+4*4096, "a page is left out")
	write(t, a, 95, "over the edge")
	var got [14]byte
	m.read(a.Pages()[0]+4095, got[:1])
	m.read(a.Pages()[1], got[1:])
	require.Equal(t, "over the edge\x00", string(got[:]))

	c, err := d.AllocContiguous(100_000, 1<<16)
	require.NoError(t, err)
	require.Len(t, c.Pages(), 25)
	require.Zero(t, c.Addr%(1<<16))
	require.Zero(t, c.Pages()[0]%(1<<16))
	for i, p := range c.Pages() {
		require.Equal(t, c.Pages()[0]+uint64(i)*4096, p)
	}
	require.NoError(t, c.Free())
	require.ErrorIs(t, c.Free(), driver.ErrInvalid)
	_, err = c.WriteAt([]byte{1}, 0)
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = a.ReadAt([]byte{1}, -1)
	require.ErrorIs(t, err, driver.ErrInvalid)

	for _, bad := range [][2]int{{-1, 0}, {1, -1}, {1, 4096}} {
		_, err := d.AllocBuffer(bad[0], bad[1])
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	for _, bad := range [][2]int{{0, 4096}, {1, 0}, {1, 3}} {
		_, err := d.AllocContiguous(bad[0], bad[1])
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	m.noMem = true
	_, err = d.AllocBuffer(1, 0)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	_, err = d.AllocContiguous(1, 1)
	require.ErrorIs(t, err, driver.ErrNoMemory)
}

func TestRegions(t *testing.T) {
	m, d := start(t, driver.Config{})
	pd, err := d.AllocPD()
	require.NoError(t, err)
	buf, err := d.AllocBuffer(3*4096, 96)
	require.NoError(t, err)

	whole, err := pd.RegMR(buf, abi.AccessLocalWrite|abi.AccessRemoteRead)
	require.NoError(t, err)
	r := m.mrs[whole.LKey.Index()]
	require.Equal(t, buf.Pages(), r.pages)
	require.Equal(t, buf.Addr, r.Addr)
	require.EqualValues(t, 3*4096, r.Length)
	require.Equal(t, abi.AccessLocalWrite|abi.AccessRemoteRead, r.Access)
	require.Equal(t, whole.LKey, whole.RKey)
	require.Equal(t, driver.SGE{Addr: buf.Addr + 5, Length: 6, LKey: whole.LKey}, whole.SGE(5, 6))

	part, err := pd.RegMRRange(buf, 4000, 100, 0)
	require.NoError(t, err)
	r = m.mrs[part.LKey.Index()]
	require.Equal(t, buf.Pages()[1:2], r.pages) // byte 4000 of the buffer is byte 0 of its second page
	require.Equal(t, buf.Addr+4000, r.Addr)

	require.ErrorIs(t, pd.Destroy(), driver.ErrBusy)
	require.ErrorIs(t, buf.Free(), driver.ErrBusy)
	require.NoError(t, whole.Dereg())
	require.ErrorIs(t, whole.Dereg(), driver.ErrInvalid)
	require.NoError(t, part.Dereg())
	require.NoError(t, buf.Free())
	_, err = pd.RegMR(buf, 0)
	require.ErrorIs(t, err, driver.ErrInvalid, "freed")
	require.NoError(t, pd.Destroy())
	require.ErrorIs(t, pd.Destroy(), driver.ErrInvalid)
	_, err = pd.RegMR(buf, 0)
	require.ErrorIs(t, err, driver.ErrInvalid)
}

func TestRegionErrors(t *testing.T) {
	_, d := start(t, driver.Config{})
	pd, err := d.AllocPD()
	require.NoError(t, err)
	buf, err := d.AllocBuffer(8192, 0)
	require.NoError(t, err)
	d.Attr.Access &^= abi.AccessMWBind
	for _, c := range []struct {
		off, n int
		access abi.AccessFlags
		want   error
	}{
		{0, 8193, 0, driver.ErrInvalid},
		{-1, 1, 0, driver.ErrInvalid},
		{1, -1, 0, driver.ErrInvalid},
		{8000, 193, 0, driver.ErrInvalid},
		{0, 1, abi.AccessRemoteWrite, driver.ErrInvalid},
		{0, 1, abi.AccessRemoteAtomic | abi.AccessRemoteRead, driver.ErrInvalid},
		{0, 1, abi.AccessMWBind, driver.ErrNotSupported},
		{0, 0, 0, driver.ErrInvalid}, // the device says so
	} {
		_, err := pd.RegMRRange(buf, c.off, c.n, c.access)
		require.ErrorIs(t, err, c.want, "%+v", c)
	}
	require.NoError(t, buf.Free(), "nothing is left of what failed")
	require.NoError(t, pd.Destroy())
}

// A key that was given up is never valid again soon: index and low byte change.
func TestKeysChange(t *testing.T) {
	_, d := start(t, driver.Config{})
	pd, _ := d.AllocPD()
	buf, err := d.AllocBuffer(1, 0)
	require.NoError(t, err)
	seen := map[abi.Key]bool{0: true}
	for range 500 {
		mr, err := pd.RegMR(buf, 0)
		require.NoError(t, err)
		require.False(t, seen[mr.LKey], "%#x", mr.LKey)
		seen[mr.LKey] = true
		require.NoError(t, mr.Dereg())
	}
}

// The device has 8 keys and 32 page entries here.
func TestRegionsRunOut(t *testing.T) {
	m, d := start(t, driver.Config{})
	pd, _ := d.AllocPD()
	small, err := d.AllocBuffer(1, 0)
	require.NoError(t, err)
	var mrs []*driver.MR
	for range 8 {
		mr, err := pd.RegMR(small, 0)
		require.NoError(t, err)
		mrs = append(mrs, mr)
	}
	dma := len(m.dma)
	_, err = pd.RegMR(small, 0)
	require.ErrorIs(t, err, driver.ErrNoMemory, "keys")
	require.Len(t, m.dma, dma)
	require.NoError(t, mrs[3].Dereg())
	mrs[3], err = pd.RegMR(small, 0)
	require.NoError(t, err)
	for _, mr := range mrs {
		require.NoError(t, mr.Dereg())
	}

	big, err := d.AllocBuffer(33*4096, 0)
	require.NoError(t, err)
	_, err = pd.RegMR(big, 0)
	require.ErrorIs(t, err, driver.ErrNoMemory, "page entries")
	for range 3 { // nothing was lost
		mr, err := pd.RegMRRange(big, 0, 32*4096, 0)
		require.NoError(t, err)
		_, err = pd.RegMR(small, 0)
		require.ErrorIs(t, err, driver.ErrNoMemory)
		require.NoError(t, mr.Dereg())
	}
	m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
		return abi.AdminNoResource, abi.SynNumPages
	}
	_, err = pd.RegMR(small, 0)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	m.refuse = nil
	mr, err := pd.RegMRRange(big, 0, 32*4096, 0)
	require.NoError(t, err, "the entry was given back")
	require.EqualValues(t, 0, m.mrs[mr.LKey.Index()].FirstPage)
}

func TestContiguousTakesFewPages(t *testing.T) {
	m, d := start(t, driver.Config{})
	pd, _ := d.AllocPD()
	buf, err := d.AllocContiguous(5<<20, 2<<20)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, abi.AccessLocalWrite)
	require.NoError(t, err)
	r := m.mrs[mr.LKey.Index()]
	require.EqualValues(t, 21, r.LogPageSize)
	require.Equal(t, []uint64{buf.Pages()[0], buf.Pages()[512], buf.Pages()[1024]}, r.pages)
	part, err := pd.RegMRRange(buf, 3<<20, 5000, 0)
	require.NoError(t, err)
	r = m.mrs[part.LKey.Index()]
	require.Len(t, r.pages, 1)
	require.Equal(t, buf.Pages()[512], r.pages[0])
}
