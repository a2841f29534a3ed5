package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/driver"
)

func TestModerate(t *testing.T) {
	m, d := start(t, driver.Config{})
	cq, err := d.CreateCQ(8, driver.CQOptions{Moderation: driver.Moderation{Count: 5, Period: 7}})
	require.NoError(t, err)
	c := m.cqs[cq.Number()]
	require.EqualValues(t, 5, c.Count)
	require.EqualValues(t, 7, c.Period)
	for _, good := range []driver.Moderation{{}, {Count: 1}, {Period: 4000}, {Count: 65535, Period: 1}} {
		require.NoError(t, cq.Moderate(good))
		require.EqualValues(t, good.Count, c.Count)
		require.EqualValues(t, good.Period, c.Period)
	}
	for _, bad := range []driver.Moderation{{Count: 2}, {Count: -1, Period: 1}, {Count: 65536, Period: 1}, {Period: -1}, {Period: 4001}} {
		require.ErrorIs(t, cq.Moderate(bad), driver.ErrInvalid, "%+v", bad)
		_, err := d.CreateCQ(8, driver.CQOptions{Moderation: bad})
		require.ErrorIs(t, err, driver.ErrInvalid, "%+v", bad)
	}
	require.NoError(t, cq.Destroy())
	require.ErrorIs(t, cq.Moderate(driver.Moderation{}), driver.ErrInvalid)
}
