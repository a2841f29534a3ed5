package random

import (
	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/accept"
)

// newAcceptor makes the reference that judges the NIC of a host.
func newAcceptor(s *side) *accept.Acceptor {
	inside := uint64(0)
	if s.s.Loss != nil && s.s.slow() {
		inside = slowInside
	}

	return accept.New(accept.Params{

		Inside: inside, Name: s.h.K.Name(), TimeUnit: uint64(s.s.Driver.TimeUnit), FaultyReads: s.s.Unreadable != 0,
		NoCredits: s.s.Bench.NIC.QPC.NoCredits,
	})
}

// cycle is the present one.
func (s *side) cycle() uint64 { return s.h.K.Cycle() }

// connection is what the acceptor is told of a connection.
func (e *end) connection(psn uint32) accept.Connection {
	c, k := e.cfg, uint8(e.s.h.Index)
	v := accept.Connection{
		PeerQPN: e.peer.QPN, MTU: e.pair.MTU.Bytes(), SendPSN: roce.PSN(psn), RecvPSN: roce.PSN(e.peer.PSN),
		Timeout: c.Timeout, RetryCnt: c.RetryCnt, RNRRetry: c.RNRRetry, MinRNRTimer: c.MinRNRTimer, RdAtomic: c.RdAtomic, DestRdAtomic: c.DestRdAtomic,
		Access: abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic,
		Path: accept.Path{
			Known: true, DMAC: e.peer.MAC, SGID: roce.GIDFromIPv4(roce.HostIPv4(k)), DGID: e.peer.GID,
			TrafficClass: c.TrafficClass, HopLimit: c.HopLimit, SourcePort: c.UDPSPort,
		},
	}
	if v.MinRNRTimer == 0 {
		v.MinRNRTimer = 12 // the driver's default
	}
	if e.pair.IPv6 {
		v.Path.SGID, v.Path.FlowLabel = roce.HostIPv6(k), c.FlowLabel
	}
	return v
}

// tellSend tells the acceptor of a work request that is about to be posted.
func (e *end) tellSend(m *Message, w *driver.SendWR) {
	a := accept.SendWR{
		ID: w.ID, Op: w.Op, Imm: w.Imm, Signaled: w.Signaled, Solicited: w.Solicited, Fence: w.Fence,
		RemoteAddr: w.RemoteAddr, RKey: w.RKey, SwapAdd: w.SwapAdd, Compare: w.Compare, SGEs: w.SGEs, Inline: w.Inline != nil,
	}
	switch {
	case m == nil:
	case m.fetches():
		a.Len = len(m.Data)
		a.Result = func() []byte { return e.s.gather(m.Src, len(m.Data)) }
	default:
		a.Data = m.Data
	}
	e.s.accept.PostSend(e.s.cycle(), e.qp.Number(), a)
}

// tellReceive tells it of a receive that is about to be posted.
func (e *end) tellReceive(w *driver.RecvWR, spans []Span) {
	e.s.accept.PostRecv(e.s.cycle(), e.qp.Number(), accept.RecvWR{
		ID: w.ID, SGEs: w.SGEs, Read: func(n int) []byte { return e.s.gather(spans, n) },
	})
}

// gather reads the first n bytes of elements.
func (s *side) gather(spans []Span, n int) []byte {
	b := make([]byte, 0, n)
	for _, sp := range spans {
		k := min(sp.Len, n-len(b))
		if k == 0 {
			continue
		}
		at := len(b)
		b = b[:at+k]
		if _, err := s.arenas[sp.Arena].buf.ReadAt(b[at:], int64(sp.Off)); err != nil {
			return nil
		}
	}
	return b
}

// tellRegion tells it of a region that is there.
func (s *side) tellRegion(pd int, mr *driver.MR, buf *driver.Buffer, from int, access abi.AccessFlags) {
	s.accept.Register(s.cycle(), mr.RKey, accept.Region{
		PD: pd, Addr: mr.Addr, Len: mr.Length, Access: access,
		Read: func(off, n int) []byte {
			b := make([]byte, n)
			if _, err := buf.ReadAt(b, int64(from+off)); err != nil {
				return nil
			}
			return b
		},
	})
}

// deregister ends a region, and tells the acceptor so.
func (s *side) deregister(mr *driver.MR) error {
	s.accept.Deregister(s.cycle(), mr.RKey)
	err := mr.Dereg()
	s.accept.Deregistered(s.cycle(), mr.RKey)
	return err
}

// tellCompletion has it judge a completion.
func (s *side) tellCompletion(wc *driver.WC) {
	s.accept.Complete(s.cycle(), accept.Completion{
		QPN: wc.QPN, ID: wc.ID, Status: wc.Status, Opcode: wc.Opcode, Flags: wc.Flags,
		ByteLen: wc.ByteLen, Imm: wc.Imm, SrcQPN: wc.SrcQPN, Made: wc.Timestamp,
	})
}
