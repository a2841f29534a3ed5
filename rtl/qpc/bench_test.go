package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// ramBits is the block's storage with 2^log QPs.
func ramBits(t *testing.T, log uint8) int {
	for _, u := range newSized(t, hdl.Options{}, 0, log).k.Area() {
		if u.Path == "tb.qpc" {
			return u.RAMBits
		}
	}
	return 0
}

// What a QP costs: under 750 bytes, most of it for the lists of READs and atomics.
func TestArea(t *testing.T) {
	bits := (ramBits(t, 5) - ramBits(t, 4)) / 16
	require.Positive(t, bits)
	require.Less(t, bits, 750*8)
	t.Logf("%d bits a QP", bits)
}

// BenchmarkOperations is a cycle with one operation, sources and sinks included.
func BenchmarkOperations(b *testing.B) {
	x := newBench(b, hdl.Options{}, 0)
	x.toRTS(1)
	x.run(b, 100)
	x.TxHdr.Got, x.TxHdr.At = make([]port.TxHdr, 0, b.N), make([]uint64, 0, b.N)
	x.Verdict.Got, x.Verdict.At = make([]port.RxVerdict, 0, b.N), make([]uint64, 0, b.N)
	for range b.N/2 + 100 {
		x.TxReq.Push(port.TxHdrReq{QPN: 1})
		x.Rx.Push(port.RxOp{QPN: 1, Pkt: from2(roce.RCSendOnly, 0xfffffe)})
	}
	x.run(b, 10)
	b.ResetTimer()
	for range b.N {
		x.k.Step()
	}
}
