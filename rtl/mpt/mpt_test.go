package mpt_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/mpt"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

type bench struct {
	Mpt      *mpt.MPT
	Tx, Rx   agent.Source[port.MptReq]
	TxRes    agent.Sink[port.MptRes]
	RxRes    agent.Sink[port.MptRes]
	Mem      agent.Source[port.MemOp]
	MemPages agent.Source[port.Beat]
	MemRes   agent.Sink[port.MemRes]
	Admin    agent.Source[port.MRAdmin]
	Pages    agent.Source[port.Beat]
	AdminRes agent.Sink[port.MRAdminRes]
	TxFenced agent.Source[port.Fence] // what Tx and Rx hand back
	RxFenced agent.Source[port.Fence]
	KeyEnded agent.Sink[port.KeyEnded]
	Clock    clock
	k        *hdl.Kernel
	marks    [2][]mark // of Tx and Rx
	held     bool      // they are not handed back
}

// clock ticks: a bench in which somebody waits for the test is not stuck.
type clock struct{ hdl.Behave }

func (c *clock) Tick() { c.WakeAt(c.Now() + 100) }

// mark is a marker among the answers.
type mark struct {
	fence port.Fence
	at    uint64
}

// tester is *testing.T or *rapid.T.
type tester interface {
	hdltest.T
	Cleanup(func())
}

func newBench(t tester, o hdl.Options, throttle uint64) *bench {
	b := &bench{Mpt: mpt.New(mpt.Params{Keys: 16, Pages: 64})}
	for _, th := range []*agent.Throttle{&b.Tx.Throttle, &b.Rx.Throttle, &b.TxRes.Throttle, &b.RxRes.Throttle, &b.Pages.Throttle,
		&b.Mem.Throttle, &b.MemPages.Throttle, &b.MemRes.Throttle, &b.TxFenced.Throttle, &b.RxFenced.Throttle} {
		th.Seed = throttle
	}
	hdl.Connect(&b.Tx.Out, &b.Mpt.Tx, 2)
	hdl.Connect(&b.Rx.Out, &b.Mpt.Rx, 2)
	hdl.Connect(&b.Mpt.TxRes, &b.TxRes.In, 2)
	hdl.Connect(&b.Mpt.RxRes, &b.RxRes.In, 4)
	hdl.Connect(&b.Mem.Out, &b.Mpt.Mem, 2)
	hdl.Connect(&b.MemPages.Out, &b.Mpt.MemPages, 2)
	hdl.Connect(&b.Mpt.MemRes, &b.MemRes.In, 2)
	hdl.Connect(&b.Admin.Out, &b.Mpt.Admin, 2)
	hdl.Connect(&b.Pages.Out, &b.Mpt.Pages, 2)
	hdl.Connect(&b.Mpt.AdminRes, &b.AdminRes.In, 2)
	hdl.Connect(&b.TxFenced.Out, &b.Mpt.TxFenced, 2)
	hdl.Connect(&b.RxFenced.Out, &b.Mpt.RxFenced, 2)
	hdl.Connect(&b.Mpt.KeyEnded, &b.KeyEnded.In, 2)
	b.TxRes.OnTake = b.back(0, &b.TxRes, &b.TxFenced)
	b.RxRes.OnTake = b.back(1, &b.RxRes, &b.RxFenced)
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	t.Cleanup(k.Close)
	return b
}

// back takes markers out of the answers, and hands them back.
func (b *bench) back(side int, res *agent.Sink[port.MptRes], fenced *agent.Source[port.Fence]) func(port.MptRes) {
	return func(r port.MptRes) {
		if n := len(res.Got) - 1; r.Fence != 0 {
			b.marks[side] = append(b.marks[side], mark{r.Fence, res.At[n]})
			res.Got, res.At = res.Got[:n], res.At[:n]
			if !b.held {
				fenced.Push(r.Fence)
			}
		}
	}
}

// settle runs until n more admin answers and all look-ups are there.
func (b *bench) settle(t tester, admin, tx, rx int) {
	for end := b.k.Cycle() + 100000; len(b.AdminRes.Got) < admin || len(b.TxRes.Got) < tx || len(b.RxRes.Got) < rx; {
		require.Less(t, b.k.Cycle(), end, "no answer")
		require.NoError(t, b.k.Run(b.k.Cycle()+1))
	}
}

func (b *bench) register(index uint32, mr abi.MRMailbox, pages []uint64) {
	b.Admin.Push(port.MRAdmin{Index: index, MR: mr})
	b.Pages.Push(beats(pages)...)
}

// beats are addresses as they travel.
func beats(pages []uint64) (out []port.Beat) {
	for i := 0; i < len(pages); i += 8 {
		var beat port.Beat
		for j, p := range pages[i:min(i+8, len(pages))] {
			binary.LittleEndian.PutUint64(beat.Data[8*j:], p)
			beat.Len += 8
		}
		out = append(out, beat)
	}
	return out
}

// model answers a look-up from the registration, byte by byte.
func model(mr *abi.MRMailbox, pages []uint64, r port.MptReq) port.MptRes {
	switch {
	case mr == nil || mr.KeyLow != uint8(r.Key):
		return port.MptRes{Status: port.MptBadKey}
	case mr.PD != uint32(r.PD):
		return port.MptRes{Status: port.MptBadPD}
	case r.Access&^uint8(mr.Access) != 0:
		return port.MptRes{Status: port.MptBadAccess}
	}
	size := uint64(1) << mr.LogPageSize
	var res port.MptRes
	for i := range uint64(r.Len) {
		off := uint64(r.VA) + i - mr.Addr
		if uint64(r.VA)+i < mr.Addr || off >= mr.Length {
			return port.MptRes{Status: port.MptBadBounds}
		}
		at := mr.Addr%size + off
		bus := port.BusAddr(pages[at/size] + at%size)
		switch {
		case i == 0:
			res.Addr0, res.Len0 = bus, 1
		case res.Len1 == 0 && at%size != 0:
			res.Len0++
		case res.Len1 == 0:
			res.Addr1, res.Len1 = bus, 1
		default:
			res.Len1++
		}
	}
	return res
}

func TestLookupsEqualModel(t *testing.T) {
	var first uint64
	for i, o := range []hdl.Options{{Digest: true}, {Digest: true, Strict: true, Order: 1}, {Digest: true, Strict: true, Order: 2}} {
		rng := rand.New(rand.NewPCG(7, 7))
		b := newBench(t, o, 99)
		var mrs [16]*abi.MRMailbox
		var lists [16][]uint64
		next := uint32(0)
		for k := range uint32(10) {
			n := 1 + rng.Uint32N(6)
			mr := &abi.MRMailbox{PD: 1 + rng.Uint32N(2), KeyLow: uint8(rng.Uint32()), LogPageSize: 12, NumPages: n, FirstPage: next,
				Access: abi.AccessLocalWrite * abi.AccessFlags(rng.Uint32N(2)), Addr: rng.Uint64N(1 << 40)}
			room := uint64(n)*4096 - mr.Addr%4096
			mr.Length = room - rng.Uint64N(min(room, 4096))
			if k == 9 { // ends at the very top of the address space
				mr.Addr, mr.Length, mr.NumPages, n = ^uint64(0)-99, 100, 1, 1
			}
			pages := make([]uint64, n)
			for j := range pages {
				pages[j] = rng.Uint64N(1<<30) << 12
			}
			next += n
			mrs[k], lists[k] = mr, pages
			b.register(k, *mr, pages)
		}
		b.settle(t, 10, 0, 0)
		for _, r := range b.AdminRes.Got {
			require.Equal(t, port.MRAdminRes{}, r)
		}
		var want [2][]port.MptRes
		for range 3000 {
			k := rng.Uint32N(12)
			r := port.MptReq{Key: port.Key(k << 8), PD: 1, Len: uint16(1 + rng.Uint32N(4096))}
			if mr := mrs[k]; mr != nil {
				r.Key |= port.Key(mr.KeyLow)
				r.PD = port.PD(mr.PD)
				r.Len = uint16(1 + rng.Uint64N(min(4096, mr.Length)))
				r.VA = port.VA(mr.Addr + rng.Uint64N(mr.Length))
				r.Access = uint8(mr.Access)
			}
			switch rng.Uint32N(12) {
			case 0:
				r.Key ^= 1
			case 1:
				r.PD ^= 3
			case 2:
				r.Access ^= 1
			case 3:
				r.Key = port.Key(rng.Uint32() | 1<<31)
			case 4:
				r.VA -= 5000
			}
			res := model(nil, nil, r)
			if idx := r.Key >> 8; idx < 16 {
				res = model(mrs[idx], lists[idx], r)
			}
			side := rng.Uint32N(2)
			want[side] = append(want[side], res)
			[]*agent.Source[port.MptReq]{&b.Tx, &b.Rx}[side].Push(r)
		}
		b.settle(t, 10, len(want[0]), len(want[1]))
		require.Equal(t, want[0], b.TxRes.Got)
		require.Equal(t, want[1], b.RxRes.Got)
		if i == 0 {
			first = b.k.Digest()
		}
		require.Equal(t, first, b.k.Digest(), "strict run %d", i)
	}
}

func TestRefusals(t *testing.T) {
	good := abi.MRMailbox{Addr: 4096, Length: 4096, PD: 1, LogPageSize: 12, NumPages: 1}
	for _, c := range []struct {
		name   string
		change func(*abi.MRMailbox)
		status abi.AdminStatus
		syn    abi.AdminSyndrome
		page   uint64
	}{
		{"remote write without local write", func(m *abi.MRMailbox) { m.Access = abi.AccessRemoteWrite }, abi.AdminBadParam, abi.SynAccessFlags, 0},
		{"remote atomic without local write", func(m *abi.MRMailbox) { m.Access = abi.AccessRemoteAtomic }, abi.AdminBadParam, abi.SynAccessFlags, 0},
		{"unknown access", func(m *abi.MRMailbox) { m.Access = 0x80 }, abi.AdminBadParam, abi.SynAccessFlags, 0},
		{"page too small", func(m *abi.MRMailbox) { m.LogPageSize = 11 }, abi.AdminBadParam, abi.SynPageSize, 0},
		{"page too large", func(m *abi.MRMailbox) { m.LogPageSize = 31 }, abi.AdminBadParam, abi.SynPageSize, 0},
		{"empty", func(m *abi.MRMailbox) { m.Length = 0 }, abi.AdminBadParam, abi.SynLength, 0},
		{"wraps", func(m *abi.MRMailbox) { m.Addr = ^uint64(0) }, abi.AdminBadParam, abi.SynAddr, 0},
		{"page count", func(m *abi.MRMailbox) { m.Length = 4097 }, abi.AdminBadParam, abi.SynNumPages, 0},
		{"no room", func(m *abi.MRMailbox) { m.FirstPage = 64 }, abi.AdminNoResource, abi.SynNumPages, 0},
		{"page not aligned", func(m *abi.MRMailbox) {}, abi.AdminBadParam, abi.SynPageList, 0x1800},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, hdl.Options{Strict: true}, 0)
			mr := good
			c.change(&mr)
			b.register(3, mr, []uint64{c.page})
			b.Tx.Push(port.MptReq{Key: 3 << 8, VA: 4096, Len: 1, PD: 1})
			b.register(3, good, []uint64{0x2000}) // the refused one left nothing behind
			b.settle(t, 2, 1, 0)
			require.Equal(t, port.MRAdminRes{Status: c.status, Syndrome: uint8(c.syn)}, b.AdminRes.Got[0])
			require.Equal(t, port.MRAdminRes{}, b.AdminRes.Got[1])
			require.Equal(t, port.MptBadKey, b.TxRes.Got[0].Status)
		})
	}
}

func TestObjectNumbersAndDeregistration(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	mr := abi.MRMailbox{Addr: 10, Length: 100, PD: 1, KeyLow: 7, LogPageSize: 12, NumPages: 1}
	b.register(16, mr, []uint64{0}) // beyond the table
	b.register(1, mr, []uint64{0x5000})
	b.register(1, mr, []uint64{0x6000}) // exists
	b.settle(t, 3, 0, 0)
	b.Rx.Push(port.MptReq{Key: 1<<8 | 7, VA: 10, Len: 100, PD: 1})
	b.settle(t, 3, 0, 1)
	b.Admin.Push(port.MRAdmin{Dereg: true, Index: 1}, port.MRAdmin{Dereg: true, Index: 1}, port.MRAdmin{Dereg: true, Index: 99})
	b.settle(t, 6, 0, 1)
	b.Rx.Push(port.MptReq{Key: 1<<8 | 7, VA: 10, Len: 1, PD: 1})
	b.settle(t, 6, 0, 2)
	status := func(i int) abi.AdminStatus { return b.AdminRes.Got[i].Status }
	require.Equal(t, abi.AdminBadObject, status(0))
	require.Equal(t, abi.AdminOK, status(1))
	require.Equal(t, abi.AdminExists, status(2))
	require.Equal(t, abi.AdminOK, status(3))
	require.Equal(t, abi.AdminBadObject, status(4))
	require.Equal(t, abi.AdminBadObject, status(5))
	require.Equal(t, port.MptRes{Addr0: 0x500a, Len0: 100}, b.RxRes.Got[0])
	require.Equal(t, port.MptBadKey, b.RxRes.Got[1].Status)
}

func TestOneLookupACycle(t *testing.T) {
	b := newBench(t, hdl.Options{}, 0)
	for range 500 {
		b.Tx.Push(port.MptReq{Len: 1})
		b.Rx.Push(port.MptReq{Len: 1})
	}
	b.settle(t, 0, 500, 500)
	require.LessOrEqual(t, b.RxRes.At[499]-b.TxRes.At[0], uint64(1001))
}

func TestRangeAndCheckOnly(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	mr := abi.MRMailbox{Addr: 4096 + 10, Length: 100, PD: 1, LogPageSize: 12, NumPages: 1}
	b.register(0, mr, []uint64{0x5000})
	b.settle(t, 1, 0, 0)
	b.Rx.Push(
		port.MptReq{VA: 4106, PD: 1, Range: 100}, // all of it, nothing to translate
		port.MptReq{VA: 4106, PD: 1, Range: 101}, // one too many
		port.MptReq{VA: 4106, PD: 1, Len: 10, Range: 1<<32 - 1},
		port.MptReq{VA: 4205, PD: 1, Len: 1, Range: 1}, // the last byte
		port.MptReq{VA: 4206, PD: 1, Range: 1},         // behind it
		port.MptReq{VA: 4105, PD: 1, Range: 1},         // before it
	)
	b.settle(t, 1, 0, 6)
	bad := port.MptRes{Status: port.MptBadBounds}
	require.Equal(t, []port.MptRes{{}, bad, bad, {Addr0: 0x506d, Len0: 1}, bad, bad}, b.RxRes.Got)
}

func TestInvalidate(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true}, 0)
	mr := abi.MRMailbox{Addr: 4096, Length: 100, PD: 1, KeyLow: 9, LogPageSize: 12, NumPages: 1}
	b.register(2, mr, []uint64{0x5000})
	b.settle(t, 1, 0, 0)
	use := port.MptReq{Key: 2<<8 | 9, VA: 4096, PD: 1, Len: 4}
	inv := port.MptReq{Key: 2<<8 | 9, PD: 1, Invalidate: true}
	other, stale := inv, inv
	other.PD, stale.Key = 2, 2<<8|8
	b.Rx.Push(other, stale, use, inv, use, inv)
	b.register(3, mr, []uint64{0x6000}) // at the same time
	b.settle(t, 2, 0, 6)
	var got []port.MptStatus
	for _, r := range b.RxRes.Got {
		got = append(got, r.Status)
	}
	require.Equal(t, []port.MptStatus{port.MptBadPD, port.MptBadKey, port.MptOK, port.MptOK, port.MptBadKey, port.MptBadKey}, got)
	b.register(2, mr, []uint64{0x7000}) // still registered
	b.Admin.Push(port.MRAdmin{Dereg: true, Index: 2})
	b.settle(t, 4, 0, 6)
	require.Equal(t, abi.AdminOK, b.AdminRes.Got[1].Status)
	require.Equal(t, abi.AdminExists, b.AdminRes.Got[2].Status)
	require.Equal(t, abi.AdminOK, b.AdminRes.Got[3].Status)
}
