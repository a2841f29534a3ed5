package driver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// pair is two connected QPs of one device, all on one CQ.
type pair struct {
	m      *machine
	dev    *driver.Device
	pd     *driver.PD
	cq     *driver.CQ
	a, b   *driver.QP
	buf    *driver.Buffer
	mr     *driver.MR
	config driver.QPConfig
}

// connected opens a device and connects two QPs on it.
func connected(t testing.TB, cfg driver.Config, c driver.QPConfig) *pair {
	p := unconnected(t, cfg, c)
	require.NoError(t, p.a.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
	require.NoError(t, p.b.Connect(p.a.Endpoint(), driver.ConnectOptions{}))
	p.m.writes, p.m.reads = nil, 0
	return p
}

// unconnected makes what connected does, up to the QPs.
func unconnected(t testing.TB, cfg driver.Config, c driver.QPConfig) *pair {
	var err error
	p := &pair{config: c}
	p.m, p.dev = start(t, cfg)
	p.pd, err = p.dev.AllocPD()
	require.NoError(t, err)
	p.cq, err = p.dev.CreateCQ(64, driver.CQOptions{})
	require.NoError(t, err)
	c.SendCQ, c.RecvCQ = p.cq, p.cq
	p.a, err = p.pd.CreateQP(c)
	require.NoError(t, err)
	p.b, err = p.pd.CreateQP(c)
	require.NoError(t, err)
	p.buf, err = p.dev.AllocBuffer(10_000, 100)
	require.NoError(t, err)
	p.mr, err = p.pd.RegMR(p.buf, abi.AccessLocalWrite)
	require.NoError(t, err)
	return p
}

// settle lets everything happen that is under way.
func (m *machine) settle() {
	for m.step(math.MaxInt64) {
	}
}

// poll takes all completions that are there.
func poll(t testing.TB, cq *driver.CQ) (all []driver.WC) {
	wcs := make([]driver.WC, 5)
	for {
		n, err := cq.Poll(wcs)
		require.NoError(t, err)
		if n == 0 {
			return all
		}
		all = append(all, wcs[:n]...)
	}
}

// ids are those of completions.
func ids(wcs []driver.WC) (ids []uint64) {
	for _, w := range wcs {
		ids = append(ids, w.ID)
	}
	return ids
}

func nop(id uint64, signaled bool) driver.SendWR {
	return driver.SendWR{ID: id, Op: abi.OpNop, Signaled: signaled}
}

func write(t testing.TB, b *driver.Buffer, off int, s string) {
	n, err := b.WriteAt([]byte(s), int64(off))
	require.NoError(t, err)
	require.Equal(t, len(s), n)
}

func read(t testing.TB, b *driver.Buffer, off, n int) string {
	p := make([]byte, n)
	_, err := b.ReadAt(p, int64(off))
	require.NoError(t, err)
	return string(p)
}
