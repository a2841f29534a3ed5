package driver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// Numbers and addresses of one device mean something else on another: its objects
// are refused there, before anything is told to the device.
func TestObjectsOfAnotherDevice(t *testing.T) {
	mine, theirs := unconnected(t, driver.Config{}, driver.QPConfig{}), unconnected(t, driver.Config{}, driver.QPConfig{})
	_, err := mine.pd.RegMR(theirs.buf, abi.AccessLocalWrite)
	require.ErrorIs(t, err, driver.ErrInvalid)
	for _, c := range []driver.QPConfig{
		{SendCQ: theirs.cq, RecvCQ: mine.cq},
		{SendCQ: mine.cq, RecvCQ: theirs.cq},
	} {
		_, err = mine.pd.CreateQP(c)
		require.ErrorIs(t, err, driver.ErrInvalid)
	}
	require.NoError(t, theirs.dev.Close())
	require.NoError(t, mine.dev.Close())
}

func TestNoBuffer(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	_, err := p.pd.RegMR(nil, abi.AccessLocalWrite)
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = p.pd.RegMRRange(nil, 0, 1, abi.AccessLocalWrite)
	require.ErrorIs(t, err, driver.ErrInvalid)
}

// No size makes a buffer with less memory behind it than it says.
func TestHugeBuffers(t *testing.T) {
	_, d := start(t, driver.Config{})
	for _, size := range []int{math.MaxInt, math.MaxInt - 4095, math.MaxInt - 4096} {
		_, err := d.AllocBuffer(size, 4095)
		require.ErrorIs(t, err, driver.ErrNoMemory)
		_, err = d.AllocContiguous(size, 4096)
		require.ErrorIs(t, err, driver.ErrNoMemory)
	}
}

// A closed device has given its event queues back: nothing reads them any more, and
// nobody waits for what cannot come.
func TestEventsOfClosedDevice(t *testing.T) {
	m, d := start(t, driver.Config{})
	require.NoError(t, d.Close())
	m.writes = nil
	_, err := d.AsyncEvents()
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = d.WaitAsync(math.MaxInt64)
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = d.Counter(abi.TxPackets)
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = d.Cycles()
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.Empty(t, m.writes)
}
