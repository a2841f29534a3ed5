package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// windows is a pair of QPs, of which b opens windows in a buffer of its own to a.
type windows struct {
	*pair
	far *driver.Buffer
	mr  *driver.MR
}

func withWindows(t testing.TB) *windows {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 8, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: 64, MaxFastRegPages: 17})
	w := &windows{pair: p}
	var err error
	w.far, err = p.dev.AllocBuffer(20_000, 0)
	require.NoError(t, err)
	w.mr, err = p.pd.RegMR(w.far, abi.AccessLocalWrite|abi.AccessMWBind)
	require.NoError(t, err)
	return w
}

// status executes what is on its way and is that of the only completion.
func (w *windows) status(t testing.TB) abi.WCStatus {
	w.m.settle()
	wcs := poll(t, w.cq)
	require.Len(t, wcs, 1)
	return wcs[0].Status
}

// write tries an RDMA WRITE of a; if it fails, the QPs are connected again.
func (w *windows) write(t testing.TB, addr uint64, key abi.Key) abi.WCStatus {
	_, err := w.a.PostSend(driver.SendWR{Op: abi.OpWrite, Inline: []byte("data"), Signaled: true, RemoteAddr: addr, RKey: key})
	require.NoError(t, err)
	status := w.status(t)
	if status != abi.StatusSuccess {
		w.again(t)
	}
	return status
}

func (w *windows) again(t testing.TB) {
	reset := driver.QPAttr{State: abi.QPReset}
	require.NoError(t, w.a.Modify(reset, abi.AttrState))
	require.NoError(t, w.b.Modify(reset, abi.AttrState))
	require.NoError(t, w.a.Connect(w.b.Endpoint(), driver.ConnectOptions{}))
	require.NoError(t, w.b.Connect(w.a.Endpoint(), driver.ConnectOptions{}))
}

func (w *windows) bind(off, n uint64) driver.BindWR {
	return driver.BindWR{ID: 5, Signaled: true, Bind: driver.Bind{MR: w.mr, Addr: w.far.Addr + off, Length: n, Access: abi.AccessRemoteWrite}}
}

// A window of type 1 is bound, bound again and unbound; each time its key is another.
func TestWindowType1(t *testing.T) {
	w := withWindows(t)
	mw, err := w.pd.AllocMW(abi.KeyWindow1)
	require.NoError(t, err)
	first := mw.RKey
	require.NoError(t, mw.Bind(w.b, w.bind(100, 50)))
	require.Equal(t, abi.MakeKey(first.Index(), first.Low()+1), mw.RKey)
	w.m.settle()
	wcs := poll(t, w.cq)
	require.Len(t, wcs, 1)
	require.EqualValues(t, 5, wcs[0].ID)
	require.Equal(t, abi.WCBindMW, wcs[0].Opcode)
	require.NoError(t, wcs[0].Err())
	require.Equal(t, abi.StatusSuccess, w.write(t, w.far.Addr+110, mw.RKey))
	require.Equal(t, "data", read(t, w.far, 110, 4))
	require.Equal(t, abi.StatusRemAccess, w.write(t, w.far.Addr+99, mw.RKey))
	require.ErrorIs(t, w.mr.Dereg(), driver.ErrBusy, "a window is bound")

	old := mw.RKey
	require.NoError(t, mw.Bind(w.b, w.bind(5000, 8)))
	require.Equal(t, abi.StatusSuccess, w.status(t))
	require.Equal(t, abi.StatusRemAccess, w.write(t, w.far.Addr+110, old))
	require.Equal(t, abi.StatusSuccess, w.write(t, w.far.Addr+5000, mw.On(w.dev).RKey))
	require.NoError(t, mw.Bind(w.b, driver.BindWR{Signaled: true}), "unbinds")
	require.Equal(t, abi.StatusSuccess, w.status(t))
	require.Equal(t, abi.StatusRemAccess, w.write(t, w.far.Addr+5000, mw.RKey))
	require.NoError(t, w.mr.Dereg())

	require.ErrorIs(t, w.pd.Destroy(), driver.ErrBusy)
	require.NoError(t, mw.Dealloc())
	require.ErrorIs(t, mw.Dealloc(), driver.ErrInvalid)
	require.ErrorIs(t, mw.Bind(w.b, w.bind(0, 1)), driver.ErrInvalid)
}

// A window of type 2 is bound by a work request, by a key of the program's choice, and
// must be invalidated before it is bound again: locally, or by the peer.
func TestWindowType2(t *testing.T) {
	w := withWindows(t)
	mw, err := w.pd.AllocMW(abi.KeyWindow2)
	require.NoError(t, err)
	bind := func(low uint8) driver.SendWR {
		b := w.bind(4000, 200).Bind
		b.MW, b.RKey = mw, abi.MakeKey(mw.RKey.Index(), low)
		return driver.SendWR{ID: 6, Op: abi.OpBindMW, Signaled: true, Bind: &b}
	}
	_, err = w.b.PostSend(bind(0xee))
	require.NoError(t, err)
	require.EqualValues(t, 0xee, mw.RKey.Low())
	require.Equal(t, abi.StatusSuccess, w.status(t))
	require.Equal(t, abi.StatusSuccess, w.write(t, w.far.Addr+4100, mw.RKey))
	_, err = w.b.PostSend(driver.SendWR{ID: 7, Op: abi.OpLocalInv, Imm: uint32(mw.RKey), Signaled: true}, bind(0x11))
	require.NoError(t, err)
	w.m.settle()
	wcs := poll(t, w.cq)
	require.Equal(t, []uint64{7, 6}, ids(wcs))
	require.Equal(t, abi.WCLocalInv, wcs[0].Opcode)
	require.NoError(t, wcs[1].Err())

	_, err = w.b.PostRecv(driver.RecvWR{ID: 8})
	require.NoError(t, err)
	_, err = w.a.PostSend(driver.SendWR{ID: 9, Op: abi.OpSendInv, Imm: uint32(mw.RKey), Signaled: true})
	require.NoError(t, err)
	w.m.settle()
	wcs = poll(t, w.cq)
	require.Equal(t, []uint64{8, 9}, ids(wcs))
	require.Equal(t, abi.CQEWithInv, wcs[0].Flags)
	require.EqualValues(t, mw.RKey, wcs[0].Imm)
	require.Equal(t, abi.StatusRemAccess, w.write(t, w.far.Addr+4100, mw.RKey))

	_, err = w.b.PostSend(bind(0x22), bind(0x33))
	require.NoError(t, err, "the device judges")
	w.m.settle()
	wcs = poll(t, w.cq)
	require.Equal(t, abi.StatusMWBind, wcs[1].Status)
	require.ErrorIs(t, w.mr.Dereg(), driver.ErrBusy)
	require.NoError(t, w.b.Destroy())
	require.NoError(t, w.mr.Dereg(), "its windows die with the QP")
	require.NoError(t, w.dev.Close())
	require.Empty(t, w.m.mrs)
}

func TestWindowRules(t *testing.T) {
	w, other := withWindows(t), withWindows(t)
	one, err := w.pd.AllocMW(abi.KeyWindow1)
	require.NoError(t, err)
	two, err := w.pd.AllocMW(abi.KeyWindow2)
	require.NoError(t, err)
	theirs, err := other.pd.AllocMW(abi.KeyWindow2)
	require.NoError(t, err)
	dead, err := w.pd.AllocMW(abi.KeyWindow2)
	require.NoError(t, err)
	require.NoError(t, dead.Dealloc())
	gone, err := w.pd.RegMR(w.far, abi.AccessMWBind)
	require.NoError(t, err)
	require.NoError(t, gone.Dereg())
	for name, change := range map[string]func(b *driver.Bind){
		"no window":             func(b *driver.Bind) { b.MW = nil },
		"type 1":                func(b *driver.Bind) { b.MW, b.RKey = one, one.RKey },
		"deallocated":           func(b *driver.Bind) { b.MW, b.RKey = dead, dead.RKey },
		"of another device":     func(b *driver.Bind) { b.MW, b.RKey = theirs, theirs.RKey },
		"key of another":        func(b *driver.Bind) { b.RKey = one.RKey },
		"no region":             func(b *driver.Bind) { b.MR = nil },
		"region deregistered":   func(b *driver.Bind) { b.MR = gone },
		"region, other device":  func(b *driver.Bind) { b.MR = other.mr },
		"access not for remote": func(b *driver.Bind) { b.Access = abi.AccessLocalWrite },
	} {
		b := w.bind(0, 10).Bind
		b.MW, b.RKey = two, two.RKey
		change(&b)
		was := two.RKey
		_, err := w.b.PostSend(driver.SendWR{Op: abi.OpBindMW, Bind: &b})
		require.ErrorIs(t, err, driver.ErrInvalid, name)
		require.Equal(t, was, two.RKey)
	}
	good := w.bind(0, 10).Bind
	good.MW, good.RKey = two, two.RKey
	for name, wr := range map[string]driver.SendWR{
		"no bind":            {Op: abi.OpBindMW},
		"bind with SGEs":     {Op: abi.OpBindMW, Bind: &good, SGEs: make([]driver.SGE, 1)},
		"invalidate, inline": {Op: abi.OpLocalInv, Inline: []byte{}},
	} {
		_, err := w.b.PostSend(wr)
		require.ErrorIs(t, err, driver.ErrInvalid, name)
	}
	require.ErrorIs(t, two.Bind(w.b, w.bind(0, 10)), driver.ErrInvalid, "type 2")
	was := one.RKey
	idle, err := w.pd.CreateQP(driver.QPConfig{SendCQ: w.cq, RecvCQ: w.cq})
	require.NoError(t, err)
	require.ErrorIs(t, one.Bind(idle, w.bind(0, 10)), driver.ErrInvalid, "in RESET")
	require.Equal(t, was, one.RKey)
	for _, kind := range []abi.KeyKind{abi.KeyRegion, abi.KeyFastReg} {
		_, err := w.pd.AllocMW(kind)
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	w.dev.Attr.Access &^= abi.AccessMWBind
	_, err = w.pd.AllocMW(abi.KeyWindow1)
	require.ErrorIs(t, err, driver.ErrNotSupported)
	require.NoError(t, one.Dealloc())
	require.NoError(t, two.Dealloc())
}

// A key comes back with another low byte than its last one, whoever chose that.
func TestKeysOfWindowsChange(t *testing.T) {
	w := withWindows(t)
	last := map[uint32]uint8{}
	for range 40 {
		mw, err := w.pd.AllocMW(abi.KeyWindow1)
		require.NoError(t, err)
		if low, ok := last[mw.RKey.Index()]; ok {
			require.NotEqual(t, low, mw.RKey.Low())
		}
		require.NoError(t, mw.Bind(w.b, w.bind(0, 10)))
		w.m.settle()
		poll(t, w.cq)
		last[mw.RKey.Index()] = mw.RKey.Low()
		require.NoError(t, mw.Dealloc())
	}
}
