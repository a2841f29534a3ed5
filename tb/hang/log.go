package hang

import (
	"fmt"
	"strings"

	"rnic/roce"
	"rnic/tb"
)

// kept is how many packets of each QP, and how many strikes, are remembered.
const kept = 16

// Packet is a packet that a host has sent.
type Packet struct {
	Host     int    // that sent it, 0 or 1
	Number   uint64 // among the frames of that host, from 1
	Cycle    uint64 // of its first beat, as in the story of the run
	DestQP   roce.QPN
	Op       roce.Opcode
	PSN      roce.PSN
	Syndrome roce.Syndrome
	MSN      uint32
	AckReq   bool
	Bytes    int    // of payload
	Fault    string // what a fault made of it; "": none struck it
	Struck   uint64 // cycle in which it did, at the other host
	Arrives  uint64 // cycle of its last beat at the other host, if no fault struck it
}

// String is one line.
func (p Packet) String() string {
	var b strings.Builder
	way := [2]string{"a to b", "b to a"}[p.Host]
	fmt.Fprintf(&b, "cycle %d %s QP %d PSN %#x %v", p.Cycle, way, p.DestQP, uint32(p.PSN), p.Op)
	if p.Op.HasAETH() {
		fmt.Fprintf(&b, " %v MSN %d", p.Syndrome, p.MSN)
	}
	if p.Bytes > 0 {
		fmt.Fprintf(&b, " %d bytes", p.Bytes)
	}
	if p.AckReq {
		b.WriteString(" asks for an answer")
	}
	if p.Fault != "" {
		fmt.Fprintf(&b, ": %s by a fault in cycle %d", p.Fault, p.Struck)
	}
	return b.String()
}

// log remembers the last packets that a host sent to each QP. What the host's kernel
// writes, and what its peer's does, are kept apart.
type log struct {
	latency uint64 // of the wire, cycles
	frames  uint64 // at the port of the host
	sent    uint64
	to      map[roce.QPN][]Packet

	strikes []strike // written by the kernel of the peer
}

// strike is what a fault did to a frame.
type strike struct {
	number uint64
	what   string
	cycle  uint64
	qp     roce.QPN
	psn    roce.PSN
}

func newLog(latency uint64) *log { return &log{latency: latency, to: map[roce.QPN][]Packet{}} }

// tap sees the frames at the port of the host.
func (l *log) tap(f tb.Frame) {
	l.frames++
	if !f.Tx {
		return
	}
	l.sent++
	p, err := roce.ParseFrame(f.Data)
	if err != nil {
		return
	}
	k := Packet{
		Number: l.sent, Cycle: uint64(f.BeganPs / tb.PeriodPs), DestQP: p.BTH.DestQP, Op: p.BTH.Opcode, PSN: p.BTH.PSN,
		AckReq: p.BTH.AckReq, Bytes: len(p.Payload), Arrives: uint64(f.TimePs/tb.PeriodPs) + l.latency,
	}
	if p.BTH.Opcode.HasAETH() {
		k.Syndrome, k.MSN = p.AETH.Syndrome, uint32(p.AETH.MSN)
	}
	l.to[k.DestQP] = last(append(l.to[k.DestQP], k), kept)
}

// struck sees what faults do to frames of the host.
func (l *log) struck(f tb.Frame, number uint64, v tb.Verdict) {
	k := strike{number: number, what: v.String(), cycle: uint64(f.TimePs / tb.PeriodPs)}
	if p, err := roce.ParseFrame(f.Data); err == nil {
		k.qp, k.psn = p.BTH.DestQP, p.BTH.PSN
	}
	n := 0
	for i := range l.strikes {
		if l.strikes[i].qp == k.qp {
			n++
		}
	}
	for i := 0; n >= kept; i++ {
		if l.strikes[i].qp == k.qp {
			l.strikes = append(l.strikes[:i], l.strikes[i+1:]...)
			n--
		}
	}
	l.strikes = append(l.strikes, k)
}

// last is the end of a list, of n at most.
func last[T any](l []T, n int) []T {
	if len(l) > 4*n { // now and then, so that it costs little
		return append(l[:0], l[len(l)-n:]...)
	}
	return l
}

// packets are the last ones that the host sent to a QP.
func (s *side) packets(to roce.QPN) []Packet {
	l := s.log.to[to]
	l = append([]Packet(nil), l[max(0, len(l)-kept):]...)
	for i := range l {
		l[i].Host = s.n
		for _, k := range s.log.strikes {
			if k.number == l[i].Number {
				l[i].Fault, l[i].Struck = k.what, k.cycle
			}
		}
	}
	return l
}
