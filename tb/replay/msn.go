package replay

import (
	"slices"

	"rnic/roce"
)

// baseMSN is the MSN that the responder had before the first request: 0 but in a
// connection that began before the capture.
func (c *Conversation) baseMSN() (base roce.MSN) {
	var from []uint32 // PSNs at which messages begin, from c.First
	for e := range c.inOrder() {
		if e.BTH.Opcode.Starts() {
			from = append(from, e.BTH.PSN.Diff(c.First))
		}
	}
	seen := false
	for i := range c.Events {
		e := &c.Events[i]
		if !e.Answer || !e.BTH.Opcode.HasAETH() || isNAK(&e.Packet) {
			continue
		}
		n, found := slices.BinarySearch(from, e.BTH.PSN.Diff(c.First))
		if found {
			n++
		}
		if first := c.first[e.BTH.PSN]; first != nil && !first.BTH.Opcode.Ends() {
			n-- // acknowledged in the middle of a message
		}
		b := sub(e.AETH.MSN, roce.MSN(n))
		if seen && b != base {
			return 0
		}
		base, seen = b, true
	}
	return base
}

func sub(a, b roce.MSN) roce.MSN { return (a - b) & (1<<24 - 1) }
