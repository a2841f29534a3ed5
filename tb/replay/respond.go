package replay

import (
	"errors"

	"rnic/driver"
	"rnic/roce"
)

// gapCycles is how long the responder has for each request, and cyclesPerKB for what
// a READ asks for: each arrives when the one before has been dealt with.
const (
	gapCycles   = 4000
	cyclesPerKB = 40
)

// receiveCycles is how long a receive takes until the NIC knows of it.
const receiveCycles = 1000

// stretch is a region in the model.
type stretch struct {
	*region
	buf *driver.Buffer
	sge driver.SGE
}

// Responder has the requests that arrived at the captured responder arrive at the
// model.
func (c *Conversation) Responder(o Options) (*Result, error) {
	if len(c.Events) == 0 {
		return &Result{Role: AsResponder}, nil
	}
	regions, err := c.regions()
	if err != nil {
		return nil, err
	}
	if c.Transport != roce.RC {
		return c.deliver(&o, regions)
	}
	plans := c.script(regions)
	m, err := c.run(&o, func(m *model) error { return m.respond(regions, plans) }, c.Self)
	if err != nil {
		return nil, err
	}
	return c.compareAnswers(m, plans), nil
}

// respond plays the requests.
func (m *model) respond(regions []*region, plans map[int]plan) error {
	var err error
	m.qp, err = m.makeQP(driver.QPConfig{SendCQ: m.cq, RecvCQ: m.cq, MaxSend: 1, MaxRecv: mostReceives, MaxRecvSGE: 1}, m.o.SRQ)
	if err != nil {
		return err
	}
	list := make([]stretch, len(regions))
	for i, r := range regions {
		list[i].region = r
		if list[i].buf, list[i].sge, err = m.memory(len(r.initial), int(r.from%4096)); err != nil {
			return err
		}
		if _, err := list[i].buf.WriteAt(r.initial, 0); err != nil {
			return err
		}
	}
	if err := m.connect(m.c.Peer, m.c.PeerQP, driver.QPAttr{MinRNRTimer: m.c.rnrTimer()}); err != nil {
		return err
	}
	room := 1
	for _, p := range plans {
		room = max(room, p.room)
	}
	_, sge, err := m.memory(room, 0)
	if err != nil {
		return err
	}
	for i := range m.c.Events {
		e := &m.c.Events[i]
		if e.Answer || e.Lost != "" {
			continue
		}
		m.at = i
		for _, p := range plans[i].pokes {
			if _, err := list[p.region].buf.WriteAt(p.data, int64(p.offset)); err != nil {
				return err
			}
		}
		if plans[i].receive {
			sge.Length = uint32(plans[i].room)
			err := m.post(driver.RecvWR{ID: uint64(i), SGEs: []driver.SGE{sge}})
			if err != nil && !errors.Is(err, driver.ErrNoMemory) { // full: the model took fewer than it should
				return err
			}
			m.t.Sleep(receiveCycles)
		}
		p := e.Packet
		translate(&p, list)
		m.inject(&p)
		m.t.Sleep(gapCycles + uint64(p.RETH.Length)/1024*cyclesPerKB)
		if err := m.poll(); err != nil {
			return err
		}
	}
	return nil
}

// mostReceives is how many receives may wait.
const mostReceives = 64

// rnrTimer is the timer of the captured RNR NAKs.
func (c *Conversation) rnrTimer() uint8 {
	for i := range c.Events {
		if e := &c.Events[i]; e.Answer && isRNR(&e.Packet) {
			return e.AETH.Syndrome.Value()
		}
	}
	return 12
}

// translate makes keys and addresses of a request those of the model.
func translate(p *roce.Packet, list []stretch) {
	move := func(key *uint32, va *uint64, n int) {
		for i := range list {
			if r := list[i].region; r == reaches([]*region{r}, *key, *va, n) {
				*key, *va = uint32(list[i].sge.LKey), *va-r.from+list[i].sge.Addr
				return
			}
		}
	}
	switch op := p.BTH.Opcode; {
	case op.IsAtomic():
		move(&p.AtomicETH.RKey, &p.AtomicETH.VA, 8)
	case op.HasRETH() && p.RETH.Length > 0 && p.RETH.Length <= mostMemory:
		move(&p.RETH.RKey, &p.RETH.VA, int(p.RETH.Length))
	case op.HasIETH():
		for i := range list {
			if list[i].key == p.IETH.RKey {
				p.IETH.RKey = uint32(list[i].sge.LKey)
				return
			}
		}
	}
}
