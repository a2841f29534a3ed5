package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/port"
)

// traffic is what a run feeds to the ports.
type traffic struct {
	Admin   []port.QPAdmin
	Bell    []port.QPDoorbell
	Get     []port.SQGet
	Put     []port.SQPut
	TxReq   []port.TxHdrReq
	TxFault []port.SQFault
	Rx      []port.RxOp
	Retire  []port.Retire
	Fatal   []port.Retire
	Reads   []port.ReadPost
	Done    []port.RespDone
}

func (f *traffic) ops() int {
	return len(f.Admin) + len(f.Bell) + len(f.Get) + len(f.Put) + len(f.TxReq) + len(f.TxFault) + len(f.Rx) + len(f.Retire) + len(f.Fatal) +
		len(f.Reads) + len(f.Done)
}

// outputs is what came out, port by port.
type outputs struct {
	Ctx      []port.SQCtx
	TxHdr    []port.TxHdr
	Verdict  []port.RxVerdict
	AdminRes []port.QPAdminRes
	Activate []port.Activate
	Event    []port.AckEvent
	Stale    []port.Stale
	StaleSQ  []port.Stale
	QPErr    []port.QPError
	Async    []port.EventReq
	Stats    port.QPStats
	Contexts [16]Context
	SRQs     [4]Shared
	AHs      [8]AH
}

// feed runs traffic and the model beside it, in the order of the arbitration: each part
// when the one before it has come to rest.
func feed(t hdltest.T, parts []traffic, o hdl.Options, throttle uint64) (*hdl.Kernel, outputs) {
	b := newBench(t, o, throttle)
	m := &model{}
	for _, f := range parts {
		b.play(t, f, m)
	}
	require.Empty(t, m.told)
	require.Empty(t, m.srqs)
	got := outputs{
		Ctx: b.Ctx.Got, TxHdr: b.TxHdr.Got, Verdict: b.Verdict.Got, AdminRes: b.AdminRes.Got, Activate: b.Activate.Got,
		Event: b.Event.Got, Stale: b.Stale.Got, StaleSQ: b.StaleSQ.Got, QPErr: b.QPErr.Got, Async: b.Async.Got, Stats: b.Level.Stats.Get(),
	}
	for n := range got.Contexts {
		got.Contexts[n] = peek(b.QPC, n)
	}
	for n := range got.SRQs {
		got.SRQs[n] = *b.QPC.SRQs.Peek(n)
	}
	for n := range got.AHs {
		got.AHs[n] = *b.QPC.AHs.Peek(n)
	}
	require.Equal(t, m.out, got)
	return b.k, got
}

// play runs one part.
func (b *bench) play(t hdltest.T, f traffic, m *model) {
	m.in = f
	b.Admin.Push(f.Admin...)
	b.Bell.Push(f.Bell...)
	b.Get.Push(f.Get...)
	b.Put.Push(f.Put...)
	b.TxReq.Push(f.TxReq...)
	b.TxFault.Push(f.TxFault...)
	b.Rx.Push(f.Rx...)
	b.Retire.Push(f.Retire...)
	b.Fatal.Push(f.Fatal...)
	b.ReadPost.Push(f.Reads...)
	b.RespDone.Push(f.Done...)
	var wait [sources]int // operations since a port had one and was passed over
	quiet := 0
	for quiet < 200 {
		require.Less(t, b.k.Cycle(), uint64(200000), "the bench does not come to rest")
		require.NoError(t, b.k.Run(b.k.Cycle()+1))
		quiet++
		if b.QPC.Q.Busy && b.QPC.needsSRQ() {
			quiet = 0
		} else if b.QPC.Q.Busy {
			quiet = 0
			s := b.QPC.Q.Source
			require.Equal(t, m.step(s), b.QPC.Q.QPN, "%v", s)
			for i, has := range b.waiting() {
				wait[i]++
				if !has || source(i) == s {
					wait[i] = 0
				}
				require.LessOrEqual(t, wait[i], 2*sources, "%v starves", source(i))
			}
		}
		if m.in.ops() != 0 || b.pending() {
			quiet = 0
		}
	}
}

// waiting tells for each port that needs no room whether it has an operation. Get
// may wait for Put as long as Put has something, Put for ReadPost.
func (b *bench) waiting() [sources]bool {
	q := b.QPC
	return [sources]bool{
		srcGet: q.Get.Valid() && !q.Put.Valid(), srcPut: q.Put.Valid() && !q.ReadPost.Valid(),
		srcTxReq: q.TxReq.Valid(), srcTxFault: q.TxFault.Valid(), srcFatal: q.Fatal.Valid(), srcReadPost: q.ReadPost.Valid(),
		srcRespDone: q.RespDone.Valid(),
	}
}

// pending tells whether sinks have something left to take.
func (b *bench) pending() bool {
	return b.Ctx.In.Valid() || b.TxHdr.In.Valid() || b.Verdict.In.Valid() || b.AdminRes.In.Valid() ||
		b.Activate.In.Valid() || b.Stale.In.Valid() || b.StaleSQ.In.Valid() || b.Event.In.Valid() || b.QPErr.In.Valid() || b.Async.In.Valid() || b.QPC.Told.Valid() || b.QPC.ToldSRQ.Valid()
}

// Any interleaving equals executing the operations one after the other in the
// order in which they were picked.
func TestEqualsSequentialExecution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		throttle := rapid.Uint64Range(0, 1000).Draw(t, "throttle")
		feed(t, f, hdl.Options{}, throttle)
	})
}

func TestFastEqualsStrict(t *testing.T) {
	f := rapid.Custom(drawn).Example(4)
	for _, throttle := range []uint64{0, 5} {
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, outputs) {
			k, out := feed(t, f, o, throttle)
			return k, out
		})
	}
}
