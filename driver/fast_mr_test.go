package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// A region is registered from the send queue, used, invalidated, and registered again
// elsewhere, with the key of the program's choice.
func TestFastReg(t *testing.T) {
	w := withWindows(t)
	mr, err := w.pd.AllocFastMR(20)
	require.NoError(t, err)
	require.EqualValues(t, 20, w.m.mrs[mr.LKey.Index()].NumPages)
	key := abi.MakeKey(mr.LKey.Index(), 0xab)
	_, err = w.b.PostSend(driver.SendWR{ID: 1, Op: abi.OpFastReg, Signaled: true, FastReg: &driver.FastReg{
		MR: mr, Key: key, Addr: w.far.Addr + 10, Length: 4 * 4096, Pages: w.far.Pages(), Access: abi.AccessLocalWrite | abi.AccessRemoteWrite,
	}})
	require.NoError(t, err)
	require.Equal(t, []abi.Key{key, key}, []abi.Key{mr.LKey, mr.RKey})
	require.Equal(t, driver.SGE{Addr: w.far.Addr + 15, Length: 6, LKey: key}, mr.SGE(5, 6))
	require.EqualValues(t, 4*4096, mr.Length)
	w.m.settle()
	wcs := poll(t, w.cq)
	require.Len(t, wcs, 1)
	require.Equal(t, abi.WCFastReg, wcs[0].Opcode)
	require.NoError(t, wcs[0].Err())
	require.Equal(t, abi.StatusSuccess, w.write(t, w.far.Addr+9000, key))
	require.Equal(t, "data", read(t, w.far, 9000, 4))
	require.Equal(t, abi.StatusRemAccess, w.write(t, w.far.Addr+9, key))

	big, err := w.dev.AllocBuffer(17*4096, 0)
	require.NoError(t, err)
	_, err = w.b.PostSend(
		driver.SendWR{Op: abi.OpLocalInv, Imm: uint32(key)},
		driver.SendWR{Op: abi.OpFastReg, Signaled: true, FastReg: &driver.FastReg{MR: mr, Addr: big.Addr, Length: 17 * 4096, Pages: big.Pages(), Access: abi.AccessLocalWrite | abi.AccessRemoteWrite}},
	)
	require.NoError(t, err)
	require.Equal(t, key, mr.LKey, "as it was")
	require.Equal(t, abi.StatusSuccess, w.status(t))
	require.Equal(t, abi.StatusSuccess, w.write(t, big.Addr+16*4096+90, key), "the last page")
	require.Equal(t, "data", read(t, big, 16*4096+90, 4))
	require.Equal(t, abi.StatusRemAccess, w.write(t, w.far.Addr+9000, key))

	require.ErrorIs(t, w.pd.Destroy(), driver.ErrBusy)
	require.NoError(t, mr.Dereg())
	require.ErrorIs(t, mr.Dereg(), driver.ErrInvalid)
	require.NoError(t, w.dev.Close())
}

func TestFastRegRules(t *testing.T) {
	w, other := withWindows(t), withWindows(t)
	mr, err := w.pd.AllocFastMR(12)
	require.NoError(t, err)
	theirs, err := other.pd.AllocFastMR(12)
	require.NoError(t, err)
	dead, err := w.pd.AllocFastMR(1)
	require.NoError(t, err)
	require.NoError(t, dead.Dereg())
	good := driver.FastReg{MR: mr, Addr: w.far.Addr, Length: 100, Pages: w.far.Pages()[:1]}
	for name, c := range map[string]struct {
		change func(f *driver.FastReg)
		want   error
	}{
		"no region":         {func(f *driver.FastReg) { f.MR = nil }, driver.ErrInvalid},
		"a buffer's region": {func(f *driver.FastReg) { f.MR = w.mr }, driver.ErrInvalid},
		"of another device": {func(f *driver.FastReg) { f.MR = theirs }, driver.ErrInvalid},
		"deregistered":      {func(f *driver.FastReg) { f.MR = dead }, driver.ErrInvalid},
		"key of another":    {func(f *driver.FastReg) { f.Key = w.mr.LKey }, driver.ErrInvalid},
		"no pages":          {func(f *driver.FastReg) { f.Pages = nil }, driver.ErrInvalid},
		"over the region":   {func(f *driver.FastReg) { f.Pages = make([]uint64, 13) }, driver.ErrInvalid},
		"page size":         {func(f *driver.FastReg) { f.LogPageSize = 13 }, driver.ErrInvalid},
		"page size beyond":  {func(f *driver.FastReg) { f.LogPageSize = 200 }, driver.ErrInvalid},
		"no local write":    {func(f *driver.FastReg) { f.Access = abi.AccessRemoteWrite }, driver.ErrInvalid},
		"access":            {func(f *driver.FastReg) { f.Access = 0x80 }, driver.ErrNotSupported},
	} {
		bad := good
		c.change(&bad)
		_, err := w.b.PostSend(driver.SendWR{Op: abi.OpFastReg, FastReg: &bad})
		require.ErrorIs(t, err, c.want, name)
	}
	for name, wr := range map[string]driver.SendWR{
		"nothing": {Op: abi.OpFastReg}, "inline": {Op: abi.OpFastReg, FastReg: &good, Inline: []byte("x")},
	} {
		_, err := w.b.PostSend(wr)
		require.ErrorIs(t, err, driver.ErrInvalid, name)
	}
	large, err := w.pd.AllocFastMR(10)
	require.NoError(t, err)
	q, err := w.pd.CreateQP(driver.QPConfig{SendCQ: w.cq, RecvCQ: w.cq, MaxSend: 1, MaxFastRegPages: 9})
	require.NoError(t, err)
	require.EqualValues(t, 2, w.m.qps[q.Number()].SQLogUnits, "3 units")
	require.NoError(t, q.Connect(q.Endpoint(), driver.ConnectOptions{}))
	over := driver.FastReg{MR: large, Length: 1, Pages: make([]uint64, 10)}
	_, err = q.PostSend(driver.SendWR{Op: abi.OpFastReg, FastReg: &over})
	require.ErrorIs(t, err, driver.ErrInvalid, "more than the QP has room for")

	for _, bad := range []int{0, -1, 33} {
		_, err := w.pd.AllocFastMR(bad)
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	for _, bad := range []int{-1, 33} {
		_, err := w.pd.CreateQP(driver.QPConfig{SendCQ: w.cq, RecvCQ: w.cq, MaxFastRegPages: bad})
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	_, err = w.pd.AllocFastMR(32)
	require.ErrorIs(t, err, driver.ErrNoMemory, "page entries")
	w.dev.Attr.MaxFastRegPages = 0
	_, err = w.pd.AllocFastMR(1)
	require.ErrorIs(t, err, driver.ErrNotSupported)
}
