// Package loss measures how lost packets are repaired: what they cost in goodput, how
// long the way is from the loss to the first packet that is sent again, and when
// timers expire. Everything is read off the wire and the ports of the blocks of a
// simulated transfer, nothing from a model.
//
//	  host a                             host b
//	k   │──────────── lost ──╳             │
//	k+1 │─────────────────────────────────►│ gap
//	k+2 │──────────────────────  NAK k ────│
//	    │  ◄────────────────────           │
//	k   │─────────────────────────────────►│ sent again
//
// W, the loop, is the time from k to k in packets. Of go-back-N each loss costs that,
// since what follows k is sent in vain: of a wire that is always busy the share
// (1-p)/(1-p+pW) is left when packets are lost with probability p.
package loss
