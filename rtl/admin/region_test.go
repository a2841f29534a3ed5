package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// region is a registration of n pages of 4 KiB whose list begins at an offset, and
// puts the list there.
func (b *bench) region(n uint32, offset uint64, first uint32) *abi.MRMailbox {
	pages := make([]uint64, n)
	for i := range pages {
		pages[i] = uint64(0x100000+i*7) << 12
	}
	return &abi.MRMailbox{
		Addr: 0x10000, Length: uint64(n) << 12, PD: 3, Access: abi.AccessLocalWrite, KeyLow: 9, LogPageSize: 12,
		PageList: b.pageList(offset, pages), NumPages: n, FirstPage: first,
	}
}

func TestRegister(t *testing.T) {
	for _, throttle := range []uint64{0, 11} {
		for _, c := range []struct {
			pages  uint32
			offset uint64
			reads  int
		}{{1, 0, 1}, {8, 8, 1}, {9, 56, 1}, {512, 0, 1}, {513, 8, 2}, {1030, 4096 - 8, 3}} {
			b := newBench(t, strict, throttle, 4)
			ok(t, b.do(t, command{op: abi.AdminRegMR, object: 5, box: b.region(c.pages, c.offset, 10)}))
			require.Len(t, b.Read.Got, 2+c.reads, "command, mailbox, list")
			require.True(t, b.Mpt.KeyTable.Peek(5).Valid)
			for i := range int(c.pages) {
				require.Equal(t, port.BusAddr(0x100000+i*7)<<12, *b.Mpt.PageTable.Peek(10 + i), "page %d of %d", i, c.pages)
			}
			require.Zero(t, *b.Mpt.PageTable.Peek(10 + int(c.pages)))
			require.Equal(t, abi.AdminExists, b.do(t, command{op: abi.AdminRegMR, object: 5, box: b.region(9, 0, 10)}).Status)
			ok(t, b.do(t, command{op: abi.AdminDeregMR, object: 5}))
			require.False(t, b.Mpt.KeyTable.Peek(5).Valid)
			b.k.Close()
		}
	}
}

// A region has ended when all that was begun with it is done: the markers of mpt have come
// back from both pipelines.
func TestDeregisterWaits(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	ok(t, b.do(t, command{op: abi.AdminRegMR, object: 5, box: b.region(9, 0, 10)}))
	b.MptTx.OnTake, b.MptRx.OnTake = nil, nil
	b.post(command{op: abi.AdminDeregMR, object: 5})
	require.NoError(t, b.k.Run(b.k.Cycle()+500))
	marker := []port.MptRes{{Fence: port.FenceAdmin}}
	require.Equal(t, marker, b.MptTx.Got)
	require.Equal(t, marker, b.MptRx.Got)
	require.False(t, b.Mpt.KeyTable.Peek(5).Valid)
	for _, back := range []*agent.Source[port.Fence]{&b.RxFenced, &b.TxFenced} {
		require.Equal(t, uint64(1), b.Levels.Stats.Get().Commands)
		back.Push(port.FenceAdmin)
		require.NoError(t, b.k.Run(b.k.Cycle()+500))
	}
	ok(t, b.wait(t, 1)[0])
	require.Equal(t, abi.AdminBadObject, b.do(t, command{op: abi.AdminDeregMR, object: 5}).Status)
	require.Len(t, b.MptTx.Got, 1, "nothing ended")
}

// What mpt refuses takes its list all the same, and leaves nothing behind.
func TestRegisterRefused(t *testing.T) {
	b := newBench(t, strict, 0, 4)
	r := b.region(20, 0, 0)
	r.Length += 4096
	c := b.do(t, command{op: abi.AdminRegMR, object: 5, box: r})
	require.Equal(t, abi.AdminBadParam, c.Status)
	require.Equal(t, abi.SynNumPages, c.Syndrome)
	r = b.region(0, 0, 0)
	require.Equal(t, abi.SynLength, b.do(t, command{op: abi.AdminRegMR, object: 5, box: r}).Syndrome)
	ok(t, b.do(t, command{op: abi.AdminRegMR, object: 5, box: b.region(20, 0, 0)}))
}

// A list that can't be read, wherever it breaks, registers nothing.
func TestPageListUnreadable(t *testing.T) {
	for _, at := range []uint64{0, 4088, 4096, 8192, 8239} {
		b := newBench(t, strict, 0, 4)
		b.bad = lists + at
		c := b.do(t, command{op: abi.AdminRegMR, object: 5, box: b.region(1030, 0, 0)})
		require.Equal(t, abi.AdminDMAError, c.Status)
		require.Equal(t, abi.SynPageList, c.Syndrome)
		require.False(t, b.Mpt.KeyTable.Peek(5).Valid)
		b.bad = 1 << 40
		ok(t, b.do(t, command{op: abi.AdminRegMR, object: 5, box: b.region(1030, 0, 0)}))
		b.k.Close()
	}
}
