package story

import (
	"rnic/abi"
	"rnic/rtl/qpc"
	"rnic/tb"
)

// side is what is known of one host. It is used on the goroutine of the host's kernel
// only, until the run has ended.
type side struct {
	r    *Recorder
	n    int
	name string
	h    *tb.Host
	hub  *hub

	qps    map[uint32]*qp
	order  []*qp
	byPeer map[uint32][]*qp // by QPN of the peer
	srqs   map[uint32]*srq

	wrs    []*wr // kept, in order
	nWRs   int   // ever
	cqs    map[uint32]*cq
	writes []mmio // register writes of doorbells that csr has not told of yet
	lost   []mmio // and those that it did not tell of in their turn

	sent   []*sent // kept, in order
	frames int     // first of them, counted from 0
	asked  []description
	tx     wireState

	came    []arrival // frames that arrived and are not judged, in order
	skipped []arrival // of them, those that pkt_rx has dropped, and the counter is awaited
	judging []arrival // packets that qpc judges
	landed  []landing // what came of those that arrived
	lands   int       // first of them, counted from 0
	drops   []dropped // counts of pkt_rx that no frame has yet
	strikes []strike
	tlps    []Event // faults of PCIe

	forgot Forgotten
	rx     *keys // of scatter
	spans  spans
	meter  meter

	written []*wr // completions whose CQEs are still to be written

	order_, service, exec, wqe, stats *tap
	last                              [8]uint64 // stats of pkt_rx
}

// wireState is the line of what leaves.
type wireState struct {
	ended uint64 // cycle+1 in which one ended
	since uint64 // cycle since which the line has had no rest
}

func newSide(r *Recorder, n int, h *tb.Host) *side {
	s := &side{
		r: r, n: n, name: h.K.Name(), h: h, hub: newHub(h.K),
		qps: map[uint32]*qp{}, byPeer: map[uint32][]*qp{}, cqs: map[uint32]*cq{}, srqs: map[uint32]*srq{}, meter: newMeter(&r.bench.Config),
	}
	s.hub.after = s.after
	s.watchPosts()
	s.watchRequests()
	s.watchKeys()
	s.watchAnswers()
	s.watchEnds()
	s.watchWire()
	return s
}

// context is what qpc knows of a QP as of the last edge.
func (s *side) context(n uint32) (c qpc.Context) {
	m := s.h.NIC.QPC
	if int(n) >= m.Common.Depth() {
		return c
	}
	c.Common, c.SQ, c.Requester, c.Responder = *m.Common.Peek(int(n)), *m.SQ.Peek(int(n)), *m.Requester.Peek(int(n)), *m.Responder.Peek(int(n))
	return c
}

// counters are those of the NIC that are not 0.
func (s *side) counters() map[string]uint64 {
	m := map[string]uint64{}
	for _, c := range abi.Counters() {
		if v := s.h.NIC.CSR.Counter(c); v != 0 {
			m[c.String()] = v
		}
	}
	return m
}
