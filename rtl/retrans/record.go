package retrans

import "rnic/roce"

// phase is what the clock of a QP does.
type phase uint8

const (
	phaseOff     phase = iota
	phaseRun           // the ACK timer runs until Deadline
	phaseExpired       // a timeout was reported, the answer is not there yet
	phaseWait          // a rewind waits until Deadline
	phaseHeld          // a rewind has no answer yet
)

// Width is 3 bits.
func (phase) Width() int { return 3 }

func (p phase) String() string {
	return [...]string{"OFF", "RUN", "EXPIRED", "WAIT", "HELD", "R5", "R6", "R7"}[p&7]
}

// held tells whether a rewind keeps the ACK timer from running.
func (p phase) held() bool { return p >= phaseWait }

// record is what Clock knows of a QP.
type record struct {
	Known  bool // Una is valid
	Una    roce.PSN
	Left   bool     // End is valid
	End    roce.PSN // an answer is awaited to the PSNs from Una up to here
	Failed bool     // End is where the QP failed: nothing leaves any more
	Arm    uint64   // ACK timeout in cycles, 0: none

	Gone   bool     // Lists are to be told that packets have left, which nobody answers
	Out    roce.PSN // with Gone: PSN after the last one
	Queued bool     // the QP is in the queue of those that wait to be told of

	Phase    phase
	Gen      uint8 // phaseWait: of the rewind
	Deadline uint64
	Keyed    bool   // the timer has an alarm of the QP, at Key or earlier
	Key      uint64 // cycle
}

// awaits tells whether a request that has left is not answered.
func (r *record) awaits() bool { return r.Known && r.Left && r.Una.Before(r.End) }

// learn takes news, and tells whether the ACK timer, or the wait, starts anew.
// Otherwise what runs goes on, if it still may.
func (r *record) learn(n *news) (start bool) {
	switch n.Kind {
	case newsPurge:
		*r = record{Keyed: r.Keyed, Key: r.Key, Queued: r.Queued}
		return false
	case newsAnswer:
		r.Phase = phaseOff
		return false
	case newsLeft:
		if r.Failed || r.Phase.held() {
			return false // it was from before
		}
		r.Left, r.End = true, n.End
		return r.Phase == phaseOff && r.run()
	case newsSent:
		if !r.Known {
			r.Known, r.Una = true, n.Una
		}
		r.Arm = n.Arm
		// What runs was started by this message: it has left already.
		return r.Phase <= phaseRun && r.run()
	}
	return r.event(n)
}

// event takes what qpc said. Only a failure ends a wait, or a newer rewind.
func (r *record) event(n *news) (start bool) {
	progress := !r.Known || r.Una.Before(n.Una)
	if progress {
		r.Known, r.Una = true, n.Una
		if r.End.Before(r.Una) {
			r.End = r.Una
		}
	}
	r.Arm = n.Arm
	switch n.Kind {
	case newsRewind:
		r.Left, r.End, r.Gen = true, n.End, n.Gen
		r.Phase = phaseHeld
		if n.Wait != 0 {
			r.Phase = phaseWait
		}
		return n.Wait != 0
	case newsFail:
		r.Left, r.End, r.Failed = true, n.End, true
		if r.Phase.held() {
			r.Phase = phaseOff
		}
	}
	switch {
	case r.Phase.held():
		return false
	case r.Phase == phaseRun && !progress && r.awaits():
		return false
	}
	return r.run()
}

// run starts the ACK timer if an answer is awaited, else stops it.
func (r *record) run() bool {
	r.Phase = phaseOff
	if r.Arm != 0 && r.awaits() {
		r.Phase = phaseRun
	}
	return r.Phase == phaseRun
}
