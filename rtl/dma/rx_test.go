package dma_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/dma"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// TestMmio: writes and reads of the host pass through Rx unchanged and in order,
// the answers through Tx, while completions and DMA go on.
func TestMmio(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	b := newBench(t, hdl.Options{Seed: 5}, configuration(1, 256, 512))
	for i := range 200 {
		b.Req[port.ReadTx].Push(port.ReadReq{Addr: port.BusAddr(i * 1000), Len: uint32(1 + rng.IntN(1000))})
	}
	b.Mmio.OnTake = func(q pcie.Beat) {
		if q.Hdr.Kind == pcie.MRd {
			b.Cpl.Push(pcie.Beat{
				Hdr: pcie.Completion(&q.Hdr, 1, 0, 4), Len: 4, First: true, Last: true,
				Data: [64]byte{byte(len(b.Mmio.Got)), 0, 0, 0x80},
			})
		}
	}
	type op struct {
		addr uint64
		data string
	}
	var sent []op
	b.k.Go("driver", func(th *hdl.Thread) {
		bus := b.Host.NewBus(th)
		for range 300 {
			n := []int{4, 8, 64, 0}[rng.IntN(4)]
			off := uint32(rng.IntN(1<<12)) * 64
			if n == 0 {
				sent = append(sent, op{addr: uint64(off)})
				v, err := bus.Read32(off)
				require.NoError(t, err)
				require.EqualValues(t, 0x80000000|uint32(len(sent)&0xff), v)
				continue
			}
			data := randomBytes(rng, n)
			sent = append(sent, op{uint64(off), string(data)})
			require.NoError(t, bus.Write(off, data))
		}
	})
	b.finish(t, 400_000)
	require.Len(t, b.Mmio.Got, len(sent))
	for i, q := range b.Mmio.Got {
		require.Equal(t, sent[i].addr, q.Hdr.Addr&0xffffffff)
		require.Equal(t, sent[i].data, string(q.Data[:q.Len]))
	}
}

// rawBench feeds Rx with beats of the test's own making.
type rawBench struct {
	Dma  *dma.DMA
	Req  agent.Source[port.ReadReq]
	Data agent.Sink[port.ReadBeat]
	Rx   agent.Source[pcie.Beat]
	Tx   agent.Sink[pcie.Beat]
	Mmio agent.Sink[pcie.Beat]
	k    *hdl.Kernel
}

func newRawBench(t require.TestingT, p dma.Params, strict bool) *rawBench {
	b := &rawBench{Dma: dma.New(p)}
	hdl.Connect(&b.Req.Out, &b.Dma.Read.Req[0], 2)
	hdl.Connect(&b.Dma.Read.Data[0], &b.Data.In, 2)
	for c := 1; c < port.ReadClients; c++ {
		hdl.TieOff(&b.Dma.Read.Req[c], &b.Dma.Read.Data[c])
	}
	for c := range b.Dma.Write {
		hdl.TieOff(&b.Dma.Write[c].Req, &b.Dma.Write[c].Data, &b.Dma.Tx.Done[c])
	}
	hdl.Connect(&b.Rx.Out, &b.Dma.Rx.Pcie, 2)
	hdl.Connect(&b.Dma.Tx.Pcie, &b.Tx.In, 2)
	hdl.Connect(&b.Dma.Rx.Mmio, &b.Mmio.In, 2)
	hdl.TieOff(&b.Dma.Tx.MmioCpl)
	var err error
	b.k, err = hdl.Elaborate("raw", b, hdl.Options{Strict: strict})
	require.NoError(t, err)
	return b
}

// TestGarbage: whatever beats come, nothing breaks, and each read is answered with
// all its beats, after the timeout at the latest.
func TestGarbage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newRawBench(rt, dma.Params{Timeout: 100, MaxReadRequest: 128, Tags: 8}, true)
		n := rapid.IntRange(1, 6).Draw(rt, "reads")
		beats := 0
		for i := range n {
			r := port.ReadReq{Addr: port.BusAddr(i * 100), Len: uint32(1 + i*90), Shift: uint8(i * 13 % 64)}
			beats += (int(r.Shift) + int(r.Len) + 63) / 64
			b.Req.Push(r)
		}
		for range rapid.IntRange(0, 60).Draw(rt, "beats") {
			var q pcie.Beat
			q.First, q.Last = rapid.Bool().Draw(rt, "first"), rapid.Bool().Draw(rt, "last")
			q.Len = uint8(rapid.IntRange(0, 64).Draw(rt, "len"))
			q.Hdr = pcie.TLP{
				Kind: pcie.Kind(rapid.IntRange(0, 3).Draw(rt, "kind")), Tag: pcie.Tag(rapid.IntRange(0, 9).Draw(rt, "tag")),
				Len: pcie.DWords(rapid.IntRange(0, 40).Draw(rt, "dws")), Count: pcie.ByteCount(rapid.IntRange(0, 140).Draw(rt, "count")),
				Lower: pcie.LowerAddr(rapid.IntRange(0, 127).Draw(rt, "lower")), Status: pcie.Status(rapid.IntRange(0, 2).Draw(rt, "status")),
				Poison: rapid.Bool().Draw(rt, "poison"),
			}
			b.Rx.Push(q)
		}
		require.NoError(rt, b.k.Run(20_000))
		require.Zero(rt, b.Rx.Pending())
		require.Len(rt, b.Data.Got, beats)
		q := &b.Dma.Read.Q
		require.Zero(rt, q.Busy|q.Open|q.Late)
	})
}

// TestShortCompletion: less payload than the header says spoils the read.
func TestShortCompletion(t *testing.T) {
	for _, have := range []int{1, 63, 64, 65, 99} {
		b := newRawBench(t, dma.Params{}, false)
		b.Req.Push(port.ReadReq{Addr: 0x20, Len: 100})
		require.NoError(t, b.k.Run(20))
		h := pcie.Completion(&b.Tx.Got[0].Hdr, 0, 0, 100)
		for i := 0; i < have; i += 64 {
			b.Rx.Push(pcie.Beat{Hdr: h, First: i == 0, Last: i+64 >= have, Len: uint8(min(64, have-i))})
		}
		require.NoError(t, b.k.Run(60))
		require.Len(t, b.Data.Got, 2)
		require.True(t, b.Data.Got[1].Err)
	}
}

// TestMisuse: what the ports forbid is a Fault of the part that sees it.
func TestMisuse(t *testing.T) {
	for _, r := range []port.ReadReq{{Len: 0}, {Len: 128<<10 + 1}, {Len: 1, Shift: 64}} {
		b := newRawBench(t, dma.Params{}, false)
		b.Req.Push(r)
		var f *hdl.Fault
		require.ErrorAs(t, b.k.Run(100), &f)
		require.Equal(t, "raw.dma.read", f.Path)
	}
	for _, w := range []struct {
		req   port.WriteReq
		beats int
	}{
		{port.WriteReq{Len: 0}, 1}, {port.WriteReq{Len: 4097}, 65}, {port.WriteReq{Len: 1, Shift: 64}, 1},
		{port.WriteReq{Len: 64}, 2}, {port.WriteReq{Len: 64, Shift: 1}, 1}, {port.WriteReq{Len: 200}, 3},
	} {
		b := newBench(t, hdl.Options{}, setup{})
		b.WReq[1].Push(w.req)
		for i := range w.beats {
			b.WData[1].Push(port.Beat{Len: 64, Last: i == w.beats-1})
		}
		var f *hdl.Fault
		require.ErrorAs(t, b.k.Run(1000), &f, "%+v", w)
		require.Equal(t, "bench.dma.write_1", f.Path)
	}
}

// TestMismatch: a completion of an outstanding read that is off in one field is
// ignored, and the right one still counts.
func TestMismatch(t *testing.T) {
	wrong := map[string]func(h *pcie.TLP){
		"tag":      func(h *pcie.TLP) { h.Tag++ },
		"address":  func(h *pcie.TLP) { h.Lower ^= 0x40 },
		"count":    func(h *pcie.TLP) { h.Count++ },
		"boundary": func(h *pcie.TLP) { h.Len = 20 },
	}
	for name, spoil := range wrong {
		b := newRawBench(t, dma.Params{}, false)
		b.Req.Push(port.ReadReq{Addr: 0x1000, Len: 100})
		require.NoError(t, b.k.Run(20))
		good := pcie.Completion(&b.Tx.Got[0].Hdr, 0, 0, 100)
		bad := good
		spoil(&bad)
		for _, h := range []pcie.TLP{bad, good} {
			data := make([]byte, h.Bytes())
			for i := range data {
				data[i] = byte(h.Len) // 25 in the good one
			}
			for i, d := range beats(data, 0) {
				b.Rx.Push(pcie.Beat{Hdr: h, First: i == 0, Last: d.Last, Len: d.Len, Data: d.Data})
			}
		}
		require.NoError(t, b.k.Run(80))
		require.EqualValues(t, 1, b.Dma.Read.Count.Get().Unexpected, name)
		require.Len(t, b.Data.Got, 2, name)
		require.False(t, b.Data.Got[1].Err, name)
		require.EqualValues(t, 25, b.Data.Got[1].Data[35], name)
		require.EqualValues(t, 25, b.Data.Got[0].Data[0], name)
	}
}
