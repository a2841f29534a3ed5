package driver_test

import (
	"encoding/binary"

	"rnic/abi"
)

// device is the device of a machine. Its send queues are executed one WQE at a
// time, dmaLatency after their doorbell; QPs are connected to others of it.
type device struct {
	m       *machine
	reg     [128]uint32 // by offset / 4
	vectors [abi.MSIXCount]abi.MSIXEntry
	status  abi.Status
	pi, ci  uint16 // admin ring
	busy    bool   // a command is on its way

	eqs   map[uint32]*fakeEQ
	cqs   map[uint32]*fakeCQ
	qps   map[uint32]*fakeQP
	mrs   map[uint32]*fakeMR
	ahs   map[uint32]*abi.AHMailbox
	srqs  map[uint32]*fakeSRQ
	wire  []string // frames of RAW_PACKET QPs
	limit abi.DeviceMailbox

	watchLatch bool   // the high word of a counter must be read behind its low word
	latch      uint32 // offset of the low word read last
	needGID    bool   // an address vector must name a GID of its family that exists
	hold       bool   // send queues do nothing
	mute       bool   // commands are not answered
	pushed     int
	refuse     func(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) // before executing it
	twist      func(e *abi.AdminCompletion)                                   // before writing it
}

type fakeEQ struct {
	abi.EQMailbox
	pi, ci uint16
	armed  bool
	cqs    int
}

type fakeCQ struct {
	abi.CQMailbox
	pi, ci    uint16
	origin    uint16 // index in slot 0
	armed     bool
	solicited bool
	queues    int
	dead      bool
}

type fakeQP struct {
	abi.QPMailbox
	num                    uint32
	sqPI, exec, rqPI, rqCI uint16
	running                bool
	holds, last            bool // a WQE of the SRQ, in slot; LAST_WQE_REACHED was told
	slot                   uint16
}

type fakeMR struct {
	abi.MRMailbox
	pages   []uint64
	invalid bool    // by a SEND with invalidate, or not valid yet
	of      *fakeMR // window: the region that it is bound to
	qpn     uint32  // window of type 2: the QP that has bound it
	windows int
}

func newDevice(m *machine) *device {
	d := &device{
		m: m, status: abi.Status{Ready: true, LinkUp: true},
		eqs: map[uint32]*fakeEQ{}, cqs: map[uint32]*fakeCQ{}, qps: map[uint32]*fakeQP{}, mrs: map[uint32]*fakeMR{},
		ahs: map[uint32]*abi.AHMailbox{}, srqs: map[uint32]*fakeSRQ{},
		limit: abi.DeviceMailbox{
			MaxQP: 64, MaxCQ: 64, MaxEQ: 16, MaxMR: 8, MaxPages: 32, MaxSQUnits: 1 << 15, MaxRQEntries: 1 << 15, MaxCQE: 1 << 15,
			MaxSGE: 16, MaxInline: 64, PageSizes: 1<<12 | 1<<16 | 1<<21, QPTypes: 1<<abi.QPTypeRC | 1<<abi.QPTypeUC | 1<<abi.QPTypeUD | 1<<abi.QPTypeRaw,
			WQEOps: 1<<(abi.OpNop+1) - 1, Access: 0x1f, MaxAH: 16, MaxSRQ: 4, MaxSRQEntries: 1 << 15,
			MaxFastRegPages: abi.MaxFastRegPages, MaxRawFrame: 4096,
			MaxRdAtomic: 16, MaxDestRdAtomic: 16, MaxMTU: abi.MTU4096, Ports: 1, GIDs: 8, PKeys: 1,
		},
	}
	for _, r := range abi.Registers() {
		d.reg[r.Offset/4] = r.Reset
	}
	for i := range d.vectors {
		d.vectors[i].Masked = true
	}
	return d
}

func (d *device) readReg(off uint32) uint32 {
	switch {
	case off == abi.RegStatus:
		return abi.RegWord(abi.StatusLayout, d.status)
	case off >= abi.CountersBase && off < abi.MSIXTableBase:
		if d.watchLatch && off%8 == 4 && d.latch != off-4 {
			d.m.fault("high word %#x behind low word %#x", off, d.latch)
		}
		d.latch = off
		return off
	}
	return d.reg[off/4]
}

func (d *device) mmioWrite(off uint32, b []byte) {
	region, page, rel := abi.Locate(off)
	switch {
	case region == abi.RegionGlobal && len(b) == 4:
		d.writeReg(off, le32(b))
	case region == abi.RegionMSIXTable && len(b) == 8:
		var raw [16]byte
		e := &d.vectors[rel/16]
		abi.MSIXEntryLayout.Encode(e, raw[:])
		copy(raw[rel%16:], b)
		_ = abi.MSIXEntryLayout.Decode(raw[:], e)
	case region == abi.RegionDoorbell && len(b) == 8:
		d.doorbell(page, abi.UnpackDoorbell(binary.LittleEndian.Uint64(b)))
	case region == abi.RegionPush && len(b) == 64:
		d.push(page, b)
	default:
		d.m.fault("a write of %d bytes to %#x", len(b), off)
	}
}

func (d *device) push(page uint8, b []byte) {
	var c abi.WQEControl
	_ = abi.WQEControlLayout.Decode(b, &c)
	q := d.qps[c.QPN]
	if q == nil {
		d.m.fault("a pushed WQE of QP %d", c.QPN)
		return
	}
	if inRing := q.unit(d, c.Index); string(inRing[:]) != string(b) || c.Units != 1 || c.Index != q.sqPI {
		d.m.fault("a pushed WQE that is not the next of the ring")
	}
	d.pushed++
	d.doorbell(page, abi.Doorbell{Number: c.QPN, Kind: abi.DoorbellSQ, Index: c.Index + 1})
}

func (d *device) writeReg(off, w uint32) {
	if r := abi.RegisterAt(off); r == nil || r.Access == abi.RO {
		d.m.fault("a write to register %#x", off)
		return
	}
	d.reg[off/4] = w
	switch off {
	case abi.RegCtrl:
		c := abi.RegFields(abi.CtrlLayout, w)
		if c.Enable && !d.status.AdminEnabled {
			d.ci, d.pi = 0, uint16(d.reg[abi.RegAdminDoorbell/4])
			if d.pi != 0 {
				d.m.fault("enabled with %d commands of an older life", d.pi)
			}
		}
		d.status.AdminEnabled = c.Enable
		d.status.AdminError = d.status.AdminError && c.Enable
	case abi.RegAdminDoorbell:
		if n := uint16(w) - d.ci; d.status.AdminEnabled && n > 1<<d.reg[abi.RegAdminLogSize/4] {
			d.m.fault("admin doorbell %d, %d commands are done", w, d.ci)
			return
		}
		d.pi = uint16(w)
		d.nextCommand()
	}
}

// nextCommand has a command executed if there is one.
func (d *device) nextCommand() {
	if d.status.AdminEnabled && !d.mute && !d.busy && d.ci != d.pi {
		d.busy = true
		d.m.after(2*dmaLatency, d.command)
	}
}

func (d *device) raise(v uint8) {
	e := d.vectors[v]
	if e.Masked || e.AddrLo != 0xfee00000 || e.AddrHi != 0 || e.Data != uint32(v) {
		d.m.fault("an interrupt that goes nowhere: %+v", e)
	}
	d.m.after(1000, func() { d.m.irqs[v]++ })
}

// Completions and events.

// cqe writes a completion.
func (d *device) cqe(cqn uint32, e abi.CQE, solicited bool) {
	c := d.cqs[cqn]
	if c.dead || c.pi-c.ci == 1<<c.LogSize {
		if !c.dead {
			d.event(uint32(c.EQN), abi.Event{Type: abi.EventCQErr, Number: cqn})
		}
		c.dead = true
		return
	}
	e.Phase = abi.RingPhase(c.pi-c.origin, c.LogSize)
	e.Timestamp = uint64(d.m.now / 4000)
	var b [abi.CQESize]byte
	abi.CQELayout.Encode(&e, b[:])
	d.m.write(c.Base+uint64(abi.RingSlot(c.pi-c.origin, c.LogSize))*abi.CQESize, b[:])
	c.pi++
	if c.armed && (!c.solicited || solicited || e.Status != abi.StatusSuccess) {
		c.armed = false
		d.event(uint32(c.EQN), abi.Event{Type: abi.EventCompletion, Number: cqn})
	}
}

func (d *device) event(eqn uint32, e abi.Event) {
	q := d.eqs[eqn]
	if q.pi-q.ci == 1<<q.LogSize {
		d.m.fault("event queue %d is full", eqn)
		return
	}
	e.Phase = abi.RingPhase(q.pi, q.LogSize)
	var b [abi.EventSize]byte
	abi.EventLayout.Encode(&e, b[:])
	d.m.write(q.Base+uint64(abi.RingSlot(q.pi, q.LogSize))*abi.EventSize, b[:])
	q.pi++
	if q.armed {
		q.armed = false
		d.raise(q.Vector)
	}
}

func (d *device) doorbell(page uint8, v abi.Doorbell) {
	bound := -1
	switch v.Kind {
	case abi.DoorbellSQ, abi.DoorbellRQ:
		if q := d.qps[v.Number]; q != nil {
			bound = int(q.UARPage)
		}
	case abi.DoorbellSRQ:
		if s := d.srqs[v.Number]; s != nil {
			bound = int(s.UARPage)
		}
	case abi.DoorbellCQ, abi.DoorbellCQArm:
		if c := d.cqs[v.Number]; c != nil {
			bound = int(c.UARPage)
		}
	case abi.DoorbellEQ:
		if q := d.eqs[v.Number]; q != nil {
			bound = int(q.UARPage)
		}
	}
	if bound != int(page) {
		d.m.fault("doorbell %+v on page %d, not %d", v, page, bound)
		return
	}
	d.announced(&v)
}

func (d *device) announced(v *abi.Doorbell) {
	switch v.Kind {
	case abi.DoorbellSQ:
		q := d.qps[v.Number]
		if v.Index-q.exec > 1<<q.SQLogUnits || v.Index-q.exec < q.sqPI-q.exec {
			d.m.fault("QP %d: SQ doorbell %d, was %d, %d is done", v.Number, v.Index, q.sqPI, q.exec)
		}
		q.sqPI = v.Index
		d.run(q)
	case abi.DoorbellRQ:
		q := d.qps[v.Number]
		if v.Index-q.rqCI > 1<<q.RQLogEntries || v.Index-q.rqCI < q.rqPI-q.rqCI {
			d.m.fault("QP %d: RQ doorbell %d, was %d, %d is taken", v.Number, v.Index, q.rqPI, q.rqCI)
		}
		q.rqPI = v.Index
		d.flush(q)
	case abi.DoorbellSRQ:
		s := d.srqs[v.Number]
		if n := v.Index - s.ci; int(n) > 1<<s.LogSize-1 || n < s.pi-s.ci {
			d.m.fault("SRQ %d: doorbell %d, was %d, %d is taken", v.Number, v.Index, s.pi, s.ci)
		}
		s.pi = v.Index
	case abi.DoorbellCQ, abi.DoorbellCQArm:
		c := d.cqs[v.Number]
		if v.Index-c.ci > c.pi-c.ci {
			d.m.fault("CQ %d: consumer index %d, was %d, producer %d", v.Number, v.Index, c.ci, c.pi)
		}
		c.ci = v.Index
		if v.Kind == abi.DoorbellCQArm {
			c.solicited = v.SolicitedOnly && (c.solicited || !c.armed)
			if c.armed = c.pi == c.ci; !c.armed {
				d.event(uint32(c.EQN), abi.Event{Type: abi.EventCompletion, Number: v.Number})
			}
		}
	case abi.DoorbellEQ:
		q := d.eqs[v.Number]
		if v.Index-q.ci > q.pi-q.ci {
			d.m.fault("EQ %d: consumer index %d, was %d, producer %d", v.Number, v.Index, q.ci, q.pi)
		}
		q.ci = v.Index
		if q.armed = q.pi == q.ci; !q.armed {
			d.raise(q.Vector)
		}
	}
}
