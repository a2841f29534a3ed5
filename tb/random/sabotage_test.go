package random_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/pcie"
	"rnic/tb"
	"rnic/tb/host"
	"rnic/tb/random"
)

// spoiled runs a seed on a bench that a test has spoiled and returns its error.
func spoiled(t *testing.T, seed uint64, spoil func(b *tb.Bench)) error {
	t.Helper()
	s := random.Draw(seed, random.Options{})
	s.Setup = spoil
	_, err := s.Run()
	return err
}

// onPayload does something after the n-th write of at least 100 bytes to host b,
// which is a payload: CQEs have 64.
func onPayload(n int, do func(mem *host.Memory, addr uint64, data []byte)) func(b *tb.Bench) {
	return func(b *tb.Bench) {
		m := b.Hosts[1].Machine
		m.RC.OnWrite = func(_, addr uint64, data []byte) {
			if len(data) < 100 {
				return
			}
			if n--; n == 0 {
				do(m.Mem, addr, data)
			}
		}
	}
}

func TestWrongByteIsFound(t *testing.T) {
	err := spoiled(t, 2, onPayload(5, func(mem *host.Memory, addr uint64, data []byte) {
		_ = mem.Write(addr+77, []byte{data[77] ^ 0x40})
	}))
	require.ErrorContains(t, err, "message 0x")
}

// TestByteBesideIsFound: the byte before a payload belongs to the same message, and
// was written before, or it is guarded.
func TestByteBesideIsFound(t *testing.T) {
	for n := 3; n <= 10; n++ { // the first two are what QUERY_DEVICE tells
		err := spoiled(t, 2, onPayload(n, func(mem *host.Memory, addr uint64, _ []byte) {
			b := make([]byte, 1)
			_ = mem.Read(addr-1, b)
			_ = mem.Write(addr-1, []byte{b[0] ^ 1})
		}))
		require.Error(t, err, "payload %d", n)
	}
}

// TestLostReadIsExplained: when payload never comes from memory nothing goes on, and
// the error says where it stands.
func TestLostReadIsExplained(t *testing.T) {
	s := random.Draw(2, random.Options{})
	n := 0
	s.Bench.Host.Fault = func(read *pcie.TLP) host.Verdict {
		if n++; n == 2000 {
			return host.Verdict{Fault: host.FaultNever}
		}
		return host.Verdict{}
	}
	_, err := s.Run()
	require.ErrorContains(t, err, "nothing has moved")
	require.ErrorContains(t, err, "in RTS (SUCCESS")
	require.ErrorContains(t, err, "streams hold [{")
}

// TestLostFrameIsFound: without retries a frame lost is a send that fails, and a connection with it.
func TestLostFrameIsFound(t *testing.T) {
	tried := 0
	for seed := uint64(1); tried < 3; seed++ {
		s := random.Draw(seed, random.Options{QPs: 16})
		if s.Budget < 1<<30 || len(s.Phases[0].Cuts[0]) > 0 {
			continue
		}
		tried++
		s.Bench.NIC.Rx.LogBeats = 7 // less than what is in flight
		_, err := s.Run()
		require.ErrorContains(t, err, "_ERR ", "seed %d", seed)
	}
}
