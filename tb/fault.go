package tb

import (
	"errors"
	"fmt"

	"rnic/roce"
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

	// Delay is how many cycles later it arrives, and Pass how many frames go by
	// before it does; others overtake it. One that waits for frames that do not come
	// arrives after PassLimit.
	Delay uint64
	Pass  int
	// Again are copies of what arrives: how many cycles behind it each comes, 0: at
	// once.
	Again []uint64

	Name string // what is done, for those who watch; it changes nothing
}

// passes tells whether the frame passes as it is, once.
func (v *Verdict) passes() bool {
	return !v.Drop && v.Data == nil && !v.BadFCS && v.After == nil && v.Delay == 0 && v.Pass == 0 && v.Again == nil
}

// PassLimit is the longest that a frame waits for others to go by, cycles: 20 us.
const PassLimit = 5000

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
			v := Lose(f)
			if s.Do != nil {
				v = s.Do(f)
			}
			v.Name = s.Name
			return v
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
func (h *Host) SetFault(f Fault) {
	g := &h.node.Wire.gate
	if f == nil {
		g.fault = nil
		return
	}
	g.fault = func(frame Frame) Verdict {
		v := f(frame)
		if !v.passes() {
			for _, f := range h.struck {
				f(frame, g.count.Came, v)
			}
		}
		return v
	}
}

// OnFault shows f, and others that were given before, each frame on its way to the host that a Fault strikes: its number
// among those that came over the wire, from 1, and what becomes of it. It runs on the
// goroutine of the host's kernel.
func (h *Host) OnFault(f func(frame Frame, number uint64, v Verdict)) {
	h.struck = append(h.struck, f)
}

// SetLoss has lost say of each frame on its way to the host, when its first beat comes,
// whether it is lost; nil ends that. The others pass as they come, without being
// stored: to measure what a loss costs, and nothing else. Those that are lost no Fault
// sees. It runs on the goroutine of the host's kernel.
func (h *Host) SetLoss(lost func() bool) { h.node.Wire.gate.loss = lost }

// Inject has a frame, without FCS, arrive at the host as if its peer had sent it,
// behind those that arrive now; no Fault sees it. Threads of the host call it, or nobody while the
// bench runs.
func (h *Host) Inject(frame []byte) {
	w := &h.node.Wire
	w.gate.count.Added++
	w.gate.store(withFCS(frame, false), 0)
	w.WakeAt(w.Now() + 1)
}

// Cable tells what has become of the frames on their way to the host.
func (h *Host) Cable() Cable { return h.node.Wire.gate.cable(h.K.Cycle()) }
