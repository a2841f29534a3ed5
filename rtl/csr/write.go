package csr

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/pcie"
	"rnic/rtl/port"
)

// write executes a write of one beat; false: no room downstream yet.
func (c *CSR) write(b *pcie.Beat) bool {
	off, n := uint32(b.Hdr.Start())&(abi.BARSize-1), uint32(b.Hdr.Bytes())
	region, page, rel := abi.Locate(off)
	switch {
	case region == abi.RegionDoorbell && rel == 0 && n == 8:
		return c.doorbell(page, binary.LittleEndian.Uint64(b.Data[:]))
	case region == abi.RegionPush && rel == 0 && n == abi.PushSize:
		return c.push(page, &b.Data)
	case region == abi.RegionPush && rel%8 == 0 && n == 8:
		c.Windows.Read(0, int(page))
		d := &c.D
		d.State, d.Page, d.Lane = merge, page, uint8(rel/8)
		d.Bytes = binary.LittleEndian.Uint64(b.Data[:])
		return true
	case (n == 4 || n == 8) && off%n == 0 && (region == abi.RegionGlobal || region == abi.RegionMSIXTable):
		for i := uint32(0); i < n; i += 4 {
			w := binary.LittleEndian.Uint32(b.Data[i:])
			if region == abi.RegionGlobal {
				c.writeReg(off+i, w)
			} else {
				c.writeVector(rel+i, w)
			}
		}
		return true
	}
	c.ignore()
	return true
}

// writable are the registers that keep what is written.
var writable = func() (rs []abi.Register) {
	for _, r := range abi.Registers() {
		if r.Access == abi.RW || r.Access == abi.WO {
			rs = append(rs, r)
		}
	}
	return rs
}()

// writeReg stores a global register and brings the levels up to date.
func (c *CSR) writeReg(off, w uint32) {
	d := &c.D
	r := abi.RegisterAt(off)
	if r == nil || r.Access == abi.RO {
		c.ignore()
		return
	}
	switch off {
	case abi.RegPortMTU:
		if abi.RegFields(abi.PortMTULayout, w).MTU.Bytes() == 0 {
			c.ignore()
			return
		}
	case abi.RegTimeUnit:
		if w&0xffff == 0 {
			w = 1
		}
	}
	d.Word[off/4] = w & mask(r)
	c.levels()
}

// mask has ones where the register has fields.
func mask(r *abi.Register) (m uint32) {
	for i := range r.Fields {
		if f := &r.Fields[i]; !f.Reserved {
			m |= uint32((uint64(1)<<f.Width - 1) << f.BitOffset)
		}
	}
	return m
}

// doorbell passes a doorbell on; false: no room yet.
func (c *CSR) doorbell(page uint8, v uint64) bool {
	bell := abi.UnpackDoorbell(v)
	switch bell.Kind {
	case abi.DoorbellSQ, abi.DoorbellRQ, abi.DoorbellSRQ:
		if !c.QPBell.Ready() {
			return false
		}
		c.QPBell.Put(port.QPDoorbell{
			QPN: port.QPN(bell.Number), RQ: bell.Kind == abi.DoorbellRQ, SRQ: bell.Kind == abi.DoorbellSRQ,
			Index: bell.Index, Page: page,
		})
	case abi.DoorbellCQ, abi.DoorbellCQArm, abi.DoorbellEQ:
		if !c.CQBell.Ready() {
			return false
		}
		c.CQBell.Put(port.CQDoorbell{
			EQ: bell.Kind == abi.DoorbellEQ, CQN: port.CQN(bell.Number), CI: bell.Index,
			Arm: bell.Kind != abi.DoorbellCQ, Solicited: bell.SolicitedOnly, Page: page,
		})
	default:
		c.ignore()
		return true
	}
	c.D.Stats.Doorbells++
	return true
}
