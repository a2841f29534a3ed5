package pkttx

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// fence knows which requests are from before a rewind of their QP.
type fence struct {
	Gens hdl.RAM[uint8] // by QPN: the generation of its newest Stale; port 0 writes, 1 reads
}

// fenceState is the registers of a fence.
type fenceState struct {
	Stales uint32   // taken, modulo 2^32
	Seen   bool     // Gens shows QPN
	QPN    port.QPN // that was looked up last
}

// origin is where a packet comes from, for a fence.
type origin struct {
	Request bool
	QPN     port.QPN
	Gen     uint8
	Stales  uint32 // taken when qpc was asked, modulo 2^32
}

// take notes that requests of a QP from before a generation are stale.
func (f *fence) take(d *fenceState, x *port.Stale) {
	*f.Gens.WriteNext(0, f.at(x.QPN)) = x.Gen
	d.Stales++
	d.Seen = false
}

// stale tells whether a packet is stale. If that is not known it is looked up until the
// next cycle. One that qpc was asked for behind all Stales is not, for qpc knew of them;
// so nothing is looked up while there are no rewinds, and once for several packets of
// one QP.
func (f *fence) stale(q, d *fenceState, o *origin) (stale, known bool) {
	switch {
	case !o.Request || o.Stales == q.Stales:
		return false, true
	case q.Seen && q.QPN == o.QPN:
		return int8(o.Gen-*f.Gens.Data(1)) < 0, true
	}
	f.Gens.Read(1, f.at(o.QPN))
	d.Seen, d.QPN = true, o.QPN
	return false, false
}

func (f *fence) at(n port.QPN) int { return int(n) & (f.Gens.Depth() - 1) }

// rewound takes a Stale.
func (s *Send) rewound(x *port.Stale) {
	s.fence.take(&s.D.Fence, x)
	s.stales.Set(s.D.Fence.Stales)
	s.old.Put(*x)
}

// left tells retrans of a request that asks for an answer, or that never gets one.
func (s *Send) left(p *port.TxPkt) {
	if !p.Resp && (p.AckReq || p.Unacked) {
		s.Left.Put(port.Left{QPN: p.QPN, LastPSN: p.LastPSN, Unacked: p.Unacked})
	}
}
