package driver

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"rnic/abi"
)

// firstQPN leaves out QPNs 0 and 1, which InfiniBand reserves.
const firstQPN = 2

// Open starts the device behind bus: it checks that it is one, gives the port its
// addresses, sets up admin rings, event queues and interrupts. How many objects can be
// made of it is in Attr, and under How many in the package. Errors wrap
// ErrNoDevice, ErrInvalid (of the configuration), ErrTimeout or an error of the Bus.
func Open(bus Bus, cfg Config) (*Device, error) {
	if bus == nil {
		return nil, fmt.Errorf("open: no Bus: %w", ErrInvalid)
	}
	cfg.defaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	d := &Device{Config: cfg, device: &device{buffers: map[*Buffer]struct{}{}, nextVA: firstVA}, bus: bus}
	if err := d.probe(); err != nil {
		return nil, err
	}
	err := d.start()
	if err != nil {
		return nil, fmt.Errorf("open: %w", d.abandon(err))
	}
	return d, nil
}

// probe reads what the device is and can do.
func (d *Device) probe() error {
	var w [5]uint32
	for i, off := range []uint32{abi.RegID, abi.RegVersion, abi.RegCaps, abi.RegLimits0, abi.RegLimits1} {
		v, err := d.bus.Read32(off)
		if err != nil {
			return fmt.Errorf("open: %w: %w", ErrNoDevice, err)
		}
		w[i] = v
	}
	if w[0] != abi.ID {
		return fmt.Errorf("open: ID is %#08x, not %#08x: %w", w[0], uint32(abi.ID), ErrNoDevice)
	}
	if v := abi.RegFields(abi.VersionLayout, w[1]); v.Major != abi.VersionMajor {
		return fmt.Errorf("open: interface version %d.%d, not %d: %w", v.Major, v.Minor, abi.VersionMajor, ErrNoDevice)
	}
	d.caps = abi.RegFields(abi.CapsLayout, w[2])
	lim0, lim1 := abi.RegFields(abi.Limits0Layout, w[3]), abi.RegFields(abi.Limits1Layout, w[4])
	d.pages = min(1<<lim1.LogUAR, abi.UARPages)
	vectors := min(int(lim0.MSIX), 1<<lim1.LogMaxEQ)
	c := &d.Config
	if c.Vectors < 1 || c.Vectors >= vectors {
		return fmt.Errorf("open: %d completion vectors, the device has 1 to %d: %w", c.Vectors, vectors-1, ErrInvalid)
	}
	if c.MTU == 0 {
		c.MTU = lim1.MaxMTU
	}
	if c.MTU.Bytes() == 0 || c.MTU > lim1.MaxMTU {
		return fmt.Errorf("open: MTU %s, the device has up to %s: %w", c.MTU, lim1.MaxMTU, ErrInvalid)
	}
	d.mtu, d.gids[0] = c.MTU, c.GID
	if c.IPv4 != [4]byte{} {
		d.gids[1] = netip.AddrFrom4(c.IPv4).As16()
	}
	return d.ready()
}

// ready waits for the device to be ready, and stops it if someone left it running.
// Objects that are left over show when their numbers are taken.
func (d *Device) ready() error {
	s, err := d.status(func(s abi.Status) bool { return s.Ready })
	switch {
	case err != nil:
		return fmt.Errorf("open: device not ready: %w", err)
	case !s.AdminError && !s.AdminEnabled:
		return nil
	}
	if err := d.disable(); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return nil
}

// disable stops the taking of commands.
func (d *Device) disable() error {
	if err := d.write32(abi.RegCtrl, abi.RegWord(abi.CtrlLayout, abi.Ctrl{})); err != nil {
		return err
	}
	_, err := d.status(func(s abi.Status) bool { return !s.AdminError && !s.AdminEnabled })
	return err
}

// status reads STATUS until it is as wanted.
func (d *Device) status(want func(abi.Status) bool) (s abi.Status, err error) {
	limit := d.bus.Now() + d.Config.AdminTimeout
	for {
		w, err := d.bus.Read32(abi.RegStatus)
		if err != nil {
			return s, err
		}
		if s = abi.RegFields(abi.StatusLayout, w); want(s) {
			return s, nil
		}
		if d.bus.Now() >= limit {
			return s, fmt.Errorf("STATUS %#x: %w", w, ErrTimeout)
		}
		d.bus.Spend(pollInterval)
	}
}

// start sets everything up.
func (d *Device) start() error {
	for _, r := range []struct {
		addr *uint64
		size int
	}{
		{&d.admin.sq, abi.AdminCommandSize},
		{&d.admin.cq, abi.AdminCompletionSize},
		{&d.admin.boxes, abi.MailboxSize},
	} {
		addr, err := d.bus.AllocDMA(r.size<<logAdmin, ringAlign)
		if err != nil {
			d.freeAdmin()
			return fmt.Errorf("admin rings: %w: %w", ErrNoMemory, err)
		}
		*r.addr = addr
	}
	if err := d.registers(); err != nil {
		return err
	}
	s, err := d.status(func(s abi.Status) bool { return s.AdminEnabled || s.AdminError })
	if err != nil {
		return err
	}
	if !s.AdminEnabled {
		return fmt.Errorf("device does not start, STATUS %+v: %w", s, ErrDevice)
	}
	for n := range uint8(d.Config.Vectors + 1) {
		if err := d.createEQ(n); err != nil {
			return err
		}
	}
	var box [abi.MailboxSize]byte
	if err := d.command(abi.AdminQueryDevice, 0, &box, true); err != nil {
		return err
	}
	_ = abi.DeviceMailboxLayout.Decode(box[:], &d.Attr) // long enough by type
	return d.tables()
}

// tables makes the tables of objects, as large as the device says.
func (d *Device) tables() error {
	a := &d.Attr
	const most = 1 << 24 // of any number
	if a.MaxQP > most || a.MaxCQ > most || a.MaxMR > most || a.MaxAH > most || a.MaxSRQ > most {
		return fmt.Errorf("%d QPs, %d CQs, %d MRs, %d AHs, %d SRQs: %w", a.MaxQP, a.MaxCQ, a.MaxMR, a.MaxAH, a.MaxSRQ, ErrDevice)
	}
	d.pds = newNumbers(1, 1<<16)
	d.cqns, d.cqs = newNumbers(0, a.MaxCQ), make([]*cq, a.MaxCQ)
	d.qpns, d.qps = newNumbers(firstQPN, a.MaxQP), make([]*qp, a.MaxQP)
	d.keys, d.mrs = newNumbers(0, a.MaxMR), make([]*mr, a.MaxMR)
	d.mws = make([]*mw, a.MaxMR)
	d.ahns, d.ahs = newNumbers(0, a.MaxAH), make([]*ah, a.MaxAH)
	d.srqns, d.srqs = newNumbers(0, a.MaxSRQ), make([]*srq, a.MaxSRQ)
	d.keyLow = make([]uint8, a.MaxMR)
	d.entries.give(0, a.MaxPages)
	return nil
}

// registers writes the port's addresses, the MSI-X table and the admin rings, and
// enables the device.
func (d *Device) registers() error {
	c, a := &d.Config, &d.admin
	mac := [8]byte{2: c.MAC[0], 3: c.MAC[1], 4: c.MAC[2], 5: c.MAC[3], 6: c.MAC[4], 7: c.MAC[5]}
	type reg struct{ off, v uint32 }
	regs := []reg{
		{abi.RegPortMACHi, binary.BigEndian.Uint32(mac[0:])},
		{abi.RegPortMACLo, binary.BigEndian.Uint32(mac[4:])},
		{abi.RegPortIPv4, binary.BigEndian.Uint32(c.IPv4[:])},
		{abi.RegPortMTU, uint32(c.MTU)},
		{abi.RegPortPKey, uint32(c.PKey)},
	}
	for i := range uint32(4) {
		regs = append(regs, reg{abi.RegPortGID0 + 4*i, binary.BigEndian.Uint32(c.GID[4*i:])})
	}
	if c.TimeUnit != 0 {
		regs = append(regs, reg{abi.RegTimeUnit, uint32(c.TimeUnit)})
	}
	for v := range c.Vectors + 1 {
		if err := d.openVector(v); err != nil {
			return err
		}
	}
	regs = append(regs,
		reg{abi.RegAdminSQBaseLo, uint32(a.sq)}, reg{abi.RegAdminSQBaseHi, uint32(a.sq >> 32)},
		reg{abi.RegAdminCQBaseLo, uint32(a.cq)}, reg{abi.RegAdminCQBaseHi, uint32(a.cq >> 32)},
		reg{abi.RegAdminLogSize, logAdmin},
		reg{abi.RegAdminVector, abi.RegWord(abi.AdminVectorLayout, abi.AdminVector{Vector: adminVector, Enable: true})},
		reg{abi.RegAdminDoorbell, 0},
		reg{abi.RegCtrl, abi.RegWord(abi.CtrlLayout, abi.Ctrl{Enable: true})},
	)
	for _, r := range regs {
		if err := d.write32(r.off, r.v); err != nil {
			return err
		}
	}
	return nil
}

// openVector fills in an entry of the MSI-X table and unmasks it.
func (d *Device) openVector(v int) error {
	var b [16]byte
	a := d.Config.MSIXAddress
	abi.MSIXEntryLayout.Encode(&abi.MSIXEntry{AddrLo: uint32(a), AddrHi: uint32(a >> 32), Data: uint32(v)}, b[:])
	off := uint32(abi.MSIXTableBase + len(b)*v)
	if err := d.bus.Write(off, b[:8]); err != nil {
		return err
	}
	return d.bus.Write(off+8, b[8:])
}
