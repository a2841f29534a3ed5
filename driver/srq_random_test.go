package driver_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/driver"
)

// Slots come back in any order, and while the queue grows: all messages arrive in the
// receives in the order of posting, and no place is lost.
func TestSRQSlotsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := sharing(t, 3, driver.SRQAttr{MaxRecv: rapid.IntRange(1, 12).Draw(rt, "max"), MaxSGE: 1})
		taken, open := uint64(0), 0 // receives that messages took; that are posted or not polled
		expect := make([][]uint64, 3)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			i := rapid.IntRange(0, 2).Draw(rt, "QP")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				size := rapid.IntRange(1, 40).Draw(rt, "size")
				was := s.srq.MaxRecv
				require.NoError(rt, s.srq.Modify(driver.SRQAttr{MaxRecv: size}, abi.SRQRing))
				require.GreaterOrEqual(rt, s.srq.MaxRecv, max(was, size))
			case 1, 2, 3:
				n := rapid.IntRange(1, 5).Draw(rt, "n")
				got := s.post(rt, n)
				require.Equal(rt, min(n, s.srq.MaxRecv-open), got)
				open += got
				s.m.settle()
			case 4, 5, 6, 7:
				if taken == s.posted {
					continue
				}
				s.send(rt, i, fmt.Sprint("message ", taken))
				require.Equal(rt, fmt.Sprint("message ", taken), read(t, s.buf, int(taken%100)*32, len(fmt.Sprint("message ", taken))))
				expect[i] = append(expect[i], 1000+taken)
				taken++
			default:
				got := ids(poll(t, s.cqs[i]))
				require.Equal(rt, expect[i], got)
				expect[i], open = nil, open-len(got)
			}
			if rapid.Bool().Draw(rt, "poll sends") {
				poll(t, s.cq)
			}
		}
		require.NoError(rt, s.dev.Close())
		require.Empty(rt, s.m.dma, "a ring was not given back")
		require.Empty(rt, s.m.faults)
	})
}

// Threads post and receive while another makes the queue larger.
func TestSRQGrowsAmongThreads(t *testing.T) {
	for seed := range uint64(8) {
		s := sharing(t, 2, driver.SRQAttr{MaxRecv: 2, MaxSGE: 1})
		s.m.room, s.m.shuffle = int(seed%3), rand.New(rand.NewPCG(seed, 90))
		const total = 150
		var got []uint64
		s.m.spawn(func(b *bus) {
			srq, rng := s.srq.On(s.dev.On(b)), rand.New(rand.NewPCG(seed, 91))
			for s.posted < total {
				if _, err := srq.PostRecv(driver.RecvWR{ID: s.posted}); err == nil {
					s.posted++
				}
				b.Spend(1 + rng.Int64N(400_000))
			}
		})
		for i := range 2 {
			s.m.spawn(func(b *bus) {
				d, rng := s.dev.On(b), rand.New(rand.NewPCG(seed, 92))
				from, cq, sends, wcs := s.from[i].On(d), s.cqs[i].On(d), s.cq.On(d), make([]driver.WC, 3)
				for len(got) < total {
					f := s.m.srqs[s.srq.Number()]
					if int(f.pi-f.ci) > 3 || s.posted == total {
						_, _ = from.PostSend(driver.SendWR{Op: abi.OpSend, Signaled: true})
					}
					b.Spend(1 + rng.Int64N(600_000))
					n, err := cq.Poll(wcs)
					require.NoError(t, err)
					got = append(got, ids(wcs[:n])...)
					_, err = sends.Poll(wcs)
					require.NoError(t, err)
					if s.m.qps[from.Number()].State == abi.QPErr { // nothing was posted: again
						require.NoError(t, from.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState))
						require.NoError(t, from.Connect(s.to[i].Endpoint(), driver.ConnectOptions{}))
					}
				}
			})
		}
		s.m.spawn(func(b *bus) {
			srq := s.srq.On(s.dev.On(b))
			for size := 4; size < 128; size *= 2 {
				b.Spend(4_000_000)
				require.NoError(t, srq.Modify(driver.SRQAttr{MaxRecv: size}, abi.SRQRing))
			}
		})
		require.True(t, s.m.run())
		slices.Sort(got)
		require.Equal(t, total, len(slices.Compact(got)), "each once")
		require.EqualValues(t, 7, s.m.srqs[s.srq.Number()].LogSize)
	}
}

func TestModifySRQErrors(t *testing.T) {
	s := sharing(t, 0, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1})
	for _, c := range []struct {
		attr driver.SRQAttr
		mask abi.SRQAttr
	}{
		{driver.SRQAttr{MaxRecv: -1}, abi.SRQRing},
		{driver.SRQAttr{MaxRecv: 1 << 15}, abi.SRQRing},
		{driver.SRQAttr{MaxRecv: 15, Limit: 16}, abi.SRQRing | abi.SRQLimit},
		{driver.SRQAttr{Limit: 8}, abi.SRQLimit},
		{driver.SRQAttr{}, 4},
	} {
		require.ErrorIs(t, s.srq.Modify(c.attr, c.mask), driver.ErrInvalid, "%+v", c)
	}
	n := s.m.ci
	require.NoError(t, s.srq.Modify(driver.SRQAttr{}, 0))
	require.NoError(t, s.srq.Modify(driver.SRQAttr{MaxRecv: 3, Limit: 99}, abi.SRQRing), "the limit is not meant")
	require.Equal(t, n, s.m.ci, "no command was issued")
	require.NoError(t, s.srq.Modify(driver.SRQAttr{MaxRecv: 9, Limit: 15}, abi.SRQRing|abi.SRQLimit))
	require.Equal(t, 15, s.srq.MaxRecv)
	dma := len(s.m.dma)
	s.m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) { return abi.AdminNoResource, 0 }
	require.ErrorIs(t, s.srq.Modify(driver.SRQAttr{MaxRecv: 16}, abi.SRQRing), driver.ErrNoMemory)
	s.m.refuse, s.m.noMem = nil, true
	require.ErrorIs(t, s.srq.Modify(driver.SRQAttr{MaxRecv: 16}, abi.SRQRing), driver.ErrNoMemory)
	s.m.noMem = false
	require.Len(t, s.m.dma, dma)
	require.Equal(t, 15, s.srq.MaxRecv)
	require.Equal(t, 15, s.post(t, 99))
	s.m.spawn(func(b *bus) {
		require.NoError(t, s.srq.On(s.dev.On(b)).Modify(driver.SRQAttr{MaxRecv: 16}, abi.SRQRing))
	})
	s.m.spawn(func(b *bus) {
		mine := s.srq.On(s.dev.On(b))
		require.ErrorIs(t, mine.Modify(driver.SRQAttr{MaxRecv: 99}, abi.SRQRing), driver.ErrBusy)
		require.ErrorIs(t, mine.Destroy(), driver.ErrBusy)
	})
	require.True(t, s.m.run())
	require.NoError(t, s.srq.Destroy())
}
