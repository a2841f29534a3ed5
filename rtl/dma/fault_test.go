package dma_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/pcie"
	"rnic/rtl/dma"
	"rnic/rtl/port"
	"rnic/tb/host"
)

const timeout = 6000 // cycles, of the benches here

// faultRun has every second read TLP or so struck by a fault, and counts the
// TLPs that were; a Delay beyond the timeout is a fault too.
func faultRun(t testing.TB, o hdl.Options, s setup, rounds int, verdict func(*rand.Rand) host.Verdict) (*bench, int) {
	rng := rand.New(rand.NewPCG(o.Seed, 3))
	draw := rand.New(rand.NewPCG(o.Seed, 4))
	var struck []port.BusAddr
	s.dma.Timeout = timeout
	s.host.Fault = func(h *pcie.TLP) host.Verdict {
		v := host.Verdict{}
		if draw.IntN(2) == 0 {
			v = verdict(draw)
			struck = append(struck, port.BusAddr(h.Start()))
		}
		return v
	}
	b := newBench(t, o, s)
	src := b.newArea(t, rng, 1<<32, rounds*2048)
	var reqs [port.ReadClients][]port.ReadReq
	for i := range rounds {
		c := i % port.ReadClients
		n := 1 + rng.IntN(1500)
		at := src.base + uint64(i*2048+rng.IntN(2048-n))
		reqs[c] = append(reqs[c], port.ReadReq{Addr: port.BusAddr(at), Len: uint32(n), Shift: uint8(rng.IntN(64))})
	}
	for c := range reqs {
		b.Req[c].Push(reqs[c]...)
	}
	b.finish(t, 40_000_000)
	hit := func(r port.ReadReq) bool {
		for _, a := range struck {
			if a >= r.Addr && a < r.Addr+port.BusAddr(r.Len) {
				return true
			}
		}
		return false
	}
	for c := range reqs {
		data, errs := answers(t, reqs[c], b.Data[c].Got)
		for i, r := range reqs[c] {
			require.Equal(t, hit(r), errs[i], "client %d, request %d", c, i)
			if !errs[i] {
				from := uint64(r.Addr) - src.base
				require.Equal(t, src.want[from:from+uint64(r.Len)], data[i], "%+v", r)
			}
		}
	}
	return b, len(struck)
}

var faults = []struct {
	name    string
	tags    int
	verdict func(*rand.Rand) host.Verdict
}{
	{"unsupported", 64, func(*rand.Rand) host.Verdict { return host.Verdict{Fault: host.FaultUR} }},
	{"abort", 8, func(*rand.Rand) host.Verdict { return host.Verdict{Fault: host.FaultCA} }},
	{"poison", 64, func(*rand.Rand) host.Verdict { return host.Verdict{Fault: host.FaultPoison} }},
	{"never", 64, func(*rand.Rand) host.Verdict { return host.Verdict{Fault: host.FaultNever} }},
	{"never, few tags", dma.MinTags, func(*rand.Rand) host.Verdict { return host.Verdict{Fault: host.FaultNever} }},
	// Within the quarantine, which lasts 4 times the timeout at least.
	{"late", 64, func(r *rand.Rand) host.Verdict { return host.Verdict{Delay: timeout + uint64(r.IntN(3*timeout))} }},
	{"late, few tags", dma.MinTags, func(r *rand.Rand) host.Verdict { return host.Verdict{Delay: timeout + uint64(r.IntN(3*timeout))} }},
	{"all", 16, func(r *rand.Rand) host.Verdict {
		if f := host.Fault(r.IntN(5)); f != host.FaultNone {
			return host.Verdict{Fault: f}
		}
		return host.Verdict{Delay: timeout + uint64(r.IntN(3*timeout))}
	}},
}

// TestFaults strikes over 1,000 reads with each fault: those reads fail, no other
// one does, and all tags come home.
func TestFaults(t *testing.T) {
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			s := configuration(uint64(i), 256, 512)
			s.dma.Tags = f.tags
			s.host.Split = host.SplitRandom
			b, struck := faultRun(t, hdl.Options{Seed: uint64(i)}, s, 1000, f.verdict)
			require.Greater(t, struck, 1000)
			count := b.Dma.Read.Count.Get()
			require.EqualValues(t, struck, count.Errors)
			require.EqualValues(t, struck, b.Dma.Tx.Stats.Get().ReadErrors)
			require.Zero(t, count.Unexpected)
		})
	}
}

func TestFaultsStrict(t *testing.T) {
	for i, f := range faults {
		hdltest.Identical(t, hdl.Options{Seed: uint64(i)}, func(o hdl.Options) (hdltest.Digester, any) {
			s := configuration(uint64(i), 128, 512)
			s.dma.Tags = f.tags
			b, struck := faultRun(t, o, s, 24, f.verdict)
			return b.k, []any{struck, b.Data[0].At}
		})
	}
}

// TestUnexpectedCompletions sends, among good ones, completions that answer
// nothing: of unused tags, or of used ones with a byte count or address that does
// not fit. They are counted, and that is all.
func TestUnexpectedCompletions(t *testing.T) {
	const tags, rounds, extra = 16, 400, 1000
	rng := rand.New(rand.NewPCG(9, 9))
	s := configuration(4, 256, 512)
	s.dma.Tags = tags
	b := newBench(t, hdl.Options{Seed: 9}, s)
	src := b.newArea(t, rng, 1<<32, rounds*2048)
	var reqs []port.ReadReq
	for i := range rounds {
		n := 1 + rng.IntN(2048)
		reqs = append(reqs, port.ReadReq{Addr: port.BusAddr(src.base + uint64(i*2048+2048-n)), Len: uint32(n)})
	}
	b.Req[port.ReadTx].Push(reqs...)
	b.k.Go("noise", func(th *hdl.Thread) {
		for range extra {
			th.Sleep(uint64(1 + rng.IntN(40)))
			n := 1 + rng.IntN(256)
			h := pcie.TLP{Kind: pcie.CplD, Len: 64, Count: 4096, Tag: pcie.Tag(rng.IntN(256))}
			switch rng.IntN(4) {
			case 0:
				h.Kind, h.Len, h.Status, h.Tag = pcie.Cpl, 0, pcie.UnsupportedRequest, h.Tag|tags
				n = 0
			case 1:
				h.Count, h.Lower, h.Tag = pcie.ByteCount(n), pcie.LowerAddr(rng.IntN(128)), h.Tag|tags
			}
			h.Count = max(h.Count, 1)
			if n > 0 {
				n = h.Bytes()
			}
			b.Host.RC.Inject(h, randomBytes(rng, n))
		}
	})
	b.finish(t, 400_000)
	data, errs := answers(t, reqs, b.Data[port.ReadTx].Got)
	for i, r := range reqs {
		require.False(t, errs[i])
		from := uint64(r.Addr) - src.base
		require.Equal(t, src.want[from:from+uint64(r.Len)], data[i])
	}
	require.EqualValues(t, extra, b.Dma.Read.Count.Get().Unexpected)
	require.Zero(t, b.Dma.Read.Count.Get().Errors)
}
