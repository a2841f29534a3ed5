package driver

import (
	"fmt"
	"math"

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
	VLAN            uint16 // its tag control: priority 15:13, VLAN 11:0
}

// Init takes an RC or UC QP from RESET to INIT: receives may be posted from then on.
func (q *QP) Init(access abi.AccessFlags) error {
	attr := QPAttr{State: abi.QPInit, Port: 1, Access: access}
	mask := abi.AttrState | abi.AttrPKeyIndex | abi.AttrPort | abi.AttrAccessFlags
	return q.Modify(attr, mask)
}

// Connect takes an RC or UC QP from RESET or INIT to RTS, with remote as its peer. The
// peer must do the same with this QP's Endpoint. UC has no use for the options of
// retries, READs and atomics.
func (q *QP) Connect(remote Endpoint, o ConnectOptions) error {
	if !q.connected() {
		return fmt.Errorf("connect QP %d of type %s: %w", q.num, q.typ, ErrInvalid)
	}
	o.defaults(q)
	if q.state == abi.QPReset {
		if err := q.Init(o.Access); err != nil {
			return err
		}
	}
	way := AHAttr{
		MAC: remote.MAC, DGID: remote.GID, SGIDIndex: o.SGIDIndex, HopLimit: o.HopLimit, TrafficClass: o.TrafficClass,
		FlowLabel: o.FlowLabel, UDPSPort: o.UDPSPort, VLANValid: o.VLANValid, VLAN: o.VLAN,
	}
	av, err := way.av(q.dev, q.num)
	if err != nil {
		return fmt.Errorf("connect QP %d: %w", q.num, err)
	}
	rtr, _, _ := abi.Transition(q.typ, abi.QPInit, abi.QPRTR)
	rts, _, _ := abi.Transition(q.typ, abi.QPRTR, abi.QPRTS)
	err = q.Modify(QPAttr{
		State: abi.QPRTR, AV: av, PathMTU: o.MTU, DestQPN: remote.QPN, RQPSN: remote.PSN,
		MaxDestRdAtomic: depth(o.MaxDestRdAtomic), MinRNRTimer: o.MinRNRTimer, Access: o.Access,
	}, abi.AttrState|rtr|abi.AttrAccessFlags)
	if err != nil {
		return err
	}
	return q.Modify(QPAttr{
		State: abi.QPRTS, Timeout: o.Timeout, RetryCnt: o.RetryCnt, RNRRetry: o.RNRRetry,
		SQPSN: q.psn, MaxRdAtomic: depth(o.MaxRdAtomic),
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

// depth is the attribute that an option stands for. The device refuses what is too
// much, so what the attribute can't hold becomes the most.
func depth(n int) uint8 { return uint8(min(max(n, 0), math.MaxUint8)) }

// set gives an option its default.
func set[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}
