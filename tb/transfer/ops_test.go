package transfer_test

import (
	"bytes"
	"testing"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

func TestOperations(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd} {
		for _, size := range []int{8, 777, 5000} {
			j := transfer.Job{Data: bytes.NewReader(payload(size*40, 1)), Op: op, MTU: roce.MTU1024, QPs: 3, MsgSize: size, Depth: 4}
			if op >= abi.OpCompareSwap {
				j.MsgSize = 8
			}
			t.Run(op.String(), func(t *testing.T) {
				r, _ := run(t, tb.Config{Seed: 1}, j)
				t.Logf("%d B: %.2f of %.2f Gb/s, %.1f cycles a message", size, r.GoodputGbps, r.WireLimitGbps, r.CyclesPerMessage)
			})
		}
	}
}
