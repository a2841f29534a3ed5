package e2e_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// TestDestroyWakesWaiter: a thread that sleeps for completions wakes when another destroys
// their queue.
func TestDestroyWakesWaiter(t *testing.T) {
	s := e2e.New(t, leaves)
	var c *driver.CQ
	s.A.Must(func() (err error) { c, err = s.A.Dev.CreateCQ(4, driver.CQOptions{}); return err })
	var err error
	s.A.Host.Go("waiter", func(_ *hdl.Thread, b *host.Bus) {
		_, err = c.On(s.A.Dev.On(b)).Wait(make([]driver.WC, 1), math.MaxInt64)
	})
	s.Sleep(1000)
	require.NoError(t, err)
	s.A.Must(c.Destroy)
	s.Sleep(10)
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.ErrorContains(t, err, "destroyed while waiting")
}
