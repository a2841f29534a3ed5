package random

import (
	"math/rand/v2"

	"rnic/rtl"
	"rnic/tb"
	"rnic/tb/host"
)

// pick draws one of the values.
func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }

// chance is true n times of 100.
func chance(r *rand.Rand, n int) bool { return r.IntN(100) < n }

// beatBytes is the width of the NIC's data path.
const beatBytes = 64

// drawBench draws the sizes of the NICs and the timing of the machines, and tells
// how many beats rx_buf has if the wire may be faster than the host, else 0.
func drawBench(r *rand.Rand, c *tb.Config) (rxBeats int) {
	c.LinkLatencyPs = pick[int64](r, 50_000, 100_000, 300_000, 300_000, 1_000_000)
	if chance(r, 5) {
		c.LinkLatencyPs = 12_000
	}
	c.OOBLatencyPs = 10_000_000
	fast := drawHost(r, &c.Host)
	c.NIC.Dma.MaxPayload, c.NIC.Dma.MaxReadRequest = c.Host.MaxPayload, c.Host.MaxReadRequest
	small := chance(r, 50)
	if small {
		drawSmall(r, &c.NIC)
	}
	if !fast {
		c.NIC.Mac.RateNum, c.NIC.Mac.RateDen = pick[uint32](r, 10, 25, 40), 1
	}
	if fast && !small {
		return 0
	}
	if c.NIC.Rx.LogBeats == 0 {
		return 1 << 11
	}
	return 1 << c.NIC.Rx.LogBeats
}

// drawHost draws the timing of the machines and tells whether they keep up with
// 100 Gb/s both ways.
func drawHost(r *rand.Rand, h *host.Params) (fast bool) {
	h.MMIO = host.Constant(pick[int64](r, 8_000, 100_000, 250_000, 700_000))
	lo := pick[int64](r, 4_000, 100_000, 250_000)
	h.Write = host.Uniform(lo, lo+pick[int64](r, 0, 50_000, 400_000))
	lo = pick[int64](r, 20_000, 300_000, 500_000)
	h.Read = host.Uniform(lo, lo+pick[int64](r, 0, 200_000, 800_000, 2_000_000))
	h.Split = host.Split(r.IntN(3))
	h.Shuffle = chance(r, 60)
	h.MaxPayload = pick(r, 128, 256, 256, 512, 1024, 4096)
	h.MaxReadRequest = pick(r, 128, 256, 512, 512, 1024, 4096)
	if chance(r, 40) {
		h.Up.Seed = r.Uint64() | 1
	}
	if chance(r, 40) {
		h.Down.Seed = r.Uint64() | 1
	}
	return h.Up.Seed == 0 && h.Down.Seed == 0 && h.MaxPayload >= 256 && h.MaxReadRequest >= 512
}

// drawSmall shrinks the blocks of the NIC, each for itself, down to the least.
func drawSmall(r *rand.Rand, p *rtl.Params) {
	least := func(values ...int) int { // 0 is the default
		if chance(r, 30) {
			return 0
		}
		return pick(r, values...)
	}
	p.Dma.Tags = least(5, 6, 8, 16)
	p.QPC.Messages = uint8(least(1, 2, 3, 16))
	p.QPC.LogWindow = uint8(least(17, 20, 23))
	p.Sched.Lines = least(1, 2, 3, 8)
	p.Sched.Entries = least(1, 2, 5, 16, 100)
	p.Retrans.Entries = p.Sched.Entries
	p.Sched.Services = least(1, 2, 3)
	p.Sched.PacketBudget = least(1, 2, 5, 255)
	p.Sched.MessageBudget = least(1, 2, 3, 255)
	p.Retrans.Burst = least(1, 2, 255)
	p.Tx.PayloadBeats = uint16(least(66, 67, 128))
	p.Tx.Packets = least(2, 3, 8)
	p.Tx.Asked = least(2, 3)
	p.Rx.LogBeats = uint8(least(8, 9, 10))
	p.AckGen.Ops = least(2, 3, 4)
	p.Responder.Jobs = least(1, 2, 3, 16)
	p.Responder.Budget = least(1, 2, 255)
	p.Responder.NoCoalesce = chance(r, 20)
	p.QPC.NoCredits = chance(r, 20)
	p.Atomic.Slots = least(1, 2)
	p.Scatter.Jobs = least(2, 3)
	p.Scatter.Pieces = least(2, 3)
	p.Scatter.Runs = least(2, 3)
	p.Scatter.Asides = least(2, 3)
	p.Scatter.InFlight = least(2, 3)
	p.RQFetch.Lines = least(2, 3, 8)
	p.RQFetch.Gets = least(2, 3)
}
