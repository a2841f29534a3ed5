package driver

import (
	"fmt"
	mathbits "math/bits"

	"rnic/abi"
)

// QP is a queue pair.
type QP struct {
	// MaxSend and MaxRecv are the work requests that the queues hold: what was
	// asked for, rounded up. With an SRQ MaxRecv is 0.
	MaxSend, MaxRecv int

	*qp
	dev *Device
}

type qp struct {
	num          uint32
	typ          abi.QPType
	page         uint8
	pd           *pd
	srq          *srq // or nil
	sigAll       bool
	maxInline    int
	maxFastPages int
	gid          int // entry of the GID table
	psn          uint32
	state        abi.QPState
	sq, rq       workQueue
	handle       *QP
	destroyed    bool
	unacked      int // events taken and not acknowledged

	// The last send WQE is kept in wqe until it is pushed: receives have their own.
	wqe  [abi.MaxUnits * abi.UnitSize]byte
	rwqe [abi.MaxUnits * abi.UnitSize]byte
	push [abi.PushSize]byte
	ctrl abi.WQEControl
}

// QPConfig is what a QP is made with.
type QPConfig struct {
	SendCQ, RecvCQ         *CQ
	SRQ                    *SRQ       // receives come from it; MaxRecv and MaxRecvSGE are then not looked at
	MaxSend, MaxRecv       int        // work requests; 1 at least is made of 0
	MaxSendSGE, MaxRecvSGE int        // elements of a work request
	MaxInline              int        // bytes of inline data
	MaxFastRegPages        int        // pages of a FAST_REG; 0: there will be none
	SigAll                 bool       // every send completes with a CQE
	Type                   abi.QPType // RC if 0
	IPv6                   bool       // Endpoint tells GID 0, not the IPv4-mapped GID 1
	GIDIndex               int        // Endpoint tells this entry of the GID table, and Connect uses it; 0: by IPv6
	PSN                    uint32     // first PSN sent, 24 bits; 0: the driver chooses
}

// CreateQP makes a queue pair, in RESET. Errors wrap ErrInvalid, ErrNotSupported or
// ErrNoMemory.
func (p *PD) CreateQP(c QPConfig) (*QP, error) {
	d := p.dev
	if c.Type == 0 {
		c.Type = abi.QPTypeRC
	}
	if c.SRQ != nil {
		c.MaxRecv, c.MaxRecvSGE = 0, 0
	}
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("create QP: %w", err)
	}
	if err := p.checkQP(&c); err != nil {
		return nil, fmt.Errorf("create QP: %w", err)
	}
	q := &qp{
		typ: c.Type, page: d.page, pd: p.pd, sigAll: c.SigAll, maxInline: c.MaxInline,
		maxFastPages: c.MaxFastRegPages, gid: c.GIDIndex, psn: c.PSN,
	}
	if q.gid == 0 && !c.IPv6 {
		q.gid = 1
	}
	if c.SRQ != nil {
		q.srq = c.SRQ.srq
	}
	if err := q.size(&c, &d.Attr); err != nil {
		return nil, fmt.Errorf("create QP: %w", err)
	}
	q.handle = &QP{MaxSend: q.sq.max, MaxRecv: q.rq.max, qp: q, dev: d}
	if err := q.handle.create(); err != nil {
		return nil, fmt.Errorf("create QP: %w", err)
	}
	if q.psn == 0 {
		d.made++
		q.psn = choosePSN(d.Config.Seed, d.Config.MAC, q.num, d.made)
	}
	return q.handle, nil
}

func (p *PD) checkQP(c *QPConfig) error {
	a := &p.dev.Attr
	switch {
	case p.destroyed:
		return fmt.Errorf("PD %d is destroyed: %w", p.num, ErrInvalid)
	case c.SendCQ == nil || c.RecvCQ == nil:
		return fmt.Errorf("no send or receive CQ: %w", ErrInvalid)
	case c.SendCQ.dev.device != p.dev.device || c.RecvCQ.dev.device != p.dev.device:
		return fmt.Errorf("a CQ of another device: %w", ErrInvalid)
	case c.SendCQ.destroyed || c.RecvCQ.destroyed:
		return fmt.Errorf("CQ %d or %d is destroyed: %w", c.SendCQ.num, c.RecvCQ.num, ErrInvalid)
	case c.SRQ != nil && (c.SRQ.dev.device != p.dev.device || c.SRQ.destroyed):
		return fmt.Errorf("SRQ %d is destroyed (%t), or of another device: %w", c.SRQ.num, c.SRQ.destroyed, ErrInvalid)
	case c.Type < abi.QPTypeRC || c.Type > abi.QPTypeRaw:
		return fmt.Errorf("type %s: %w", c.Type, ErrInvalid)
	case a.QPTypes>>c.Type&1 == 0:
		return fmt.Errorf("type %s: %w", c.Type, ErrNotSupported)
	case c.MaxSend < 0 || c.MaxRecv < 0 || c.MaxSendSGE < 0 || c.MaxRecvSGE < 0 || c.MaxInline < 0:
		return fmt.Errorf("negative capacity: %w", ErrInvalid)
	case c.MaxSendSGE > int(a.MaxSGE) || c.MaxRecvSGE > int(a.MaxSGE):
		return fmt.Errorf("%d and %d SGEs, the device has %d: %w", c.MaxSendSGE, c.MaxRecvSGE, a.MaxSGE, ErrInvalid)
	case c.MaxInline > int(a.MaxInline):
		return fmt.Errorf("%d bytes of inline data, the device has %d: %w", c.MaxInline, a.MaxInline, ErrInvalid)
	case c.GIDIndex < 0 || c.GIDIndex >= p.dev.numGIDs():
		return fmt.Errorf("GID %d, the device has %d: %w", c.GIDIndex, p.dev.numGIDs(), ErrInvalid)
	case c.MaxFastRegPages < 0 || c.MaxFastRegPages > p.dev.mostFastPages():
		return fmt.Errorf("FAST_REG of %d pages, the device has %d: %w", c.MaxFastRegPages, p.dev.mostFastPages(), ErrInvalid)
	case c.PSN >= 1<<24:
		return fmt.Errorf("PSN %#x: %w", c.PSN, ErrInvalid)
	}
	return nil
}

// size chooses the rings.
func (q *qp) size(c *QPConfig, a *abi.DeviceMailbox) error {
	units := max(abi.WQEUnits(c.MaxSendSGE, 0), abi.WQEUnits(0, c.MaxInline))
	if c.MaxFastRegPages > 0 {
		units = max(units, fastRegUnits(c.MaxFastRegPages))
	}
	mostUnits, mostEntries := int(min(a.MaxSQUnits, 1<<abi.MaxLogRing)), int(min(a.MaxRQEntries, 1<<abi.MaxLogRing))
	if units > abi.MaxUnits {
		return fmt.Errorf("WQEs of %d units, at most %d: %w", units, abi.MaxUnits, ErrInvalid)
	}
	if c.MaxSend > mostUnits/units || c.MaxRecv > mostEntries {
		return fmt.Errorf("%d sends and %d receives, at most %d and %d: %w", c.MaxSend, c.MaxRecv, mostUnits/units, mostEntries, ErrInvalid)
	}
	q.sq = workQueue{
		log: log2(max(c.MaxSend, 1) * units), stride: 6,
		maxSGE: c.MaxSendSGE, cq: c.SendCQ.cq,
	}
	q.rq = workQueue{
		log: log2(max(c.MaxRecv, 1)), stride: rqLogStride(c.MaxRecvSGE),
		maxSGE: c.MaxRecvSGE, cq: c.RecvCQ.cq,
	}
	q.sq.max, q.rq.max = 1<<q.sq.log/units, 1<<q.rq.log
	if q.srq != nil {
		q.rq.max = 0
	}
	for _, w := range []*workQueue{&q.sq, &q.rq} {
		w.wr = make([]workRequest, 1<<w.log)
	}
	return nil
}

// log2 is the logarithm of n, rounded up.
func log2(n int) uint8 { return uint8(mathbits.Len(uint(n - 1))) }

// create takes number and rings and has the device make the QP. PD and CQs count
// as used already while the command runs.
func (q *QP) create() error {
	d := q.dev
	n, err := d.qpns.take()
	if err != nil {
		return fmt.Errorf("QP number: %w", err)
	}
	q.num = n
	for _, w := range []*workQueue{&q.sq, &q.rq} {
		if w.max == 0 {
			continue
		}
		if w.base, err = d.bus.AllocDMA(1<<(w.log+w.stride), ringAlign); err != nil {
			q.release()
			return fmt.Errorf("ring of %d entries: %w: %w", 1<<w.log, ErrNoMemory, err)
		}
	}
	box := abi.QPMailbox{
		Type: q.typ, SQLogUnits: q.sq.log, RQLogEntries: q.rq.log, RQLogStride: q.rq.stride,
		SQBase: q.sq.base, RQBase: q.rq.base, PD: q.pd.num,
		SQMaxSGE: uint8(q.sq.maxSGE), RQMaxSGE: uint8(q.rq.maxSGE), SQMaxInline: uint16(q.maxInline),
		SendCQN: q.sq.cq.num, RecvCQN: q.rq.cq.num, UARPage: uint16(q.page),
	}
	if q.sigAll {
		box.Flags = abi.QPSigAll
	}
	if q.srq != nil {
		box.SRQN, box.Flags = q.srq.num, box.Flags|abi.QPHasSRQ
	}
	q.use(1)
	var b [abi.MailboxSize]byte
	abi.QPMailboxLayout.Encode(&box, b[:])
	if err := d.command(abi.AdminCreateQP, n, &b, false); err != nil {
		q.use(-1)
		q.release()
		return err
	}
	d.qps[n] = q.qp
	return nil
}

// use counts the QP's use of its PD, CQs and SRQ.
func (q *qp) use(n int) {
	q.pd.refs += n
	q.sq.cq.refs += n
	q.rq.cq.refs += n
	if q.srq != nil {
		q.srq.refs += n
	}
}

// release gives number and rings back.
func (q *QP) release() {
	q.dev.qpns.give(q.num)
	for _, w := range []*workQueue{&q.sq, &q.rq} {
		if w.base != 0 {
			q.dev.freeRing(w.base)
		}
	}
}

// On returns the QP as the thread of another handle of the device sees it.
func (q *QP) On(d *Device) *QP { return &QP{MaxSend: q.MaxSend, MaxRecv: q.MaxRecv, qp: q.qp, dev: d} }

// Number is the QPN, 24 bits.
func (q *QP) Number() uint32 { return q.num }

// Type is RC, UC, UD or RAW_PACKET.
func (q *QP) Type() abi.QPType { return q.typ }

// State is the state after the last successful Modify. An error may have taken
// the QP to ERR, or to SQE, since: Query asks the device.
func (q *QP) State() abi.QPState { return q.state }

// Destroy ends the QP, and takes its completions that were not polled out of its
// CQs; events that nobody has taken are forgotten. When it returns, nothing of the
// QP is in flight. For an event that is taken and not acknowledged it waits, for ever
// if need be.
func (q *QP) Destroy() error {
	if q.destroyed {
		return fmt.Errorf("QP %d is destroyed: %w", q.num, ErrInvalid)
	}
	q.destroyed = true
	if q.dev.raw == q.qp {
		if err := q.dev.setRaw(nil); err != nil {
			return err
		}
	}
	if err := q.dev.command(abi.AdminDestroyQP, q.num, nil, false); err != nil {
		q.destroyed = false
		return err
	}
	err := q.purge()
	if e := q.dev.drain(q.dev.eqs[0]); err == nil { // what it told last
		err = e
	}
	q.dev.forget(func(e *AsyncEvent) bool { return e.ofQP() && e.Number == q.num })
	q.dev.awaitAcks(&q.unacked)
	q.dev.qps[q.num] = nil
	q.use(-1)
	q.release()
	return err
}

// purge takes the QP's completions out of its CQs.
func (q *QP) purge() error {
	err := (&CQ{cq: q.sq.cq, dev: q.dev}).purge(q.qp)
	if err == nil && q.rq.cq != q.sq.cq {
		err = (&CQ{cq: q.rq.cq, dev: q.dev}).purge(q.qp)
	}
	return err
}

// choosePSN draws a first PSN, other than 0, by splitmix64. made is the number of
// QPs made so far: the next of a number begins elsewhere, so that it takes no
// straggler of the one before for its own.
func choosePSN(seed uint64, mac [6]byte, qpn, made uint32) uint32 {
	for _, b := range mac {
		seed = seed<<8 ^ seed>>56 ^ uint64(b)
	}
	z := (seed ^ uint64(qpn)<<40 ^ uint64(made)<<8) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(1, uint32(z>>31)&0xffffff)
}
