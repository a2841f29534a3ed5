package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
)

// TestChangeCQ: every field reaches cq_writer, and what it answers the driver.
func TestChangeCQ(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	box := &abi.CQMailbox{Base: 0x123440, LogSize: 5, EQN: 1, UARPage: 7, Count: 0x1234, Period: 0x0567, CI: 0x89ab}
	ok(t, b.do(t, command{op: abi.AdminCreateCQ, object: 3, box: box}))
	ok(t, b.do(t, command{op: abi.AdminModifyCQ, object: 3, box: box}))
	c := b.do(t, command{op: abi.AdminResizeCQ, object: 3, box: box})
	ok(t, c)
	require.EqualValues(t, 0x89ac, c.Result)
	require.Zero(t, b.do(t, command{op: abi.AdminNop}).Result)
	var got []port.CQAdmin
	for _, o := range b.CQ.Got {
		if o.Op != port.IRQRaise {
			got = append(got, o)
		}
	}
	change := port.CQAdmin{Number: 3, Base: 0x123440, LogSize: 5, Count: 0x1234, Period: 0x0567, CI: 0x89ab}
	create, modify, resize := change, change, change
	create.EQN, create.Page, create.CI = 1, 7, 0
	modify.Op, resize.Op = port.CQModify, port.CQResize
	require.Equal(t, []port.CQAdmin{create, modify, resize}, got)
}
