package dma_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/pcie"
	"rnic/rtl/port"
	"rnic/tb/host"
)

// orderRun writes payloads, and what must never be seen before them: a marker in
// memory as a CQE would be, an interrupt, a read of the payload, the answer to an
// MMIO read. Each is started as soon as the WriteDone of its payload is there. It
// returns the number of checks made.
func orderRun(t testing.TB, o hdl.Options, s setup) (*bench, [4]int) {
	const rounds = 120
	rng := rand.New(rand.NewPCG(o.Seed, 2))
	b := newBench(t, o, s)
	a := b.newArea(t, rng, 1<<32, rounds*8192)
	marks := uint64(3 << 32)
	type payload struct {
		off  int
		data []byte
	}
	var p []payload
	for i := range rounds {
		n := payload{i*8192 + rng.IntN(4000), randomBytes(rng, 1+rng.IntN(4096))}
		p = append(p, n)
		b.write(port.WriteRx, a, n.off, uint8(rng.IntN(64)), n.data, true)
	}
	var checks [4]int
	visible := func(what, i int) {
		got := make([]byte, len(p[i].data))
		require.NoError(t, b.Host.Mem.Read(a.base+uint64(p[i].off), got))
		require.Equal(t, p[i].data, got, "check %d: payload %d is not there", what, i)
		checks[what]++
	}
	var reads []port.ReadReq
	done := 0
	b.WDone[port.WriteRx].OnTake = func(port.WriteDone) {
		i := done
		done++
		mark := binary.LittleEndian.AppendUint32(nil, uint32(i))
		b.WReq[port.WriteCQ].Push(
			port.WriteReq{Addr: port.BusAddr(marks), Len: 4, Shift: 60},
			port.WriteReq{Addr: host.MSIBase, Len: 4})
		b.WData[port.WriteCQ].Push(beats(mark, 60)...)
		b.WData[port.WriteCQ].Push(beats(binary.LittleEndian.AppendUint32(nil, uint32(i%3)), 0)...)
		reads = append(reads, port.ReadReq{Addr: port.BusAddr(a.base) + port.BusAddr(p[i].off), Len: uint32(len(p[i].data))})
		b.Req[port.ReadTx].Push(reads[i])
	}
	messages := 0
	b.Host.RC.OnWrite = func(_, addr uint64, data []byte) {
		switch {
		case addr == marks:
			visible(0, int(binary.LittleEndian.Uint32(data)))
		case addr >= host.MSIBase && addr < host.MSIBase+host.MSISize:
			visible(1, messages)
			messages++
		}
	}
	// csr's part: the register holds the number of payloads that are on their way.
	b.Mmio.OnTake = func(q pcie.Beat) {
		c := pcie.Beat{Hdr: pcie.Completion(&q.Hdr, 1, 0, 4), First: true, Last: true, Len: 4}
		binary.LittleEndian.PutUint32(c.Data[:], uint32(done))
		b.Cpl.Push(c)
	}
	b.k.Go("driver", func(th *hdl.Thread) {
		bus := b.Host.NewBus(th)
		for n := uint32(0); n < rounds; {
			var err error
			n, err = bus.Read32(0x10)
			require.NoError(t, err)
			for i := range n {
				visible(2, int(i))
			}
			bus.Spend(int64(rng.IntN(100_000)))
		}
	})
	b.finish(t, 400_000)
	require.Equal(t, rounds, done)
	data, errs := answers(t, reads, b.Data[port.ReadTx].Got)
	for i := range data {
		require.False(t, errs[i])
		require.Equal(t, p[i].data, data[i], "read %d passed its write", i)
		checks[3]++
	}
	for v := range 3 {
		require.EqualValues(t, rounds/3, b.Host.RC.Interrupts(v))
	}
	a.check(t, b)
	return b, checks
}

func TestOrder(t *testing.T) {
	for seed := range uint64(12) {
		_, checks := orderRun(t, hdl.Options{Seed: seed}, configuration(seed, 128<<(seed%3), 512))
		require.Equal(t, 120, checks[0])
		require.Equal(t, 120, checks[1])
		require.Greater(t, checks[2], 120)
		require.Equal(t, 120, checks[3])
	}
}

func TestOrderStrict(t *testing.T) {
	hdltest.Identical(t, hdl.Options{Seed: 3}, func(o hdl.Options) (hdltest.Digester, any) {
		b, checks := orderRun(t, o, configuration(3, 256, 512))
		return b.k, checks
	})
}
