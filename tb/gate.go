package tb

import (
	"encoding/binary"
	"slices"

	"rnic/roce"
	"rnic/rtl/port"
)

// bytesPerCycle is what the wire carries, at 100 Gb/s, and gap the bytes of
// preamble and gap of a frame.
const (
	bytesPerCycle = 100_000 * PeriodPs / 8_000_000
	gap           = 20
)

// Cable is what has become of the frames on their way to a host. Came and Added
// together are Lost, Waiting and Arrived: nothing vanishes.
type Cable struct {
	Came    uint64 // over the wire, whole
	Added   uint64 // by Inject, Verdict.After or Verdict.Again
	Lost    uint64 // by Verdict.Drop
	Arrived uint64 // at the host's MAC
	Waiting int
	Until   uint64 // cycle by which all that wait have arrived, if others do not come between
}

// gate is the host's end of the cable, where frames go wrong. Without a fault the
// beats pass it as they come.
type gate struct {
	fault   Fault
	loss    func() bool
	losing  bool // a frame is being lost
	through bool // a frame is passing
	storing bool // a frame is being stored
	frame   []byte
	held    []held         // in the order in which they came
	holds   int            // frames held so far
	queue   []port.EthBeat // of frames that wait to arrive
	wait    []uint64       // cycles of silence behind each of them
	numbers []uint64       // of the frame of each, see Frame.Number
	silent  uint64         // cycle at which the next frame may begin
	owed    int            // bytes of line time that the frames stored so far are ahead of the wire
	count   Cable
}

// held is a frame that others overtake.
type held struct {
	frame  []byte // FCS included
	number uint64
	due    uint64 // cycle in which it is let go at the latest
	pass   int    // frames that still go by before; 0: it waits for due alone
}

func (g *gate) cable(now uint64) Cable {
	c := g.count
	c.Waiting = len(g.held)
	c.Until = max(now, g.silent)
	for i := range g.queue {
		c.Until += 1 + g.wait[i]
		if g.queue[i].Last {
			c.Waiting++
		}
	}
	for _, h := range g.held {
		c.Until = max(c.Until, h.due)
		c.Until += uint64((len(h.frame)+gap)/bytesPerCycle + 1)
	}
	return c
}

// arrive takes a beat from the other host and tells whether it passes.
func (g *gate) arrive(b *port.EthBeat, now uint64) bool {
	if !g.through && !g.storing && !g.losing {
		g.losing = g.loss != nil && g.loss()
		g.storing = !g.losing && (g.fault != nil || len(g.queue) > 0)
	}
	if b.Last {
		g.count.Came++
	}
	if g.losing {
		if b.Last {
			g.losing = false
			g.count.Lost++
		}
		return false
	}
	if !g.storing {
		g.through = !b.Last
		if b.Last {
			g.count.Arrived++
		}
		return true
	}
	g.frame = append(g.frame, b.Data[:b.Len]...)
	if b.Last {
		g.judge(now, b.Bad)
		g.storing, g.frame = false, g.frame[:0]
	}
	return false
}

// judge asks the fault what becomes of the stored frame.
func (g *gate) judge(now uint64, bad bool) {
	var v Verdict
	data, wrong := splitFCS(g.frame)
	if g.fault != nil {
		v = g.fault(Frame{TimePs: int64(now) * PeriodPs, BeganPs: int64(now) * PeriodPs, Number: g.count.Came, BadFCS: wrong || bad, Data: data})
	}
	f, n := g.frame, g.count.Came
	switch {
	case v.Data != nil:
		f = withFCS(v.Data, v.BadFCS)
	case v.BadFCS:
		f = withFCS(data, true)
	}
	passed := len(g.held)
	switch {
	case v.Drop:
		g.count.Lost++
		passed = 0
	case v.Pass > 0:
		g.hold(f, n, now+PassLimit, v.Pass)
		passed = 0
	case v.Delay > 0:
		g.hold(f, n, now+v.Delay, 0)
		passed = 0
	default:
		g.store(f, n)
	}
	for _, d := range v.Again {
		g.count.Added++
		if at := v.Delay + d; at > 0 {
			g.hold(f, n, now+at, 0)
		} else {
			g.store(f, n)
		}
	}
	for _, f := range v.After {
		g.count.Added++
		g.store(withFCS(f, false), 0)
	}
	g.overtake(passed)
}

// hold keeps a frame back.
func (g *gate) hold(f []byte, number, due uint64, pass int) {
	g.held = append(g.held, held{slices.Clone(f), number, due, pass})
	g.holds++
}

// overtake notes that a frame went by the first n of those that are held, and lets
// go those that have waited for it.
func (g *gate) overtake(n int) {
	for i := range g.held[:n] {
		if h := &g.held[i]; h.pass > 0 {
			if h.pass--; h.pass == 0 {
				h.due = 0
			}
		}
	}
	g.release(0)
}

// release lets go the held frames that are due.
func (g *gate) release(now uint64) {
	g.held = slices.DeleteFunc(g.held, func(h held) bool {
		if h.due <= now {
			g.store(h.frame, h.number)
		}
		return h.due <= now
	})
}

// withFCS appends the FCS, or a wrong one.
func withFCS(data []byte, wrong bool) []byte {
	fcs := roce.FCS(data)
	if wrong {
		fcs = ^fcs
	}
	return binary.LittleEndian.AppendUint32(data[:len(data):len(data)], fcs)
}

// store queues a frame, FCS included. It takes as long to arrive as on the wire, to
// the byte: else frames would wait longer and longer for those before them.
func (g *gate) store(f []byte, number uint64) {
	n := len(f)
	beats := (n + port.BeatBytes - 1) / port.BeatBytes
	g.owed += n + gap
	cycles := max(beats, g.owed/bytesPerCycle)
	g.owed = max(g.owed-cycles*bytesPerCycle, -bytesPerCycle)
	for at := 0; at < n; at += port.BeatBytes {
		var b port.EthBeat
		b.Len = uint8(copy(b.Data[:], f[at:]))
		b.Last = at+port.BeatBytes >= n
		wait := uint64(0)
		if b.Last {
			wait = uint64(cycles - beats)
		}
		g.queue, g.wait, g.numbers = append(g.queue, b), append(g.wait, wait), append(g.numbers, number)
	}
}

// next is the beat that arrives now, if any does, and the number of its frame.
func (g *gate) next(now uint64) (b port.EthBeat, number uint64, ok bool) {
	if g.through || len(g.queue) == 0 || now < g.silent {
		return b, 0, false
	}
	b, number = g.queue[0], g.numbers[0]
	g.silent = now + 1 + g.wait[0]
	g.queue, g.wait, g.numbers = g.queue[1:], g.wait[1:], g.numbers[1:]
	if b.Last {
		g.count.Arrived++
	}
	return b, number, true
}
