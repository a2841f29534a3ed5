package ether

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"rnic/driver"
	"rnic/roce"
	"rnic/rtl"
	"rnic/tb"
	"rnic/tb/host"
)

// Config describes a station. Zero values stand for the defaults.
type Config struct {
	Seed     uint64
	MAC      roce.MAC      // 02:00:00:00:00:01
	IPv4     roce.IPv4Addr // 10.0.0.1
	IPv6     roce.GID      // link-local, by the MAC
	TimeUnit uint16        // cycles for 4.096 us of protocol time; the device's, 1024

	// What follows is no part of a recording.
	Strict bool // every rule checked, order of evaluation random
	NIC    rtl.Params
	Host   host.Params // Seed is set from Config.Seed
}

func (c *Config) defaults() {
	c.MAC = cmp.Or(c.MAC, roce.HostMAC(1))
	c.IPv4 = cmp.Or(c.IPv4, roce.HostIPv4(1))
	c.IPv6 = cmp.Or(c.IPv6, roce.LinkLocal(c.MAC))
	c.Host.PeriodPs = tb.PeriodPs
	c.Host.Seed = c.Seed * 2
}

// driver is how the device is opened.
func (c *Config) driver() driver.Config {
	return driver.Config{MAC: c.MAC, IPv4: c.IPv4, GID: c.IPv6, TimeUnit: c.TimeUnit, Seed: c.Seed}
}

// String is the form that recordings have.
func (c *Config) String() string {
	return fmt.Sprintf("seed=%d mac=%v ipv4=%v ipv6=%v unit=%d", c.Seed, c.MAC, netip.AddrFrom4(c.IPv4), c.IPv6, c.TimeUnit)
}

// ParseConfig reads what String writes. The error names the setting that is wrong.
func ParseConfig(s string) (c Config, err error) {
	words := strings.Fields(s)
	names := []string{"seed", "mac", "ipv4", "ipv6", "unit"}
	if len(words) != len(names) {
		return c, fmt.Errorf("%d settings, not %d", len(words), len(names))
	}
	for i, name := range names {
		v, ok := strings.CutPrefix(words[i], name+"=")
		if !ok {
			return c, fmt.Errorf("%q is no %s", words[i], name)
		}
		if err := c.set(name, v); err != nil {
			return c, fmt.Errorf("%s: %w", words[i], err)
		}
	}
	return c, nil
}

func (c *Config) set(name, v string) error {
	switch name {
	case "seed":
		n, err := strconv.ParseUint(v, 10, 64)
		c.Seed = n
		return err
	case "unit":
		n, err := strconv.ParseUint(v, 10, 16)
		c.TimeUnit = uint16(n)
		return err
	case "mac":
		m, err := net.ParseMAC(v)
		if err == nil && len(m) != len(c.MAC) {
			err = fmt.Errorf("an address of %d bytes", len(m))
		}
		copy(c.MAC[:], m)
		return err
	}
	a, err := netip.ParseAddr(v)
	switch {
	case err != nil:
		return err
	case (name == "ipv4") != a.Is4() || a.Zone() != "":
		return fmt.Errorf("not an address of that kind")
	case name == "ipv4":
		c.IPv4 = a.As4()
	default:
		c.IPv6 = a.As16()
	}
	return nil
}
