package rows

import (
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/waves"
)

// headerBytes is more than all headers of a packet have.
const headerBytes = 192

// line assembles the headers of the frames on a stream of Ethernet beats, one a cycle.
type line struct {
	s     *side
	row   *waves.Row // or nil
	buf   [headerBytes]byte
	n     int
	begin int64  // ps, when the first beat came
	took  int64  // ps, when it was taken; 0: it is at the head
	open  bool   // a frame is under way
	known bool   // its name is known
	text  string // its name
	pkt   named
	named func(l *line)            // called once with the name of a packet
	ended func(l *line, now int64) // called with the last beat
}

// beat takes a beat when it comes to the head of the stream.
func (l *line) beat(now int64, b *port.EthBeat) {
	if b == nil {
		return
	}
	if !l.open {
		l.open, l.known, l.n, l.begin, l.took, l.text = true, false, 0, now, 0, "frame"
	} else if l.took == 0 {
		l.took = l.s.at.took
	}
	if !l.known {
		l.n += copy(l.buf[l.n:], b.Data[:b.Len])
		pkt, other, enough := parse(l.buf[:l.n])
		if enough || b.Last {
			l.known, l.pkt = true, pkt
			switch {
			case other != "":
				l.text = other
			case enough:
				l.text = pkt.String()
				if l.named != nil {
					l.named(l)
				}
			}
			l.set(l.begin, l.text)
		}
	}
	if b.Last {
		l.open = false
		l.set(now+l.s.period, "")
		if l.ended != nil {
			l.ended(l, now)
		}
	}
}

func (l *line) set(ps int64, text string) {
	if l.row != nil {
		l.row.Set(max(ps, l.s.oldest()), text)
	}
}

// oldest is the oldest instant that rows may be told of.
func (s *side) oldest() int64 { return (int64(s.h.K.Cycle()) - waves.RowLag) * s.period }

// wires follows both directions of the port.
func (s *side) wires() error {
	tx := &line{s: s, row: s.row("wire.tx"), named: s.sent}
	rx := &line{s: s, row: s.row("wire.rx")}
	// The other end of the cable is the bench's: it is found by the signal of the MAC.
	put, err := s.signal("nic.mac.transmit.tx.put")
	if err != nil {
		return err
	}
	var take string
	for path, sig := range s.sigs {
		if sig.Owner == put.Owner && path != put.Path {
			take = path[len(s.name)+1:]
		}
	}
	err = s.heads(take, func(now int64, some bool) {
		if some {
			tx.beat(now, (*port.EthBeat)(s.h.K.Base(put.Owner-1)))
		}
	})
	if err != nil {
		return err
	}
	return follow(s, "nic.mac.receive.rx", &s.h.NIC.Mac.Receive.Rx, rx.beat)
}

// sent tells of the packets that leave, as of their first beats.
func (s *side) sent(l *line) {
	if l.took != 0 { // the name took another beat
		at := s.at
		s.at = nil
		defer func() { s.at = at }()
	}
	s.event(Packet, l.took, l.text, l.pkt.qpn, l.pkt.psn)
	if !l.pkt.op.HasAETH() {
		return
	}
	switch l.pkt.syndrome.Kind() {
	case roce.KindNAK:
		s.event(NAK, l.took, l.text, l.pkt.qpn, l.pkt.psn)
	case roce.KindRNR:
		s.event(RNR, l.took, l.text, l.pkt.qpn, l.pkt.psn)
	}
}

// Struck tells host number n of what a fault of the bench did to a frame on its way to
// it: it is shown, and one that is lost is a Drop.
func (r *Rows) Struck(n int, ps int64, what string, lost bool, frame []byte) {
	s := r.sides[n]
	name, _ := Frame(frame)
	text := what + ": " + name
	s.pulses.show(s.fault, ps, PulseCycles*s.period, text)
	if lost {
		s.event(Drop, ps, "by a fault, "+text, 0, 0)
	}
}
