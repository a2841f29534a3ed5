package driver

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"rnic/abi"
)

// GRHSize is the bytes before the data of a datagram in its receive buffer: an IPv6
// header, or 20 bytes of no meaning and an IPv4 header.
const GRHSize = 40

// AHAttrFromWC is the way back to the sender of a datagram: wc is the completion of
// its receive, grh the first GRHSize bytes of the buffer. The destination of the
// datagram must be in the GID table. The MAC address, and the VLAN, are in neither:
// they are left for the program to fill in. Errors wrap ErrInvalid, or ErrNotFound for
// a destination that is none of the port's.
func (d *Device) AHAttrFromWC(wc *WC, grh []byte) (AHAttr, error) {
	switch {
	case wc == nil:
		return AHAttr{}, fmt.Errorf("no completion: %w", ErrInvalid)
	case wc.Status != abi.StatusSuccess || !wc.Opcode.IsRecv() || wc.Flags&abi.CQEGRH == 0:
		return AHAttr{}, fmt.Errorf("completion %s, %s with flags %s is of no datagram: %w", wc.Opcode, wc.Status, wc.Flags, ErrInvalid)
	case len(grh) < GRHSize:
		return AHAttr{}, fmt.Errorf("GRH of %d bytes, not %d: %w", len(grh), GRHSize, ErrInvalid)
	}
	a := AHAttr{HopLimit: 255}
	var own netip.Addr
	switch ip4 := grh[20:GRHSize]; {
	case isIPv4(ip4):
		a.DGID = netip.AddrFrom4([4]byte(ip4[12:16])).As16()
		own = netip.AddrFrom4([4]byte(ip4[16:20]))
		a.TrafficClass = ip4[1]
	case grh[0]>>4 == 6:
		a.DGID = [16]byte(grh[8:24])
		own = netip.AddrFrom16([16]byte(grh[24:40])).Unmap()
		w := binary.BigEndian.Uint32(grh)
		a.TrafficClass, a.FlowLabel = uint8(w>>20), w&0xfffff
	default:
		return a, fmt.Errorf("GRH % x is no IP header: %w", grh[:GRHSize], ErrInvalid)
	}
	if a.TrafficClass&3 == 3 { // marked on its way; ours is not
		a.TrafficClass &^= 1
	}
	for i := range d.numGIDs() {
		if g := d.gid(i); g.IsValid() && g == own {
			a.SGIDIndex = i
			return a, nil
		}
	}
	return a, fmt.Errorf("datagram to %s, which is not in the GID table: %w", own, ErrNotFound)
}

// CreateAHFromWC makes an address handle for the sender of a datagram, as
// AHAttrFromWC tells it. mac is the sender's, or the router's that leads there.
func (p *PD) CreateAHFromWC(wc *WC, grh []byte, mac [6]byte) (*AH, error) {
	attr, err := p.dev.AHAttrFromWC(wc, grh)
	if err != nil {
		return nil, fmt.Errorf("create AH: %w", err)
	}
	attr.MAC = mac
	return p.CreateAH(attr)
}

// isIPv4 tells a good IPv4 header without options from the end of an IPv6 header: by
// its checksum, as the bytes before it are undefined.
func isIPv4(h []byte) bool {
	if h[0] != 0x45 {
		return false
	}
	sum := uint32(0)
	for i := 0; i < len(h); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	return sum>>16+sum&0xffff == 0xffff
}
