package cqwriter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

func TestDoorbellsThatMeanNothing(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(1, 3, 0), createCQ(2, 3, 1))
	b.Send.Push(port.CQEReq{CQN: 2})
	b.run(t, 20)
	badPage, badEQPage := arm(2, 0, false), rearm(1, 0)
	badPage.Page, badEQPage.Page = 3, 2
	b.Bell.Push(
		arm(3, 0, false), arm(8, 0, false), ring(0xffffff, 0), rearm(0, 0), rearm(2, 0), rearm(0x100001, 0), // no such queue
		arm(2, 2, false), arm(2, 0xffff, false), rearm(1, 1), // an index that can't be
		badPage, badEQPage,
	)
	b.run(t, 100)
	require.Equal(t, port.CQStats{CQEs: 1, BadNumber: 9, BadPage: 2}, b.W.Stats.Get())
	b.Recv.Push(port.CQEReq{CQN: 3}, port.CQEReq{CQN: 0xffffff})
	b.run(t, 30)
	require.EqualValues(t, 2, b.W.Stats.Get().Dropped)
	require.Len(t, b.log, 1)
}

func TestAdminRefusals(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	change := func(o port.CQAdmin, f func(o *port.CQAdmin)) port.CQAdmin { f(&o); return o }
	b.admin(t, createEQ(1, 3, 0), createCQ(2, 3, 1))
	for _, c := range []struct {
		name   string
		op     port.CQAdmin
		status abi.AdminStatus
		syn    abi.AdminSyndrome
	}{
		{"EQ number", createEQ(2, 3, 0), abi.AdminBadObject, abi.SynObject},
		{"EQ exists", createEQ(1, 3, 0), abi.AdminExists, abi.SynObject},
		{"EQ vector", createEQ(0, 3, 16), abi.AdminBadParam, abi.SynVector},
		{"EQ size", createEQ(0, 16, 0), abi.AdminBadParam, abi.SynLogSize},
		{"EQ base", change(createEQ(0, 3, 0), func(o *port.CQAdmin) { o.Base += 16 }), abi.AdminBadParam, abi.SynBase},
		{"EQ wraps", change(createEQ(0, 3, 0), func(o *port.CQAdmin) { o.Base = 1<<64 - 32 }), abi.AdminBadParam, abi.SynBase},
		{"CQ number", createCQ(8, 3, 1), abi.AdminBadObject, abi.SynObject},
		{"CQ exists", createCQ(2, 3, 1), abi.AdminExists, abi.SynObject},
		{"CQ without EQ", createCQ(3, 3, 0), abi.AdminBadParam, abi.SynEQN},
		{"CQ with an EQN out of range", createCQ(3, 3, 200), abi.AdminBadParam, abi.SynEQN},
		{"CQ size", createCQ(3, 16, 1), abi.AdminBadParam, abi.SynLogSize},
		{"CQ base", change(createCQ(3, 3, 1), func(o *port.CQAdmin) { o.Base += 32 }), abi.AdminBadParam, abi.SynBase},
		{"EQ in use", port.CQAdmin{Op: port.EQDestroy, Number: 1}, abi.AdminBusy, abi.SynNone},
		{"no EQ", port.CQAdmin{Op: port.EQDestroy, Number: 0}, abi.AdminBadObject, abi.SynObject},
		{"no EQ of that number", port.CQAdmin{Op: port.EQDestroy, Number: 99}, abi.AdminBadObject, abi.SynObject},
		{"no CQ", port.CQAdmin{Op: port.CQDestroy, Number: 3}, abi.AdminBadObject, abi.SynObject},
		{"no CQ of that number", port.CQAdmin{Op: port.CQDestroy, Number: 1 << 24}, abi.AdminBadObject, abi.SynObject},
		{"CQ without period", moderated(3, 3, 1, 2, 0), abi.AdminBadParam, abi.SynModeration},
		{"CQ with a period too long", moderated(3, 3, 1, 2, abi.MaxCQPeriod+1), abi.AdminBadParam, abi.SynModeration},
		{"modify without period", modify(2, 2, 0), abi.AdminBadParam, abi.SynModeration},
		{"modify, period too long", modify(2, 0, 0xffff), abi.AdminBadParam, abi.SynModeration},
		{"no CQ to modify", modify(3, 0, 0xffff), abi.AdminBadObject, abi.SynObject},
		{"no CQ of that number to modify", modify(1<<24, 0, 0), abi.AdminBadObject, abi.SynObject},
		{"resize, size", resize(2, 1, 16, 0), abi.AdminBadParam, abi.SynLogSize},
		{"resize, base", change(resize(2, 1, 3, 0), func(o *port.CQAdmin) { o.Base += 32 }), abi.AdminBadParam, abi.SynBase},
		{"resize, wraps", change(resize(2, 1, 3, 0), func(o *port.CQAdmin) { o.Base = 1<<64 - 64 }), abi.AdminBadParam, abi.SynBase},
		{"no CQ to resize", resize(3, 1, 3, 0), abi.AdminBadObject, abi.SynObject},
		{"no CQ of that number to resize", resize(1<<24, 1, 3, 0), abi.AdminBadObject, abi.SynObject},
		{"no operation", port.CQAdmin{Op: 7}, abi.AdminBadOpcode, abi.SynNone},
		{"CQ", port.CQAdmin{Op: port.CQDestroy, Number: 2}, abi.AdminOK, abi.SynNone},
		{"EQ no longer in use", port.CQAdmin{Op: port.EQDestroy, Number: 1}, abi.AdminOK, abi.SynNone},
		{"EQ again", createEQ(1, 3, 0), abi.AdminOK, abi.SynNone},
	} {
		require.Equal(t, port.CQAdminRes{Status: c.status, Syndrome: uint8(c.syn)}, b.admin(t, c.op), c.name)
	}
}

// TestDestroyAnswersBehindWrites: the driver may free a ring then.
func TestDestroyAnswersBehindWrites(t *testing.T) {
	b := newBench(t, small, hdl.Options{Strict: true}, 0)
	b.admin(t, createEQ(0, 3, 0), createCQ(0, 3, 0))
	b.doneDelay = 500
	b.Send.Push(port.CQEReq{})
	b.run(t, 20)
	b.admin(t, port.CQAdmin{Op: port.CQDestroy})
	require.GreaterOrEqual(t, b.AdminRes.At[2], b.log[0].At+500)
}
