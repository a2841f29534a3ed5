package story

import (
	"fmt"
	"strings"
)

// Comment is what a capture says of a packet: one line of words that a filter finds.
func (p *Packet) Comment() string {
	var b strings.Builder
	fmt.Fprintf(&b, "packet %d of %s; ", p.ID, p.Host)
	if p.WR >= 0 {
		fmt.Fprintf(&b, "WR %d; ", p.WR)
	}
	fmt.Fprintf(&b, "cycle %d; %s", p.Cycle, p.Cause)
	if p.Because >= 0 {
		fmt.Fprintf(&b, " because of packet %d", p.Because)
	}
	return b.String()
}

// Label is how a packet is called in a text.
func (p *Packet) Label() string {
	var b strings.Builder
	fmt.Fprintf(&b, "packet %d (%s to QP %d", p.ID, p.Opcode, p.DestQPN)
	if p.Opcode == "" {
		b.Reset()
		fmt.Fprintf(&b, "packet %d (no RoCE", p.ID)
	} else {
		fmt.Fprintf(&b, ", PSN %#x", p.PSN)
	}
	if p.Syndrome != "" {
		fmt.Fprintf(&b, ", %s, MSN %d", p.Syndrome, p.MSN)
	}
	if p.Payload > 0 {
		fmt.Fprintf(&b, ", %d bytes", p.Payload)
	}
	return b.String() + ")"
}

// Label is how a work request is called in a text.
func (w *WR) Label() string {
	if w.Queue == "srq" {
		taken := "of no QP"
		if w.QPN != 0 {
			taken = fmt.Sprintf("of QP %d", w.QPN)
		}
		return fmt.Sprintf("WR %d (%s SRQ %d[%d] %s %s, %d bytes)", w.ID, w.Host, w.SRQ, w.Index, w.Op, taken, w.Bytes)
	}
	return fmt.Sprintf("WR %d (%s QP %d %s[%d] %s, %d bytes)", w.ID, w.Host, w.QPN, w.Queue, w.Index, w.Op, w.Bytes)
}

// PacketID is the ID of a frame, by its number among those that host 0 or 1 has sent.
func PacketID(host int, number uint64) int { return 2*int(number-1) + host }
