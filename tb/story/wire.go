package story

import (
	"fmt"
	"strings"

	"rnic/pcie"
	"rnic/roce"
	"rnic/tb"
)

const periodPs = tb.PeriodPs

// gapCycles is the most silence between frames that follow each other at once.
const gapCycles = 3

// sent is a packet of this host.
type sent struct {
	Packet
	wr      *wr
	q       *qp
	number  uint64 // of its frame
	request bool
	roce    bool
}

// strike is what a fault did to a frame of the other host.
type strike struct {
	number uint64
	text   string
	drop   bool
	change bool
	at     At
}

// arrival is a frame that has come.
type arrival struct {
	id     int // of the packet; -1: nobody has sent it
	number uint64
	ps     int64
	p      roce.BTH
	len    int
	known  bool
	landed int // index from the first that landed
}

// landing is what became of a frame that came.
type landing struct {
	number uint64
	ps     int64
	fate   string
	why    []Event
	wr     *wr // receive that it went to
}

func (s *side) watchWire() {
	s.hub.stream("rc.from_nic", func(t *tap, cycle uint64) {
		if t.is("first") && pcie.Kind(t.u("hdr.kind")) == pcie.MRd {
			s.spans.reading(cycle, 1)
		}
	}, "hdr.kind", "first")
}

// frame is a tb.Tap.
func (s *side) frame(f tb.Frame) {
	if !f.Tx {
		s.arrives(f)
		return
	}
	first, last := uint64(f.BeganPs/periodPs), uint64(f.TimePs/periodPs)
	if first > s.tx.ended+gapCycles {
		s.tx.since = first
	}
	s.tx.ended = last + 1
	p := s.packet(f, first)
	s.spans.sending(first, last)
	s.meter.add(int64(first)*periodPs, len(f.Data))
	s.keep(p)
	s.r.packet(&p.Packet)
}

// keep adds a packet, and forgets the oldest.
func (s *side) keep(p *sent) {
	s.sent = append(s.sent, p)
	if most := s.r.limit / 2; len(s.sent) > most+most/8+16 {
		n := len(s.sent) - most
		for _, o := range s.sent[:n] {
			s.forgot.Packets++
			s.forgot.Bytes += uint64(o.Bytes)
		}
		clear(s.sent[:n])
		s.sent = append(s.sent[:0], s.sent[n:]...)
		s.frames += n
	}
}

// packet makes the story of a frame that has left.
func (s *side) packet(f tb.Frame, first uint64) *sent {
	p := &sent{number: f.Number}
	a := at(first, s.name+".wire.from_nic.fire", "1")
	p.Packet = Packet{
		ID: PacketID(s.n, f.Number), Host: s.name, Ps: a.Ps, EndPs: f.TimePs, ArrivePs: -1, Bytes: len(f.Data), WR: -1,
		Cause: Unknown, Because: -1, Fate: OnWire, Cycle: a.Cycle, Signal: a.Signal, Value: a.Value, Why: []Event{},
	}
	k, err := roce.ParseFrame(f.Data)
	if err != nil {
		return p
	}
	p.roce = true
	b := &k.BTH
	p.DestQPN, p.PSN, p.Opcode, p.Payload, p.AckReq = uint32(b.DestQP), uint32(b.PSN), b.Opcode.String(), len(k.Payload), b.AckReq
	if b.Opcode.HasAETH() {
		p.Syndrome, p.MSN = k.AETH.Syndrome.String(), uint32(k.AETH.MSN)
	}
	d, ok := s.left(&k)
	if !ok {
		return p
	}
	p.q, p.QPN, p.request = d.q, d.q.QPN, !d.resp
	p.Why = append(p.Why, Event{d.at, "described to pkt_tx"})
	if d.resp {
		s.answered(p, &k, &d)
	} else {
		s.requested(p, &k, &d)
	}
	return p
}

// requested is the cause of a request.
func (s *side) requested(p *sent, k *roce.Packet, d *description) {
	q, psn := d.q, k.BTH.PSN
	end := psn.Add(1)
	p.Cause = New
	if k.BTH.Opcode.Transport() == roce.UD {
		p.Cause = Datagram
	}
	w := d.wr
	if w != nil && d.op.IsReadRequest() {
		end = w.last.Add(1)
	}
	if q.any && psn.Before(q.top) && p.Cause == New && d.retry.name != Unknown {
		p.Cause, p.Because = d.retry.name, d.retry.because
		p.Why = append(append([]Event{}, d.retry.why...), p.Why...)
	}
	if !q.any || end.After(q.top) {
		q.top, q.any = end, true
	}
	if w == nil {
		return
	}
	p.wr, p.WR = w, w.ID
	left := At{Ps: p.Ps, Cycle: p.Cycle, Signal: p.Signal, Value: p.Value}
	if w.at(FirstPacket) == nil && w.pieces && w.described != 0 {
		from, busy := int64(w.described)*periodPs, int64(s.tx.since)*periodPs
		if busy >= p.Ps { // the line was free
			w.wait(from, p.Ps, ForPCIe, left)
		} else {
			w.wait(from, busy, ForPCIe, at(s.tx.since, p.Signal, p.Value)) // what kept the line from it began
			w.wait(max(from, busy), p.Ps, ForWire, left)
		}
	}
	w.stage(FirstPacket, left)
	if w.read || d.op.Ends() {
		w.move(LastPacket, left)
	}
	w.sentPs = p.EndPs
	w.addPacket(p.ID)
	q.tries[psn]++
	w.Tries = max(w.Tries, q.tries[psn])
}

// mostPackets is how many packets of a WR are listed.
const mostPackets = 100_000

func (w *WR) addPacket(id int) {
	if len(w.Packets) < mostPackets {
		w.Packets = append(w.Packets, id)
	}
}

// struck is told of what a fault does to a frame on its way to this host.
func (s *side) struck(f tb.Frame, number uint64, v tb.Verdict) {
	k := strike{number: number, drop: v.Drop, change: v.Data != nil || v.BadFCS, at: at(uint64(f.TimePs/periodPs), s.name+".wire.to_nic.ready", "1")}
	var l []string
	add := func(is bool, format string, args ...any) {
		if is {
			l = append(l, fmt.Sprintf(format, args...))
		}
	}
	add(v.Drop, "lost")
	add(v.Data != nil, "changed")
	add(v.BadFCS, "given a wrong FCS")
	add(v.Delay > 0, "late by %d cycles", v.Delay)
	add(v.Pass > 0, "overtaken by %d", v.Pass)
	add(len(v.Again) > 0, "doubled")
	add(len(v.After) > 0, "followed by others")
	k.text = strings.Join(l, ", ") + " by a fault"
	if v.Name != "" {
		k.text += " (" + v.Name + ")"
	}
	s.strikes = append(s.strikes, k)
	if most := s.r.limit; len(s.strikes) > most+most/8 {
		s.strikes = append(s.strikes[:0], s.strikes[len(s.strikes)-most:]...)
	}
}
