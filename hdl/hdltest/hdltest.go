// Package hdltest proves that a design does not depend on how the kernel runs it.
package hdltest

import (
	"github.com/stretchr/testify/require"

	"rnic/hdl"
)

// T is what Identical needs of a test: *testing.T, *testing.B or *rapid.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
	Logf(format string, args ...any)
}

// Digester is a kernel or a world.
type Digester interface{ Digest() uint64 }

// Orders is how many orders of evaluation Identical tries.
const Orders = 3

// Identical builds and runs a scenario fast, and strict in several orders of
// evaluation, with digests of all state and transfers on, and demands equal
// digests and outputs. The scenario builds everything anew at each call, elaborates
// with the options that it is given, checks errors itself, and returns what it ran
// and what came out. Identical returns the outputs.
func Identical[O any](t T, o hdl.Options, scenario func(o hdl.Options) (Digester, O)) O {
	t.Helper()
	o.Strict, o.Digest = false, true
	fast, want := scenario(o)
	plain := o
	plain.Digest = false
	_, out := scenario(plain)
	require.Equal(t, want, out, "outputs depend on whether digests are on")
	for order := range uint64(Orders) {
		o.Strict, o.Order = true, order
		run, got := scenario(o)
		require.Equal(t, want, got, "outputs of the strict run differ, order %d", order)
		require.Equal(t, fast.Digest(), run.Digest(), "state or transfers of the strict run differ, order %d", order)
	}
	return want
}
