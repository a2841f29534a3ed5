package random

import (
	"encoding/json"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb/accept"
	"rnic/tb/host"
)

// newGuests makes the guests of a host and their threads.
func newGuests(s *side) *guests {
	g := &guests{s: s, cfg: s.s.Guests}
	for i := range g.cfg.QPs {
		q := &guest{guests: g, Guest: &g.cfg.QPs[i], i: i, recvs: map[uint64]int{}}
		g.list = append(g.list, q)
		s.thread(fmt.Sprintf("guest_send_%d", i), q.send)
		s.thread(fmt.Sprintf("guest_receive_%d", i), q.receive)
	}
	for i := range g.cfg.SRQs {
		q := &guestSRQ{guests: g, GuestSRQ: &g.cfg.SRQs[i], i: i, recvs: map[uint64]int{}}
		g.srqs = append(g.srqs, q)
		s.thread(fmt.Sprintf("guest_srq_%d", i), q.receive)
	}
	s.thread("guest_cq", g.poll)
	return g
}

// threads is how many take part in each phase.
func (g *guests) threads() int { return 2*len(g.list) + len(g.srqs) }

// begin brings the guests where a phase wants them.
func (g *guests) begin(t *hdl.Thread, bus *host.Bus, phase int) error {
	if phase == 0 {
		if err := g.allocate(); err != nil {
			return err
		}
	}
	for _, q := range g.list {
		if err := q.makeWindows(); err != nil {
			return err
		}
		if err := q.prepare(phase); err != nil {
			return err
		}
	}
	if err := g.swap(t, phase); err != nil {
		return err
	}
	for _, q := range g.list {
		if q.Fates[phase] != Keep {
			if err := q.connect(phase); err != nil {
				return err
			}
		}
	}
	g.sending = len(g.list)
	return nil
}

// allocate makes what stays for the whole run.
func (g *guests) allocate() (err error) {
	s, d := g.s, g.s.dev
	entries := 0
	for _, q := range g.list {
		entries += 2 * (q.MaxSend + q.MaxRecv)
		for range q.MaxRecv {
			g.free = append(g.free, len(g.free))
		}
	}
	spare := len(g.list) * len(s.s.Phases) // what broken messages hold when a QP goes
	for _, q := range g.srqs {
		if err := q.create(); err != nil {
			return err
		}
		entries += q.srq.MaxRecv
		for range q.srq.MaxRecv + spare {
			g.free = append(g.free, len(g.free))
		}
	}
	if g.cq, err = d.CreateCQ(2*entries, driver.CQOptions{}); err != nil {
		return err
	}
	access := abi.AccessLocalWrite | abi.AccessRemoteWrite
	if g.source, g.from, err = g.region(guestSource, 0, 0); err != nil {
		return err
	}
	if g.target, g.to, err = g.region(guestTarget, 7, access); err != nil {
		return err
	}
	if g.slots, g.into, err = g.region(len(g.free)*guestSlot, 100, abi.AccessLocalWrite); err != nil {
		return err
	}
	g.bytes = make([]byte, guestSource)
	if _, err = g.source.ReadAt(g.bytes, 0); err != nil {
		return err
	}
	r := s.rand(forGuests, 1<<16)
	for range g.cfg.Handles {
		h, err := g.handle(r)
		if err != nil {
			return err
		}
		g.handles = append(g.handles, h)
	}
	return nil
}

// region makes memory of random bytes.
func (g *guests) region(n, at int, access abi.AccessFlags) (*driver.Buffer, *driver.MR, error) {
	r := g.s.rand(forGuests, n)
	b, err := g.s.dev.AllocBuffer(n, at)
	if err != nil {
		return nil, nil, err
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	if _, err := b.WriteAt(data, 0); err != nil {
		return nil, nil, err
	}
	mr, err := g.s.pds[0].RegMR(b, access)
	if err == nil {
		g.s.tellRegion(0, mr, b, 0, access)
	}
	return b, mr, err
}

// prepare resets or replaces a guest. Nothing of it is under way.
func (q *guest) prepare(phase int) (err error) {
	s := q.s
	fate := q.Fates[phase]
	if fate != Keep && q.qp != nil {
		s.accept.Stop(s.cycle(), q.qp.Number(), true)
		if err := s.hear(s.dev); err != nil {
			return err
		}
		if fate == Reset {
			err = q.qp.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState)
			s.accept.Stopped(s.cycle(), q.qp.Number())
		} else {
			err = q.qp.Destroy()
			s.accept.Destroyed(s.cycle(), q.qp.Number())
		}
		q.vacate()
	}
	if fate != Keep {
		q.remake()
	}
	if err != nil || fate != Recreate {
		return err
	}
	c := accept.QP{SigAll: q.SigAll, Type: q.Type}
	var srq *driver.SRQ
	if q.SRQ > 0 {
		srq = q.srqs[q.SRQ-1].srq
		c.Shared, c.SRQ = true, srq.Number()
	}
	q.qp, err = s.pds[0].CreateQP(driver.QPConfig{
		SRQ: srq, MaxFastRegPages: 4,
		Type: q.Type, SendCQ: q.cq, RecvCQ: q.cq, MaxSend: q.MaxSend, MaxRecv: q.MaxRecv, MaxSendSGE: q.SendSGE, MaxRecvSGE: q.RecvSGE,
		MaxInline: 64, SigAll: q.SigAll, IPv6: q.IPv6, PSN: q.PSN[s.n],
	})
	if err == nil {
		s.accept.Make(s.cycle(), q.qp.Number(), c)
	}
	s.moves++
	return err
}

// vacate takes back what a guest that has gone had posted.
func (q *guest) vacate() {
	for id := uint64(1); id <= q.next; id++ {
		if slot, ok := q.recvs[id]; ok {
			q.free = append(q.free, slot)
		}
	}
	clear(q.recvs)
	q.open, q.order = 0, nil
}

// swap tells the peer of QPs and memory.
func (g *guests) swap(t *hdl.Thread, phase int) error {
	var m guestRegions
	for _, q := range g.list {
		m.QPs = append(m.QPs, q.qp.Endpoint())
	}
	m.Target = region{Addr: g.to.Addr, RKey: g.to.RKey}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	g.s.h.OOB.Send(append([]byte{msgGuests}, b...))
	g.s.wait(t, func() bool { return len(g.peer) > phase })
	return nil
}

// connect takes a guest to RTS.
func (q *guest) connect(phase int) (err error) {
	s, p := q.s, q.peer[phase].QPs[q.i]
	own := q.qp.Endpoint()
	c := accept.Connection{PeerQPN: p.QPN, MTU: q.MTU.Bytes(), SendPSN: roce.PSN(own.PSN), RecvPSN: roce.PSN(p.PSN), Access: abi.AccessRemoteWrite}
	if q.Type == abi.QPTypeUD {
		c.MTU, c.QKey, c.Addresses = int(s.dev.MTU().Bytes()), q.QKey[s.n], []roce.GID{s.address(true), s.address(false)}
		s.accept.Connect(s.cycle(), q.qp.Number(), c)
		err = q.qp.Start(q.QKey[s.n])
	} else {
		timeout := uint8(13)
		o := driver.ConnectOptions{Timeout: timeout, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 5, MTU: abi.MTU(q.MTU), HopLimit: 9, UDPSPort: 0xc123, TrafficClass: 8, VLANValid: q.Tagged, VLAN: q.VLAN}
		c.Path = accept.Path{Known: true, DMAC: p.MAC, SGID: own.GID, DGID: p.GID, TrafficClass: 8, HopLimit: 9, SourcePort: 0xc123, Tagged: q.Tagged, VLAN: q.VLAN}
		if q.Type == abi.QPTypeRC {
			c.Timeout, c.RetryCnt, c.RNRRetry, c.MinRNRTimer = timeout, 7, 7, 5
		}
		if !q.Tagged {
			o.VLAN, c.Path.VLAN = 0, 0
		}
		s.accept.Connect(s.cycle(), q.qp.Number(), c)
		err = q.qp.Connect(p, o)
	}
	s.accept.Connected(s.cycle(), q.qp.Number())
	s.moves++
	return err
}

// address is one of the host.
func (s *side) address(v6 bool) roce.GID {
	if v6 {
		return roce.HostIPv6(uint8(s.h.Index))
	}
	return roce.GIDFromIPv4(roce.HostIPv4(uint8(s.h.Index)))
}

// settled checks the guests at the end of a phase: nothing has failed, and nothing is left
// to be sent.
func (g *guests) settled() error {
	for _, q := range g.list {
		m, err := q.qp.Query()
		if err != nil {
			return err
		}
		g.s.moves++
		if m.LastStatus == abi.StatusRetryExc && len(g.s.s.Loss.Faults) > 0 {
			continue // RNR NAKs give no retry back: the acceptor knows
		}
		if m.State != abi.QPRTS || m.SQConsumer != m.SQProducer || m.UnackedPSN != m.NextPSN {
			return fmt.Errorf("guest %d of type %v: not at rest: %+v", q.i, q.Type, m)
		}
	}
	return nil
}
