package random_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/pcie"
	"rnic/tb"
	"rnic/tb/hang"
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

// uncut is the first seed of some length whose QPs all go on to the end.
func uncut() (seed uint64) {
	for seed = 1; ; seed++ {
		s := random.Draw(seed, random.Options{})
		cuts, messages := 0, 0
		for _, p := range s.Phases {
			cuts += len(p.Cuts[0])
			for _, f := range p.Flows[0] {
				messages += len(f.Messages)
			}
		}
		if cuts == 0 && messages > 500 {
			return seed
		}
	}
}

// TestLostReadIsExplained: when payload never comes from memory nothing goes on, and
// the error says where it stands.
func TestLostReadIsExplained(t *testing.T) {
	s := random.Draw(uncut(), random.Options{})
	s.Setup = func(b *tb.Bench) {
		n, m := 0, b.Hosts[0].Machine
		m.RC.Params.Fault = func(read *pcie.TLP) (v host.Verdict) {
			if read.Addr >= m.Mem.Size()/2 { // payload
				if n++; n == 100 {
					v.Fault = host.FaultNever
				}
			}
			return v
		}
	}
	_, err := s.Run()
	require.ErrorContains(t, err, "nothing has moved")
	require.ErrorContains(t, err, "in RTS (SUCCESS")
	require.ErrorContains(t, err, "streams hold [{")
	var h *hang.Hang
	require.ErrorAs(t, err, &h)
	require.Equal(t, "rc", h.Root().Block)
	require.Contains(t, h.Root().Text, "never completes it")
	require.Equal(t, "host_a", h.Root().Host)
}

// TestLostFrameIsFound: without retries a frame lost is a send that fails, and a connection with it.
func TestLostFrameIsFound(t *testing.T) {
	lost := 0
	for seed := uint64(1); seed <= 8; seed++ {
		s := random.Draw(seed, random.Options{})
		s.Bench.NIC.Rx.LogBeats = 7 // less than what is in flight
		s.Bench.NIC.Mac.RateNum, s.Bench.NIC.Mac.RateDen = 100, 1
		s.Bench.Host.Up.Seed = 1
		s.Budget = 1 << 30
		if _, err := s.Run(); err != nil {
			lost++
		}
	}
	require.GreaterOrEqual(t, lost, 3)
}
