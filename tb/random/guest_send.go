package random

import (
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb/accept"
	"rnic/tb/host"
)

// handle is a way to the peer, for datagrams.
type handle struct {
	ah   *driver.AH
	path accept.Path
}

// handle makes one.
func (g *guests) handle(r *rand.Rand) (h handle, err error) {
	s := g.s
	v6, k := chance(r, 50), uint8(3-s.h.Index)
	a := driver.AHAttr{
		MAC: roce.HostMAC(k), DGID: roce.GIDFromIPv4(roce.HostIPv4(k)), HopLimit: 1 + uint8(r.Uint32N(255)), TrafficClass: uint8(r.Uint32N(64)) << 2,
		UDPSPort: 0xc000 | uint16(r.Uint32N(0x4000)), VLANValid: chance(r, 30),
	}
	if a.VLANValid {
		a.VLAN = tag(r)
	}
	if v6 {
		a.DGID, a.FlowLabel = roce.HostIPv6(k), r.Uint32N(1<<20)
	}
	h.path = accept.Path{
		Known: true, DMAC: a.MAC, SGID: s.address(v6), DGID: a.DGID, TrafficClass: a.TrafficClass, FlowLabel: a.FlowLabel, HopLimit: a.HopLimit,
		SourcePort: a.UDPSPort, Tagged: a.VLANValid, VLAN: a.VLAN,
	}
	h.ah, err = s.pds[0].CreateAH(a)
	return h, err
}

// tag is a tag control: 0xfff is no VLAN.
func tag(r *rand.Rand) uint16 {
	v := uint16(r.Uint32())
	if v&0xfff == 0xfff {
		v--
	}
	return v
}

// send posts what a guest sends, phase by phase.
func (q *guest) send(t *hdl.Thread, bus *host.Bus) error {
	s := q.s
	r := s.rand(forGuests, 2*q.i)
	for phase := 1; phase <= len(s.s.Phases); phase++ {
		s.await(t, phase)
		dev := s.dev.On(bus)
		qp := q.qp.On(dev)
		for left := r.IntN(q.cfg.Messages + 1); left > 0; {
			for q.open == qp.MaxSend {
				t.Wait(&q.space, 0)
			}
			n := 1 + r.IntN(min(left, qp.MaxSend-q.open))
			if err := q.post(qp, r, phase-1, n); err != nil {
				return err
			}
			left -= n
			if p := s.s.Style.Pause; p > 0 && r.IntN(2) == 0 {
				t.Sleep(r.Uint64N(p))
			}
		}
		for q.open > 0 {
			t.Wait(&q.space, 0)
		}
		if q.sending--; q.sending == 0 {
			s.h.OOB.Send([]byte{msgSated})
		}
		s.finish()
	}
	return nil
}

// post posts n work requests, of which the last completes.
func (q *guest) post(qp *driver.QP, r *rand.Rand, phase, n int) error {
	s := q.s
	var wrs []driver.SendWR
	flush := func() error { // what is drawn so far
		if len(wrs) == 0 {
			return nil
		}
		_, err := qp.PostSend(wrs...)
		wrs = nil
		return err
	}
	for i := range n {
		w := q.draw(r, phase)
		w.Signaled = w.Signaled || i == n-1
		q.order = append(q.order, w.ID)
		q.tell(&w)
		if b := w.Bind; b != nil && w.window1 {
			if err := flush(); err != nil {
				return err
			}
			if err := b.MW.On(q.s.dev).Bind(qp, driver.BindWR{ID: w.ID, Signaled: true, Bind: *b}); err != nil {
				return err
			}
			continue
		}
		wrs = append(wrs, w.SendWR)
	}
	q.open = len(q.order)
	s.moves++
	return flush()
}

// guestWR is a work request and what it carries.
type guestWR struct {
	driver.SendWR
	data    []byte
	path    accept.Path
	change  accept.Change
	window1 bool // it is a bind of type 1
}

// draw draws a work request.
func (q *guest) draw(r *rand.Rand, phase int) (w guestWR) {
	q.next++
	w.ID, w.Signaled, w.Solicited = q.next, chance(r, 40), chance(r, 20)
	if chance(r, 15) && q.turn(r, &w) {
		return w
	}
	w.Op = pick(r, abi.OpSend, abi.OpSend, abi.OpSendImm, abi.OpNop)
	most := guestMost
	if q.Type != abi.QPTypeUD && chance(r, 50) {
		w.Op = pick(r, abi.OpWrite, abi.OpWriteImm)
	}
	if w.Op == abi.OpNop {
		return w
	}
	w.Imm = r.Uint32()
	if q.Type == abi.QPTypeUD {
		most = int(q.s.dev.MTU().Bytes())
		q.direct(r, phase, &w)
	}
	n := pick(r, 0, r.IntN(65), r.IntN(q.MTU.Bytes()+1), r.IntN(most+1), q.MTU.Bytes()*(1+r.IntN(3)))
	n = min(n, most)
	off := r.IntN(guestSource - n + 1)
	w.data = q.bytes[off : off+n]
	if n <= 64 && chance(r, 50) {
		w.Inline = w.data
	} else {
		w.SGEs = q.elements(r, q.from, off, n, q.SendSGE)
	}
	if w.Op == abi.OpWrite || w.Op == abi.OpWriteImm {
		to := q.peer[phase].Target
		w.RemoteAddr, w.RKey = to.Addr+uint64(r.IntN(guestTarget-n+1)), to.RKey
		if chance(r, 50) {
			q.through(r, &w)
		}
		if q.Type == abi.QPTypeRC {
			return w
		}
		switch r.IntN(30) {
		case 0:
			w.RKey ^= 0x100
		case 1:
			w.RemoteAddr = to.Addr + guestTarget - uint64(n/2)
		}
	}
	return w
}

// direct draws where a datagram goes: not always is somebody there who wants it.
func (q *guest) direct(r *rand.Rand, phase int, w *guestWR) {
	i := r.IntN(len(q.list))
	h := q.handles[r.IntN(len(q.handles))]
	w.AH, w.path = h.ah, h.path
	w.RemoteQPN, w.RemoteQKey = q.peer[phase].QPs[i].QPN, q.list[i].QKey[1-q.s.n]
	switch r.IntN(20) {
	case 0:
		w.RemoteQKey ^= 1
	case 1:
		w.RemoteQKey |= 1 << 31 // the own one
	case 2:
		w.RemoteQPN ^= 1 << 20
	}
}

// elements cuts bytes of a region into elements.
func (g *guests) elements(r *rand.Rand, mr *driver.MR, off, n, most int) (l []driver.SGE) {
	if n == 0 && chance(r, 50) {
		return nil
	}
	for k := r.IntN(most); k > 0; k-- {
		m := r.IntN(n + 1)
		l = append(l, mr.SGE(off, m))
		off, n = off+m, n-m
	}
	return append(l, mr.SGE(off, n))
}

// tell tells the acceptor of a work request that is about to be posted.
func (q *guest) tell(w *guestWR) {
	q.s.accept.PostSend(q.s.cycle(), q.qp.Number(), accept.SendWR{
		ID: w.ID, Op: w.Op, Data: w.data, Imm: w.Imm, Signaled: w.Signaled, Solicited: w.Solicited, RemoteAddr: w.RemoteAddr, RKey: w.RKey,
		SGEs: w.SGEs, Inline: w.Inline != nil, Change: w.change, To: accept.Datagram{QPN: w.RemoteQPN, QKey: w.RemoteQKey, Path: w.path},
	})
}
