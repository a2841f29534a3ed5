package host_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/pcie"
	"rnic/tb/host"
)

// run drives a device by one thread, to its end.
func (d *device) run(t testing.TB, fn func(bus *host.Bus)) {
	th := d.k.Go("driver", func(th *hdl.Thread) { fn(d.Host.NewBus(th)) })
	require.NoError(t, d.k.Run(d.k.Cycle()+10_000_000))
	require.True(t, th.Done())
}

// answerReads has the device answer each MMIO read with its offset + 1.
func (d *device) answerReads() {
	d.Down.OnTake = func(b pcie.Beat) {
		if b.Hdr.Kind == pcie.MRd {
			v := binary.LittleEndian.AppendUint32(nil, uint32(b.Hdr.Addr-host.BARBase)+1)
			d.send(pcie.Completion(&b.Hdr, 1, 0, 4), v)
		}
	}
}

func TestWriteWidths(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.run(t, func(bus *host.Bus) {
		for n := range 130 {
			for _, off := range []uint32{0, 4, 8, 64, 68, 96} {
				err := bus.Write(off, pattern(n))
				if (n == 4 || n == 8 || n == 64) && off%uint32(n) == 0 {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, host.ErrWidth, "%d bytes at %d", n, off)
				}
			}
		}
		require.ErrorIs(t, bus.Write(2<<20, pattern(4)), host.ErrBounds)
		require.ErrorIs(t, bus.Write(math.MaxUint32-3, pattern(4)), host.ErrBounds)
		require.NoError(t, bus.Write(2<<20-4, pattern(4)))
	})
	for _, w := range d.got() {
		require.Equal(t, pcie.MWr, w.Kind)
		require.Equal(t, pattern(w.Bytes()), w.data)
	}
	require.Len(t, d.got(), 6+4+2+1)
}

// TestMMIOOrder: writes and reads arrive in the order of the CPU's instructions,
// 250 ns after them; 1,000 in a row wait for room.
func TestMMIOOrder(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.answerReads()
	d.run(t, func(bus *host.Bus) {
		for i := range uint32(1000) {
			require.NoError(t, bus.Write(i*8, pattern(8)))
		}
		v, err := bus.Read32(4)
		require.NoError(t, err)
		require.EqualValues(t, 5, v)
		require.Greater(t, bus.Now(), int64(1000*32/63*4000))
	})
	l := d.got()
	require.EqualValues(t, 63+1, l[0].at)
	for i := range 1000 {
		require.EqualValues(t, host.BARBase+i*8, l[i].Addr)
	}
	require.Equal(t, pcie.MRd, l[1000].Kind)
}

// TestRoundTrip of a read: 250 ns each way, and what the device takes.
func TestRoundTrip(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.answerReads()
	d.run(t, func(bus *host.Bus) {
		bus.Spend(1_000_000)
		start := bus.Now()
		v, err := bus.Read32(0x40)
		require.NoError(t, err)
		require.EqualValues(t, 0x41, v)
		require.EqualValues(t, (63+1+1+1+63)*4000, bus.Now()-start)
	})
}

func TestReadErrors(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{MMIOTimeout: 10_000_000})
	answer := true
	d.Down.OnTake = func(b pcie.Beat) {
		if answer {
			d.send(pcie.Failure(&b.Hdr, 1, 0, pcie.UnsupportedRequest), nil)
		}
	}
	d.run(t, func(bus *host.Bus) {
		v, err := bus.Read32(0)
		require.ErrorIs(t, err, host.ErrRefused)
		require.EqualValues(t, math.MaxUint32, v)
		_, err = bus.Read32(2)
		require.ErrorIs(t, err, host.ErrBounds)
		_, err = bus.Read32(2 << 20)
		require.ErrorIs(t, err, host.ErrBounds)

		// More silence than there are tags, then answers that come too late.
		answer = false
		var asked []pcie.TLP
		for range 40 {
			v, err = bus.Read32(0)
			require.ErrorIs(t, err, host.ErrNoAnswer)
			require.EqualValues(t, math.MaxUint32, v)
		}
		for _, b := range d.Down.Got[1:] {
			asked = append(asked, b.Hdr)
		}
		require.Len(t, asked, 32)
		for i := range asked {
			d.send(pcie.Completion(&asked[i], 1, 0, 4), pattern(4))
		}
		bus.Spend(1_000_000)
		answer = true
		_, err = bus.Read32(0)
		require.ErrorIs(t, err, host.ErrRefused)
	})
}

// TestInterrupts: one is seen after the write before it; those that came since
// are one; each Bus sees them for itself.
func TestInterrupts(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	msg := pcie.Message{Addr: host.MSIBase, Data: 3}
	d.run(t, func(bus *host.Bus) {
		_, err := bus.WaitIRQ(64, math.MaxInt64)
		require.ErrorIs(t, err, host.ErrBounds)
		_, err = bus.WaitIRQ(-1, math.MaxInt64)
		require.ErrorIs(t, err, host.ErrBounds)

		ok, err := bus.WaitIRQ(3, 1_000_000)
		require.NoError(t, err)
		require.False(t, ok)
		require.EqualValues(t, 1_000_000, bus.Now())

		for i := range byte(2) {
			d.write(1<<32, []byte{i + 1})
			d.Up.Push(msg.Beat(0))
		}
		ok, err = bus.WaitIRQ(3, math.MaxInt64)
		require.NoError(t, err)
		require.True(t, ok)
		var b [1]byte
		require.NoError(t, bus.ReadMem(1<<32, b[:]))
		require.EqualValues(t, 1, b[0])
		bus.Spend(1_000_000)
		for _, want := range []bool{true, false} {
			ok, err = bus.WaitIRQ(3, bus.Now())
			require.NoError(t, err)
			require.Equal(t, want, ok)
		}
	})
	require.EqualValues(t, 2, d.Host.RC.Stats.Messages)
	d.run(t, func(bus *host.Bus) {
		ok, err := bus.WaitIRQ(3, 0)
		require.NoError(t, err)
		require.True(t, ok)
	})
}

// TestWaitWrite sleeps until the NIC writes to the watched range, not else.
func TestWaitWrite(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.run(t, func(bus *host.Bus) {
		w := d.Host.Mem.Watch(1<<32, 64)
		require.NoError(t, bus.WriteMem(1<<32, []byte{9}))
		require.Zero(t, bus.WaitWrite(w, 0, 2_000_000))
		require.EqualValues(t, 2_000_000, bus.Now())
		d.write(1<<32+64, []byte{1})
		d.write(1<<32+63, []byte{1})
		require.EqualValues(t, 1, bus.WaitWrite(w, 0, math.MaxInt64))
		require.EqualValues(t, 1, bus.WaitWrite(w, 0, math.MaxInt64))
	})
}

// TestSpend keeps fractions of a cycle: 1,000 polls of 30 ns are 30 us.
func TestSpend(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.run(t, func(bus *host.Bus) {
		for i := range int64(1000) {
			require.Equal(t, i*30_001, bus.Now())
			bus.Spend(30_001)
		}
		bus.Spend(0)
		bus.Spend(-5)
		require.EqualValues(t, 30_001_000, bus.Now())
	})
	require.EqualValues(t, 0, d.Host.RC.Stats.UpTLPs)
}

// TestCompletionsPassNoWrite: the CPU posts a write to the NIC and then changes
// memory; a read that sees the change is answered behind the write.
func TestCompletionsPassNoWrite(t *testing.T) {
	for seed := range uint64(5) {
		p := host.Params{Shuffle: true, Read: host.Uniform(1, 600_000), Write: host.Uniform(1, 500_000)}
		p.Down.Seed = seed
		d := newDevice(t, hdl.Options{Seed: seed}, p)
		for i := range 250 {
			d.read(pcie.Tag(i), 1<<32, 4)
		}
		d.Up.NotBefore = func(n int) uint64 { return uint64(n) * 5 }
		d.run(t, func(bus *host.Bus) {
			for i := range uint32(300) {
				require.NoError(t, bus.Write(8*i, pattern(8)))
				require.NoError(t, bus.WriteMem(1<<32, binary.LittleEndian.AppendUint32(nil, i+1)))
				bus.Spend(20_000)
			}
		})
		written, reads := 0, 0
		for _, c := range d.got() {
			if c.Kind == pcie.MWr {
				written++
				continue
			}
			reads++
			require.GreaterOrEqual(t, written, int(binary.LittleEndian.Uint32(c.data)))
		}
		require.Equal(t, 250, reads)
	}
}

func TestPages(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.run(t, func(bus *host.Bus) {
		a, err := bus.AllocDMA(5000, 64)
		require.NoError(t, err)
		require.NoError(t, bus.WriteMem(a, pattern(5000)))
		got := make([]byte, 5000)
		require.NoError(t, bus.ReadMem(a, got))
		require.Equal(t, pattern(5000), got)
		p, err := bus.AllocPages(3)
		require.NoError(t, err)
		require.Len(t, p, 3)
		bus.FreePages(p)
		bus.FreeDMA(a)
		require.NoError(t, d.Host.Mem.CheckGuards())
		require.ErrorIs(t, bus.ReadMem(d.Host.Mem.Size(), got), host.ErrBounds)
	})
}

// What a driver needs of its Bus.
var _ interface {
	Read32(off uint32) (uint32, error)
	Write(off uint32, b []byte) error
	AllocDMA(size, align int) (uint64, error)
	FreeDMA(addr uint64)
	ReadMem(addr uint64, b []byte) error
	WriteMem(addr uint64, b []byte) error
	WaitIRQ(vector int, until int64) (bool, error)
	Now() int64
	Spend(ps int64)
	Wake(vector int)
} = (*host.Bus)(nil)
