package csr

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// maskBit of a vector's control word holds its messages back.
const maskBit = 1

// writeVector stores a word of the MSI-X table.
func (c *CSR) writeVector(rel, w uint32) {
	v := &c.D.Vector[rel/16]
	switch rel % 16 {
	case 0:
		v.Addr = v.Addr&^0xffffffff | uint64(w&^3)
	case 4:
		v.Addr = v.Addr&0xffffffff | uint64(w)<<32
	case 8:
		v.Data = w
	case 12:
		v.Control = w & maskBit
	}
}

// lookup answers cq_writer's question for a message. A masked vector becomes
// pending.
func (c *CSR) lookup() {
	if !c.Msix.Valid() || !c.MsixRes.Ready() {
		return
	}
	req := c.Msix.Take()
	if req.Vector >= abi.MSIXCount {
		c.MsixRes.Put(port.MsixRes{})
		return
	}
	v := c.Q.Vector[req.Vector]
	masked := v.Control&maskBit != 0
	if masked {
		c.D.Pending |= 1 << req.Vector
	}
	c.MsixRes.Put(port.MsixRes{Send: !masked, Addr: port.BusAddr(v.Addr), Data: v.Data})
}

// fire raises a vector that became pending and is no longer masked.
func (c *CSR) fire() {
	if c.Q.Pending == 0 || !c.MsixFire.Ready() {
		return
	}
	var open uint64
	for i := range c.Q.Vector {
		if c.Q.Vector[i].Control&maskBit == 0 {
			open |= 1 << i
		}
	}
	if i := hdl.RoundRobin(uint64(c.Q.Pending)&open, -1); i >= 0 {
		c.MsixFire.Put(port.MsixFire{Vector: uint8(i)})
		c.D.Pending &^= 1 << i
	}
}
