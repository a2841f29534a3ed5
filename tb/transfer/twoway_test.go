package transfer_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

// Both directions at once each get 90 % of the wire, and every byte is right.
func TestTwoWay(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead} {
		for _, mtu := range []roce.MTU{roce.MTU256, roce.MTU1024, roce.MTU4096} {
			j := transfer.Job{Data: bytes.NewReader(payload(24*65536, 1)), Op: op, TwoWay: true, MTU: mtu, QPs: 2, MsgSize: 65536, Depth: 8}
			r, _ := run(t, tb.Config{Seed: 1}, j)
			limit := 100 * float64(mtu.Bytes()) / float64(mtu.Bytes()+82)
			t.Logf("%v, MTU %d: %.2f and %.2f of %.2f Gb/s", op, mtu.Bytes(), r.GoodputGbps, r.BackGbps, limit)
			require.Equal(t, 48, r.Messages)
			require.GreaterOrEqual(t, min(r.GoodputGbps, r.BackGbps), 0.9*limit)
		}
	}
}

func TestTwoWayIsChecked(t *testing.T) {
	j := transfer.Job{Data: bytes.NewReader(payload(64, 1)), Op: abi.OpSend, TwoWay: true, MTU: roce.MTU1024, QPs: 1, MsgSize: 64, Depth: 1}
	require.ErrorContains(t, j.Check(), "must be WRITE or READ")
	j.Op, j.MsgSize, j.Data = abi.OpWrite, 1, bytes.NewReader(make([]byte, 4000))
	require.ErrorContains(t, j.Check(), "must be at most 2048")
}
