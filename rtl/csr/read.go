package csr

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/pcie"
)

// read answers a memory read of 4 or 8 aligned bytes, and one of no bytes (a
// flush). Any other is an unsupported request.
func (c *CSR) read(h *pcie.TLP) {
	off, n := uint32(h.Start())&(abi.BARSize-1), uint32(h.Bytes())
	b := c.MmioCpl.Next()
	*b = pcie.Beat{First: true, Last: true, Hdr: pcie.TLP{
		Kind: pcie.CplD, Class: h.Class, Attr: h.Attr, ID: h.ID, Tag: h.Tag,
		Len: h.Len, Count: pcie.ByteCount(max(n, 1)), Lower: pcie.LowerAddr(h.Start() & 0x7f),
	}}
	switch {
	case n == 0:
		b.Len, b.Hdr.Len = 1, 1
	case (n == 4 || n == 8) && off%n == 0:
		b.Len = uint8(n)
		for i := uint32(0); i < n; i += 4 {
			binary.LittleEndian.PutUint32(b.Data[i:], c.readWord(off+i))
		}
	default:
		b.Hdr.Kind, b.Hdr.Status, b.Hdr.Len = pcie.Cpl, pcie.UnsupportedRequest, 0
		b.Hdr.Count = pcie.ByteCount(min(n, pcie.MaxRequest))
		c.D.Stats.ReadUnmapped++
	}
}

// readWord is the 32-bit word at a multiple of 4.
func (c *CSR) readWord(off uint32) uint32 {
	q, d := &c.Q, &c.D
	region, _, rel := abi.Locate(off)
	switch region {
	case abi.RegionGlobal:
		return c.readReg(off)
	case abi.RegionCounters:
		if rel%8 == 4 {
			return d.CounterHi
		}
		v := c.counter(abi.Counter(rel / 8))
		d.CounterHi = uint32(v >> 32)
		return uint32(v)
	case abi.RegionMSIXTable:
		v := &q.Vector[rel/16]
		return [...]uint32{uint32(v.Addr), uint32(v.Addr >> 32), v.Data, v.Control}[rel%16/4]
	case abi.RegionMSIXPBA:
		if rel == 0 {
			return uint32(q.Pending)
		}
		return 0
	}
	d.Stats.ReadUnmapped++
	return 0
}

// readReg is a global register.
func (c *CSR) readReg(off uint32) uint32 {
	d := &c.D
	r := abi.RegisterAt(off)
	switch {
	case r == nil:
		d.Stats.ReadUnmapped++
		return 0
	case r.Access == abi.WO:
		return 0
	case r.Access == abi.RW:
		return c.Q.Word[off/4]
	}
	switch off {
	case abi.RegStatus:
		admin := c.Taps.Admin.Get()
		return abi.RegWord(abi.StatusLayout, abi.Status{
			Ready: true, LinkUp: c.PortReg.Get().Enable, AdminEnabled: admin.Enabled, AdminError: admin.Failed,
		})
	case abi.RegCyclesLo:
		d.CyclesHi = uint32(c.Now() >> 32)
		return uint32(c.Now())
	case abi.RegCyclesHi:
		return d.CyclesHi
	}
	return r.Reset // ID, VERSION and what the device can do
}
