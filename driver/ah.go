package driver

import (
	"fmt"

	"rnic/abi"
)

// AHAttr is the way to a peer. Zero values stand for the defaults.
type AHAttr struct {
	MAC          [6]byte  // of the peer, or of the router that leads there
	DGID         [16]byte // IPv6 address, or IPv4-mapped: netip.Addr.As16; of one host
	SGIDIndex    int      // own address: entry of the GID table; 0: GID 0 or, for an IPv4 peer, GID 1
	HopLimit     uint8    // 64
	TrafficClass uint8    // DSCP in bits 7:2, ECN in 1:0
	FlowLabel    uint32   // 20 bits
	UDPSPort     uint16   // 0xc000 and up; by the flow label, if there is none by the number of the AH or QP
	VLANValid    bool     // packets carry an 802.1Q tag
	VLAN         uint16   // its tag control: priority 15:13, DEI 12 (may be dropped first), VLAN 11:0, 0 to 0xffe
}

// av is the address vector; number is that of the AH or QP.
func (a *AHAttr) av(d *Device, number uint32) (abi.AV, error) {
	sgid, err := a.check(d)
	if err != nil {
		return abi.AV{}, err
	}
	av := abi.AV{
		DMAC: a.MAC, DGID: a.DGID, SGIDIndex: sgid, HopLimit: a.HopLimit, TrafficClass: a.TrafficClass,
		FlowLabel: a.FlowLabel, UDPSPort: a.UDPSPort, VLANValid: a.VLANValid, VLAN: a.VLAN,
	}
	set(&av.HopLimit, 64)
	set(&av.UDPSPort, udpSPort(a.FlowLabel, number))
	return av, nil
}

// firstUDPSPort is the first of the dynamic ports.
const firstUDPSPort = 0xc000

// udpSPort is the source port that stands for a flow.
func udpSPort(flowLabel, number uint32) uint16 {
	if flowLabel == 0 {
		return firstUDPSPort | uint16(number)&0x3fff
	}
	return firstUDPSPort | uint16(flowLabel&0x3fff^flowLabel>>14&0x3f)
}

// AH is an address handle: where a send of a UD QP goes.
type AH struct {
	*ah
	dev *Device
}

type ah struct {
	num       uint32
	pd        *pd
	destroyed bool
}

// CreateAH makes an address handle. Errors wrap ErrInvalid, ErrNotSupported (multicast)
// or ErrNoMemory.
func (p *PD) CreateAH(attr AHAttr) (*AH, error) {
	d := p.dev
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("create AH: %w", err)
	}
	if p.destroyed {
		return nil, fmt.Errorf("create AH: PD %d is destroyed: %w", p.num, ErrInvalid)
	}
	n, err := d.takeUnnamed(&d.ahns, (*qp).namesAHs)
	if err != nil {
		return nil, fmt.Errorf("create AH: number: %w", err)
	}
	h := &AH{ah: &ah{num: n, pd: p.pd}, dev: d}
	if err := h.create(&attr); err != nil {
		d.ahns.give(n)
		return nil, fmt.Errorf("create AH: %w", err)
	}
	return h, nil
}

// create has the device make the handle. The PD counts as used already.
func (h *AH) create(attr *AHAttr) error {
	av, err := attr.av(h.dev, h.num)
	if err != nil {
		return err
	}
	h.pd.refs++
	var b [abi.MailboxSize]byte
	abi.AHMailboxLayout.Encode(&abi.AHMailbox{PD: h.pd.num, AV: av}, b[:])
	if err := h.dev.command(abi.AdminCreateAH, h.num, &b, false); err != nil {
		h.pd.refs--
		return err
	}
	h.dev.ahs[h.num] = h.ah
	return nil
}

// On returns the handle as the thread of another handle of the device sees it.
func (h *AH) On(d *Device) *AH { return &AH{ah: h.ah, dev: d} }

// Number is the AHN, 24 bits.
func (h *AH) Number() uint32 { return h.num }

// Destroy gives the handle up. Sends that name it and have not begun fail, with
// LOC_QP_OP_ERR; as long as there are any, no other handle gets its number.
func (h *AH) Destroy() error {
	if h.destroyed {
		return fmt.Errorf("AH %d is destroyed: %w", h.num, ErrInvalid)
	}
	h.destroyed = true
	if err := h.dev.command(abi.AdminDestroyAH, h.num, nil, false); err != nil {
		h.destroyed = false
		return err
	}
	h.dev.ahs[h.num] = nil
	h.dev.ahns.rest(h.num)
	h.pd.refs--
	return nil
}
