package driver

import (
	"errors"
	"fmt"
	"net/netip"
)

// errMulticast is the error of an address of a group: the device sends to single hosts.
var errMulticast = fmt.Errorf("multicast is %w", ErrNotSupported)

// checkMAC judges the MAC address of a host.
func checkMAC(m [6]byte) error {
	switch {
	case m == [6]byte{}:
		return fmt.Errorf("MAC address missing: %w", ErrInvalid)
	case m[0]&1 != 0:
		return fmt.Errorf("MAC address % x: %w", m, errMulticast)
	}
	return nil
}

// checkUnicast judges the IP address of a host; IPv4 is not mapped.
func checkUnicast(a netip.Addr) error {
	switch {
	case a.IsUnspecified():
		return fmt.Errorf("address %s: %w", a, ErrInvalid)
	case a.IsMulticast() || a.Unmap() == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("address %s: %w", a, errMulticast)
	}
	return nil
}

// own makes the error of a port's own address ErrInvalid: there is none that would be
// right with another device.
func own(err error) error {
	if err == nil || errors.Is(err, ErrInvalid) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}

// family names that of an IP address.
func family(a netip.Addr) string {
	if a.Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// maxVLAN is the largest VLAN: 802.1Q reserves 0xfff.
const maxVLAN = 0xffe

// check judges the way to a peer, and chooses the own address: sgid is its entry of the
// GID table.
func (a *AHAttr) check(d *Device) (sgid uint8, err error) {
	if a.SGIDIndex < 0 || a.SGIDIndex >= d.numGIDs() {
		return 0, fmt.Errorf("GID %d, the device has %d: %w", a.SGIDIndex, d.numGIDs(), ErrInvalid)
	}
	to := netip.AddrFrom16(a.DGID).Unmap()
	sgid = uint8(a.SGIDIndex)
	if sgid == 0 && to.Is4() {
		sgid = 1
	}
	if err := checkMAC(a.MAC); err != nil {
		return 0, err
	}
	if err := checkUnicast(to); err != nil {
		return 0, fmt.Errorf("DGID: %w", err)
	}
	from := d.gid(int(sgid))
	switch {
	case !from.IsValid():
		return 0, fmt.Errorf("own address, GID %d, is free, for DGID %s: %w", sgid, to, ErrInvalid)
	case from.Is4() != to.Is4():
		return 0, fmt.Errorf("DGID %s is %s, own GID %d, %s, is %s: %w", to, family(to), sgid, from, family(from), ErrInvalid)
	case a.FlowLabel >= 1<<20:
		return 0, fmt.Errorf("flow label %#x has more than 20 bits: %w", a.FlowLabel, ErrInvalid)
	case a.UDPSPort != 0 && a.UDPSPort < firstUDPSPort:
		return 0, fmt.Errorf("UDP source port %#x, must be %#x and up: %w", a.UDPSPort, firstUDPSPort, ErrInvalid)
	case a.VLANValid && a.VLAN&0xfff > maxVLAN:
		return 0, fmt.Errorf("VLAN %d is reserved, must be 0 to %d: %w", a.VLAN&0xfff, maxVLAN, ErrInvalid)
	}
	return sgid, nil
}
