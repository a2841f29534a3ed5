package story

import (
	"encoding/binary"
	"slices"

	"rnic/abi"
	"rnic/pcie"
	"rnic/roce"
	"rnic/rtl/qpc"
	"rnic/tb/host"
)

// wr is a work request while it is open.
type wr struct {
	WR
	units       uint8
	fence       bool
	takes       bool // a receive of the peer
	read        bool // READ or atomic
	pushed      bool
	entered     bool
	wire        bool // it takes PSNs
	first, last roce.PSN
	described   uint64 // cycle in which its first packet was described to pkt_tx, if it is
	pieces      bool   // with payload to read
	sentPs      int64  // end of the last packet of it that was sent
	told        bool   // of, to OnWR
	index       uint16 // that its CQE has
}

// stage adds a point that a WR passes, the first time only.
func (w *wr) stage(name string, a At) {
	for i := range w.Stages {
		if w.Stages[i].Name == name {
			return
		}
	}
	w.Stages = append(w.Stages, Stage{name, a})
}

// move has a stage be where it was last.
func (w *wr) move(name string, a At) {
	for i := range w.Stages {
		if w.Stages[i].Name == name {
			w.Stages[i].At = a
			return
		}
	}
	w.Stages = append(w.Stages, Stage{name, a})
}

func (w *WR) at(name string) *Stage {
	for i := range w.Stages {
		if w.Stages[i].Name == name {
			return &w.Stages[i]
		}
	}
	return nil
}

// mostWaits is how many waits of a WR are kept: the first.
const mostWaits = 4096

func (w *wr) wait(from, to int64, what string, a At) {
	if to > from && len(w.Waits) < mostWaits {
		w.Waits = append(w.Waits, Wait{from, to, what, a})
	}
}

// mmio is a register write that announces WQEs.
type mmio struct {
	at    At
	qpn   uint32
	index uint16
	rq    bool
	srq   bool
	push  bool
}

func (s *side) watchPosts() {
	s.hub.stream("nic.dma.rx.pcie", s.tlp, "hdr.kind", "hdr.addr", "hdr.count", "hdr.len", "hdr.lower", "data", "len", "first", "last")
	s.hub.stream("nic.qpc.bell", s.bell, "qpn", "srq", "rq", "push", "index", "page")
	s.hub.stream("nic.qpc.admin", s.admin, "op", "qpn", "attr.type", "attr.attr_mask", "attr.state", "attr.dest_qpn")
}

// tlp takes what the host sends to the NIC: writes of doorbells, answers of reads.
func (s *side) tlp(t *tap, cycle uint64) {
	if !t.is("first") {
		return
	}
	switch pcie.Kind(t.u("hdr.kind")) {
	case pcie.MWr:
		off := int64(t.u("hdr.addr")) - host.BARBase
		if off < 0 || off >= abi.BARSize {
			return
		}
		b := t.bytes("data")
		switch region, _, rel := abi.Locate(uint32(off)); {
		case region == abi.RegionDoorbell && t.u("len") == 8:
			d := abi.UnpackDoorbell(binary.LittleEndian.Uint64(b))
			switch d.Kind {
			case abi.DoorbellSQ, abi.DoorbellRQ, abi.DoorbellSRQ:
				s.writes = append(s.writes, mmio{at: t.fired(cycle), qpn: d.Number, index: d.Index, rq: d.Kind == abi.DoorbellRQ, srq: d.Kind == abi.DoorbellSRQ})
			}
		case region == abi.RegionPush && rel == 0:
			s.writes = append(s.writes, mmio{at: t.fired(cycle), push: true})
		}
		if len(s.writes) > 256 {
			s.writes = append(s.writes[:0], s.writes[128:]...)
		}
	case pcie.CplD:
		if t.u("hdr.count") <= t.u("hdr.len")*4-t.u("hdr.lower")&3 {
			s.spans.reading(cycle, -1)
		}
	}
}

// bell takes a doorbell as qpc gets it, and reads the WQEs that it announces.
func (s *side) bell(t *tap, cycle uint64) {
	n, index, rq, push, shared := uint32(t.u("qpn")), uint16(t.u("index")), t.is("rq"), t.is("push"), t.is("srq")
	posted, found := At{}, false
	is := func(w mmio) bool {
		return w.push == push && (push || w.qpn == n && w.rq == rq && w.srq == shared && w.index == index)
	}
	if i := slices.IndexFunc(s.writes, is); i >= 0 { // csr keeps their order
		posted, found = s.writes[i].at, true
		s.overtaken(s.writes[:i])
		s.writes = append(s.writes[:0], s.writes[i+1:]...)
	}
	begin := func(w *wr) {
		if found {
			w.stage(Posted, posted)
		}
		w.stage(Doorbell, t.at(cycle, "index"))
	}
	if shared {
		s.postShared(n, index, begin)
		return
	}
	c := s.context(n)
	if !c.Common.Exists || uint64(c.Common.Page) != t.u("page") {
		return
	}
	q := s.qp(n)
	if rq {
		if c.Common.State == abi.QPReset || index-q.rqPI > 1<<c.Common.RQLog {
			return
		}
		for ; q.rqPI != index; q.rqPI++ {
			begin(s.receive(q, &c, q.rqPI))
		}
		return
	}
	switch c.Common.State {
	case abi.QPRTS, abi.QPSQD, abi.QPSQE, abi.QPErr:
	default:
		return
	}
	if index-q.sqPI > 1<<c.Common.SQLog {
		return
	}
	for q.sqPI != index {
		w := s.request(q, &c, q.sqPI, index-q.sqPI)
		w.pushed = push
		begin(w)
		q.sqPI += uint16(w.units)
	}
	q.SQDepth = point(q.SQDepth, int64(cycle)*periodPs, int64(q.sqPI-q.entered))
}

// newWR adds a work request.
func (s *side) newWR(q *qp, queue string, index uint16) *wr {
	w := &wr{WR: WR{
		ID: 2*s.nWRs + s.n, Host: s.name, QPN: q.QPN, Transport: q.Transport, Queue: queue, Index: index,
		Stages: []Stage{}, Waits: []Wait{}, Packets: []int{},
	}}
	s.nWRs++
	s.wrs = append(s.wrs, w)
	if most := s.r.limit / 2; len(s.wrs) > most+most/8+16 {
		n := len(s.wrs) - most
		s.forgot.WRs += uint64(n)
		clear(s.wrs[:n])
		s.wrs = append(s.wrs[:0], s.wrs[n:]...)
	}
	return w
}

// request reads a WQE of the send queue as the NIC will, from the host's memory.
func (s *side) request(q *qp, c *qpc.Context, index, most uint16) *wr {
	w := s.newWR(q, "sq", index)
	q.open = append(q.open, w)
	w.units = 1
	var b [abi.UnitSize]byte
	var u abi.WQE
	if s.unit(c, index, &b) != nil || abi.WQELayout.Decode(b[:], &u) != nil {
		w.Op = "unreadable"
		return w
	}
	w.Op, w.Signalled = u.Ctrl.Op.String(), u.Ctrl.Flags&abi.WQESignalled != 0
	w.fence = u.Ctrl.Flags&abi.WQEFence != 0
	w.units = uint8(min(max(1, uint16(u.Ctrl.Units)), most, abi.MaxUnits))
	switch u.Ctrl.Op {
	case abi.OpSend, abi.OpSendImm, abi.OpSendInv, abi.OpWriteImm:
		w.takes = true
	case abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd:
		w.read = true
	}
	if u.Ctrl.Flags&abi.WQEInlined != 0 {
		w.Bytes = uint64(u.Ctrl.InlineLen)
		return w
	}
	ring := uint64(abi.UnitSize) << c.Common.SQLog
	for i := range min(int(u.Ctrl.NumSGE), abi.MaxSGE) {
		at := (uint64(index)*abi.UnitSize + abi.WQEDataOffset + uint64(i)*abi.SGESize) % ring
		w.Bytes += s.element(uint64(c.Common.SQBase) + at)
	}
	return w
}

func (s *side) unit(c *qpc.Context, index uint16, b *[abi.UnitSize]byte) error {
	return s.h.Machine.Mem.Read(uint64(c.Common.SQBase)+uint64(abi.RingSlot(index, c.Common.SQLog))*abi.UnitSize, b[:])
}

// element is the length in an SGE.
func (s *side) element(at uint64) uint64 {
	var b [abi.SGESize]byte
	var e abi.SGE
	if s.h.Machine.Mem.Read(at, b[:]) != nil || abi.SGELayout.Decode(b[:], &e) != nil {
		return 0
	}
	return uint64(e.Length)
}

// receive is a WQE of a receive queue.
func (s *side) receive(q *qp, c *qpc.Context, index uint16) *wr {
	w := s.newWR(q, "rq", index)
	w.Op, w.Signalled = "RECV", true
	q.recvs = append(q.recvs, w)
	return w
}
