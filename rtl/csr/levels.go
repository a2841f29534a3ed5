package csr

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// levels derives AdminReg, PortReg and GIDs from the registers as they will be.
func (c *CSR) levels() {
	w := func(off uint32) uint32 { return c.D.Word[off/4] }
	wide := func(off uint32) uint64 { return uint64(w(off+4))<<32 | uint64(w(off)) }
	ctrl := abi.RegFields(abi.CtrlLayout, w(abi.RegCtrl))
	irq := abi.RegFields(abi.AdminVectorLayout, w(abi.RegAdminVector))
	c.AdminReg.Set(port.AdminReg{
		Enable:   ctrl.Enable,
		SQBase:   port.BusAddr(wide(abi.RegAdminSQBaseLo)),
		CQBase:   port.BusAddr(wide(abi.RegAdminCQBaseLo)),
		LogSize:  abi.RegFields(abi.AdminLogSizeLayout, w(abi.RegAdminLogSize)).LogSize,
		PI:       abi.RegFields(abi.AdminDoorbellLayout, w(abi.RegAdminDoorbell)).Index,
		Vector:   irq.Vector,
		VectorOn: irq.Enable,
	})
	p := port.PortReg{
		Enable:   abi.RegFields(abi.LinkCtrlLayout, w(abi.RegLinkCtrl)).Enable,
		MTU:      uint16(abi.RegFields(abi.PortMTULayout, w(abi.RegPortMTU)).MTU.Bytes()),
		PKey:     abi.RegFields(abi.PortPKeyLayout, w(abi.RegPortPKey)).PKey,
		RawQPN:   port.QPN(abi.RegFields(abi.RawQPNLayout, w(abi.RegRawQPN)).QPN),
		TimeUnit: uint32(abi.RegFields(abi.TimeUnitLayout, w(abi.RegTimeUnit)).Cycles),
	}
	mac := wide(abi.RegPortMACLo)
	for i := range p.MAC {
		p.MAC[i] = byte(mac >> (40 - 8*i))
	}
	p.IPv4 = ipv4(w)
	g := gids(w)
	p.GID0 = g.GID[0]
	c.PortReg.Set(p)
	c.GIDs.Set(g)
}

func ipv4(w func(off uint32) uint32) (a roce.IPv4Addr) {
	binary.BigEndian.PutUint32(a[:], w(abi.RegPortIPv4))
	return a
}

// gids is the table of the port's addresses; w is the register at an offset.
func gids(w func(off uint32) uint32) (t port.GIDTable) {
	read := func(n int, off uint32) {
		for i := range uint32(4) {
			binary.BigEndian.PutUint32(t.GID[n][4*i:], w(off+4*i))
		}
	}
	read(0, abi.RegPortGID0)
	for n := 2; n < abi.NumGIDs; n++ {
		read(n, abi.RegPortGIDs+16*uint32(n-2))
	}
	if a := ipv4(w); a != (roce.IPv4Addr{}) {
		t.GID[1] = roce.GIDFromIPv4(a)
	}
	return t
}
