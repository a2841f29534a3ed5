package transfer_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

// Every transport carries what it can, over IPv4 and IPv6, with tags, and into shared
// receive queues; nothing is lost.
func TestTransports(t *testing.T) {
	tci := uint16(5<<13 | 100)
	for _, c := range []struct {
		transport abi.QPType
		op        abi.WQEOp
		size, qps int
		change    func(*transfer.Job)
	}{
		{abi.QPTypeUC, abi.OpSend, 5000, 3, nil},
		{abi.QPTypeUC, abi.OpSendImm, 777, 3, func(j *transfer.Job) { j.VLAN = &tci }},
		{abi.QPTypeUC, abi.OpWrite, 5000, 3, func(j *transfer.Job) { j.IPv6 = true }},
		{abi.QPTypeUC, abi.OpWriteImm, 5000, 3, func(j *transfer.Job) { j.SRQ = true }},
		{abi.QPTypeUC, abi.OpSend, 5000, 3, func(j *transfer.Job) { j.SRQ = true; j.SGEs = 3 }},
		{abi.QPTypeUD, abi.OpSend, 1024, 1, nil},
		{abi.QPTypeUD, abi.OpSend, 777, 5, func(j *transfer.Job) { j.IPv6 = true; j.SGEs = 4 }},
		{abi.QPTypeUD, abi.OpSendImm, 1, 4, func(j *transfer.Job) { j.VLAN = &tci }},
		{abi.QPTypeUD, abi.OpSend, 64, 4, func(j *transfer.Job) { j.SRQ = true; j.Inline = true }},
		{abi.QPTypeUD, abi.OpSendImm, 1000, 4, func(j *transfer.Job) { j.SRQ, j.IPv6, j.VLAN = true, true, &tci }},
		{abi.QPTypeRC, abi.OpSend, 5000, 4, func(j *transfer.Job) { j.SRQ = true }},
		{abi.QPTypeRC, abi.OpWriteImm, 777, 4, func(j *transfer.Job) { j.SRQ, j.IPv6, j.VLAN = true, true, &tci }},
	} {
		j := transfer.Job{
			Data: bytes.NewReader(payload(c.size*43-c.size/2, 1)), Transport: c.transport, Op: c.op, MTU: roce.MTU1024, QPs: c.qps, MsgSize: c.size, Depth: 4,
		}
		if c.change != nil {
			c.change(&j)
		}
		t.Run(fmt.Sprintf("%v %v %d", c.transport, c.op, c.size), func(t *testing.T) {
			r, _ := run(t, tb.Config{Seed: 1}, j)
			require.Equal(t, 43, r.Messages)
			require.Zero(t, r.Lost)
			require.Zero(t, r.Repeated)
			require.Equal(t, j.Data.Size(), r.Bytes)
			t.Logf("%.2f of %.2f Gb/s, %.1f cycles a message", r.GoodputGbps, r.WireLimitGbps, r.CyclesPerMessage)
			require.LessOrEqual(t, r.GoodputGbps, r.WireLimitGbps)
		})
	}
}
