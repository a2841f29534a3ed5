package driver

import (
	"fmt"
	"net/netip"

	"rnic/abi"
)

// Config says how a device is opened. Zero values stand for the defaults.
type Config struct {
	MAC  [6]byte  // of one host; there is no default
	IPv4 [4]byte  // GID 1 is its IPv4-mapped form; 0: none
	GID  [16]byte // GID 0, an IPv6 address; 0: none
	MTU  abi.MTU  // largest path MTU of a QP; the device's largest
	PKey uint16   // 0xffff; the low 15 bits are not 0

	MSIXAddress uint64 // where interrupts are written, with the vector as data, a multiple of 4; 0xFEE00000
	Vectors     int    // completion vectors, at most the device's MSI-X vectors less one; 4
	TimeUnit    uint16 // clock cycles for 4.096 us of protocol time; the device's

	PostCost     int64  // CPU time of a work request posted, ps; 50 ns
	PollCost     int64  // CPU time of a poll that finds nothing, ps; 30 ns
	AdminTimeout int64  // after which a silent device is given up, ps; 10 ms
	NoPush       bool   // never push WQEs through the doorbell page
	Seed         uint64 // of the first PSNs that the driver chooses
}

const (
	logAdmin     = 5    // entries of the admin rings
	logEQ        = 8    // entries of an event queue
	maxAsync     = 4096 // asynchronous events that are kept for the program
	adminVector  = 0    // also that of event queue 0
	pageSize     = 4096
	ringAlign    = 4096
	pollInterval = 1_000_000 // ps between reads of a register that is to change
)

func (c *Config) defaults() {
	if c.MSIXAddress == 0 {
		c.MSIXAddress = 0xFEE0_0000
	}
	if c.Vectors == 0 {
		c.Vectors = 4
	}
	if c.PKey == 0 {
		c.PKey = 0xffff
	}
	if c.PostCost == 0 {
		c.PostCost = 50_000
	}
	if c.PollCost == 0 {
		c.PollCost = 30_000
	}
	if c.AdminTimeout == 0 {
		c.AdminTimeout = 10_000_000_000
	}
}

// check judges what no device could work with; what depends on the device is judged
// later. The defaults are in.
func (c *Config) check() error {
	if err := checkMAC(c.MAC); err != nil {
		return own(err)
	}
	g := netip.AddrFrom16(c.GID)
	for _, a := range []netip.Addr{netip.AddrFrom4(c.IPv4), g} {
		if a.IsUnspecified() {
			continue
		}
		if err := checkUnicast(a); err != nil {
			return own(err)
		}
	}
	switch {
	case g.Is4In6():
		return fmt.Errorf("GID %s is an IPv4 address, which GID 1 is made of: %w", g, ErrInvalid)
	case c.PKey&0x7fff == 0:
		return fmt.Errorf("P_Key %#04x, whose low 15 bits are 0: %w", c.PKey, ErrInvalid)
	case c.MSIXAddress%4 != 0:
		return fmt.Errorf("MSI-X address %#x is no multiple of 4: %w", c.MSIXAddress, ErrInvalid)
	case c.AdminTimeout < 0 || c.PostCost < 0 || c.PollCost < 0:
		return fmt.Errorf("negative time: AdminTimeout %d, PostCost %d, PollCost %d ps: %w", c.AdminTimeout, c.PostCost, c.PollCost, ErrInvalid)
	}
	return nil
}
