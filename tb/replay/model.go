package replay

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	machine "rnic/tb/host"
)

// Sent is a packet that the model sent.
type Sent struct {
	roce.Packet
	After int // event of the capture that came before it
}

// model is a NIC with a driver in the place of one side of a conversation.
type model struct {
	c    *Conversation
	o    *Options
	h    *tb.Host
	t    *hdl.Thread
	dev  *driver.Device
	pd   *driver.PD
	cq   *driver.CQ
	qp   *driver.QP
	srq  *driver.SRQ // nil: the receives are the QP's own
	at   int         // event that is played
	sent []Sent
	done []driver.WC
}

const access = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// limit ends a run that nothing else ends: over an hour of simulated time.
const limit = 1 << 40

// run builds the model, plays to it, and returns what it sent.
func (c *Conversation) run(o *Options, play func(*model) error, as Address) (*model, error) {
	b, err := tb.New(tb.Config{Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	m := &model{c: c, o: o, h: b.Hosts[1]}
	m.h.Tap(func(f tb.Frame) {
		if p, err := roce.ParseFrame(append([]byte(nil), f.Data...)); err == nil && f.Tx {
			m.sent = append(m.sent, Sent{p, m.at})
		}
	})
	if o.Tap != nil {
		m.h.Tap(o.Tap)
	}
	var failed error
	m.h.Go("peer", func(t *hdl.Thread, bus *machine.Bus) {
		m.t = t
		if failed = m.open(bus, as); failed == nil {
			failed = play(m)
		}
	})
	if err := b.Run(limit); err != nil {
		return nil, err
	}
	return m, failed
}

func (m *model) open(bus *machine.Bus, as Address) (err error) {
	gid := as.GID // GID 0, unless GID 1 is its address
	v4, is4 := gid.IPv4()
	if is4 {
		gid = roce.GID{}
	}
	if m.dev, err = driver.Open(bus, driver.Config{
		MAC: as.MAC, IPv4: v4, GID: gid, PKey: uint16(m.c.Events[0].BTH.PKey) | 0x8000, Seed: 1,
	}); err != nil {
		return err
	}
	if m.pd, err = m.dev.AllocPD(); err != nil {
		return err
	}
	m.cq, err = m.dev.CreateCQ(4096, driver.CQOptions{})
	return err
}

// makeQP makes a queue pair of the conversation's transport, and a queue of its
// receives that is shared, with nobody, if that is asked for.
func (m *model) makeQP(c driver.QPConfig, srq bool) (*driver.QP, error) {
	c.Type = map[roce.Transport]abi.QPType{roce.RC: abi.QPTypeRC, roce.UC: abi.QPTypeUC, roce.UD: abi.QPTypeUD}[m.c.Transport]
	if srq {
		var err error
		if m.srq, err = m.pd.CreateSRQ(driver.SRQAttr{MaxRecv: c.MaxRecv, MaxSGE: c.MaxRecvSGE}); err != nil {
			return nil, err
		}
		c.SRQ = m.srq
	}
	return m.pd.CreateQP(c)
}

// post posts a receive.
func (m *model) post(wr driver.RecvWR) (err error) {
	if m.srq != nil {
		_, err = m.srq.PostRecv(wr)
	} else {
		_, err = m.qp.PostRecv(wr)
	}
	return err
}

// start takes a UD QP to RTS.
func (m *model) start(qkey uint32) error {
	attr := driver.QPAttr{Port: 1, QKey: qkey, SQPSN: uint32(m.c.First)}
	for _, to := range []abi.QPState{abi.QPInit, abi.QPRTR, abi.QPRTS} {
		needs, _, _ := abi.Transition(abi.QPTypeUD, to-1, to)
		attr.State = to
		if err := m.qp.Modify(attr, abi.AttrState|needs); err != nil {
			return err
		}
	}
	return nil
}

// connect takes an RC or UC QP to RTS. Both PSNs are c.First: only one of them is used.
func (m *model) connect(to Address, qpn roce.QPN, attr driver.QPAttr) error {
	typ, may := abi.QPTypeRC, access
	if m.c.Transport == roce.UC {
		typ, may = abi.QPTypeUC, abi.AccessLocalWrite|abi.AccessRemoteWrite
	}
	if err := m.qp.Init(may); err != nil {
		return err
	}
	av := abi.AV{DMAC: to.MAC, HopLimit: roce.DefaultTTL, DGID: to.GID, UDPSPort: roce.SourcePort(roce.QPN(m.qp.Number()), qpn)}
	if _, v4 := to.GID.IPv4(); v4 {
		av.SGIDIndex = 1
	}
	attr.State, attr.AV, attr.PathMTU, attr.DestQPN, attr.Access = abi.QPRTR, av, abi.MTU(m.c.MTU), uint32(qpn), may
	attr.RQPSN, attr.SQPSN = uint32(m.c.First), uint32(m.c.First)
	attr.MaxDestRdAtomic, attr.MaxRdAtomic = m.dev.Attr.MaxDestRdAtomic, m.dev.Attr.MaxRdAtomic
	rtr, _, _ := abi.Transition(typ, abi.QPInit, abi.QPRTR)
	rts, _, _ := abi.Transition(typ, abi.QPRTR, abi.QPRTS)
	if err := m.qp.Modify(attr, abi.AttrState|rtr|abi.AttrAccessFlags); err != nil {
		return err
	}
	attr.State = abi.QPRTS
	return m.qp.Modify(attr, abi.AttrState|rts)
}

// memory is a registered buffer.
func (m *model) memory(size, offset int) (*driver.Buffer, driver.SGE, error) {
	b, err := m.dev.AllocBuffer(size, offset)
	if err != nil {
		return nil, driver.SGE{}, err
	}
	mr, err := m.pd.RegMR(b, access)
	if err != nil {
		return nil, driver.SGE{}, err
	}
	return b, mr.SGE(0, size), nil
}

// inject has a packet arrive.
func (m *model) inject(p *roce.Packet) {
	p.BTH.DestQP = roce.QPN(m.qp.Number())
	f := p.Append(nil)
	for len(f) < roce.MinFrame {
		f = append(f, 0)
	}
	m.h.Inject(f)
}

// poll takes the completions that are there.
func (m *model) poll() error {
	var wcs [64]driver.WC
	for {
		n, err := m.cq.Poll(wcs[:])
		m.done = append(m.done, wcs[:n]...)
		if err != nil {
			return fmt.Errorf("completions: %w", err)
		}
		if n < len(wcs) {
			return nil
		}
	}
}
