package driver

import (
	"fmt"

	"rnic/abi"
)

// AllocFastMR makes a region without memory, with room for maxPages pages: a FAST_REG
// work request gives it some, until its key is invalidated. Errors wrap ErrInvalid,
// ErrNotSupported or ErrNoMemory.
func (p *PD) AllocFastMR(maxPages int) (*MR, error) {
	d := p.dev
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("region for FAST_REG: %w", err)
	}
	most := d.mostFastPages()
	switch {
	case p.destroyed:
		return nil, fmt.Errorf("region for FAST_REG: PD %d is destroyed: %w", p.num, ErrInvalid)
	case most == 0:
		return nil, fmt.Errorf("FAST_REG: %w", ErrNotSupported)
	case maxPages < 1 || maxPages > most:
		return nil, fmt.Errorf("region for FAST_REG of %d pages, at most %d: %w", maxPages, most, ErrInvalid)
	}
	key, err := d.takeKey()
	if err != nil {
		return nil, err
	}
	m := &mr{key: key, pd: p.pd, kind: abi.KeyFastReg}
	box := abi.MRMailbox{PD: p.num, KeyLow: key.Low(), Kind: abi.KeyFastReg, NumPages: uint32(maxPages)}
	if err := d.register(m, &box, nil); err != nil {
		d.keys.give(key.Index())
		return nil, fmt.Errorf("region for FAST_REG: %w", err)
	}
	return &MR{LKey: key, RKey: key, mr: m, dev: d}, nil
}

// mostFastPages is the most pages of a FAST_REG.
func (d *Device) mostFastPages() int { return min(int(d.Attr.MaxFastRegPages), abi.MaxFastRegPages) }

// FastReg is what a FAST_REG work request says: the memory of a region that AllocFastMR
// made. Posting it changes the keys, Addr and Length of this MR, not of other handles
// of the region. The memory must stay until the key is invalidated.
type FastReg struct {
	MR          *MR
	Key         abi.Key         // the new key, of the region's index with any low byte; 0: as it is
	Addr        uint64          // virtual address of the first byte; at this offset, modulo the size of a page, in the first page
	Length      uint64          // bytes
	LogPageSize uint8           // log2 of the bytes of a page; 12 if 0
	Pages       []uint64        // bus addresses of the pages, no more than it has bytes in; of 4 KiB: see Buffer.Pages
	Access      abi.AccessFlags // what is allowed; local read always is
}

// key is the key as it is to be.
func (f *FastReg) key() abi.Key {
	if f.Key == 0 {
		return f.MR.key
	}
	return f.Key
}

// logPage is log2 of the bytes of a page.
func (f *FastReg) logPage() uint8 {
	if f.LogPageSize == 0 {
		return 12
	}
	return f.LogPageSize
}

// checkFastReg judges a registration. That its pages are those of Length bytes, and that
// the region is not valid yet, is for the device to judge.
func (q *QP) checkFastReg(f *FastReg) error {
	switch {
	case f == nil || f.MR == nil || f.MR.dead || f.MR.dev.device != q.dev.device || f.MR.kind != abi.KeyFastReg:
		return fmt.Errorf("FAST_REG of no region that AllocFastMR of this device made: %w", ErrInvalid)
	case f.key().Index() != f.MR.key.Index():
		return fmt.Errorf("FAST_REG of region %#x with key %#x: %w", f.MR.LKey, f.Key, ErrInvalid)
	case len(f.Pages) < 1 || len(f.Pages) > int(f.MR.entries.n) || len(f.Pages) > q.maxFastPages:
		return fmt.Errorf("FAST_REG of %d pages, the region has room for %d, the QP for %d: %w",
			len(f.Pages), f.MR.entries.n, q.maxFastPages, ErrInvalid)
	case f.logPage() > 63 || q.dev.Attr.PageSizes>>f.logPage()&1 == 0:
		return fmt.Errorf("FAST_REG with pages of 2^%d bytes: %w", f.logPage(), ErrInvalid)
	case f.Access&^q.dev.Attr.Access != 0:
		return fmt.Errorf("FAST_REG with %s, the device has %s: %w", f.Access, q.dev.Attr.Access, ErrNotSupported)
	case f.Access&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) != 0 && f.Access&abi.AccessLocalWrite == 0:
		return fmt.Errorf("FAST_REG with %s, without local write: %w", f.Access, ErrInvalid)
	}
	return nil
}

// done is what a posted registration changes.
func (f *FastReg) done() {
	f.MR.key = f.key()
	f.MR.LKey, f.MR.RKey = f.MR.key, f.MR.key
	f.MR.Addr, f.MR.Length = f.Addr, f.Length
}

// fastRegUnits is the units of a FAST_REG WQE.
func fastRegUnits(pages int) int { return 1 + (8*pages+abi.UnitSize-1)/abi.UnitSize }
