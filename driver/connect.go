package driver

import (
	"errors"
	"fmt"
	"net/netip"

	"rnic/abi"
)

// ConnectOptions are attributes of a connection. Zero values stand for the
// defaults.
type ConnectOptions struct {
	MTU             abi.MTU         // 1024, or the port's if that is less
	Access          abi.AccessFlags // what the peer may do; all that the device knows
	Timeout         uint8           // 14: 67 ms
	RetryCnt        uint8           // 0
	RNRRetry        uint8           // 0
	MinRNRTimer     uint8           // 12: 0.64 ms
	MaxRdAtomic     int             // READs and atomics in flight as initiator; the device's most; negative: none
	MaxDestRdAtomic int             // and as responder
	HopLimit        uint8           // 64
	TrafficClass    uint8
	FlowLabel       uint32 // 20 bits
	UDPSPort        uint16 // 0xc000 and up; by the flow label, if there is none by the QPN
	SGIDIndex       int    // own address: entry of the GID table; QPConfig.GIDIndex, if that is 0 GID 0 or, for an IPv4 peer, GID 1
	VLANValid       bool   // packets carry an 802.1Q tag
	VLAN            uint16 // its tag control: priority 15:13, DEI 12 (may be dropped first), VLAN 11:0, 0 to 0xffe
}

// Init takes an RC or UC QP from RESET to INIT: receives may be posted from then on.
func (q *QP) Init(access abi.AccessFlags) error {
	attr := QPAttr{State: abi.QPInit, Port: 1, Access: access}
	mask := abi.AttrState | abi.AttrPKeyIndex | abi.AttrPort | abi.AttrAccessFlags
	return q.Modify(attr, mask)
}

// Connect takes an RC or UC QP from RESET or INIT to RTS, with remote as its peer. The
// peer must do the same with this QP's Endpoint, whose GID must be of the family of
// remote's. UC has no use for the options of retries, READs and atomics. Errors wrap
// ErrInvalid or ErrNotSupported. What is wrong with remote or options is found before
// anything changes; a QP in RESET is in RESET after any error.
func (q *QP) Connect(remote Endpoint, o ConnectOptions) error {
	if !q.connected() {
		return fmt.Errorf("connect QP %d of type %s: %w", q.num, q.typ, ErrInvalid)
	}
	o.defaults(q)
	if err := o.check(q); err != nil {
		return fmt.Errorf("connect QP %d: %w", q.num, err)
	}
	way := AHAttr{
		MAC: remote.MAC, DGID: remote.GID, SGIDIndex: o.SGIDIndex, HopLimit: o.HopLimit, TrafficClass: o.TrafficClass,
		FlowLabel: o.FlowLabel, UDPSPort: o.UDPSPort, VLANValid: o.VLANValid, VLAN: o.VLAN,
	}
	av, err := way.av(q.dev, q.num)
	if err == nil {
		err = q.checkPeer(&remote, o.SGIDIndex)
	}
	if err != nil {
		return fmt.Errorf("connect QP %d: %w", q.num, err)
	}
	fresh := q.state == abi.QPReset
	if fresh {
		err = q.Init(o.Access)
	}
	if err == nil {
		err = q.connect(&remote, &o, &av)
	}
	if err != nil && fresh && q.state != abi.QPReset {
		err = errors.Join(err, q.Modify(QPAttr{State: abi.QPReset}, abi.AttrState))
	}
	return err
}

// connect takes the QP from INIT to RTS.
func (q *QP) connect(remote *Endpoint, o *ConnectOptions, av *abi.AV) error {
	rtr, _, _ := abi.Transition(q.typ, abi.QPInit, abi.QPRTR)
	rts, _, _ := abi.Transition(q.typ, abi.QPRTR, abi.QPRTS)
	err := q.Modify(QPAttr{
		State: abi.QPRTR, AV: *av, PathMTU: o.MTU, DestQPN: remote.QPN, RQPSN: remote.PSN,
		MaxDestRdAtomic: uint8(max(o.MaxDestRdAtomic, 0)), MinRNRTimer: o.MinRNRTimer, Access: o.Access,
	}, abi.AttrState|rtr|abi.AttrAccessFlags)
	if err != nil {
		return err
	}
	return q.Modify(QPAttr{
		State: abi.QPRTS, Timeout: o.Timeout, RetryCnt: o.RetryCnt, RNRRetry: o.RNRRetry,
		SQPSN: q.psn, MaxRdAtomic: uint8(max(o.MaxRdAtomic, 0)),
	}, abi.AttrState|rts)
}

// Start takes a UD or RAW_PACKET QP from RESET or INIT to RTS. UD receives datagrams
// with this Q_Key; RAW_PACKET has none.
func (q *QP) Start(qkey uint32) error {
	if q.connected() {
		return fmt.Errorf("start QP %d of type %s, which needs a peer: %w", q.num, q.typ, ErrInvalid)
	}
	attr := QPAttr{Port: 1, QKey: qkey, SQPSN: q.psn}
	from := q.state
	for _, to := range []abi.QPState{abi.QPInit, abi.QPRTR, abi.QPRTS} {
		if to == abi.QPInit && from == abi.QPInit {
			continue
		}
		needs, _, _ := abi.Transition(q.typ, to-1, to)
		attr.State = to
		if err := q.Modify(attr, abi.AttrState|needs); err != nil {
			return err
		}
	}
	return nil
}

func (o *ConnectOptions) defaults(q *QP) {
	a := &q.dev.Attr
	set(&o.MTU, min(abi.MTU1024, q.dev.mtu))
	all := abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic
	if q.typ == abi.QPTypeUC {
		all = abi.AccessRemoteWrite
	}
	set(&o.Access, a.Access&all)
	set(&o.Timeout, 14)
	set(&o.MinRNRTimer, 12)
	set(&o.MaxRdAtomic, int(a.MaxRdAtomic))
	set(&o.MaxDestRdAtomic, int(a.MaxDestRdAtomic))
	if q.gid > 1 {
		set(&o.SGIDIndex, q.gid)
	}
}

// check judges the options that are not of the way to the peer.
func (o *ConnectOptions) check(q *QP) error {
	a := &q.dev.Attr
	switch {
	case o.MTU.Bytes() == 0 || o.MTU > q.dev.mtu:
		return fmt.Errorf("MTU %s, the port has %s: %w", o.MTU, q.dev.mtu, ErrInvalid)
	case o.Access&^a.Access != 0:
		return fmt.Errorf("access %s, the device has %s: %w", o.Access, a.Access, ErrNotSupported)
	case q.typ == abi.QPTypeUC:
		return nil
	case o.Timeout > 31:
		return fmt.Errorf("timeout %d, must be 0 to 31: %w", o.Timeout, ErrInvalid)
	case o.RetryCnt > 7:
		return fmt.Errorf("retry count %d, must be 0 to 7: %w", o.RetryCnt, ErrInvalid)
	case o.RNRRetry > 7:
		return fmt.Errorf("RNR retry count %d, must be 0 to 7: %w", o.RNRRetry, ErrInvalid)
	case o.MinRNRTimer > 31:
		return fmt.Errorf("minimal RNR timer %d, must be 0 to 31: %w", o.MinRNRTimer, ErrInvalid)
	case o.MaxRdAtomic > int(a.MaxRdAtomic):
		return fmt.Errorf("%d READs and atomics as initiator, the device has %d: %w", o.MaxRdAtomic, a.MaxRdAtomic, ErrInvalid)
	case o.MaxDestRdAtomic > int(a.MaxDestRdAtomic):
		return fmt.Errorf("%d READs and atomics as responder, the device has %d: %w", o.MaxDestRdAtomic, a.MaxDestRdAtomic, ErrInvalid)
	}
	return nil
}

// checkPeer judges what an Endpoint says besides addresses, and that the QP's own tells
// an address of the same family, if the program does not choose the own one here.
func (q *QP) checkPeer(e *Endpoint, sgid int) error {
	to, from := netip.AddrFrom16(e.GID).Unmap(), q.dev.gid(q.gid)
	switch {
	case e.QPN >= 1<<24 || e.PSN >= 1<<24:
		return fmt.Errorf("peer with QPN %#x, PSN %#x: %w", e.QPN, e.PSN, ErrInvalid)
	case sgid == 0 && !from.IsValid():
		return fmt.Errorf("the Endpoint of this QP tells GID %d, which is free: %w", q.gid, ErrInvalid)
	case sgid == 0 && from.Is4() != to.Is4():
		return fmt.Errorf("the Endpoint of this QP tells GID %d, %s, which is %s, and the peer's GID %s is %s (see QPConfig.IPv6): %w",
			q.gid, from, family(from), to, family(to), ErrInvalid)
	}
	return nil
}

// set gives an option its default.
func set[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}
