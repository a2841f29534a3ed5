package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
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
}

// model executes operations one after the other, without time.
type model struct {
	in   traffic
	told []port.QPN
	out  outputs
}

func take[T any](q *[]T) T {
	v := (*q)[0]
	*q = (*q)[1:]
	return v
}

// step executes the next operation of a port and returns its QP.
func (m *model) step(s source) port.QPN {
	var qpn port.QPN
	var c Context
	gen := uint8(0)
	load := func(n port.QPN) *Context {
		if qpn = n; n < 16 {
			gen = m.out.Contexts[n].Requester.Gen
			return &m.out.Contexts[n]
		}
		return &c // no QP
	}
	e, o := env, &m.out
	activate := func(a port.Activate) { o.Activate = append(o.Activate, a) }
	switch s {
	case srcAdmin:
		a := take(&m.in.Admin)
		r, _ := load(a.QPN).admin(&a, a.QPN < 16, &e)
		o.AdminRes = append(o.AdminRes, r)
	case srcBell:
		d := take(&m.in.Bell)
		b := load(d.QPN).ring(&d)
		if b.BadPage {
			o.Stats.BadPage++
		}
		if b.BadNumber {
			o.Stats.BadNumber++
		}
		if b.Activate {
			activate(port.Activate{QPN: d.QPN, Push: d.Push, Refuse: b.Refuse})
		}
	case srcGet:
		g := take(&m.in.Get)
		o.Ctx = append(o.Ctx, load(g.QPN).get(&g, &e))
	case srcPut:
		p := take(&m.in.Put)
		load(p.QPN).put(&p)
	case srcTxReq:
		r := take(&m.in.TxReq)
		h, _ := load(r.QPN).header(&r, &AH{}, &e)
		o.TxHdr = append(o.TxHdr, h)
	case srcTxFault:
		f := take(&m.in.TxFault)
		load(f.QPN).sqFault(&f)
	case srcRx:
		r := take(&m.in.Rx)
		x := load(r.QPN)
		v, _ := x.receive(&r, &e)
		o.Verdict = append(o.Verdict, v)
		if x.opens(&v) {
			activate(port.Activate{QPN: r.QPN})
		}
	case srcRetire, srcFatal:
		q := &m.in.Retire
		if s == srcFatal {
			q = &m.in.Fatal
		}
		r := take(q)
		x := load(r.QPN)
		if r.Kind == port.RetireTimeout && x.expires(r.Una) {
			o.Stats.LocalAckTimeoutErr++
		}
		x.retire(&r)
		if s == srcRetire && (r.Kind == port.RetireDone || r.Kind == port.RetireRewind) && x.backlog() {
			activate(port.Activate{QPN: r.QPN})
		}
	case srcReadPost:
		p := take(&m.in.Reads)
		load(p.QPN).post(&p)
	case srcRespDone:
		d := take(&m.in.Done)
		load(d.QPN).respDone(&d)
	case srcTold:
		n := take(&m.told)
		t := load(n).tell(n, &e)
		if t.Notes&NoteEvent != 0 {
			o.Event = append(o.Event, t.Event)
		}
		if t.Notes&NoteFlushRQ != 0 {
			o.QPErr = append(o.QPErr, port.QPError{QPN: n})
		}
		if t.Has {
			o.Async = append(o.Async, t.Async)
		}
		if t.Notes&NoteActivate != 0 {
			activate(port.Activate{QPN: n})
		}
	}
	if qpn < 16 {
		if g := m.out.Contexts[qpn].Requester.Gen; g != gen {
			o.Stale = append(o.Stale, port.Stale{QPN: qpn, Gen: g})
			o.StaleSQ = o.Stale
		}
		if cm := &m.out.Contexts[qpn].Common; cm.Pending != 0 && !cm.Queued {
			cm.Queued = true
			m.told = append(m.told, qpn)
		}
	}
	return qpn
}

// feed runs traffic and the model beside it, in the order of the arbitration.
func feed(t hdltest.T, f traffic, o hdl.Options, throttle uint64) (*hdl.Kernel, outputs) {
	b := newBench(t, o, throttle)
	m := &model{in: f}
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
		if b.QPC.Q.Busy {
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
	require.Empty(t, m.told)
	got := outputs{
		Ctx: b.Ctx.Got, TxHdr: b.TxHdr.Got, Verdict: b.Verdict.Got, AdminRes: b.AdminRes.Got, Activate: b.Activate.Got,
		Event: b.Event.Got, Stale: b.Stale.Got, StaleSQ: b.StaleSQ.Got, QPErr: b.QPErr.Got, Async: b.Async.Got, Stats: b.Level.Stats.Get(),
	}
	for n := range got.Contexts {
		got.Contexts[n] = peek(b.QPC, int(n))
	}
	require.Equal(t, m.out, got)
	return b.k, got
}

// waiting tells for each port that needs no room whether it has an operation. Get
// may wait for Put as long as Put has something, Put for ReadPost.
func (b *bench) waiting() [sources]bool {
	q := b.QPC
	return [sources]bool{
		srcAdmin: q.Admin.Valid(), srcGet: q.Get.Valid() && !q.Put.Valid(), srcPut: q.Put.Valid() && !q.ReadPost.Valid(),
		srcTxReq: q.TxReq.Valid(), srcTxFault: q.TxFault.Valid(), srcFatal: q.Fatal.Valid(), srcReadPost: q.ReadPost.Valid(),
		srcRespDone: q.RespDone.Valid(),
	}
}

// pending tells whether sinks have something left to take.
func (b *bench) pending() bool {
	return b.Ctx.In.Valid() || b.TxHdr.In.Valid() || b.Verdict.In.Valid() || b.AdminRes.In.Valid() ||
		b.Activate.In.Valid() || b.Stale.In.Valid() || b.StaleSQ.In.Valid() || b.Event.In.Valid() || b.QPErr.In.Valid() || b.Async.In.Valid() || b.QPC.Told.Valid()
}

// drawn is random traffic for a few QPs: mostly what neighbours send, in any
// interleaving, sometimes what none would.
func drawn(t *rapid.T) (f traffic) {
	qpn := rapid.SampledFrom([]port.QPN{0, 0, 0, 1, 1, 1, 2, 15, 16, 1 << 23})
	retries := rapid.SampledFrom([]uint8{0, 1, 7})
	near := func(base uint32) roce.PSN {
		return roce.PSN(base).Add(rapid.Uint32Range(0, 12).Draw(t, "psn")).Sub(2)
	}
	for range rapid.IntRange(1, 3).Draw(t, "lives") {
		for _, n := range []port.QPN{0, 1, 15} {
			a := connected()
			a.RetryCnt, a.RNRRetry = retries.Draw(t, "retries"), retries.Draw(t, "rnr retries")
			f.Admin = append(f.Admin, port.QPAdmin{Op: port.QPCreate, QPN: n, Attr: a})
			for _, m := range toRTS {
				a.AttrMask, a.State = m.mask|abi.AttrState, m.to
				f.Admin = append(f.Admin, port.QPAdmin{Op: port.QPModify, QPN: n, Attr: a})
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "admin") {
			a := connected()
			a.AttrMask = abi.AttrState
			a.State = rapid.SampledFrom([]abi.QPState{abi.QPSQD, abi.QPRTS, abi.QPErr, abi.QPReset}).Draw(t, "state")
			op := rapid.SampledFrom([]port.QPAdminOp{port.QPQuery, port.QPModify, port.QPModify, port.QPClear, port.QPFree, port.QPDestroy}).Draw(t, "op")
			f.Admin = append(f.Admin, port.QPAdmin{Op: op, QPN: qpn.Draw(t, "qpn"), Attr: a})
		}
	}
	for range rapid.IntRange(0, 60).Draw(t, "rest") {
		n := qpn.Draw(t, "qpn")
		switch rapid.IntRange(0, 13).Draw(t, "port") {
		case 0, 1:
			rq := rapid.Bool().Draw(t, "rq")
			f.Bell = append(f.Bell, port.QPDoorbell{
				QPN: n, RQ: rq, Push: !rq && rapid.Bool().Draw(t, "push"),
				Index: rapid.Uint16Range(0, 20).Draw(t, "index"), Page: rapid.SampledFrom([]uint8{5, 5, 5, 6}).Draw(t, "page"),
			})
		case 2:
			f.Get = append(f.Get, port.SQGet{QPN: n, Packets: 16})
		case 3:
			f.Put = append(f.Put, port.SQPut{
				QPN: n, ExecIdx: rapid.Uint16Range(0, 20).Draw(t, "exec"), NextPSN: near(0xfffff0), Messages: 1, Requests: 1,
				Entered: rapid.Uint16Range(0, 20).Draw(t, "entered"), EnteredPSN: near(0xfffff0),
				Credited: rapid.Uint8Range(0, 1).Draw(t, "credited"),
				Fault:    rapid.IntRange(0, 5).Draw(t, "fault") == 0,
			})
		case 4:
			f.TxReq = append(f.TxReq, port.TxHdrReq{QPN: n, Resp: rapid.Bool().Draw(t, "resp"), Gen: rapid.Uint8Range(0, 2).Draw(t, "gen")})
		case 5:
			f.TxFault = append(f.TxFault, port.SQFault{QPN: n, PSN: near(0xfffff0), Gen: rapid.Uint8Range(0, 2).Draw(t, "gen"), Status: abi.StatusLocProt})
		case 6:
			f.Retire = append(f.Retire, port.Retire{
				Kind: rapid.SampledFrom([]port.RetireKind{port.RetireDone, port.RetireTimeout, port.RetireRewind}).Draw(t, "kind"),
				QPN:  n, Messages: 1, Una: near(0xfffff0), Gen: rapid.Uint8Range(0, 3).Draw(t, "gen"),
				Any: rapid.Bool().Draw(t, "any"), Oldest: rapid.Uint16Range(0, 20).Draw(t, "oldest"), First: near(0xfffff0), Last: near(0xfffff0),
			})
		case 7:
			f.Fatal = append(f.Fatal, port.Retire{Kind: port.RetireFatal, QPN: n})
		case 8:
			first := near(0xfffff0)
			f.Reads = append(f.Reads, port.ReadPost{
				QPN: n, Op: rapid.SampledFrom([]abi.WQEOp{abi.OpRead, abi.OpFetchAdd}).Draw(t, "op"), UnitIdx: 3,
				FirstPSN: first, LastPSN: first.Add(rapid.Uint32Range(0, 2).Draw(t, "more")), Len: rapid.SampledFrom([]uint32{0, 8, 1024, 2049}).Draw(t, "len"),
			})
		case 9:
			f.Done = append(f.Done, port.RespDone{QPN: n, Again: rapid.Bool().Draw(t, "again")})
		default:
			f.Rx = append(f.Rx, drawnOp(t, n, near))
		}
	}
	return f
}

// drawnOp is an operation of the receive pipeline.
func drawnOp(t *rapid.T, n port.QPN, near func(uint32) roce.PSN) port.RxOp {
	op := port.RxOp{
		Kind: port.RxOpKind(rapid.SampledFrom([]uint8{0, 0, 0, 0, 0, 0, 1, 2, 3}).Draw(t, "kind")), QPN: n,
		Status: rapid.SampledFrom([]abi.WCStatus{abi.StatusLocLen, abi.StatusRemAccess}).Draw(t, "status"),
		PSN:    near(0xfffffe), Silent: rapid.IntRange(0, 9).Draw(t, "silent") == 0,
	}
	if rapid.IntRange(0, 3).Draw(t, "send") == 0 {
		op.Send, op.PSN, op.Status = true, near(0xfffff0), abi.StatusLocProt
	}
	opcode := rapid.SampledFrom([]roce.Opcode{
		roce.RCSendOnly, roce.RCSendOnly, roce.RCSendFirst, roce.RCSendMiddle, roce.RCSendLast, roce.RCWriteOnly, roce.RCWriteFirst,
		roce.RCWriteLastImm, roce.RCReadRequest, roce.RCCmpSwap, roce.RCAck, roce.RCAck, roce.RCAck, roce.RCReadRespFirst,
		roce.RCReadRespOnly, roce.RCReadRespLast, roce.RCAtomicAck,
	}).Draw(t, "opcode")
	op.Pkt = from2(opcode, near(0xfffffe))
	op.Pkt.Len = rapid.SampledFrom([]uint16{1024, 1024, 0, 1, 2000}).Draw(t, "len")
	op.Pkt.Reth = port.Reth{VA: 0x1000, RKey: 0x100, Len: rapid.SampledFrom([]uint32{0, 1, 1024, 1025}).Draw(t, "length")}
	if opcode.IsResponse() {
		op.Pkt.PSN = near(0xfffff0)
		op.Pkt.MSN = port.MSN(rapid.Uint32Range(0, 4).Draw(t, "msn"))
		op.Pkt.Syndrome = rapid.SampledFrom([]uint8{31, 31, 0, 3, 0x60, 0x61, 0x21}).Draw(t, "syndrome")
		if opcode == roce.RCAck {
			op.Pkt.Len = 0
		}
	}
	op.Pkt.AckReq = rapid.Bool().Draw(t, "ackreq")
	return op
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
