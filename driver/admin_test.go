package driver_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestAdminStatusToError(t *testing.T) {
	for _, c := range []struct {
		status abi.AdminStatus
		want   error
		errno  syscall.Errno
	}{
		{abi.AdminBadOpcode, driver.ErrNoCommand, syscall.ENOSYS},
		{abi.AdminNotSupported, driver.ErrNotSupported, syscall.EOPNOTSUPP},
		{abi.AdminBadParam, driver.ErrInvalid, syscall.EINVAL},
		{abi.AdminBadState, driver.ErrInvalid, syscall.EINVAL},
		{abi.AdminNoResource, driver.ErrNoMemory, syscall.ENOMEM},
		{abi.AdminBusy, driver.ErrBusy, syscall.EBUSY},
		{abi.AdminBadObject, driver.ErrNotFound, syscall.ENOENT},
		{abi.AdminExists, driver.ErrExists, syscall.EEXIST},
		{abi.AdminDMAError, driver.ErrDevice, syscall.EIO},
		{77, driver.ErrDevice, syscall.EIO},
	} {
		m, d := start(t, driver.Config{})
		m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) { return c.status, abi.SynEQN }
		dma := len(m.dma)
		_, err := d.CreateCQ(4, driver.CQOptions{})
		require.ErrorIs(t, err, c.want)
		require.ErrorIs(t, err, c.errno)
		var refused *driver.AdminError
		require.True(t, errors.As(err, &refused))
		require.Equal(t, driver.AdminError{Op: abi.AdminCreateCQ, Object: 0, Status: c.status, Syndrome: abi.SynEQN}, *refused)
		require.Contains(t, err.Error(), "CREATE_CQ 0: "+c.status.String()+" (EQN)")
		require.Len(t, m.dma, dma, "the ring was given back")
	}
}

// More threads than the admin rings have entries issue commands at once. Each must
// get the answer to its own.
func TestAdminFromManyThreads(t *testing.T) {
	for _, room := range []int{0, 1, 3} {
		t.Run(fmt.Sprint("writes at once: ", room), func(t *testing.T) {
			m, d := start(t, driver.Config{Vectors: 1})
			m.room, m.shuffle = room, rand.New(rand.NewPCG(1, 2))
			m.refuse = func(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
				if c.Op == abi.AdminCreateCQ && c.Object%3 == 1 {
					return abi.AdminNoResource, abi.AdminSyndrome(c.Object)
				}
				return abi.AdminOK, 0
			}
			made, refused := 0, 0
			for range 60 {
				m.spawn(func(b *bus) {
					cq, err := d.On(b).CreateCQ(2, driver.CQOptions{})
					var e *driver.AdminError
					if errors.As(err, &e) {
						require.EqualValues(t, 1, e.Object%3)
						require.EqualValues(t, e.Object, e.Syndrome)
						refused++
						return
					}
					require.NoError(t, err)
					require.NotEqualValues(t, 1, cq.Number()%3)
					made++
				})
			}
			require.True(t, m.run())
			require.Equal(t, []int{40, 20}, []int{made, refused})
			require.Len(t, m.cqs, 40)
		})
	}
}

// A device that falls silent is given up: nothing blocks for ever, and memory that
// it may still use is kept.
func TestSilentDevice(t *testing.T) {
	p := connected(t, driver.Config{AdminTimeout: 5_000_000}, driver.QPConfig{MaxSend: 4})
	p.m.mute = true
	dma, before := len(p.m.dma), p.m.now
	err := p.a.Destroy()
	require.ErrorIs(t, err, driver.ErrTimeout)
	require.ErrorIs(t, err, syscall.ETIMEDOUT)
	require.GreaterOrEqual(t, p.m.now, before+5_000_000)
	require.Less(t, p.m.now, before+6_000_000)

	p.m.mute = false
	before = p.m.now
	_, err = p.dev.CreateCQ(1, driver.CQOptions{})
	require.ErrorIs(t, err, driver.ErrTimeout, "it stays given up")
	require.Equal(t, before, p.m.now, "without waiting again")
	require.ErrorIs(t, p.dev.Close(), driver.ErrTimeout)
	require.Len(t, p.m.dma, dma)
	p.m.settle()
	require.False(t, p.m.status.AdminEnabled)
}

func TestSilentDeviceWithManyThreads(t *testing.T) {
	m, d := start(t, driver.Config{AdminTimeout: 5_000_000})
	m.mute = true
	n := 0
	for range 40 {
		m.spawn(func(b *bus) {
			_, err := d.On(b).CreateCQ(2, driver.CQOptions{})
			require.ErrorIs(t, err, driver.ErrTimeout)
			n++
		})
	}
	require.True(t, m.run())
	require.Equal(t, 40, n)
}
