package driver

import (
	"fmt"

	"rnic/abi"
)

// SetRawQP has a QP of type RAW_PACKET receive the frames that are not RoCE: to the
// port's MAC address, to all and to groups. One QP at a time does; with nil, and when it
// is destroyed, they are dropped. A frame begins with its Ethernet header and has no FCS;
// a VLAN tag is in the WC. Any QP of the type may send frames of 14 bytes to
// Attr.MaxRawFrame, of the same form. Errors wrap ErrInvalid.
func (d *Device) SetRawQP(q *QP) error {
	if err := d.open(); err != nil {
		return fmt.Errorf("raw QP: %w", err)
	}
	if q == nil {
		return d.setRaw(nil)
	}
	switch {
	case q.dev.device != d.device || q.destroyed:
		return fmt.Errorf("raw QP %d is destroyed (%t), or of another device: %w", q.num, q.destroyed, ErrInvalid)
	case q.typ != abi.QPTypeRaw:
		return fmt.Errorf("raw QP %d is of type %s: %w", q.num, q.typ, ErrInvalid)
	}
	return d.setRaw(q.qp)
}

func (d *Device) setRaw(q *qp) error {
	var r abi.RawQPN
	if q != nil {
		r.QPN = q.num
	}
	d.raw = q
	return d.write32(abi.RegRawQPN, abi.RegWord(abi.RawQPNLayout, r))
}
