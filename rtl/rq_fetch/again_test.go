package rqfetch_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
	rqfetch "rnic/rtl/rq_fetch"
)

// TestAskedAgain: a READ is asked for again when some of its responses have come, so
// its WQE is needed for longer, maybe after its line has gone to another, or after what
// was taken for its last response. It is read again then, and its line is free again.
func TestAskedAgain(t *testing.T) {
	for _, ahead := range []bool{true, false} {
		b := newBench(t, rqfetch.Params{Lines: 2}, hdl.Options{}, 0)
		rng := rand.New(rand.NewPCG(3, 3))
		q := &sq{qpn: 7, base: 0x4_0000, log: 5}
		other := &sq{qpn: 8, base: 0x8_0000, log: 5}
		w := q.post(b.mem, rng, abi.OpRead, 3)
		if ahead {
			b.Ahead.Push(q.ahead(w))
		}
		var want []port.RQWQE
		get := func(q *sq, w *sendWQE, last bool) {
			b.Get.Push(q.get(w, last))
			want = append(want, w.answer)
		}
		get(q, w, false)
		for range 4 { // they take all lines
			get(other, other.post(b.mem, rng, abi.OpRead, 1), false)
		}
		get(q, w, true)
		get(q, w, false)
		get(q, w, true)
		require.NoError(t, b.k.Run(2000))
		require.Equal(t, want, b.WQE.Got)
		v := b.Fetch.Lookup.Q
		for i, tag := range v.Tags[:2] {
			require.Zero(t, tag.Gets, "line %d is held", i)
			require.False(t, v.Valid>>i&1 != 0 && tag.QPN == 7, "line %d is kept", i)
		}
	}
}

// TestNeverAnswered: the responses of READs never come. Their lines are given to others
// when these need them, and to the QP's next life after its marker.
func TestNeverAnswered(t *testing.T) {
	b := newBench(t, rqfetch.Params{Lines: 8}, hdl.Options{}, 0)
	rng := rand.New(rand.NewPCG(3, 3))
	lost := &sq{qpn: 7, base: 0x4_0000, log: 5}
	for range 6 {
		b.Ahead.Push(lost.ahead(lost.post(b.mem, rng, abi.OpRead, 1)))
	}
	require.NoError(t, b.k.Run(500))
	require.Len(t, b.Read.Got, 4, "half of the lines")
	other := &sq{qpn: 8, base: 0x8_0000, log: 7}
	var want []port.RQWQE
	for range 20 {
		w := other.post(b.mem, rng, abi.OpRead, 1)
		b.Get.Push(other.get(w, false))
		want = append(want, w.answer)
	}
	require.NoError(t, b.k.Run(3000))
	require.Equal(t, want, b.WQE.Got)
	for _, tag := range b.Fetch.Lookup.Q.Tags[:8] {
		require.Equal(t, other.qpn, tag.QPN, "a line is kept from who needs it")
	}
	b.Ahead.Push(lost.ahead(lost.post(b.mem, rng, abi.OpRead, 1)))
	b.Get.Push(port.RQGet{Purge: true, QPN: 8}, port.RQGet{Purge: true, QPN: 7})
	require.NoError(t, b.k.Run(3500))
	require.Zero(t, b.Fetch.Lookup.Q.Valid)
}
