package wqesched_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

func sge(n int) abi.SGE { return abi.SGE{Addr: 0x10000, Length: uint32(n), LKey: 0x1200} }

func TestOneSend(t *testing.T) {
	b := newBench(t, hdl.Options{}, wqesched.Params{}, 0)
	b.qp(4, roce.MTU1024, 64, 16)
	b.post(0, send(abi.OpSend, abi.WQESignalled, sge(64)), false)
	b.run(1000)
	b.check()
	require.Len(t, b.Pkt.Got, 1)
}

// mix is a random program: its sizes, drawn by rapid, and a seed for the rest.
type mix struct {
	QPs, WQEs, Lines, Entries, Services, Messages int
	Packets, Budget                               int
	Window                                        uint32
	Throttle, Seed, Latency                       uint64
	Faults                                        bool // malformed WQEs
	Kill                                          int  // of so many rounds of the driver, one takes a QP to ERR
	Reset                                         int  // likewise, to RESET and back
	Bad                                           int  // of so many QPs, one has a ring with a hole
	Depth                                         int  // READs outstanding a QP
	Credits                                       int  // that a peer gives; 0: no limit
	Rewind                                        int  // of so many rounds of another thread, one rewinds a QP
	Change                                        int  // likewise, one changes keys of outstanding WQEs
	Break                                         int  // likewise, one overwrites an outstanding WQE
	Pause                                         int  // likewise, one takes a QP to SQD or back
	Memory                                        int  // of so many WQEs, one is a memory operation
	Types                                         bool // QPs of all types
	MaxLen                                        int
	MinLog                                        int
}

func (m *mix) work(b *bench) work {
	r := b.rng
	flags := abi.WQEFlags(r.Uint32N(8)) // signalled, solicited, fence
	if r.IntN(2) == 0 {
		flags &^= abi.WQEFence
	}
	va, key := r.Uint64(), abi.Key(r.Uint32())
	if m.Faults && r.IntN(12) == 0 {
		w := nop()
		switch r.IntN(6) {
		case 0:
			w.Ctrl.Units = 9
		case 1:
			w = fastReg(r.IntN(40), 10+r.IntN(24)).units(1 + r.IntN(6))
		case 2:
			w = send(abi.OpRead, flags, sge(1<<31), sge(0), sge(1)).remote(va, key)
		case 3:
			w.Ctrl.Op = 200
		case 4:
			w = send(abi.OpSend, flags, make([]abi.SGE, 17)...)
		case 5:
			w = swap(abi.OpFetchAdd, flags, 1, 2, sge(7))
		}
		return w
	}
	if m.Memory > 0 && r.IntN(m.Memory) == 0 {
		return m.memory(r).flags(flags)
	}
	op := abi.WQEOp(r.IntN(int(abi.OpFetchAdd) + 1))
	switch {
	case r.IntN(6) == 0:
		w := nop()
		w.Ctrl.Flags |= flags
		return w
	case atomic(op):
		return swap(op, flags, r.Uint64(), r.Uint64(), sge(8)).remote(va, key)
	case op < abi.OpRead && r.IntN(3) == 0:
		data := make([]byte, r.IntN(65))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		w := inline(flags, data).remote(va, key)
		w.Ctrl.Op = op
		return w
	}
	n := r.IntN(5)
	if r.IntN(3) == 0 {
		n = r.IntN(17)
	}
	var list []abi.SGE
	for range n {
		e := abi.SGE{Addr: r.Uint64(), LKey: abi.Key(r.Uint32())}
		if r.IntN(3) > 0 {
			e.Length = uint32(r.IntN(m.MaxLen))
		}
		list = append(list, e)
	}
	return send(op, flags, list...).remote(va, key)
}

// drive is the driver of all QPs: it posts where there is room.
func (m *mix) drive(b *bench) func(th *hdl.Thread) {
	return func(th *hdl.Thread) {
		left := make([]int, m.QPs)
		for i := range left {
			left[i] = m.WQEs
		}
		for more := true; more; {
			more = false
			posted := false
			for i, q := range b.qps {
				for burst := b.rng.IntN(4); burst > 0 && left[i] > 0; burst-- {
					w := m.work(b).suit(b.rng, q)
					if int(w.Units) > 1<<q.Log {
						w = nop()
					}
					if int(w.Units) > q.room() {
						break
					}
					b.post(i, w, b.rng.IntN(3) == 0)
					left[i]--
					posted = true
				}
				more = more || left[i] > 0
			}
			if m.Kill > 0 && b.rng.IntN(m.Kill) == 0 {
				b.fail(b.rng.IntN(m.QPs))
			}
			if m.Reset > 0 && b.rng.IntN(m.Reset) == 0 {
				b.reset(th, b.rng.IntN(m.QPs))
			}
			if posted || b.rng.IntN(2) == 0 {
				th.Sleep(1 + b.rng.Uint64N(60))
			} else {
				th.Wait(&b.progress, th.Now()+500)
			}
		}
	}
}

// trouble happens to QPs at any moment, as long as the driver posts.
func (m *mix) trouble(b *bench, driver *hdl.Thread) func(th *hdl.Thread) {
	return func(th *hdl.Thread) {
		one := func(n int) bool { return n > 0 && b.rng.IntN(n) == 0 }
		for !driver.Done() {
			th.Sleep(1 + b.rng.Uint64N(40))
			n := b.rng.IntN(m.QPs)
			q := b.qps[n]
			w := q.outstanding(b.rng.IntN(64))
			if q.State != abi.QPRTS {
				continue
			}
			switch {
			case one(m.Rewind):
				una := q.Una
				if d := q.Told.Diff(una); d > 0 && b.rng.IntN(3) > 0 {
					una = una.Add(b.rng.Uint32N(d + 1))
				}
				b.rewind(n, una)
			case one(m.Change) && w != nil:
				q.change(w)
			case one(m.Break) && w != nil:
				q.overwrite(w)
			case one(m.Pause):
				q.Paused = !q.Paused
				b.Activate.Push(port.Activate{QPN: port.QPN(n)})
			}
		}
		for n, q := range b.qps {
			q.Paused = false
			b.Activate.Push(port.Activate{QPN: port.QPN(n)})
		}
	}
}

func (m *mix) scenario(t T) func(o hdl.Options) (hdltest.Digester, []output) {
	return func(o hdl.Options) (hdltest.Digester, []output) {
		p := wqesched.Params{LogQP: 6, Lines: m.Lines, Entries: m.Entries, Services: m.Services, PacketBudget: m.Packets, MessageBudget: m.Budget}
		b := newBench(t, o, p, m.Throttle)
		defer b.k.Close()
		if m.Reset > 0 {
			// Whoever takes these has seen all of a QP before its marker arrives.
			b.Sent.Throttle.Seed, b.Ahead.Throttle.Seed = 0, 0
		}
		for range m.QPs {
			q := b.qp(uint8(m.MinLog+b.rng.IntN(4)), roce.MTU(1+b.rng.IntN(5)), m.Window, m.Messages)
			q.Sig = b.rng.IntN(4) == 0
			if m.Types {
				q.Type = abi.QPTypeRC + abi.QPType(b.rng.IntN(4))
			}
			q.Depth = m.Depth
			q.Limited, q.Credits = m.Credits > 0, m.Credits
			if m.Bad > 0 && b.rng.IntN(m.Bad) == 0 {
				q.Bad = true
				b.bad[q.Base+port.BusAddr(b.rng.IntN(1<<q.Log)*64)] = true
			}
		}
		if m.Latency > 0 {
			b.latency = func() uint64 { return 1 + b.rng.Uint64N(m.Latency) }
			b.ackDelay = func() uint64 { return 1 + b.rng.Uint64N(4*m.Latency) }
			b.QPC.Latency = func() uint64 { return 1 + b.rng.Uint64N(8) }
			b.Mem.Latency = func() uint64 { return 1 + b.rng.Uint64N(60) }
		}
		d := b.k.Go("driver", m.drive(b))
		if m.Rewind+m.Change+m.Break+m.Pause > 0 {
			b.k.Go("trouble", m.trouble(b, d))
		}
		for limit := 0; !d.Done(); limit++ {
			require.NoError(t, b.k.Run(b.k.Cycle()+1000))
			require.Less(t, limit, 5000, "the driver hangs")
		}
		b.run(300000)
		return b.k, b.check()
	}
}

func TestRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mix{
			QPs:      rapid.IntRange(1, 12).Draw(t, "qps"),
			WQEs:     rapid.IntRange(1, 40).Draw(t, "wqes"),
			Lines:    rapid.SampledFrom([]int{1, 2, 3, 5, 64}).Draw(t, "lines"),
			Entries:  rapid.SampledFrom([]int{1, 2, 7, 1024}).Draw(t, "entries"),
			Services: rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "services"),
			Messages: rapid.SampledFrom([]int{1, 2, 64}).Draw(t, "messages"),
			Packets:  rapid.SampledFrom([]int{1, 3, 16}).Draw(t, "packets"),
			Budget:   rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "budget"),
			Window:   rapid.SampledFrom([]uint32{1, 4, 20, 1 << 15}).Draw(t, "window"),
			Throttle: rapid.Uint64Range(0, 3).Draw(t, "throttle"),
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Latency:  rapid.SampledFrom([]uint64{0, 10, 200}).Draw(t, "latency"),
			Faults:   rapid.Bool().Draw(t, "faults"),
			Kill:     rapid.SampledFrom([]int{0, 10, 100}).Draw(t, "kill"),
			Reset:    rapid.SampledFrom([]int{0, 10, 30}).Draw(t, "reset"),
			Bad:      rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "bad"),
			Depth:    rapid.SampledFrom([]int{16, 1, 2, 0}).Draw(t, "depth"),
			Credits:  rapid.SampledFrom([]int{0, 1, 5}).Draw(t, "credits"),
			Rewind:   rapid.SampledFrom([]int{0, 1, 2, 10}).Draw(t, "rewind"),
			Change:   rapid.SampledFrom([]int{0, 3}).Draw(t, "change"),
			Break:    rapid.SampledFrom([]int{0, 20}).Draw(t, "break"),
			Pause:    rapid.SampledFrom([]int{0, 5}).Draw(t, "pause"),
			Memory:   rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "memory"),
			Types:    rapid.Bool().Draw(t, "types"),
			MaxLen:   rapid.SampledFrom([]int{2, 600, 6000}).Draw(t, "maxlen"),
			MinLog:   rapid.IntRange(0, 4).Draw(t, "minlog"),
		}
		hdltest.Identical(t, hdl.Options{Seed: m.Seed}, m.scenario(t))
	})
}
