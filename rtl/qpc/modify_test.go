package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

const (
	rtsOptional = abi.AttrAccessFlags | abi.AttrMinRNRTimer | abi.AttrCurState
	initAttrs   = abi.AttrPKeyIndex | abi.AttrPort | abi.AttrAccessFlags
)

// transitions are those of an RC QP, from the table of IBTA 11.2.5.2.
var transitions = map[[2]abi.QPState]struct{ required, optional abi.QPAttr }{
	{abi.QPReset, abi.QPInit}: {initAttrs, 0},
	{abi.QPInit, abi.QPInit}:  {0, initAttrs},
	{abi.QPInit, abi.QPRTR}: {abi.AttrAV | abi.AttrPathMTU | abi.AttrDestQPN | abi.AttrRQPSN | abi.AttrMaxDestRdAtomic | abi.AttrMinRNRTimer,
		abi.AttrAccessFlags | abi.AttrPKeyIndex},
	{abi.QPRTR, abi.QPRTS}: {abi.AttrTimeout | abi.AttrRetryCnt | abi.AttrRNRRetry | abi.AttrSQPSN | abi.AttrMaxRdAtomic, rtsOptional},
	{abi.QPRTS, abi.QPRTS}: {0, rtsOptional},
	{abi.QPSQD, abi.QPRTS}: {0, rtsOptional},
	{abi.QPRTS, abi.QPSQD}: {0, abi.AttrSQDAsyncNotify},
	{abi.QPSQD, abi.QPSQD}: {0, abi.AttrPort | abi.AttrAV | abi.AttrTimeout | abi.AttrRetryCnt | abi.AttrRNRRetry | abi.AttrMaxRdAtomic |
		abi.AttrMaxDestRdAtomic | abi.AttrAccessFlags | abi.AttrPKeyIndex | abi.AttrMinRNRTimer},
}

// bitsOf are the single attributes of a mask.
func bitsOf(m abi.QPAttr) (list []abi.QPAttr) {
	for b := abi.QPAttr(1); b != 0; b <<= 1 {
		if m&b != 0 {
			list = append(list, b)
		}
	}
	return list
}

// try modifies a fresh QP, and checks that a refusal changes nothing.
func try(t *testing.T, from, to abi.QPState, mask abi.QPAttr) (result, *Context) {
	x := inState(from)
	before := *x
	a := connected()
	a.State, a.CurState, a.AttrMask = to, from, mask|abi.AttrState
	r := x.modify(&a, &env)
	if !r.ok() {
		require.Equal(t, before, *x)
	}
	return r, x
}

func TestTransitions(t *testing.T) {
	for _, from := range states {
		for _, to := range states {
			rule, ok := transitions[[2]abi.QPState{from, to}]
			if to == abi.QPReset || to == abi.QPErr {
				ok = true
			}
			if !ok {
				r, _ := try(t, from, to, 0)
				require.Equal(t, result{abi.AdminBadState, abi.SynTransition}, r, "%v to %v", from, to)
				continue
			}
			for _, mask := range []abi.QPAttr{rule.required, rule.required | rule.optional} {
				r, x := try(t, from, to, mask)
				require.Equal(t, result{}, r, "%v to %v with %v", from, to, mask)
				require.Equal(t, to, x.Common.State)
			}
			// Every proper subset of the required attributes is refused.
			need := bitsOf(rule.required)
			for set := 0; set < 1<<len(need)-1; set++ {
				mask, first := abi.QPAttr(0), abi.QPAttr(0)
				for i, b := range need {
					if set>>i&1 != 0 {
						mask |= b
					} else if first == 0 {
						first = b
					}
				}
				r, _ := try(t, from, to, mask)
				require.Equal(t, badParam(first.Syndrome()), r, "%v to %v with %v", from, to, mask)
			}
			// So is every attribute that is neither required nor optional.
			for _, b := range bitsOf(^(rule.required | rule.optional | abi.AttrState)) {
				r, _ := try(t, from, to, rule.required|b)
				require.Equal(t, badParam(b.Syndrome()), r, "%v to %v with %v", from, to, b)
			}
		}
	}
	r, _ := try(t, abi.QPRTS, 7, 0)
	require.Equal(t, badParam(abi.SynState), r)
}

func TestModifyWithoutState(t *testing.T) {
	x := inState(abi.QPInit)
	require.True(t, x.modify(&abi.QPMailbox{AttrMask: abi.AttrAccessFlags, AccessFlags: abi.AccessRemoteRead, State: abi.QPErr}, &env).ok())
	require.Equal(t, abi.QPInit, x.Common.State)
	require.Equal(t, abi.AccessRemoteRead, x.Common.Access)
	x = inState(abi.QPRTR)
	require.Equal(t, result{abi.AdminBadState, abi.SynTransition}, x.modify(&abi.QPMailbox{}, &env), "RTR to RTR")
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   abi.QPState
		to     abi.QPState
		change func(a *abi.QPMailbox)
		want   result
	}{
		{"P_Key index", abi.QPReset, abi.QPInit, func(a *abi.QPMailbox) { a.PKeyIndex = 1 }, badParam(abi.SynPKeyIndex)},
		{"port 0", abi.QPReset, abi.QPInit, func(a *abi.QPMailbox) { a.Port = 0 }, badParam(abi.SynPort)},
		{"port 2", abi.QPReset, abi.QPInit, func(a *abi.QPMailbox) { a.Port = 2 }, badParam(abi.SynPort)},
		{"access", abi.QPReset, abi.QPInit, func(a *abi.QPMailbox) { a.AccessFlags = 0x20 }, badParam(abi.SynAccessFlags)},
		{"all access", abi.QPReset, abi.QPInit, func(a *abi.QPMailbox) { a.AccessFlags = 0x1f }, result{}},
		{"MTU 0", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.PathMTU = 0 }, badParam(abi.SynPathMTU)},
		{"MTU 6", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.PathMTU = 6 }, badParam(abi.SynPathMTU)},
		{"MTU 4096", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.PathMTU = abi.MTU4096 }, result{}},
		{"responder depth", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.MaxDestRdAtomic = 17 }, badParam(abi.SynMaxDestRdAtomic)},
		{"responder depth 0", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.MaxDestRdAtomic = 0 }, result{}},
		{"IPv4 with the IPv6 address", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex = 0 }, badParam(abi.SynAV)},
		{"IPv6 with the IPv4 address", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.DGID = roce.HostIPv6(2) }, badParam(abi.SynAV)},
		{"no such address", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex = 2 }, badParam(abi.SynAV)},
		{"no destination", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex, a.AV.DGID = 0, [16]byte{} }, badParam(abi.SynAV)},
		{"IPv6", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex, a.AV.DGID = 0, roce.HostIPv6(2) }, result{}},
		{"UDP source port", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.UDPSPort = 0xbfff }, badParam(abi.SynAV)},
		{"another address", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex = 5 }, result{}},
		{"another address of IPv6", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex, a.AV.DGID = 3, roce.HostIPv6(2) }, result{}},
		{"another address of IPv6 to IPv4", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex = 3 }, badParam(abi.SynAV)},
		{"address beyond the table", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.SGIDIndex = 8 }, badParam(abi.SynAV)},
		{"VLAN", abi.QPInit, abi.QPRTR, func(a *abi.QPMailbox) { a.AV.VLANValid = true }, result{}},
		{"initiator depth", abi.QPRTR, abi.QPRTS, func(a *abi.QPMailbox) { a.MaxRdAtomic = 17 }, badParam(abi.SynMaxRdAtomic)},
		{"retry_cnt", abi.QPRTR, abi.QPRTS, func(a *abi.QPMailbox) { a.RetryCnt = 7 }, result{}},
		{"rnr_retry", abi.QPRTR, abi.QPRTS, func(a *abi.QPMailbox) { a.RNRRetry = 7 }, result{}},
		{"cur_state is the state", abi.QPRTR, abi.QPRTS, func(a *abi.QPMailbox) {
			a.AttrMask |= abi.AttrCurState
			a.CurState = abi.QPRTR
		}, result{}},
		{"cur_state is not", abi.QPRTR, abi.QPRTS, func(a *abi.QPMailbox) {
			a.AttrMask |= abi.AttrCurState
			a.CurState = abi.QPSQD
		}, badParam(abi.SynCurState)},
		{"values not named", abi.QPRTR, abi.QPRTS, func(a *abi.QPMailbox) {
			a.PathMTU, a.Port, a.PKeyIndex, a.AV.SGIDIndex, a.MaxDestRdAtomic = 7, 9, 9, 9, 99
		}, result{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := inState(c.from)
			before := *x
			a := connected()
			a.State, a.AttrMask = c.to, transitions[[2]abi.QPState{c.from, c.to}].required|abi.AttrState
			c.change(&a)
			require.Equal(t, c.want, x.modify(&a, &env))
			if !c.want.ok() {
				require.Equal(t, before, *x)
			}
		})
	}
}

func TestPathMTUIsBoundByThePort(t *testing.T) {
	e := env
	e.Reg.MTU = 1024
	a := connected()
	a.AttrMask, a.PathMTU = abi.AttrPathMTU, abi.MTU2048
	require.Equal(t, badParam(abi.SynPathMTU), checkValues(&a, &e))
	a.PathMTU = abi.MTU1024
	require.Equal(t, result{}, checkValues(&a, &e))
}

func TestAttributesAreStored(t *testing.T) {
	a := connected()
	a.AttrMask = ^abi.QPAttr(0)
	a.MinRNRTimer, a.QKey = 31, 0x80001234
	a.AV.VLANValid, a.AV.VLAN = true, 0xe005
	var x Context
	x.apply(&a, &env)
	require.Equal(t, Common{
		MTU: abi.MTU1024, Access: abi.AccessRemoteWrite, Timeout: 14, MinRNRTimer: 31, MaxRd: 4, MaxDestRd: 4, DestQPN: 0x22,
		QKey: 0x80001234, Address: Address{
			DMAC: roce.HostMAC(2), DGID: roce.GIDFromIPv4(roce.HostIPv4(2)), SIP: roce.GIDFromIPv4(roce.HostIPv4(1)), Index: 1,
			Flow: 0x12345, SPort: 0xc123, TOS: 2, TTL: 64, VLAN: true, TCI: 0xe005,
		},
	}, x.Common)
	require.Equal(t, SQ{Next: 0xfffff0, EnteredPSN: 0xfffff0, Top: 0xfffff0}, x.SQ)
	require.Equal(t, roce.PSN(0xfffff0), x.Requester.Una)
	require.Equal(t, roce.PSN(0xfffffe), x.Responder.Expected)
	y := x
	y.apply(&abi.QPMailbox{}, &env)
	require.Equal(t, x, y, "what the mask does not name stays")
}

func TestToErr(t *testing.T) {
	toErr := &abi.QPMailbox{AttrMask: abi.AttrState, State: abi.QPErr}
	x := inState(abi.QPRTS)
	x.SQ.PI, x.Responder.PI = 2, 1
	require.True(t, x.modify(toErr, &env).ok())
	require.Equal(t, NoteEvent|NoteActivate|NoteFlushRQ, x.Common.Pending)
	require.Equal(t, port.AckEvent{
		QPN: 1, Una: 0xfffff0, Fail: true, FailPSN: 0xfffff0, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Arm: 17 << 20,
	}, x.event(1, &env))
	x.Common.Pending = 0
	before := *x
	require.True(t, x.modify(toErr, &env).ok())
	require.Equal(t, before, *x, "once")
	x = inState(abi.QPInit)
	x.Responder.PI = 1
	require.True(t, x.modify(toErr, &env).ok())
	require.Equal(t, NoteEvent|NoteFlushRQ, x.Common.Pending)
	// A failure keeps its status when the driver takes the QP to ERR after it.
	x = inFlight(4)
	x.fault(0xfffff0, abi.StatusRemOp, 0)
	require.True(t, x.modify(toErr, &env).ok())
	require.Equal(t, FailAt, x.Requester.Fail)
}

func TestRTSGoesOnAfterSQD(t *testing.T) {
	x := inState(abi.QPSQD)
	x.SQ.PI = 3
	a := connected()
	a.AttrMask, a.State, a.Timeout = abi.AttrState, abi.QPRTS, 9
	require.True(t, x.modify(&a, &env).ok())
	require.Equal(t, NoteActivate, x.Common.Pending)
	require.Equal(t, uint8(14), x.Common.Timeout)
}
