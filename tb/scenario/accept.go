package scenario

import (
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/accept"
	"rnic/tb/fault"
)

// params are what the acceptor of host n is told.
func (s *Scenario) params(n int, name string) accept.Params {
	p := accept.Params{Name: name, TimeUnit: tb.Cycles(s.Hosts[n].TimeUnit), NoCredits: s.NIC.NoCredits}
	for i := range s.Faults {
		switch f := &s.Faults[i]; f.Action {
		case fault.UR, fault.CA, fault.Poison, fault.Never:
			p.FaultyReads = p.FaultyReads || f.Host == fault.Both || int(f.Host) == n+1
		}
	}
	return p
}

// connection is what the acceptor is told of a connection.
func (s *side) connection(q *QP, peer driver.Endpoint) accept.Connection {
	k, qpn := uint8(s.h.Index), s.qps[s.r.s.index(q)].Number()
	c := accept.Connection{
		PeerQPN: peer.QPN, MTU: q.MTU.Bytes(), SendPSN: roce.PSN(q.PSN), RecvPSN: roce.PSN(peer.PSN),
		Timeout: q.Timeout, RetryCnt: q.RetryCnt, RNRRetry: q.RNRRetry, MinRNRTimer: q.MinRNRTimer,
		RdAtomic: q.MaxRdAtomic, DestRdAtomic: q.MaxDestRdAtomic, Access: q.Access,
		Path: accept.Path{
			Known: true, DMAC: peer.MAC, SGID: roce.GIDFromIPv4(roce.HostIPv4(k)), DGID: peer.GID,
			HopLimit: 64, SourcePort: 0xc000 | uint16(qpn)&0x3fff,
		},
	}
	if q.IPv6 {
		c.Path.SGID = roce.HostIPv6(k)
	}
	return c
}

// sent is a packet that has left a NIC.
type sent struct {
	roce.Packet
	ps      int64
	host    int
	payload int
	bad     error // why it is no packet
}

// frame sees the frames of the port.
func (s *side) frame(f tb.Frame) {
	s.moved = uint64(f.TimePs / tb.PeriodPs)
	s.accept.Frame(s.moved, f.Tx, f.BadFCS, f.Data)
	if !f.Tx {
		return
	}
	p, err := roce.ParseFrame(f.Data)
	x := sent{Packet: p, ps: f.TimePs, host: s.n, payload: len(p.Payload), bad: err}
	x.Payload, x.Trailer = nil, nil // parts of the frame
	s.sent = append(s.sent, x)
}

// contents are the bytes of all regions of the host.
func (s *side) contents() [][]byte {
	l := make([][]byte, len(s.mrs))
	for i, g := range s.mrs {
		if g != nil {
			l[i] = g.read(0, g.buf.Len())
		}
	}
	return l
}
