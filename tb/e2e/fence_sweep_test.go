package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/host"
)

// TestFenceOfKeys: a key ends at any time around the peer's operations by it, with a PCIe
// that is slow in several ways. When the driver sees the completion, nothing that the
// peer began changes a byte any more, nor does it read what the memory holds from then on.
func TestFenceOfKeys(t *testing.T) {
	slow := host.Params{LinkBytes: 16}
	late := host.Params{Read: host.Uniform(500_000, 1_500_000)}
	for _, c := range []struct {
		name     string
		op       abi.WQEOp
		n, wrs   int
		host     host.Params
		from, to int64 // ns from the posts of A to the end
		step     int64
	}{
		{"WRITE", abi.OpWrite, 4096, 8, host.Params{}, 300, 4500, 36},
		{"WRITE, slow link", abi.OpWrite, 4096, 8, slow, 300, 9000, 68},
		{"READ", abi.OpRead, 32 << 10, 2, host.Params{}, 300, 7000, 68},
		{"READ, late", abi.OpRead, 8 << 10, 8, late, 300, 7000, 108},
		{"FETCH_ADD", abi.OpFetchAdd, 8, 16, host.Params{}, 300, 12000, 188},
		{"FETCH_ADD, late", abi.OpFetchAdd, 8, 16, late, 300, 12000, 188},
	} {
		for i, e := range ends() {
			t.Run(fmt.Sprintf("%s, %s", c.name, e.name), func(t *testing.T) {
				t.Parallel()
				l := newLastAccess(t, c.op, c.n, c.wrs, c.host)
				seed := uint64(1000 * i)
				for after := c.from; after < c.to; after += c.step {
					seed++
					l.try(&e, after*1000+int64(seed%16)*tb.PeriodPs, seed)
				}
				require.NotZero(t, l.refused, "the sweep is too late")
				require.NotZero(t, l.done, "the sweep is too early")
			})
		}
	}
}

// TestFenceInEachCycle: the same of one small operation, in each cycle around the one in
// which its key is looked up.
func TestFenceInEachCycle(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
		for i, e := range ends() {
			t.Run(fmt.Sprintf("%v, %s", op, e.name), func(t *testing.T) {
				t.Parallel()
				l := newLastAccess(t, op, 8, 1, host.Params{})
				meet := int64(350_000) // both are at mpt at once if the end is posted so much later
				if op == abi.OpWrite { // its payload is read first
					meet = 850_000
				}
				switch {
				case e.peer: // both come by the wire
					meet = 0
				case e.close == nil: // a command has a longer way than a WQE
					meet -= 400_000
				}
				for at := int64(-50); at < 130; at++ {
					l.try(&e, meet+at*tb.PeriodPs, uint64(1000*i)+uint64(50+at))
				}
				require.NotZero(t, l.refused, "the sweep is too late")
				require.Greater(t, l.done, 70, "the sweep is too early")
			})
		}
	}
}
