package random

import (
	"rnic/abi"
	"rnic/pcie"
	"rnic/tb/host"
)

// Fault is what is wrong with a message: it ends its connection.
type Fault uint8

// Faults.
const (
	NoFault   Fault = iota
	SendKey         // an element that is sent has a wrong key or address
	RecvShort       // the receive is shorter than the message
	RecvKey         // an element that is received to has
	RemoteKey       // the key or address at the peer is wrong
	FetchKey        // an element that a READ or atomic writes to has a wrong key or address
)

// sent is how the send of a faulty message ends.
func (f Fault) sent() abi.WCStatus {
	return [...]abi.WCStatus{abi.StatusSuccess, abi.StatusLocProt, abi.StatusRemInvReq, abi.StatusRemOp,
		abi.StatusRemAccess, abi.StatusLocProt}[f]
}

// received is how its receive ends; SUCCESS: not at all.
func (f Fault) received() abi.WCStatus {
	return [...]abi.WCStatus{abi.StatusSuccess, abi.StatusSuccess, abi.StatusLocLen, abi.StatusLocProt,
		abi.StatusLocAccess, abi.StatusSuccess}[f]
}

// spoil makes one of the messages faulty, and tells whether there was one to spoil.
func (d *drawer) spoil(f *Flow, fault Fault) bool {
	for range 20 {
		m := &f.Messages[d.IntN(len(f.Messages))]
		if m.Op != abi.OpSend && m.Op != abi.OpSendImm {
			if m.spoilRemote(d) {
				return true
			}
			continue
		}
		spans, reach := m.Dst, len(m.Data)
		if fault == SendKey {
			spans = m.Src
		}
		i := d.element(spans, reach)
		if i < 0 {
			continue
		}
		m.Fault = fault
		if fault != RecvShort {
			spans[i].Bad = true
			return true
		}
		keep := d.IntN(reach)
		for k := range m.Dst {
			m.Dst[k].Len = min(m.Dst[k].Len, keep)
			keep -= m.Dst[k].Len
		}
		return true
	}
	return false
}

// element draws one that has bytes among the first n; -1: none was found.
func (d *drawer) element(spans []Span, n int) int {
	var list []int
	for i, s := range spans {
		if s.Len > 0 && n > 0 {
			list = append(list, i)
		}
		n -= s.Len
	}
	if len(list) == 0 {
		return -1
	}
	return list[d.IntN(len(list))]
}

// unreadable has some reads of the upper half of memory fail, where payload is, and
// nothing but payload; of the rest the other fault decides.
func (s *side) unreadable(size uint64, other func(*pcie.TLP) host.Verdict) func(*pcie.TLP) host.Verdict {
	r := s.rand(forReads, 0)
	return func(read *pcie.TLP) (v host.Verdict) {
		if read.Addr >= size/2 && r.IntN(s.s.Unreadable) == 0 {
			v.Fault = pick(r, host.FaultUR, host.FaultCA, host.FaultPoison, host.FaultNever)
		}
		if v.Fault == host.FaultNone && other != nil {
			v = other(read)
		}
		return v
	}
}
