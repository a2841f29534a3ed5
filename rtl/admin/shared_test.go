package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

func ah() *abi.AHMailbox { return &abi.AHMailbox{PD: 7, AV: qp().AV} }

func srq() *abi.SRQMailbox {
	return &abi.SRQMailbox{Base: 0xc000, LogSize: 4, LogStride: 6, MaxSGE: 3, PD: 7, UARPage: 5, Limit: 2}
}

// sharing is the mailbox of a QP that receives from SRQ n.
func sharing(n uint32) *abi.QPMailbox {
	a := qp()
	a.Flags, a.SRQN = abi.QPHasSRQ, n
	return a
}

func TestAddressHandle(t *testing.T) {
	for _, throttle := range []uint64{0, 7} {
		b := newBench(t, strict, throttle, 4)
		ok(t, b.do(t, command{op: abi.AdminCreateAH, object: 7, box: ah()}))
		require.Equal(t, abi.AdminExists, b.do(t, command{op: abi.AdminCreateAH, object: 7, box: ah()}).Status)
		bad := ah()
		bad.AV.SGIDIndex = 3
		c := b.do(t, command{op: abi.AdminCreateAH, object: 6, box: bad})
		require.Equal(t, abi.AdminBadParam, c.Status)
		require.Equal(t, abi.SynAV, c.Syndrome)
		ok(t, b.do(t, command{op: abi.AdminDestroyAH, object: 7}))
		require.Equal(t, abi.AdminBadObject, b.do(t, command{op: abi.AdminDestroyAH, object: 7}).Status)
		ok(t, b.do(t, command{op: abi.AdminCreateAH, object: 7, box: ah()}))
		b.k.Close()
	}
}

func TestSharedReceiveQueue(t *testing.T) {
	for _, throttle := range []uint64{0, 7} {
		b := newBench(t, strict, throttle, 4)
		query := func() (m abi.SRQMailbox) {
			ok(t, b.do(t, command{op: abi.AdminQuerySRQ, object: 3}))
			require.NoError(t, abi.SRQMailboxLayout.Decode(b.box(), &m))
			return m
		}
		ok(t, b.do(t, command{op: abi.AdminCreateSRQ, object: 3, box: srq()}))
		require.Equal(t, *srq(), query())
		require.Equal(t, abi.AdminExists, b.do(t, command{op: abi.AdminCreateSRQ, object: 3, box: srq()}).Status)

		larger := abi.SRQMailbox{Mask: abi.SRQRing | abi.SRQLimit, Base: 0x20000, LogSize: 5, Limit: 0}
		ok(t, b.do(t, command{op: abi.AdminModifySRQ, object: 3, box: &larger}))
		want := *srq()
		want.Base, want.LogSize, want.Limit = 0x20000, 5, 0
		b.log = nil
		require.Equal(t, want, query())
		require.Equal(t, []string{"mailbox", "completion"}, without(b.log, "irq"))
		larger.LogSize = 4
		c := b.do(t, command{op: abi.AdminModifySRQ, object: 3, box: &larger})
		require.Equal(t, abi.AdminBadParam, c.Status)
		require.Equal(t, abi.SynLogSize, c.Syndrome)

		ok(t, b.do(t, command{op: abi.AdminDestroySRQ, object: 3}))
		require.Equal(t, abi.AdminBadObject, b.do(t, command{op: abi.AdminQuerySRQ, object: 3}).Status)
		require.Equal(t, abi.AdminBadObject, b.do(t, command{op: abi.AdminDestroySRQ, object: 3}).Status)
		ok(t, b.do(t, command{op: abi.AdminNop})) // nothing is left of an answer
		b.k.Close()
	}
}

// An SRQ lives as long as a QP uses it.
func TestUseOfSRQs(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	ok(t, b.do(t, withQP(1)...))
	c := b.do(t, command{op: abi.AdminCreateQP, object: 3, box: sharing(2)})
	require.Equal(t, abi.AdminBadParam, c.Status)
	require.Equal(t, abi.SynSRQ, c.Syndrome, "no such SRQ")
	require.Equal(t, abi.SynSRQ, b.do(t, command{op: abi.AdminCreateQP, object: 3, box: sharing(1 << 23)}).Syndrome)
	ok(t, b.do(t, command{op: abi.AdminCreateSRQ, object: 1, box: srq()}))
	ok(t, b.do(t, command{op: abi.AdminCreateSRQ, object: 2, box: srq()}))
	other := qp()
	other.SRQN, other.Flags = 1, abi.QPSigAll // without the flag of its own it says nothing
	ok(t, b.do(t, command{op: abi.AdminCreateQP, object: 2, box: other}))
	for n := range uint32(2) {
		ok(t, b.do(t, command{op: abi.AdminCreateQP, object: 3 + n, box: sharing(2)}))
	}
	require.Equal(t, abi.AdminExists, b.do(t, command{op: abi.AdminCreateQP, object: 4, box: sharing(2)}).Status)
	ok(t, b.do(t, command{op: abi.AdminDestroySRQ, object: 1}))
	for n := range uint32(2) {
		require.Equal(t, abi.AdminBusy, b.do(t, command{op: abi.AdminDestroySRQ, object: 2}).Status)
		ok(t, b.do(t, command{op: abi.AdminQuerySRQ, object: 2}))
		ok(t, b.do(t, command{op: abi.AdminModifyQP, object: 3 + n, box: to(abi.QPReset)}))
		require.Equal(t, abi.AdminBusy, b.do(t, command{op: abi.AdminDestroySRQ, object: 2}).Status)
		ok(t, b.do(t, command{op: abi.AdminDestroyQP, object: 3 + n}))
	}
	ok(t, b.do(t, command{op: abi.AdminDestroySRQ, object: 2}))
	ok(t, b.do(t, command{op: abi.AdminDestroyQP, object: 1}, command{op: abi.AdminDestroyQP, object: 2}))
	ok(t, b.do(t, command{op: abi.AdminDestroyCQ, object: 1}, command{op: abi.AdminDestroyCQ, object: 2}))
}

// bind is what wqe_sched asks for a BIND_MW of a QP.
func (b *bench) bind(t *testing.T, qpn port.QPN, window, region abi.Key) abi.WCStatus {
	n := len(b.MemRes.Got)
	b.Mem.Push(port.MemOp{
		Op: abi.OpBindMW, QPN: qpn, PD: 3, Key: port.Key(window), Region: port.Key(region), VA: 0x10000, Length: 4096, Access: abi.AccessRemoteRead,
	})
	require.NoError(t, b.k.Run(b.k.Cycle()+200))
	require.Len(t, b.MemRes.Got, n+1)
	return b.MemRes.Got[n].Status
}

// Keys of the other kinds have no page list, whatever their mailbox says of one.
func TestKeysWithoutAList(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	for i, k := range []abi.KeyKind{abi.KeyFastReg, abi.KeyWindow1, abi.KeyWindow2} {
		n := len(b.Read.Got)
		box := &abi.MRMailbox{PD: 3, Kind: k, NumPages: 9, PageList: 4, FirstPage: 20}
		if k != abi.KeyFastReg {
			box.NumPages = 1 << 20
		}
		ok(t, b.do(t, command{op: abi.AdminRegMR, object: uint32(i), box: box}))
		require.Len(t, b.Read.Got, n+2, "command, mailbox")
	}
	c := b.do(t, command{op: abi.AdminRegMR, object: 9, box: &abi.MRMailbox{Kind: abi.KeyFastReg, NumPages: 2049}})
	require.Equal(t, abi.SynNumPages, c.Syndrome)
	for i := range uint32(3) {
		ok(t, b.do(t, command{op: abi.AdminDeregMR, object: i}))
	}
}

// A region is busy while windows are bound to it. Those of a QP end with its life, when
// nothing of it is in the pipelines any more.
func TestWindowsEndWithTheirQP(t *testing.T) {
	for _, end := range []command{{op: abi.AdminModifyQP, object: 3, box: to(abi.QPReset)}, {op: abi.AdminDestroyQP, object: 3}} {
		b := newBench(t, strict, 0, 4)
		ok(t, b.do(t, withQP(3)...))
		region := b.region(1, 0, 10)
		region.Access |= abi.AccessMWBind
		ok(t, b.do(t, command{op: abi.AdminRegMR, object: 5, box: region}))
		for i := range uint32(2) {
			ok(t, b.do(t, command{op: abi.AdminRegMR, object: 6 + i, box: &abi.MRMailbox{PD: 3, Kind: abi.KeyWindow2}}))
		}
		require.Equal(t, abi.StatusSuccess, b.bind(t, 4, abi.MakeKey(6, 1), abi.MakeKey(5, 9)))
		var held []port.Purge
		b.PurgeTx.OnTake = func(p port.Purge) { held = append(held, p) }
		b.PurgeRx.OnTake = func(p port.Purge) { held = append(held, p) }
		b.post(end)
		require.NoError(t, b.k.Run(b.k.Cycle()+500))
		require.Equal(t, abi.StatusSuccess, b.bind(t, 3, abi.MakeKey(7, 1), abi.MakeKey(5, 9)), "begun before the end")
		b.Purged.Push(held[0])
		require.NoError(t, b.k.Run(b.k.Cycle()+500))
		require.True(t, b.Mpt.KeyTable.Peek(7).Valid)
		b.Purged.Push(held[1])
		ok(t, b.wait(t, 1)[0])
		require.False(t, b.Mpt.KeyTable.Peek(7).Valid)
		require.True(t, b.Mpt.KeyTable.Peek(6).Valid, "of another QP")

		require.Equal(t, abi.AdminBusy, b.do(t, command{op: abi.AdminDeregMR, object: 5}).Status)
		ok(t, b.do(t, command{op: abi.AdminDeregMR, object: 6}, command{op: abi.AdminDeregMR, object: 5}))
		b.k.Close()
	}
}

func TestRefusalsOfShared(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	v6 := ah()
	v6.AV.DGID = roce.GID{0: 0xfe, 15: 1}
	for _, c := range []struct {
		name string
		c    command
		s    abi.AdminStatus
		syn  abi.AdminSyndrome
	}{
		{"AHN", command{op: abi.AdminCreateAH, object: 8, box: ah()}, abi.AdminBadObject, abi.SynObject},
		{"AHN to destroy", command{op: abi.AdminDestroyAH, object: 8}, abi.AdminBadObject, abi.SynObject},
		{"no such AH", command{op: abi.AdminDestroyAH, object: 1}, abi.AdminBadObject, abi.SynObject},
		{"family", command{op: abi.AdminCreateAH, object: 1, box: v6}, abi.AdminBadParam, abi.SynAV},
		{"no mailbox of an AH", command{op: abi.AdminCreateAH, object: 1, at: 1}, abi.AdminBadParam, abi.SynMailbox},
		{"SRQN", command{op: abi.AdminCreateSRQ, object: 4, box: srq()}, abi.AdminBadObject, abi.SynObject},
		{"SRQN to modify", command{op: abi.AdminModifySRQ, object: 4, box: srq()}, abi.AdminBadObject, abi.SynObject},
		{"SRQN to query", command{op: abi.AdminQuerySRQ, object: 1 << 31}, abi.AdminBadObject, abi.SynObject},
		{"SRQN to destroy", command{op: abi.AdminDestroySRQ, object: 4}, abi.AdminBadObject, abi.SynObject},
		{"no such SRQ to modify", command{op: abi.AdminModifySRQ, object: 1, box: srq()}, abi.AdminBadObject, abi.SynObject},
		{"no such SRQ to query", command{op: abi.AdminQuerySRQ, object: 1}, abi.AdminBadObject, abi.SynObject},
		{"no such SRQ to destroy", command{op: abi.AdminDestroySRQ, object: 1}, abi.AdminBadObject, abi.SynObject},
		{"no mailbox of an SRQ", command{op: abi.AdminCreateSRQ, object: 1, at: 1}, abi.AdminBadParam, abi.SynMailbox},
		{"no mailbox to modify", command{op: abi.AdminModifySRQ, object: 1, at: 1}, abi.AdminBadParam, abi.SynMailbox},
		{"no mailbox to query", command{op: abi.AdminQuerySRQ, object: 1, at: 1}, abi.AdminBadParam, abi.SynMailbox},
	} {
		got := b.do(t, c.c)
		require.Equal(t, c.s, got.Status, c.name)
		require.Equal(t, c.syn, got.Syndrome, c.name)
	}
	ok(t, b.do(t, command{op: abi.AdminNop}))
}
