package driver_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestAsyncEvent(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4})
	_, ok, err := p.dev.AsyncEvent(p.m.now + 1_000_000)
	require.NoError(t, err)
	require.False(t, ok)
	p.m.event(0, abi.Event{Type: abi.EventPortErr, Number: 1, Timestamp: 1})
	p.m.event(0, abi.Event{Type: abi.EventCommEst, Number: p.a.Number(), Timestamp: 2})
	p.m.event(0, abi.Event{Type: abi.EventQPFatal, Number: p.a.Number(), Timestamp: 3})
	p.m.event(1, abi.Event{Type: abi.EventCQErr, Number: p.cq.Number(), Timestamp: 4})
	p.m.event(0, abi.Event{Type: abi.EventQPFatal, Number: p.b.Number(), Timestamp: 5})
	p.m.settle()
	var got []driver.AsyncEvent
	for range 4 {
		e, ok, err := p.dev.AsyncEvent(math.MaxInt64)
		require.NoError(t, err)
		require.True(t, ok)
		got = append(got, e)
	}
	require.Equal(t, "PORT_ERR COMM_EST QP_FATAL CQ_ERR", got[0].Type.String()+" "+got[1].Type.String()+" "+got[2].Type.String()+" "+got[3].Type.String())

	var times [3]int64
	p.m.spawn(func(b *bus) {
		d := p.dev.On(b)
		require.NoError(t, p.a.On(d).Destroy())
		times[0] = b.Now()
		require.NoError(t, p.b.On(d).Destroy()) // its event nobody has taken
		times[1] = b.Now()
		require.NoError(t, p.cq.On(d).Destroy())
		times[2] = b.Now()
	})
	p.m.spawn(func(b *bus) {
		d := p.dev.On(b)
		for _, e := range got[:2] {
			b.Spend(30_000_000)
			require.NoError(t, d.AckAsync(e))
		}
		b.Spend(30_000_000)
		require.Zero(t, times[0])
		require.NoError(t, d.AckAsync(got[2]))
		require.ErrorIs(t, d.AckAsync(got[2]), driver.ErrInvalid, "twice")
		b.Spend(30_000_000)
		require.NotZero(t, times[1])
		require.Zero(t, times[2])
		require.NoError(t, d.AckAsync(got[3]))
	})
	require.True(t, p.m.run())
	require.NotZero(t, times[2])
	events, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Empty(t, events, "of what is destroyed")
	require.NoError(t, p.dev.AckAsync(got[0]), "of the port")
	require.ErrorIs(t, p.dev.AckAsync(got[1]), driver.ErrInvalid, "of a QP that is no more")
}

// AsyncEvents hands out the rest, which needs no acknowledgement.
func TestAsyncEventThenAll(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4})
	for i := range uint64(3) {
		p.m.event(0, abi.Event{Type: abi.EventCommEst, Number: p.a.Number(), Timestamp: i + 1})
	}
	p.m.settle()
	e, ok, err := p.dev.AsyncEvent(0)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 1, e.Timestamp)
	events, err := p.dev.AsyncEvents()
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.NoError(t, p.dev.AckAsync(e))
	require.NoError(t, p.a.Destroy())
}
