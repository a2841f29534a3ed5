package hang

import (
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
)

// WR is a work request of a send queue.
type WR struct {
	Host        string
	QP, Peer    int    // QP numbers, own and at the other host
	Index       uint16 // of its WQE, units
	Op          string
	Bytes       uint64
	Begun       bool     // it has its PSNs
	First, Last roce.PSN // if it is begun
}

// String says which it is.
func (w *WR) String() string {
	s := fmt.Sprintf("%s, QP %d: work request at WQE index %d (%s, %d bytes", w.Host, w.QP, w.Index, w.Op, w.Bytes)
	switch {
	case w.Begun && w.First == w.Last:
		s += fmt.Sprintf(", PSN %#x", uint32(w.First))
	case w.Begun:
		s += fmt.Sprintf(", PSN %#x to %#x", uint32(w.First), uint32(w.Last))
	}
	return s + fmt.Sprintf(") to QP %d", w.Peer)
}

// Hang is a run that does not go on, explained.
type Hang struct {
	Why     string
	Since   uint64 // cycle of the last progress, as seen at a barrier
	Noticed uint64 // cycle
	WR      *WR    // nil: no QP has work
	Chain   []Step // from the work request, or a thread, down to the root
	Loose   bool   // there is no root: no QP has work and no stream is stuck, and the steps are what there is
	Packets []Packet
	Waiters []hdl.Waiter
	Err     error // of the run; nil: the Dog ended it
	Notes   []string
}

// Root is the last step of the chain, if it has a root.
func (h *Hang) Root() Step {
	if len(h.Chain) == 0 || h.Loose {
		return Step{}
	}
	return h.Chain[len(h.Chain)-1]
}

// Error is the whole explanation.
func (h *Hang) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the run does not go on since cycle %d, noticed in cycle %d: %s", h.Since, h.Noticed, h.Why)
	if h.WR != nil {
		fmt.Fprintf(&b, "\n%v", h.WR)
	}
	if h.Loose {
		b.WriteString("\nno QP has work and no stream is stuck: for the NICs there is nothing to do. A doorbell, a completion or an interrupt may be lost, or nobody has posted. There is:")
	}
	for i, s := range h.Chain {
		word := ""
		if i == len(h.Chain)-1 && !h.Loose {
			word = "the root: "
		}
		fmt.Fprintf(&b, "\n\t%d. %s%v", i+1, word, s)
	}
	if len(h.Packets) > 0 {
		b.WriteString("\nthe last packets of the QP, with the cycle of the first beat on the wire:")
	}
	for _, p := range h.Packets {
		fmt.Fprintf(&b, "\n\t%v", p)
	}
	for _, w := range h.Waiters {
		fmt.Fprintf(&b, "\n%v", w)
	}
	for _, n := range h.Notes {
		fmt.Fprintf(&b, "\n%s", n)
	}
	return b.String()
}

// Unwrap is the error of the run.
func (h *Hang) Unwrap() error { return h.Err }

// Window is where to look in waves: from 2,000 cycles before the progress ended to 500
// after, cycles.
func (h *Hang) Window() (from, to uint64) { return Window(h.Since) }

// Markers are the moments of the chain and of the last packets of the QP, cycles.
func (h *Hang) Markers() map[string]uint64 {
	m := map[string]uint64{"last progress": h.Since}
	if r := h.Root(); r.Since < h.Noticed && !h.Loose {
		m["root: "+r.Block] = r.Since
	}
	for _, p := range h.Packets {
		if p.Fault != "" {
			m["fault"] = p.Struck
		}
	}
	return m
}

// explain makes the explanation of what was found.
func (d *Dog) explain(dead *hdl.WorldDeadlock, err error) *Hang {
	f := d.found
	h := &Hang{Why: f.why, Since: f.at, Noticed: f.noticed, Err: err}
	for n, s := range d.sides {
		if dead != nil {
			h.Waiters = append(h.Waiters, dead.Kernels[n].Threads...)
		} else {
			h.Waiters = append(h.Waiters, s.h.K.Waiters()...)
		}
	}
	if f.qp == nil {
		h.Since = d.motion()
		var rooted bool
		h.Chain, rooted = d.idle(h.Waiters)
		h.Loose = !rooted
		return h
	}
	x := d.chain(f.side, f.qp.n)
	h.WR, h.Chain = x.wr, x.steps
	h.Packets = merge(f.side.packets(roce.QPN(x.wr.Peer)), x.peer.packets(roce.QPN(f.qp.n)))
	return h
}

// motion is the cycle in which a beat moved last.
func (d *Dog) motion() (cycle uint64) {
	for _, s := range d.sides {
		for _, p := range s.h.K.Streams() {
			cycle = max(cycle, p.Since)
		}
	}
	return cycle
}

// merge puts the packets of both directions in order, and keeps the last.
func merge(a, b []Packet) (l []Packet) {
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].Cycle <= b[0].Cycle {
			l, a = append(l, a[0]), a[1:]
		} else {
			l, b = append(l, b[0]), b[1:]
		}
	}
	return l[max(0, len(l)-kept):]
}

// request describes the oldest work request of the QP.
func (x *chain) request() *WR {
	l, sq := x.s.h.NIC.Retrans.Lists.Peek(x.n), &x.c.SQ
	w := &WR{Host: x.s.name, QP: x.n, Peer: int(x.c.Common.DestQPN), Index: sq.Entered}
	if l.Count > 0 {
		w.Index = l.First.UnitIdx
		if !l.First.Local {
			w.Begun, w.First, w.Last = true, l.Start, l.First.LastPSN
		}
	}
	var b [abi.UnitSize]byte
	at := uint64(x.c.Common.SQBase) + uint64(abi.RingSlot(w.Index, x.c.Common.SQLog))*abi.UnitSize
	var q abi.WQE
	if x.s.h.Machine.Mem.Read(at, b[:]) != nil || abi.WQELayout.Decode(b[:], &q) != nil {
		w.Op = "unreadable"
		return w
	}
	w.Op = q.Ctrl.Op.String()
	if k, ok := x.s.h.K.Word(x.s.name+".nic.retrans.entries", int(l.First.Index), "byte_len"); ok && l.Count > 0 {
		w.Bytes = k.Bits
	} else if q.Ctrl.Flags&abi.WQEInlined != 0 {
		w.Bytes = uint64(q.Ctrl.InlineLen)
	} else {
		w.Bytes = x.length(w.Index, int(q.Ctrl.NumSGE))
	}
	return w
}

// length adds up the elements of a WQE.
func (x *chain) length(index uint16, elements int) (n uint64) {
	ring := uint64(abi.UnitSize) << x.c.Common.SQLog
	for i := range min(elements, abi.MaxSGE) {
		at := (uint64(index)*abi.UnitSize + abi.WQEDataOffset + uint64(i)*abi.SGESize) % ring
		var b [abi.SGESize]byte
		var e abi.SGE
		if x.s.h.Machine.Mem.Read(uint64(x.c.Common.SQBase)+at, b[:]) == nil && abi.SGELayout.Decode(b[:], &e) == nil {
			n += uint64(e.Length)
		}
	}
	return n
}
