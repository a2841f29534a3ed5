package driver_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// far is what a has of b's memory: remote access to a buffer of its own.
func (p *pair) far(t testing.TB, access abi.AccessFlags) (*driver.Buffer, *driver.MR) {
	b, err := p.dev.AllocBuffer(10_000, 0)
	require.NoError(t, err)
	mr, err := p.pd.RegMR(b, access|abi.AccessLocalWrite)
	require.NoError(t, err)
	return b, mr
}

const allRemote = abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

func rdmaPair(t testing.TB) *pair {
	return connected(t, driver.Config{}, driver.QPConfig{MaxSend: 16, MaxRecv: 4, MaxSendSGE: 16, MaxRecvSGE: 16, MaxInline: 64})
}

// Each operation moves what verbs says, and completes with its own opcode.
func TestOperations(t *testing.T) {
	p := rdmaPair(t)
	buf, mr := p.far(t, allRemote)
	write(t, p.buf, 100, "0123456789abcdefghij")
	write(t, buf, 3000, "far away")
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], 1<<40)
	write(t, buf, 80, string(word[:]))
	var sixteen []driver.SGE
	for i := range 16 {
		sixteen = append(sixteen, p.mr.SGE(100+i, 1))
	}
	_, err := p.b.PostRecv(driver.RecvWR{ID: 100}, driver.RecvWR{ID: 101, SGEs: []driver.SGE{p.mr.SGE(5000, 64)}})
	require.NoError(t, err)
	n, err := p.a.PostSend(
		driver.SendWR{ID: 1, Op: abi.OpWrite, Signaled: true, SGEs: sixteen, RemoteAddr: mr.Addr + 4090, RKey: mr.RKey},
		driver.SendWR{ID: 2, Op: abi.OpWriteImm, Signaled: true, Inline: []byte("inline"), Imm: 77, RemoteAddr: mr.Addr, RKey: mr.RKey},
		driver.SendWR{ID: 3, Op: abi.OpRead, Signaled: true, SGEs: []driver.SGE{p.mr.SGE(6000, 3), {}, p.mr.SGE(6100, 5)}, RemoteAddr: mr.Addr + 3000, RKey: mr.RKey},
		driver.SendWR{ID: 4, Op: abi.OpFetchAdd, Signaled: true, SGEs: []driver.SGE{p.mr.SGE(7000, 8)}, SwapAdd: 1 << 36, RemoteAddr: mr.Addr + 80, RKey: mr.RKey},
		driver.SendWR{ID: 5, Op: abi.OpCompareSwap, Signaled: true, SGEs: []driver.SGE{p.mr.SGE(7008, 8)}, Compare: 1<<40 + 1<<36, SwapAdd: 5, RemoteAddr: mr.Addr + 80, RKey: mr.RKey},
		driver.SendWR{ID: 6, Op: abi.OpRead, Signaled: true},
		driver.SendWR{ID: 7, Op: abi.OpSendInv, Signaled: true, SGEs: []driver.SGE{p.mr.SGE(100, 4)}, Imm: uint32(mr.RKey)},
		driver.SendWR{ID: 8, Op: abi.OpRead, Fence: true, SGEs: []driver.SGE{p.mr.SGE(6000, 3)}, RemoteAddr: mr.Addr, RKey: mr.RKey},
	)
	require.NoError(t, err)
	require.Equal(t, 8, n)
	p.m.settle()
	require.Equal(t, "0123456789abcdef", read(t, buf, 4090, 16))
	require.Equal(t, "inline", read(t, buf, 0, 6))
	require.Equal(t, "far", read(t, p.buf, 6000, 3))
	require.Equal(t, " away", read(t, p.buf, 6100, 5))
	require.EqualValues(t, 1<<40, binary.LittleEndian.Uint64([]byte(read(t, p.buf, 7000, 8))))
	require.EqualValues(t, 1<<40+1<<36, binary.LittleEndian.Uint64([]byte(read(t, p.buf, 7008, 8))))
	require.EqualValues(t, 5, binary.LittleEndian.Uint64([]byte(read(t, buf, 80, 8))))

	wcs := poll(t, p.cq)
	for i := range wcs {
		wcs[i].Timestamp, wcs[i].VendorErr = 0, 0
	}
	a, b := p.a.Number(), p.b.Number()
	require.Equal(t, []driver.WC{
		{ID: 1, Opcode: abi.WCWrite, ByteLen: 16, QPN: a, QP: p.a},
		{ID: 100, Opcode: abi.WCRecvWithImm, ByteLen: 6, Imm: 77, Flags: abi.CQEWithImm, QPN: b, SrcQPN: a, QP: p.b},
		{ID: 2, Opcode: abi.WCWrite, ByteLen: 6, QPN: a, QP: p.a},
		{ID: 3, Opcode: abi.WCRead, ByteLen: 8, QPN: a, QP: p.a},
		{ID: 4, Opcode: abi.WCFetchAdd, ByteLen: 8, QPN: a, QP: p.a},
		{ID: 5, Opcode: abi.WCCompareSwap, ByteLen: 8, QPN: a, QP: p.a},
		{ID: 6, Opcode: abi.WCRead, QPN: a, QP: p.a},
		{ID: 101, Opcode: abi.WCRecv, ByteLen: 4, Imm: uint32(mr.RKey), Flags: abi.CQEWithInv, QPN: b, SrcQPN: a, QP: p.b},
		{ID: 7, Opcode: abi.WCSend, ByteLen: 4, QPN: a, QP: p.a},
		{ID: 8, Opcode: abi.WCRead, Status: abi.StatusRemAccess, QPN: a, QP: p.a},
	}, wcs)
	require.NoError(t, mr.Dereg(), "an invalidated region still has to be deregistered")
}

// What the driver refuses, and what it leaves for the device to judge.
func TestOperationRules(t *testing.T) {
	p := rdmaPair(t)
	one := []driver.SGE{p.mr.SGE(0, 8)}
	for name, wr := range map[string]driver.SendWR{
		"READ inline":        {Op: abi.OpRead, Inline: []byte("x")},
		"READ inline, empty": {Op: abi.OpRead, Inline: []byte{}},
		"atomic inline":      {Op: abi.OpFetchAdd, Inline: make([]byte, 8)},
		"atomic no SGE":      {Op: abi.OpCompareSwap},
		"atomic two SGEs":    {Op: abi.OpFetchAdd, SGEs: []driver.SGE{p.mr.SGE(0, 4), p.mr.SGE(4, 4)}},
		"17 SGEs":            {Op: abi.OpRead, SGEs: make([]driver.SGE, 17)},
	} {
		_, err := p.a.PostSend(wr)
		require.ErrorIs(t, err, driver.ErrInvalid, name)
	}
	p.dev.Attr.WQEOps = 1<<abi.OpLocalInv - 1
	for _, op := range []abi.WQEOp{abi.OpLocalInv, abi.OpBindMW, abi.OpFastReg} {
		_, err := p.a.PostSend(driver.SendWR{Op: op})
		require.ErrorIs(t, err, driver.ErrNotSupported, op)
	}
	for _, wr := range []driver.SendWR{
		{Op: abi.OpFetchAdd, SGEs: []driver.SGE{p.mr.SGE(0, 7)}},
		{Op: abi.OpCompareSwap, SGEs: []driver.SGE{p.mr.SGE(0, 9)}},
	} {
		q := rdmaPair(t)
		_, err := q.a.PostSend(wr)
		require.NoError(t, err)
		q.m.settle()
		require.Equal(t, abi.StatusLocLen, poll(t, q.cq)[0].Status)
	}
	for _, wr := range []driver.SendWR{
		{Op: abi.OpWrite, SGEs: one, RemoteAddr: p.mr.Addr, RKey: p.mr.RKey},
		{Op: abi.OpRead, SGEs: one, RemoteAddr: p.mr.Addr, RKey: p.mr.RKey},
		{Op: abi.OpFetchAdd, SGEs: one, RemoteAddr: p.mr.Addr - p.mr.Addr%8, RKey: p.mr.RKey},
	} {
		q := rdmaPair(t)
		_, err := q.a.PostSend(wr)
		require.NoError(t, err)
		q.m.settle()
		require.Equal(t, abi.StatusRemAccess, poll(t, q.cq)[0].Status, "the region has no such access")
	}
}

// Depths of 0 to the device's most, and what they mean for a READ.
func TestDepths(t *testing.T) {
	for _, c := range []struct {
		option, want int
	}{{0, 16}, {-1, 0}, {1, 1}, {16, 16}} {
		p := unconnected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxSendSGE: 1})
		o := driver.ConnectOptions{MaxRdAtomic: c.option, MaxDestRdAtomic: c.option}
		require.NoError(t, p.a.Connect(p.b.Endpoint(), o))
		require.NoError(t, p.b.Connect(p.a.Endpoint(), o))
		q, err := p.a.Query()
		require.NoError(t, err)
		require.EqualValues(t, []int{c.want, c.want}, []int{int(q.MaxRdAtomic), int(q.MaxDestRdAtomic)})
		_, mr := p.far(t, allRemote)
		_, err = p.a.PostSend(driver.SendWR{ID: 1, Op: abi.OpRead, Signaled: true, SGEs: []driver.SGE{p.mr.SGE(0, 8)}, RemoteAddr: mr.Addr, RKey: mr.RKey})
		require.NoError(t, err)
		p.m.settle()
		require.Equal(t, c.want == 0, poll(t, p.cq)[0].Status == abi.StatusLocQPOp)
	}
}

// What a QP lets its peer do is apart from what the region allows.
func TestQPAccess(t *testing.T) {
	for _, access := range []abi.AccessFlags{abi.AccessRemoteWrite, abi.AccessRemoteRead, abi.AccessRemoteAtomic} {
		for op, needs := range map[abi.WQEOp]abi.AccessFlags{
			abi.OpWrite: abi.AccessRemoteWrite, abi.OpRead: abi.AccessRemoteRead, abi.OpFetchAdd: abi.AccessRemoteAtomic,
		} {
			p := unconnected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxSendSGE: 1})
			require.NoError(t, p.a.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
			require.NoError(t, p.b.Connect(p.a.Endpoint(), driver.ConnectOptions{Access: access}))
			_, mr := p.far(t, allRemote)
			_, err := p.a.PostSend(driver.SendWR{Op: op, Signaled: true, SGEs: []driver.SGE{p.mr.SGE(0, 8)}, RemoteAddr: mr.Addr, RKey: mr.RKey})
			require.NoError(t, err)
			p.m.settle()
			require.Equal(t, access&needs != 0, poll(t, p.cq)[0].Err() == nil, "%s with %s", op, access)
		}
	}
}

// WQEs of up to five units wrap over the end of the ring.
func TestLongWQEsWrap(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 3, MaxSendSGE: 16})
	buf, mr := p.far(t, allRemote)
	write(t, p.buf, 0, strings.Repeat("abcdefghijklmnop", 4))
	for i := range 60 {
		n := 1 + i%16
		var sges []driver.SGE
		for j := range n {
			sges = append(sges, p.mr.SGE(j*4, 4))
		}
		_, err := p.a.PostSend(driver.SendWR{ID: uint64(i), Op: abi.OpWrite, Signaled: true, SGEs: sges, RemoteAddr: mr.Addr + uint64(i), RKey: mr.RKey})
		require.NoError(t, err)
		p.m.settle()
		wcs := poll(t, p.cq)
		require.Len(t, wcs, 1)
		require.NoError(t, wcs[0].Err())
		require.Equal(t, read(t, p.buf, 0, 4*n), read(t, buf, i, 4*n))
	}
}
