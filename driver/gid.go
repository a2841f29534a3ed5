package driver

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"rnic/abi"
)

// numGIDs is the number of entries of the GID table.
func (d *Device) numGIDs() int { return min(int(d.Attr.GIDs), abi.NumGIDs) }

// GIDs are the port's addresses, by the index that AHAttr and ConnectOptions name; an
// address that is not valid stands for an entry that is free. Entry 0 is the IPv6
// address and entry 1 the IPv4 address of the Config; a GID that is IPv4-mapped is
// an IPv4 address here.
func (d *Device) GIDs() []netip.Addr {
	addrs := make([]netip.Addr, d.numGIDs())
	for i := range addrs {
		addrs[i] = d.gid(i)
	}
	return addrs
}

func (d *device) gid(i int) netip.Addr {
	a := netip.AddrFrom16(d.gids[i]).Unmap()
	if a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

// SetGID gives the port an address: entry 0 takes an IPv6 address, entry 1 an IPv4
// address, the others either. The zero Addr, and an unspecified one, free the entry.
// QPs and address handles that use the entry keep the address that it had when they
// were connected, or made. An address is that of one host, and in one entry only. Errors
// wrap ErrInvalid.
func (d *Device) SetGID(index int, a netip.Addr) error {
	if err := d.open(); err != nil {
		return fmt.Errorf("GID %d: %w", index, err)
	}
	a = a.Unmap()
	switch {
	case index < 0 || index >= d.numGIDs():
		return fmt.Errorf("GID %d, the device has %d: %w", index, d.numGIDs(), ErrInvalid)
	case a.Zone() != "":
		return fmt.Errorf("GID %d, %s has a zone: %w", index, a, ErrInvalid)
	case index == 0 && a.Is4() && !a.IsUnspecified(), index == 1 && a.Is6() && !a.IsUnspecified():
		return fmt.Errorf("GID %d can't be %s: 0 is the IPv6 address, 1 the IPv4 address: %w", index, a, ErrInvalid)
	}
	var g [16]byte
	if a.IsValid() && !a.IsUnspecified() {
		if err := own(checkUnicast(a)); err != nil {
			return fmt.Errorf("GID %d: %w", index, err)
		}
		for i := range d.numGIDs() {
			if i != index && d.gid(i) == a {
				return fmt.Errorf("GID %d: GID %d is %s already: %w", index, i, a, ErrInvalid)
			}
		}
		g = a.As16()
	}
	d.gids[index] = g
	if index == 1 {
		return d.write32(abi.RegPortIPv4, binary.BigEndian.Uint32(g[12:]))
	}
	base := uint32(abi.RegPortGID0)
	if index > 1 {
		base = abi.RegPortGIDs + 16*uint32(index-2)
	}
	for i := range uint32(4) {
		if err := d.write32(base+4*i, binary.BigEndian.Uint32(g[4*i:])); err != nil {
			return err
		}
	}
	return nil
}

// MTU is the port's: the largest payload of a datagram, and upper limit of the path
// MTU of a QP.
func (d *Device) MTU() abi.MTU { return d.mtu }

// SetMTU changes the port's MTU. QPs that are connected keep theirs.
func (d *Device) SetMTU(m abi.MTU) error {
	if err := d.open(); err != nil {
		return fmt.Errorf("MTU: %w", err)
	}
	if m.Bytes() == 0 || m > d.Attr.MaxMTU {
		return fmt.Errorf("MTU %s, the device has up to %s: %w", m, d.Attr.MaxMTU, ErrInvalid)
	}
	d.mtu = m
	return d.write32(abi.RegPortMTU, uint32(m))
}
