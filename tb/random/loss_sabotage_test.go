package random_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/host"
	"rnic/tb/random"
)

// hasten runs seeds with losses on NICs whose timers go at a wrong pace, and returns
// the errors.
func hasten(unit uint32) (errs []error) {
	for seed := uint64(1); seed <= 12; seed++ {
		s := random.Draw(seed, random.Options{Loss: true})
		s.Setup = func(b *tb.Bench) {
			for _, h := range b.Hosts {
				h.Go("spoiler", func(t *hdl.Thread, bus *host.Bus) {
					t.Sleep(10_000)
					_ = bus.Write(abi.RegTimeUnit, binary.LittleEndian.AppendUint32(nil, unit)) // else nothing is found
				})
			}
		}
		if _, err := s.Run(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// found is how many of the errors name a rule.
func found(errs []error, rule string) (n int) {
	for _, err := range errs {
		if strings.Contains(err.Error(), rule) {
			n++
		}
	}
	return n
}

// TestEarlyTimersAreFound: timers that end at a quarter of their time, or RNR waits that
// do.
func TestEarlyTimersAreFound(t *testing.T) {
	errs := hasten(2)
	require.Positive(t, found(errs, "sent again without a cause"))
	require.Positive(t, found(errs, "sent in the wait that the RNR NAK of cycle"))
}

// TestLateTimersAreFound: timers that end after eight times their time.
func TestLateTimersAreFound(t *testing.T) {
	require.Positive(t, found(hasten(64), "no answer and nothing sent again since cycle"))
}

// TestUntoldOverflowIsFound: frames for which there was no room are missed when nobody
// tells of them.
func TestUntoldOverflowIsFound(t *testing.T) {
	n := 0
	for seed := uint64(1); seed <= 40; seed++ {
		if s := random.Draw(seed, random.Options{Loss: true}); s.Loss.Overflow {
			s.Loss = nil
			if _, err := s.Run(); err != nil {
				n++
			}
		}
	}
	require.Positive(t, n)
}
