package pkttx

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// way is a lane for a packet.
type way uint8

const (
	wayUnknown way = iota // its QP's last number is being looked up
	wayFast
	wayPayload
)

// Width is 2 bits.
func (way) Width() int { return 2 }

func (w way) String() string { return [...]string{"UNKNOWN", "FAST", "PAYLOAD", "RES3"}[w&3] }

// carriesData tells whether a response may have pieces: those of a READ.
func carriesData(op roce.Opcode) bool {
	switch op {
	case roce.RCReadRespFirst, roce.RCReadRespMiddle, roce.RCReadRespLast, roce.RCReadRespOnly:
		return true
	}
	return false
}

// way chooses the lane of the response at the head. One that needs no payload, and
// is to be sent, takes the fast lane, unless the other one still has an earlier response of its
// QP. That lane's responses are numbered; Last has the last number of each QP, and
// gone the last one that has left. A number of 2^16 responses ago may pass for
// one that is under way: then the response only takes the other lane.
func (a *Ask) way(pkt *port.TxPkt) way {
	q := &a.Q
	under := q.Number - a.gone.Get()
	switch {
	case carriesData(pkt.Opcode), pkt.Unread:
		return wayPayload
	case under == 0:
		return wayFast
	case !q.Looked:
		a.Last.Read(0, a.at(pkt.QPN))
		a.D.Looked = true
		return wayUnknown
	}
	if n := *a.Last.Data(0) - a.gone.Get(); n-1 < under {
		return wayPayload
	}
	return wayFast
}

// number counts a response that takes the payload lane.
func (a *Ask) number(n port.QPN) {
	a.D.Number = a.Q.Number + 1
	*a.Last.WriteNext(1, a.at(n)) = a.D.Number
}

func (a *Ask) at(n port.QPN) int { return int(n) & (a.Last.Depth() - 1) }
