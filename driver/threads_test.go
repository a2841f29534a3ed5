package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// TestPushBesideReceive: a thread posts a receive while another's pushed send takes
// its CPU time; what is pushed is the send.
func TestPushBesideReceive(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 4})
	sges := []abi.SGE{p.mr.SGE(0, 1), p.mr.SGE(1, 1), p.mr.SGE(2, 1), p.mr.SGE(3, 1)}
	p.m.spawn(func(b *bus) {
		_, err := p.a.On(p.dev.On(b)).PostSend(nop(1, true))
		require.NoError(t, err)
	})
	p.m.spawn(func(b *bus) {
		b.Spend(p.dev.Config.PostCost / 2)
		_, err := p.a.On(p.dev.On(b)).PostRecv(driver.RecvWR{ID: 2, SGEs: sges})
		require.NoError(t, err)
	})
	require.True(t, p.m.run())
	p.m.settle()
	require.Equal(t, 1, p.m.pushed)
	require.Equal(t, []uint64{1}, ids(poll(t, p.cq)))
}
