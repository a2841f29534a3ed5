package driver_test

import (
	"encoding/binary"
	"net/netip"

	"rnic/abi"
)

// gid is an entry of the GID table, as the registers have it.
func (d *device) gid(i int) (g [16]byte) {
	word := func(k int, off uint32) { binary.BigEndian.PutUint32(g[4*k:], d.reg[off/4]) }
	switch {
	case i == 1:
		if d.reg[abi.RegPortIPv4/4] != 0 {
			word(3, abi.RegPortIPv4)
			g[10], g[11] = 0xff, 0xff
		}
	case i < abi.NumGIDs:
		base := uint32(abi.RegPortGID0)
		if i > 1 {
			base = abi.RegPortGIDs + 16*uint32(i-2)
		}
		for k := range 4 {
			word(k, base+4*uint32(k))
		}
	}
	return g
}

// good tells whether an address vector names an own address that exists.
func (d *device) good(av *abi.AV) bool {
	g := d.gid(int(av.SGIDIndex))
	is4 := func(a [16]byte) bool { return netip.AddrFrom16(a).Is4In6() }
	return av.UDPSPort >= 0xc000 && (!d.needGID || g != [16]byte{} && is4(g) == is4(av.DGID))
}

func (d *device) addressHandle(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
	if c.Op == abi.AdminDestroyAH {
		if d.ahs[c.Object] == nil {
			return abi.AdminBadObject, abi.SynObject
		}
		delete(d.ahs, c.Object)
		return abi.AdminOK, 0
	}
	b := box(d, c, abi.AHMailboxLayout.Decode)
	if d.ahs[c.Object] != nil || b.PD == 0 || c.Object >= d.limit.MaxAH {
		d.m.fault("AH %d: %+v", c.Object, b)
	}
	if !d.good(&b.AV) {
		return abi.AdminBadParam, abi.SynAV
	}
	d.ahs[c.Object] = &b
	return abi.AdminOK, 0
}

// datagram sends a message of a UD QP to the device itself, whatever the address.
func (d *device) datagram(q *fakeQP, c *abi.WQEControl, unit, raw []byte) (abi.WCStatus, uint32) {
	var w abi.WQEUD
	_ = abi.WQEUDLayout.Decode(unit, &w)
	h := d.ahs[w.AH.AHN]
	if h == nil || h.PD != q.PD || c.Op != abi.OpSend && c.Op != abi.OpSendImm {
		return abi.StatusLocQPOp, 0
	}
	data, status := d.gather(q, c, raw)
	switch {
	case status != abi.StatusSuccess:
		return status, 0
	case uint32(len(data)) > abi.MTU(d.reg[abi.RegPortMTU/4]).Bytes():
		return abi.StatusLocLen, 0
	}
	key := w.AH.QKey
	if key>>31 != 0 {
		key = q.QKey
	}
	p := d.qps[w.AH.DestQPN]
	if p == nil || p.Type != abi.QPTypeUD || p.QKey != key || p.State < abi.QPRTR || p.State == abi.QPErr || !d.available(p) {
		return abi.StatusSuccess, uint32(len(data))
	}
	e := abi.CQE{QPN: p.num, SrcQPN: q.num, Opcode: abi.WCRecv, ByteLen: uint32(len(data)) + 40, Imm: c.Imm, Flags: abi.CQEGRH}
	if c.Op == abi.OpSendImm {
		e.Flags |= abi.CQEWithImm
	}
	e.Index, e.Status = d.receive(p, append(d.grh(&h.AV), data...))
	d.cqe(p.RecvCQN, e, c.Flags&abi.WQESolicited != 0)
	return abi.StatusSuccess, uint32(len(data))
}

// grh is what comes before the data of a datagram.
func (d *device) grh(v *abi.AV) []byte {
	h := make([]byte, 40)
	from := d.gid(int(v.SGIDIndex))
	if !netip.AddrFrom16(v.DGID).Is4In6() {
		binary.BigEndian.PutUint32(h, 6<<28|uint32(v.TrafficClass)<<20|v.FlowLabel)
		h[6], h[7] = 17, v.HopLimit
		copy(h[8:], from[:])
		copy(h[24:], v.DGID[:])
		return h
	}
	for i := range 20 {
		h[i] = 0x60 + byte(i) // any bytes
	}
	ip := h[20:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, v.TrafficClass, v.HopLimit, 17
	copy(ip[12:], from[12:])
	copy(ip[16:], v.DGID[12:])
	sum := uint32(0)
	for i := 0; i < 20; i += 2 {
		sum += uint32(ip[i])<<8 | uint32(ip[i+1])
	}
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
	return h
}

// rawSend sends a frame of a RAW_PACKET QP.
func (d *device) rawSend(q *fakeQP, c *abi.WQEControl, raw []byte) (abi.WCStatus, uint32) {
	data, status := d.gather(q, c, raw)
	if status == abi.StatusSuccess && (len(data) < 14 || len(data) > 4096) {
		status = abi.StatusLocLen
	}
	if status == abi.StatusSuccess {
		d.wire = append(d.wire, string(data))
	}
	return status, uint32(len(data))
}

// frame comes from the wire and is not RoCE.
func (d *device) frame(data []byte, tagged bool, tci uint16) {
	p := d.qps[d.reg[abi.RegRawQPN/4]]
	if p == nil || p.Type != abi.QPTypeRaw || !d.available(p) {
		return
	}
	e := abi.CQE{QPN: p.num, Opcode: abi.WCRecv, ByteLen: uint32(len(data))}
	if tagged {
		e.Flags, e.Imm = abi.CQEVLAN, uint32(tci)
	}
	e.Index, e.Status = d.receive(p, data)
	d.cqe(p.RecvCQN, e, false)
}
