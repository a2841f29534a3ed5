package driver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/driver"
)

// waits are the ways to wait for ever.
var waits = map[string]func(d *driver.Device, c *driver.CQ) error{
	"Wait": func(_ *driver.Device, c *driver.CQ) error {
		_, err := c.Wait(make([]driver.WC, 1), math.MaxInt64)
		return err
	},
	"CQEvent":    func(d *driver.Device, _ *driver.CQ) error { _, err := d.CQEvent(0, math.MaxInt64); return err },
	"AsyncEvent": func(d *driver.Device, _ *driver.CQ) error { _, _, err := d.AsyncEvent(math.MaxInt64); return err },
	"WaitAsync":  func(d *driver.Device, _ *driver.CQ) error { _, err := d.WaitAsync(math.MaxInt64); return err },
}

// Who waits for the completions of a queue that is destroyed learns of it at once; a
// thread that waits for another queue of the vector goes on waiting.
func TestDestroyWakesWaiters(t *testing.T) {
	m, d := start(t, driver.Config{})
	var cqs [2]*driver.CQ
	for i := range cqs {
		var err error
		cqs[i], err = d.CreateCQ(4, driver.CQOptions{})
		require.NoError(t, err)
	}
	var woken []int
	var at int64
	for i := range cqs {
		for range 2 {
			m.spawn(func(b *bus) {
				mine := d.On(b)
				err := waits["Wait"](mine, cqs[i].On(mine))
				require.ErrorIs(t, err, driver.ErrInvalid)
				require.ErrorContains(t, err, "destroyed while waiting")
				require.Less(t, b.Now(), at+3_000_000)
				woken = append(woken, i)
			})
		}
	}
	m.spawn(func(b *bus) {
		for i := range cqs {
			b.Spend(50_000_000)
			require.Len(t, woken, 2*i)
			at = b.Now()
			require.NoError(t, cqs[i].On(d.On(b)).Destroy())
		}
	})
	require.True(t, m.run(), "a thread sleeps for ever")
	require.Equal(t, []int{0, 0, 1, 1}, woken)
}

// Close ends all waits.
func TestCloseWakesWaiters(t *testing.T) {
	for name, wait := range waits {
		m, d := start(t, driver.Config{})
		c, err := d.CreateCQ(4, driver.CQOptions{})
		require.NoError(t, err)
		for range 2 {
			m.spawn(func(b *bus) {
				mine := d.On(b)
				require.ErrorIs(t, wait(mine, c.On(mine)), driver.ErrInvalid, name)
			})
		}
		m.spawn(func(b *bus) {
			b.Spend(50_000_000)
			require.NoError(t, d.On(b).Close())
		})
		require.True(t, m.run(), name)
	}
}
