package tb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"rnic/roce"
	"rnic/rtl/port"
)

// Fault decides what becomes of a frame on its way to a host. It sees the frames
// in the order of their arrival, and runs on the goroutine of that host's kernel.
type Fault func(Frame) Verdict

// Verdict is what becomes of a frame. The zero value lets it pass.
type Verdict struct {
	Drop   bool     // the frame is lost
	Data   []byte   // arrives in its place, without FCS; nil: the frame itself
	BadFCS bool     // it arrives with a wrong FCS
	After  [][]byte // frames, without FCS, that arrive behind it, or in its place
}

// Lose is the verdict of a frame that is lost.
func Lose(Frame) Verdict { return Verdict{Drop: true} }

// Strike is a fault with a name and a place: among the packets on the way to a
// host that Match accepts it leaves Skip alone and strikes the next Times.
type Strike struct {
	Name  string
	Match func(*roce.Packet) bool
	Skip  int
	Times int   // 0: 1
	Do    Fault // nil: Lose
	Fired int   // packets struck
}

// Strikes makes a Fault of strikes. A packet is struck by the first that wants
// it; the others do not see it. Frames that are no RoCE packets pass.
func Strikes(strikes ...*Strike) Fault {
	return func(f Frame) Verdict {
		p, err := roce.ParseFrame(f.Data)
		if err != nil {
			return Verdict{}
		}
		for _, s := range strikes {
			if s.Fired >= max(1, s.Times) || !s.Match(&p) {
				continue
			}
			if s.Skip > 0 {
				s.Skip--
				continue
			}
			s.Fired++
			if s.Do == nil {
				return Lose(f)
			}
			return s.Do(f)
		}
		return Verdict{}
	}
}

// Missed names the strikes that have not fired as often as they should.
func Missed(strikes ...*Strike) error {
	var errs []error
	for _, s := range strikes {
		if s.Fired != max(1, s.Times) {
			errs = append(errs, fmt.Errorf("fault %q fired %d of %d times", s.Name, s.Fired, max(1, s.Times)))
		}
	}
	return errors.Join(errs...)
}

// SetFault has f judge every frame on its way to the host; nil ends that. From
// the next frame on the cable stores frames whole before it hands them on.
func (h *Host) SetFault(f Fault) { h.node.Wire.gate.fault = f }

// Inject has a frame, without FCS, arrive at the host as if its peer had sent it,
// behind those that arrive now; no Fault sees it. Threads of the host call it, or nobody while the
// bench runs.
func (h *Host) Inject(frame []byte) {
	w := &h.node.Wire
	w.gate.store(withFCS(frame, false))
	w.WakeAt(w.Now() + 1)
}

// bytesPerCycle is what the wire carries, at 100 Gb/s, and gap the bytes of
// preamble and gap of a frame.
const (
	bytesPerCycle = 100_000 * PeriodPs / 8_000_000
	gap           = 20
)

// gate is the host's end of the cable, where frames go wrong. Without a fault the
// beats pass it as they come.
type gate struct {
	fault   Fault
	through bool // a frame is passing
	storing bool // a frame is being stored
	frame   []byte
	queue   []port.EthBeat // of frames that wait to arrive
	wait    []uint64       // cycles of silence behind each of them
	silent  uint64         // cycle at which the next frame may begin
}

// arrive takes a beat from the other host and tells whether it passes.
func (g *gate) arrive(b *port.EthBeat, now uint64) bool {
	if !g.through && !g.storing {
		g.storing = g.fault != nil || len(g.queue) > 0
	}
	if !g.storing {
		g.through = !b.Last
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
	if g.fault != nil {
		data, wrong := splitFCS(g.frame)
		v = g.fault(Frame{TimePs: int64(now) * PeriodPs, BadFCS: wrong || bad, Data: data})
	}
	switch {
	case v.Drop:
	case v.Data != nil:
		g.store(withFCS(v.Data, v.BadFCS))
	case v.BadFCS:
		data, _ := splitFCS(g.frame)
		g.store(withFCS(data, true))
	default:
		g.store(g.frame)
	}
	for _, f := range v.After {
		g.store(withFCS(f, false))
	}
}

// withFCS appends the FCS, or a wrong one.
func withFCS(data []byte, wrong bool) []byte {
	fcs := roce.FCS(data)
	if wrong {
		fcs = ^fcs
	}
	return binary.LittleEndian.AppendUint32(data[:len(data):len(data)], fcs)
}

// store queues a frame, FCS included.
func (g *gate) store(f []byte) {
	n := len(f)
	for at := 0; at < n; at += port.BeatBytes {
		var b port.EthBeat
		b.Len = uint8(copy(b.Data[:], f[at:]))
		b.Last = at+port.BeatBytes >= n
		wait := uint64(0)
		if b.Last {
			wait = uint64((n+gap)/bytesPerCycle - at/port.BeatBytes)
		}
		g.queue, g.wait = append(g.queue, b), append(g.wait, wait)
	}
}

// next is the beat that arrives now, if any does.
func (g *gate) next(now uint64) (b port.EthBeat, ok bool) {
	if g.through || len(g.queue) == 0 || now < g.silent {
		return b, false
	}
	b = g.queue[0]
	g.silent = now + 1 + g.wait[0]
	g.queue, g.wait = g.queue[1:], g.wait[1:]
	return b, true
}
