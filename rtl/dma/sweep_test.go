package dma_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/dma"
	"rnic/rtl/port"
	"rnic/tb/host"
)

// transfer is one point of the sweep: n bytes at off from a page boundary, the
// first in lane shift.
type transfer struct {
	n, off int
	shift  uint8
}

// points sweeps each dimension completely while the others are drawn, and samples
// their product. density divides the number of samples.
func points(rng *rand.Rand, density int) (p []transfer) {
	off := func() int { return rng.IntN(141) - 70 }
	shift := func() uint8 { return uint8(rng.IntN(64)) }
	for n := 1; n <= 200; n += density {
		p = append(p, transfer{n, off(), shift()}, transfer{n, rng.IntN(64), shift()})
	}
	for n := 4096 - 8; n <= 4096; n++ {
		p = append(p, transfer{n, off(), shift()})
	}
	for o := -70; o <= 70; o += density {
		p = append(p, transfer{1 + rng.IntN(200), o, shift()}, transfer{1 + rng.IntN(700), o, shift()})
	}
	for s := 0; s < 64; s += density {
		p = append(p, transfer{1 + rng.IntN(200), off(), uint8(s)})
	}
	for range 400 / density {
		p = append(p, transfer{1 + rng.IntN(200), off(), shift()}, transfer{1 + rng.IntN(4096), off(), shift()})
	}
	rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// longPoints are reads beyond what a write may have.
func longPoints(rng *rand.Rand, longest int) (p []transfer) {
	for n := 4097; n <= 4104; n++ {
		p = append(p, transfer{n, rng.IntN(141) - 70, uint8(rng.IntN(64))})
	}
	for _, n := range []int{8192, 20000, 65535, 65537, 128 << 10} {
		if n <= longest {
			p = append(p, transfer{n, rng.IntN(141) - 70, uint8(rng.IntN(64))})
		}
	}
	return p
}

const areaPages = 36

// sweep runs transfers of all clients at once, and checks each byte.
func sweep(t testing.TB, o hdl.Options, s setup, density int) (*bench, []byte) {
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	b := newBench(t, o, s)
	src := b.newArea(t, rng, 1<<32, areaPages*4096)
	var reqs [port.ReadClients][]port.ReadReq
	read := func(c int, p transfer) {
		at := src.base + uint64(4096*(1+rng.IntN(areaPages-1-(p.n+70+4095)/4096))+p.off)
		reqs[c] = append(reqs[c], port.ReadReq{Addr: port.BusAddr(at), Len: uint32(p.n), Shift: p.shift})
	}
	for _, p := range points(rng, density) {
		read(rng.IntN(port.ReadClients), p)
	}
	for _, p := range longPoints(rng, 128<<10/density) {
		read(rng.IntN(port.ReadClients), p)
	}
	for c := range reqs {
		b.Req[c].Push(reqs[c]...)
	}
	var dst [port.WriteClients]*area
	var notified [port.WriteClients]int
	for c := range dst {
		dst[c] = b.newArea(t, rng, 2<<32+uint64(c)<<24, 4*4096)
	}
	for _, p := range points(rng, density) {
		c := rng.IntN(port.WriteClients)
		notify := rng.IntN(2) == 0
		b.write(c, dst[c], 4096*(1+rng.IntN(2))+p.off, p.shift, randomBytes(rng, p.n), notify)
		if notify {
			notified[c]++
		}
	}
	b.finish(t, 400_000)
	for c := range reqs {
		data, errs := answers(t, reqs[c], b.Data[c].Got)
		for i, r := range reqs[c] {
			require.False(t, errs[i])
			from := uint64(r.Addr) - src.base
			require.Equal(t, src.want[from:from+uint64(r.Len)], data[i], "client %d, %+v", c, r)
		}
	}
	src.check(t, b)
	memory := []byte{}
	for c := range dst {
		require.Len(t, b.WDone[c].Got, notified[c])
		dst[c].check(t, b)
		memory = append(memory, dst[c].want...)
	}
	return b, memory
}

// configuration draws how the host cuts and mixes completions from a seed.
func configuration(seed uint64, payload, request int) setup {
	s := setup{
		dma:      dma.Params{MaxPayload: payload, MaxReadRequest: request},
		host:     host.Params{Split: host.Split(seed % 3), Shuffle: seed%4 != 0},
		throttle: seed%2 == 1,
	}
	if seed%5 != 0 {
		s.host.Read = host.Uniform(100_000, 900_000)
		s.host.Write = host.Uniform(50_000, 500_000)
	}
	return s
}

func TestSweep(t *testing.T) {
	seed := uint64(0)
	for _, payload := range []int{128, 256, 512} {
		for _, request := range []int{128, 256, 512, 1024, 2048, 4096} {
			for range 2 {
				seed++
				s := configuration(seed, payload, request)
				t.Run(fmt.Sprintf("payload %d read %d seed %d", payload, request, seed), func(t *testing.T) {
					sweep(t, hdl.Options{Seed: seed}, s, 1)
				})
			}
		}
	}
}

// TestEveryLengthAtEveryOffset is the complete product of short lengths, offsets
// around a page and a lane that steps through all.
func TestEveryLengthAtEveryOffset(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	b := newBench(t, hdl.Options{Seed: 7}, configuration(2, 128, 128))
	src := b.newArea(t, rng, 1<<32, 2*4096)
	var dst [port.WriteClients]*area
	for c := range dst {
		dst[c] = b.newArea(t, rng, 2<<32+uint64(c)<<24, 2*4096)
	}
	var of [port.ReadClients][]port.ReadReq
	i := 0
	for n := 1; n <= 200; n++ {
		for off := -66; off <= 66; off++ {
			shift := uint8(i * 29 % 64)
			w, r := i%port.WriteClients, i%port.ReadClients
			i++
			of[r] = append(of[r], port.ReadReq{Addr: port.BusAddr(int(src.base) + 4096 + off), Len: uint32(n), Shift: shift})
			b.write(w, dst[w], 4096+off, shift, randomBytes(rng, n), false)
		}
	}
	for c := range of {
		b.Req[c].Push(of[c]...)
	}
	b.finish(t, 200_000)
	for c := range of {
		data, errs := answers(t, of[c], b.Data[c].Got)
		for i, r := range of[c] {
			require.False(t, errs[i])
			from := uint64(r.Addr) - src.base
			require.Equal(t, src.want[from:from+uint64(r.Len)], data[i], "%+v", r)
		}
	}
	for c := range dst {
		dst[c].check(t, b)
	}
}

func TestStrict(t *testing.T) {
	for seed := range uint64(6) {
		s := configuration(seed, 128<<(seed%3), 128<<(seed%6))
		if seed%2 == 0 {
			s.dma.Tags = dma.MinTags + int(seed)/2
		}
		hdltest.Identical(t, hdl.Options{Seed: seed}, func(o hdl.Options) (hdltest.Digester, any) {
			b, memory := sweep(t, o, s, 20)
			var out []any
			for c := range b.Data {
				out = append(out, b.Data[c].Got, b.Data[c].At)
			}
			return b.k, append(out, memory, b.Host.RC.Stats, b.Dma.Tx.Stats.Get())
		})
	}
}
