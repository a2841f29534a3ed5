package main

import (
	"rnic/abi"
	"rnic/tb"
	"rnic/tb/loss"
)

// lossRates are of a million.
var lossRates = []int{0, 100, 1000, 5000, 10_000, 20_000, 50_000}

const percent = 1e4 // of a million

// stream is a load of the bench: messages of 64 KiB, or 8 KiB of READs, of so many
// bytes in all.
func stream(op abi.WQEOp, mtu, qps, drop int, both bool, total int) loss.Load {
	l := loss.Load{Op: op, MTU: mtu, QPs: qps, MsgSize: 64 << 10, Depth: 8, Drop: drop, Both: both}
	if op == abi.OpRead {
		l.MsgSize, l.Depth = 8<<10, 8
	}
	l.Messages = total / l.MsgSize
	l.Timeout = l.ShortTimeout()
	return l
}

// lossLoads are those of the table.
func lossLoads(total int) (ls []loss.Load) {
	for _, both := range []bool{false, true} {
		for _, mtu := range []int{1024, 4096} {
			for _, qps := range []int{1, 16} {
				for _, drop := range lossRates {
					ls = append(ls, stream(abi.OpWrite, mtu, qps, drop, both, total))
				}
			}
		}
	}
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpRead} {
		for _, mtu := range []int{1024, 4096} {
			for _, qps := range []int{1, 16} {
				ls = append(ls, stream(op, mtu, qps, 10_000, false, total))
			}
		}
	}
	return ls
}

// lossTotal is the bytes of each load.
const lossTotal = 16 << 20

// repair is a load and which of its packets is lost.
type repair struct {
	qps, size, messages, depth, batch, nth int
}

// repairs are: one message at rest, then streams.
var repairs = []repair{
	{1, 64, 2, 2, 2, 1}, {1, 1024, 2, 2, 2, 1}, {1, 20_000, 1, 1, 1, 5}, {1, 64 << 10, 1, 1, 1, 30},
	{1, 64, 1000, 64, 8, 500}, {1, 1024, 400, 16, 4, 200}, {1, 20_000, 64, 8, 1, 500}, {1, 64 << 10, 32, 8, 1, 1000},
	{16, 64 << 10, 64, 8, 1, 700},
}

func (r repair) load() loss.Load {
	return loss.Load{
		Op: abi.OpWrite, MTU: 1024, QPs: r.qps, MsgSize: r.size, Messages: r.messages, Depth: r.depth, Batch: r.batch, Timeout: 4,
	}
}

// measureLoss does all of bench --loss.
func measureLoss(c tb.Config, total int) (r lossResults, err error) {
	if r.Goodput, err = measureGoodput(c, lossLoads(total)); err != nil {
		return r, err
	}
	if r.Completion, err = measureCompletion(c); err != nil {
		return r, err
	}
	if err = r.measureRepairs(c); err != nil {
		return r, err
	}
	r.Timers, err = measureTimers(c)
	return r, err
}

// measureRepairs loses a packet of each of repairs.
func (r *lossResults) measureRepairs(c tb.Config) error {
	for _, x := range repairs {
		l := x.load()
		p, err := l.Trace(c, x.nth)
		if err != nil {
			return err
		}
		r.Repairs = append(r.Repairs, repairRow{
			Op: l.Op.String(), Size: x.size, Messages: x.messages, QPs: x.qps, Nth: x.nth,
			Nak: p.Nak, NakBusy: p.Busy, React: p.Reaction, Busy: p.Taken, Loop: p.Loop, InFlight: p.InFlight,
		})
		if x == timelineOf {
			r.line = p
		}
	}
	return nil
}

// timelineOf is the loss whose time line is drawn.
var timelineOf = repairs[7]

func measureGoodput(c tb.Config, ls []loss.Load) (rows []lossRow, err error) {
	for _, l := range ls {
		r, err := l.Run(c)
		if err != nil {
			return nil, err
		}
		w := lossRow{
			Op: l.Op.String(), MTU: l.MTU, QPs: l.QPs, LossPercent: float64(l.Drop) / percent, BothWays: l.Both,
			GoodputGbps: r.GoodputGbps, LimitGbps: r.LimitGbps, FormulaGbps: r.FormulaGbps, W: r.W(), LoopNAK: r.LoopNAK,
			Flight: r.Flight, Lost: r.Lost, Naks: r.Naks, Timeouts: r.Timeouts, TimeoutUs: 4.096 * float64(int(1)<<l.Timeout),
		}
		if r.Lost > 0 {
			w.BytesPerLoss = float64(r.AgainBytes) / float64(r.Lost)
		}
		rows = append(rows, w)
	}
	return rows, nil
}

// completionSeeds is how many transfers a completion time is of.
const completionSeeds = 8

// measureCompletion sends 2 MiB as messages of 64 KiB.
func measureCompletion(c tb.Config) (rows []completionRow, err error) {
	for _, qps := range []int{1, 16} {
		least := 0.0
		for _, drop := range lossRates {
			w := completionRow{QPs: qps, LossPercent: float64(drop) / percent}
			for i := range completionSeeds {
				c.Seed = uint64(i + 1)
				l := stream(abi.OpWrite, 1024, qps, drop, false, 2<<20)
				r, err := l.Run(c)
				if err != nil {
					return nil, err
				}
				w.MeanUs += r.Us / completionSeeds
				w.MostUs = max(w.MostUs, r.Us)
			}
			if drop == 0 {
				least = w.MeanUs
			}
			w.LeastUs = least
			rows = append(rows, w)
		}
	}
	return rows, nil
}

func measureTimers(c tb.Config) (rows []timerRow, err error) {
	add := func(kind string, e loss.Expiry, err error) error {
		rows = append(rows, timerRow{kind, e.Code, e.TimeUnit, e.Least, e.Most, e.Decision, e.Again})
		return err
	}
	for _, unit := range []uint16{8, 1024} {
		for n := uint8(1); n <= 10; n++ {
			e, err := loss.ACKTimeout(c, n, unit)
			if err := add("ack timeout", e, err); err != nil {
				return nil, err
			}
		}
	}
	for n := range uint8(32) {
		e, err := loss.RNRWait(c, n, 8)
		if err := add("rnr wait", e, err); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
