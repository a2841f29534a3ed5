package ackgen

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// flushFlags is what FlushList knows of a QP.
type flushFlags struct {
	Want   bool // receive WQEs may be left to flush
	Listed bool // in the list
	Flying bool // an operation is at qpc
}

// result is the end of an operation: of a flush (Again: ask once more), or of a
// marker, which ends the QP's life.
type result struct {
	Purge bool
	Again bool
	QPN   port.QPN
}

type flushRegs struct {
	Busy bool // Flags shows the QP of Event
	Kind flushEvent
	QPN  port.QPN
	Res  result
}

// flushEvent is what FlushList deals with.
type flushEvent uint8

const (
	flushResult flushEvent = iota
	flushError
	flushNext
)

// Width is 2 bits.
func (flushEvent) Width() int { return 2 }

func (e flushEvent) String() string {
	return [...]string{"RESULT", "QP_ERROR", "NEXT", "RESERVED"}[e&3]
}

// FlushList remembers the QPs whose receive queues are to be flushed and hands
// them to Issue, one operation a QP at a time, round robin. A QP stays until
// qpc has nothing left to flush; one that is named again meanwhile is asked
// again. The list is a FIFO through which each QP goes at most once: Push and
// List are its ends.
type FlushList struct {
	QPErr  hdl.In[port.QPError]
	Result hdl.In[result]
	Next   hdl.Out[port.QPN]
	Push   hdl.Out[port.QPN]
	List   hdl.In[port.QPN]

	Flags hdl.RAM[flushFlags] // by QPN; port 0 reads, port 1 writes
	hdl.Regs[flushRegs]
}

// Eval deals with an event in two cycles: read the flags, act on them.
func (l *FlushList) Eval() {
	q, d := &l.Q, &l.D
	if q.Busy {
		d.Busy = false
		l.act(*l.Flags.Data(0))
		return
	}
	switch {
	case l.Result.Valid():
		d.Res = *l.Result.Take()
		l.look(flushResult, d.Res.QPN)
	case l.QPErr.Valid():
		l.look(flushError, l.QPErr.Take().QPN)
	case l.List.Valid() && l.Next.Ready():
		l.look(flushNext, *l.List.Take())
	}
}

func (l *FlushList) look(k flushEvent, n port.QPN) {
	n &= port.QPN(l.Flags.Depth() - 1)
	l.D.Busy, l.D.Kind, l.D.QPN = true, k, n
	l.Flags.Read(0, int(n))
}

func (l *FlushList) act(f flushFlags) {
	q := &l.Q
	switch {
	case q.Kind == flushError:
		f.Want = true
	case q.Kind == flushNext:
		f.Listed = false
		if f.Want {
			f.Want, f.Flying = false, true
			l.Next.Put(q.QPN)
		}
	case q.Res.Purge:
		f.Want = false
	default:
		f.Flying = false
		f.Want = f.Want || q.Res.Again
	}
	if f.Want && !f.Listed && !f.Flying {
		f.Listed = true
		l.Push.Put(q.QPN)
	}
	l.Flags.Write(1, int(q.QPN), &f)
}
