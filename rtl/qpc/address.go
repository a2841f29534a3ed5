package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// Address is the way to a peer: an address vector, with the own address that its
// SGIDIndex named when it was given.
type Address struct {
	V6    bool
	DMAC  [6]byte
	DGID  [16]byte // IPv4: ::ffff:a.b.c.d
	SIP   [16]byte
	Index uint8  // of SIP in the GID table
	Flow  uint32 // 20 bits
	SPort uint16
	TOS   uint8
	TTL   uint8
	VLAN  bool
	TCI   uint16 // 802.1Q tag control
}

// validAV tells whether an address vector is one of RoCEv2: a source address that there
// is, of the family of its destination, and a source port of the range for entropy.
func validAV(av *abi.AV, g *port.GIDTable) bool {
	if av.SGIDIndex >= abi.NumGIDs {
		return false
	}
	own := g.GID[av.SGIDIndex]
	_, v4 := roce.GID(av.DGID).IPv4()
	_, own4 := roce.GID(own).IPv4()
	return own != [16]byte{} && own4 == v4 && av.UDPSPort >= 0xc000 && av.DGID != [16]byte{}
}

// addressOf is what a valid address vector says.
func addressOf(av *abi.AV, g *port.GIDTable) Address {
	_, v4 := roce.GID(av.DGID).IPv4()
	a := Address{
		V6: !v4, DMAC: av.DMAC, DGID: av.DGID, SIP: g.GID[av.SGIDIndex], Index: av.SGIDIndex,
		Flow: av.FlowLabel, SPort: av.UDPSPort, TOS: av.TrafficClass, TTL: av.HopLimit, VLAN: av.VLANValid,
	}
	if a.VLAN {
		a.TCI = av.VLAN
	}
	return a
}

// vector is the address vector again.
func (a *Address) vector() abi.AV {
	return abi.AV{
		DMAC: a.DMAC, SGIDIndex: a.Index, HopLimit: a.TTL, DGID: a.DGID, FlowLabel: a.Flow,
		TrafficClass: a.TOS, UDPSPort: a.SPort, VLANValid: a.VLAN, VLAN: a.TCI,
	}
}

// header puts the address into the headers of a packet.
func (a *Address) header(h *port.TxHdr) {
	h.V6, h.DMAC, h.DIP, h.SIP = a.V6, a.DMAC, a.DGID, a.SIP
	h.Flow, h.SPort, h.TOS, h.TTL = a.Flow, a.SPort, a.TOS, a.TTL
	h.VLAN, h.TCI = a.VLAN, a.TCI
}

// from tells whether a packet comes from there: the same two addresses and the same
// VLAN. A packet without tag, or with one of priority only, is of VLAN 0.
func (a *Address) from(p *port.RxPkt) bool {
	return p.V6 == a.V6 && p.SIP == a.DGID && p.DIP == a.SIP && vid(p.VLAN, p.TCI) == vid(a.VLAN, a.TCI)
}

// vid is the VLAN of a packet.
func vid(tagged bool, tci uint16) uint16 {
	if !tagged {
		return 0
	}
	return tci & 0xfff
}
