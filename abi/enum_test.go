package abi

import (
	mathbits "math/bits"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnumTables(t *testing.T) {
	byName := map[string]bool{}
	for _, e := range Enums() {
		require.False(t, byName[e.Name], "%s twice", e.Name)
		byName[e.Name] = true
		require.NotEmpty(t, e.Values, e.Name)
		names, values := map[string]bool{}, map[uint32]bool{}
		for _, v := range e.Values {
			require.NotEmpty(t, v.Name, e.Name)
			require.False(t, names[v.Name], "%s.%s twice", e.Name, v.Name)
			require.False(t, values[v.Value], "%s: %d twice", e.Name, v.Value)
			names[v.Name], values[v.Value] = true, true
			require.LessOrEqual(t, mathbits.Len32(v.Value), e.Width, "%s.%s does not fit", e.Name, v.Name)
			require.Equal(t, v.Name, e.text(v.Value))
			if e.Mask {
				require.Equal(t, 1, mathbits.OnesCount32(v.Value), "%s.%s is one bit", e.Name, v.Name)
			}
		}
	}
	// Every typed field of a structure or register has its table.
	check := func(typ string) {
		name, ours := strings.CutPrefix(typ, "abi.")
		require.True(t, !ours || name == "Key" || byName[name], "no table for %s", typ)
	}
	for _, s := range Structures() {
		for _, f := range s.Fields {
			check(f.Type)
		}
	}
	for _, r := range Registers() {
		for _, f := range r.Fields {
			check(f.Type)
		}
	}
}

func TestEnumText(t *testing.T) {
	require.Equal(t, "SEND_INV", OpSendInv.String())
	require.Equal(t, "WQEOp(200)", WQEOp(200).String())
	require.Equal(t, "RNR_RETRY_EXC_ERR", StatusRNRRetryExc.String())
	require.Equal(t, "WCStatus(3)", WCStatus(3).String())
	require.Equal(t, "SIGNALLED|FENCE", (WQESignalled | WQEFence).String())
	require.Equal(t, "INLINE|0xc0", (WQEInlined | 0xc0).String())
	require.Equal(t, "0x0", AccessFlags(0).String())
	require.Equal(t, "STATE|DEST_QPN", (AttrState | AttrDestQPN).String())
	require.Equal(t, "1024", MTU1024.String())
	require.Equal(t, "MTU(0)", MTU(0).String())
	require.Equal(t, "CQ_ARM", DoorbellCQArm.String())
	require.Equal(t, "GRH", CQEGRH.String())
	require.Equal(t, "RECV", WCRecv.String())
	require.Equal(t, "WQE_STALE", VendorWQEStale.String())
	require.Equal(t, "COMPLETION", EventCompletion.String())
	require.Equal(t, "MODIFY_QP", AdminModifyQP.String())
	require.Equal(t, "BUSY", AdminBusy.String())
	require.Equal(t, "UAR_PAGE", SynUARPage.String())
	require.Equal(t, "UD", QPTypeUD.String())
	require.Equal(t, "SQD", QPSQD.String())
	require.Equal(t, "SIG_ALL", QPSigAll.String())
}

func TestAttributeSyndromes(t *testing.T) {
	require.Equal(t, SynNone, QPAttr(0).Syndrome())
	require.Equal(t, SynPKeyIndex, (AttrPKeyIndex | AttrSQPSN).Syndrome(), "the lowest")
	for _, a := range qpAttrs.Values {
		require.Equal(t, a.Name, QPAttr(a.Value).Syndrome().String())
	}
}

// TestErrno compares the code with the table's text, which begins with the name.
func TestErrno(t *testing.T) {
	names := map[string]syscall.Errno{"EINVAL": syscall.EINVAL, "ENOSYS": syscall.ENOSYS, "EOPNOTSUPP": syscall.EOPNOTSUPP,
		"ENOMEM": syscall.ENOMEM, "EBUSY": syscall.EBUSY, "ENOENT": syscall.ENOENT, "EEXIST": syscall.EEXIST, "EIO": syscall.EIO}
	for _, v := range adminStatuses.Values[1:] {
		name, _, _ := strings.Cut(v.Doc, ":")
		require.Contains(t, names, name)
		require.Equal(t, names[name], AdminStatus(v.Value).Errno(), v.Name)
	}
	require.Zero(t, AdminOK.Errno())
	require.Equal(t, syscall.EIO, AdminStatus(255).Errno())
}

func TestCompletionOpcodes(t *testing.T) {
	want := []WCOpcode{WCSend, WCSend, WCSend, WCWrite, WCWrite, WCRead, WCCompareSwap, WCFetchAdd, WCLocalInv, WCBindMW, WCFastReg, WCNop, WCNop}
	for op, wc := range want {
		require.Equal(t, wc, WQEOp(op).WCOpcode(), WQEOp(op).String())
		require.False(t, wc.IsRecv())
	}
	require.True(t, WCRecv.IsRecv())
	require.True(t, WCRecvWithImm.IsRecv())
}

func TestCounters(t *testing.T) {
	names := map[string]bool{}
	for i, c := range Counters() {
		require.Equal(t, Counter(i), c)
		require.NotEmpty(t, c.String())
		require.NotEmpty(t, c.Doc(), c.String())
		require.False(t, names[c.String()], "%s twice", c)
		names[c.String()] = true
	}
	require.Len(t, names, NumCounters)
	require.LessOrEqual(t, NumCounters*8, PageSize)
	require.Equal(t, "invalid", Counter(NumCounters).String())
	require.Empty(t, Counter(NumCounters).Doc())
	require.Equal(t, "tx_packets", TxPackets.String())
	require.Equal(t, uint32(0x1008), CounterAddr(TxBytes))
}
