package dma_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/dma"
	"rnic/rtl/port"
	"rnic/tb/agent"
	"rnic/tb/host"
)

// bench is a DMA between a host and generic clients.
type bench struct {
	Dma  *dma.DMA
	Host *host.Host

	Req   [port.ReadClients]agent.Source[port.ReadReq]
	Data  [port.ReadClients]agent.Sink[port.ReadBeat]
	WReq  [port.WriteClients]agent.Source[port.WriteReq]
	WData [port.WriteClients]agent.Source[port.Beat]
	WDone [port.WriteClients]agent.Sink[port.WriteDone]
	Mmio  agent.Sink[pcie.Beat]
	Cpl   agent.Source[pcie.Beat]

	k *hdl.Kernel
}

// setup is what a scenario draws.
type setup struct {
	dma      dma.Params
	host     host.Params
	throttle bool // random holding back everywhere
}

func newBench(t testing.TB, o hdl.Options, s setup) *bench {
	if s.throttle {
		s.host.Up.Seed, s.host.Down.Seed = o.Seed+1, o.Seed+2
	}
	s.host.Seed = o.Seed
	s.host.MaxPayload, s.host.MaxReadRequest = s.dma.MaxPayload, s.dma.MaxReadRequest
	b := &bench{Dma: dma.New(s.dma), Host: host.New(s.host)}
	throttle := func(th *agent.Throttle) {
		if s.throttle {
			th.Seed = o.Seed + 3
		}
	}
	for c := range b.Req {
		hdl.Connect(&b.Req[c].Out, &b.Dma.Read.Req[c], 2)
		hdl.Connect(&b.Dma.Read.Data[c], &b.Data[c].In, 2)
		throttle(&b.Req[c].Throttle)
		throttle(&b.Data[c].Throttle)
	}
	for c := range b.WReq {
		hdl.Connect(&b.WReq[c].Out, &b.Dma.Write[c].Req, 2)
		hdl.Connect(&b.WData[c].Out, &b.Dma.Write[c].Data, 2)
		hdl.Connect(&b.Dma.Tx.Done[c], &b.WDone[c].In, 2)
		throttle(&b.WReq[c].Throttle)
		throttle(&b.WData[c].Throttle)
		throttle(&b.WDone[c].Throttle)
	}
	hdl.Connect(&b.Dma.Tx.Pcie, &b.Host.RC.FromNIC, 2)
	hdl.Connect(&b.Host.RC.ToNIC, &b.Dma.Rx.Pcie, 2)
	hdl.Connect(&b.Dma.Rx.Mmio, &b.Mmio.In, 2)
	hdl.Connect(&b.Cpl.Out, &b.Dma.Tx.MmioCpl, 2)
	throttle(&b.Mmio.Throttle)
	throttle(&b.Cpl.Throttle)
	var err error
	b.k, err = hdl.Elaborate("bench", b, o)
	require.NoError(t, err)
	return b
}

// finish runs to rest and demands that nothing is left anywhere.
func (b *bench) finish(t testing.TB, cycles uint64) {
	t.Helper()
	require.NoError(t, b.k.Run(b.k.Cycle()+cycles))
	for c := range b.Req {
		require.Zero(t, b.Req[c].Pending())
	}
	for c := range b.WReq {
		require.Zero(t, b.WReq[c].Pending()+b.WData[c].Pending())
	}
	require.NoError(t, b.Host.RC.Outstanding())
	q := &b.Dma.Read.Q
	require.Zero(t, q.Busy|q.Open|q.Late, "tags that are not home")
	require.Zero(t, b.Host.RC.Stats.Stray)
}

// beats packs data into beats, the first byte in lane shift.
func beats(data []byte, shift uint8) (out []port.Beat) {
	lanes := append(make([]byte, shift), data...)
	for len(lanes) > 0 {
		var b port.Beat
		b.Len = uint8(copy(b.Data[:], lanes))
		lanes = lanes[b.Len:]
		b.Last = len(lanes) == 0
		out = append(out, b)
	}
	return out
}

// answers cuts what a read client got into answers, and checks their beats.
func answers(t testing.TB, reqs []port.ReadReq, got []port.ReadBeat) (data [][]byte, errs []bool) {
	for i, r := range reqs {
		n := (int(r.Shift) + int(r.Len) + 63) / 64
		require.GreaterOrEqual(t, len(got), n, "answer %d is missing", i)
		var lanes []byte
		for j, b := range got[:n] {
			require.Equal(t, j == n-1, b.Last, "beat %d of answer %d to %+v", j, i, r)
			require.False(t, b.Err && !b.Last)
			if !b.Last {
				require.EqualValues(t, 64, b.Len)
			}
			lanes = append(lanes, b.Data[:b.Len]...)
		}
		require.Len(t, lanes, int(r.Shift)+int(r.Len), "answer %d to %+v", i, r)
		data, errs = append(data, lanes[r.Shift:]), append(errs, got[n-1].Err)
		got = got[n:]
	}
	require.Empty(t, got, "beats that nobody asked for")
	return data, errs
}

// area is a part of memory and what it should hold.
type area struct {
	base uint64
	want []byte
}

// newArea fills n bytes at base with random bytes.
func (b *bench) newArea(t testing.TB, rng *rand.Rand, base uint64, n int) *area {
	a := &area{base, randomBytes(rng, n)}
	require.NoError(t, b.Host.Mem.Write(base, a.want))
	return a
}

func randomBytes(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	return p
}

// check compares every byte, also those that nobody should have touched.
func (a *area) check(t testing.TB, b *bench) {
	t.Helper()
	got := make([]byte, len(a.want))
	require.NoError(t, b.Host.Mem.Read(a.base, got))
	for i := range got {
		if got[i] != a.want[i] {
			require.Equal(t, a.want[i], got[i], "byte at %#x", a.base+uint64(i))
		}
	}
}

// write has client c write data at off of the area.
func (b *bench) write(c int, a *area, off int, shift uint8, data []byte, notify bool) {
	copy(a.want[off:], data)
	b.WReq[c].Push(port.WriteReq{
		Addr: port.BusAddr(a.base) + port.BusAddr(off), Len: uint32(len(data)), Shift: shift, Notify: notify,
	})
	b.WData[c].Push(beats(data, shift)...)
}
