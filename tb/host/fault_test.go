package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/pcie"
	"rnic/tb/host"
)

// nth strikes the n-th TLP that it is asked about, from 1.
func nth(n int, v host.Verdict) func(*pcie.TLP) host.Verdict {
	return func(*pcie.TLP) host.Verdict {
		if n--; n == 0 {
			return v
		}
		return host.Verdict{}
	}
}

// landed writes three words, the second with a verdict, and gives which landed, and
// in which cycle.
func landed(t *testing.T, v host.Verdict) (which []byte, cycles []uint64, lost uint64) {
	d := newDevice(t, hdl.Options{}, host.Params{WriteFault: nth(2, v)})
	d.Host.RC.OnWrite = func(cycle, _ uint64, data []byte) { which, cycles = append(which, data[0]), append(cycles, cycle) }
	for i := range byte(3) {
		d.write(uint64(i)*4096, []byte{i, 0, 0, 0})
	}
	require.NoError(t, d.k.Run(100_000))
	require.NoError(t, d.Host.RC.Outstanding())
	return which, cycles, d.Host.RC.Stats.Stray
}

// TestWriteFaults: a write that is late holds up those behind it, one that fails is
// lost alone.
func TestWriteFaults(t *testing.T) {
	all := []byte{0, 1, 2}
	which, plain, lost := landed(t, host.Verdict{})
	require.Equal(t, all, which)
	require.Zero(t, lost)
	which, late, _ := landed(t, host.Verdict{Delay: 1000})
	require.Equal(t, all, which)
	require.Equal(t, []uint64{plain[0], plain[1] + 1000, plain[1] + 1000}, late)
	for _, f := range []host.Fault{host.FaultUR, host.FaultCA, host.FaultPoison} {
		which, _, lost = landed(t, host.Verdict{Fault: f})
		require.Equal(t, []byte{0, 2}, which)
		require.EqualValues(t, 1, lost)
	}
}

// TestStop: a host that stops takes nothing and completes nothing; what it had taken
// lands, what the CPU writes goes, and all else comes when it goes on.
func TestStop(t *testing.T) {
	const stop = 5000
	d := newDevice(t, hdl.Options{}, host.Params{Fault: nth(1, host.Verdict{Stop: stop})})
	var writes []uint64
	d.Host.RC.OnWrite = func(cycle, _ uint64, _ []byte) { writes = append(writes, cycle) }
	d.read(0, 0, 64)
	d.read(1, 64, 64)
	d.k.Go("device", func(th *hdl.Thread) {
		th.Sleep(200) // the reads have reached memory
		d.write(4096, pattern(64))
		d.read(2, 128, 64)
		require.NoError(t, d.Host.NewBus(th).Write(0, pattern(4)))
	})
	require.NoError(t, d.k.Run(20_000))
	var answers []uint64
	for _, c := range d.got() {
		if c.Kind == pcie.MWr {
			require.Less(t, c.at, uint64(400), "posted by the CPU")
			continue
		}
		answers = append(answers, c.at)
	}
	require.Len(t, answers, 3)
	require.GreaterOrEqual(t, answers[0], uint64(stop))
	require.Less(t, answers[1], uint64(stop+100))
	require.Len(t, writes, 1)
	require.GreaterOrEqual(t, writes[0], uint64(stop))
	require.NoError(t, d.Host.RC.Outstanding())
	require.Less(t, d.k.Stats().Steps, uint64(stop/10), "the stop is not jumped")
}
