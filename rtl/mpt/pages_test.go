package mpt_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// TestPageSizes: regions of pages from 4 KiB to 1 GiB that start anywhere in
// their first page and lie in frames in no order, used around every border.
func TestPageSizes(t *testing.T) {
	const n = 5 // pages of a region
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 12))
		b := newBench(t, hdl.Options{Strict: true, Order: seed}, seed)
		var mrs []abi.MRMailbox
		var lists [][]uint64
		for k, log := range []uint8{12, 16, 21, 25, 30} {
			size := uint64(1) << log
			start := 1 + rng.Uint64N(size-1)
			mr := abi.MRMailbox{PD: 1, KeyLow: uint8(rng.Uint32()), LogPageSize: log, NumPages: n, FirstPage: uint32(n * k),
				Addr: rng.Uint64N(1<<16)<<log + start, Length: n*size - start - rng.Uint64N(size)}
			list := make([]uint64, n)
			for i, frame := range rng.Perm(64)[:n] {
				list[i] = uint64(frame) << log
			}
			mrs, lists = append(mrs, mr), append(lists, list)
			b.register(uint32(k), mr, list)
		}
		b.settle(t, len(mrs), 0, 0)
		for i, r := range b.AdminRes.Got {
			require.Equal(t, port.MRAdminRes{}, r, "pages of 2^%d", mrs[i].LogPageSize)
		}
		var want [2][]port.MptRes
		split, refused := 0, 0
		look := func(k int, va uint64, n uint16) {
			mr := &mrs[k]
			r := port.MptReq{Key: port.Key(k<<8) | port.Key(mr.KeyLow), VA: port.VA(va), Len: n, PD: 1}
			res := model(mr, lists[k], r)
			if res.Len1 != 0 {
				split++
			}
			if res.Status != port.MptOK {
				refused++
			}
			side := rng.IntN(2)
			want[side] = append(want[side], res)
			if side == 0 {
				b.Tx.Push(r)
			} else {
				b.Rx.Push(r)
			}
		}
		for k, mr := range mrs {
			mask := uint64(1)<<mr.LogPageSize - 1
			borders := []uint64{mr.Addr, mr.Addr + mr.Length}
			for i := range uint64(n - 1) {
				borders = append(borders, mr.Addr&^mask+(i+1)*(mask+1))
			}
			for _, at := range borders {
				look(k, at-1, 1)
				look(k, at-1, 2)
				look(k, at, 1)
				look(k, at, 4096)
				look(k, at-4096, 4096)
				look(k, at-1-rng.Uint64N(4095), 4096)
			}
			for range 20 {
				look(k, mr.Addr+rng.Uint64N(mr.Length), uint16(1+rng.Uint32N(4096)))
			}
		}
		require.GreaterOrEqual(t, split, len(mrs)*(n-2)*2)
		require.GreaterOrEqual(t, refused, len(mrs)*4)
		b.settle(t, len(mrs), len(want[0]), len(want[1]))
		require.Equal(t, want[0], b.TxRes.Got)
		require.Equal(t, want[1], b.RxRes.Got)
	}
}
