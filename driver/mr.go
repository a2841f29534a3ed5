package driver

import (
	"encoding/binary"
	"fmt"

	"rnic/abi"
)

// PD is a protection domain: QPs use the memory regions of their own only.
type PD struct {
	*pd
	dev *Device
}

type pd struct {
	num       uint32
	refs      int // all that is made of it
	destroyed bool
}

// AllocPD makes a protection domain.
func (d *Device) AllocPD() (*PD, error) {
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("protection domain: %w", err)
	}
	n, err := d.pds.take()
	if err != nil {
		return nil, fmt.Errorf("protection domain: %w", err)
	}
	return &PD{pd: &pd{num: n}, dev: d}, nil
}

// On returns the domain as the thread of another handle of the device sees it.
func (p *PD) On(d *Device) *PD { return &PD{pd: p.pd, dev: d} }

// Destroy gives the domain up. It fails with ErrBusy while anything made of it is left.
func (p *PD) Destroy() error {
	if err := p.dev.usable(); err != nil {
		return fmt.Errorf("PD %d: %w", p.num, err)
	}
	switch {
	case p.destroyed:
		return fmt.Errorf("PD %d is destroyed: %w", p.num, ErrInvalid)
	case p.refs > 0:
		return fmt.Errorf("PD %d has %d objects: %w", p.num, p.refs, ErrBusy)
	}
	p.destroyed = true
	p.dev.pds.give(p.num)
	return nil
}

// MR is a memory region: a buffer, or a part of one, that the device may access.
type MR struct {
	LKey, RKey abi.Key
	Addr       uint64 // virtual address of the first byte
	Length     uint64 // bytes

	*mr
	dev *Device
}

type mr struct {
	key     abi.Key
	pd      *pd
	buf     *Buffer // nil: of FAST_REG
	kind    abi.KeyKind
	entries extent
	dead    bool
}

// RegMR registers a whole buffer.
func (p *PD) RegMR(b *Buffer, access abi.AccessFlags) (*MR, error) {
	if b == nil {
		return nil, fmt.Errorf("register no buffer: %w", ErrInvalid)
	}
	return p.RegMRRange(b, 0, b.size, access)
}

// RegMRRange registers n bytes from offset off of a buffer. The low byte of the
// key is one more with each use of its index, so a stale key opens nothing: it is that
// of another region, or window, after 256 uses of the index at the earliest, if those
// whose keys the program chooses (BIND_MW, FAST_REG) count up too. Errors wrap ErrInvalid, ErrNotSupported or
// ErrNoMemory.
func (p *PD) RegMRRange(b *Buffer, off, n int, access abi.AccessFlags) (_ *MR, err error) {
	d := p.dev
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	switch {
	case b == nil || b.dev.device != d.device:
		return nil, fmt.Errorf("register no buffer of this device: %w", ErrInvalid)
	case p.destroyed || b.freed:
		return nil, fmt.Errorf("register buffer at %#x (freed: %t) in PD %d (destroyed: %t): %w",
			b.Addr, b.freed, p.num, p.destroyed, ErrInvalid)
	case off < 0 || n < 0 || off > b.size-n:
		return nil, fmt.Errorf("register %d bytes at %d of a buffer of %d: %w", n, off, b.size, ErrInvalid)
	case access&^d.Attr.Access != 0:
		return nil, fmt.Errorf("register with %s, the device has %s: %w", access, d.Attr.Access, ErrNotSupported)
	case access&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) != 0 && access&abi.AccessLocalWrite == 0:
		return nil, fmt.Errorf("register with %s, without local write: %w", access, ErrInvalid)
	}
	m := &mr{pd: p.pd, buf: b}
	pages, log := b.deviceVisiblePages(off, n, d.Attr.PageSizes)
	box := abi.MRMailbox{
		Addr: b.Addr + uint64(off), Length: uint64(n), PD: p.num, Access: access,
		LogPageSize: log, NumPages: uint32(len(pages)),
	}
	if m.key, err = d.takeKey(); err != nil {
		return nil, err
	}
	box.KeyLow = m.key.Low()
	if err := d.register(m, &box, pages); err != nil {
		d.keys.give(m.key.Index())
		return nil, fmt.Errorf("register %d bytes at %#x: %w", n, box.Addr, err)
	}
	return &MR{LKey: m.key, RKey: m.key, Addr: box.Addr, Length: box.Length, mr: m, dev: d}, nil
}

// register has the device take a region over. PD and buffer count as used already
// while the command runs.
func (d *Device) register(m *mr, box *abi.MRMailbox, pages []uint64) (err error) {
	first, err := d.entries.take(box.NumPages)
	if err != nil {
		return fmt.Errorf("%d of the device's page entries: %w", box.NumPages, err)
	}
	m.entries, box.FirstPage = extent{first, box.NumPages}, first
	m.use(1)
	defer func() {
		if err != nil {
			m.use(-1)
			d.entries.give(first, box.NumPages)
		}
	}()
	if m.kind == abi.KeyRegion {
		if box.PageList, err = d.pageList(pages); err != nil {
			return err
		}
		defer d.freeRing(box.PageList)
	}
	var b [abi.MailboxSize]byte
	abi.MRMailboxLayout.Encode(box, b[:])
	err = d.command(abi.AdminRegMR, m.key.Index(), &b, false)
	if err == nil {
		d.mrs[m.key.Index()] = m
	}
	return err
}

// pageList writes the list of a region's pages.
func (d *Device) pageList(pages []uint64) (uint64, error) {
	list := make([]byte, 8*len(pages))
	for i, a := range pages {
		binary.LittleEndian.PutUint64(list[8*i:], a)
	}
	addr, err := d.bus.AllocDMA(max(len(list), 8), ringAlign)
	if err != nil {
		return 0, fmt.Errorf("page list: %w: %w", ErrNoMemory, err)
	}
	if err := d.bus.WriteMem(addr, list); err != nil {
		d.bus.FreeDMA(addr)
		return 0, err
	}
	return addr, nil
}

// use counts the region's use of its PD and buffer.
func (m *mr) use(n int) {
	m.pd.refs += n
	if m.buf != nil {
		m.buf.refs += n
	}
}

// On returns the region as the thread of another handle of the device sees it.
func (m *MR) On(d *Device) *MR {
	v := *m
	v.dev = d
	return &v
}

// Dereg ends the region. When it returns, the device accesses it no more. It fails with
// ErrBusy while windows are bound to it. A FAST_REG of it that has not begun fails, with
// MW_BIND_ERR.
func (m *MR) Dereg() error {
	if m.dead {
		return fmt.Errorf("key %#x is deregistered: %w", m.key, ErrInvalid)
	}
	m.dead = true
	if err := m.dev.command(abi.AdminDeregMR, m.key.Index(), nil, false); err != nil {
		m.dead = false
		return err
	}
	m.dev.mrs[m.key.Index()] = nil
	m.dev.giveKey(m.key)
	m.dev.entries.give(m.entries.first, m.entries.n)
	m.use(-1)
	return nil
}

// SGE is an element for n bytes at offset off of the region. It is not checked:
// the device does that.
func (m *MR) SGE(off, n int) SGE {
	return SGE{Addr: m.Addr + uint64(off), Length: uint32(n), LKey: m.LKey}
}
