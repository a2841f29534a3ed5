package driver

import (
	"math"
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
	FlowLabel       uint32 // IPv6
	UDPSPort        uint16 // 0xc000 and up; by the QPN
}

// Init takes the QP from RESET to INIT: receives may be posted from then on.
func (q *QP) Init(access abi.AccessFlags) error {
	attr := QPAttr{State: abi.QPInit, Port: 1, Access: access}
	mask := abi.AttrState | abi.AttrPKeyIndex | abi.AttrPort | abi.AttrAccessFlags
	return q.Modify(attr, mask)
}

// Connect takes an RC QP from RESET or INIT to RTS, with remote as its peer. The
// peer must do the same with this QP's Endpoint.
func (q *QP) Connect(remote Endpoint, o ConnectOptions) error {
	o.defaults(q)
	if q.state == abi.QPReset {
		if err := q.Init(o.Access); err != nil {
			return err
		}
	}
	av := abi.AV{
		DMAC: remote.MAC, HopLimit: o.HopLimit, DGID: remote.GID, FlowLabel: o.FlowLabel,
		TrafficClass: o.TrafficClass, UDPSPort: o.UDPSPort,
	}
	if netip.AddrFrom16(remote.GID).Is4In6() {
		av.SGIDIndex = 1
	}
	err := q.Modify(QPAttr{
		State: abi.QPRTR, AV: av, PathMTU: o.MTU, DestQPN: remote.QPN, RQPSN: remote.PSN,
		MaxDestRdAtomic: depth(o.MaxDestRdAtomic), MinRNRTimer: o.MinRNRTimer, Access: o.Access,
	}, abi.AttrState|abi.AttrAV|abi.AttrPathMTU|abi.AttrDestQPN|abi.AttrRQPSN|
		abi.AttrMaxDestRdAtomic|abi.AttrMinRNRTimer|abi.AttrAccessFlags)
	if err != nil {
		return err
	}
	return q.Modify(QPAttr{
		State: abi.QPRTS, Timeout: o.Timeout, RetryCnt: o.RetryCnt, RNRRetry: o.RNRRetry,
		SQPSN: q.psn, MaxRdAtomic: depth(o.MaxRdAtomic),
	}, abi.AttrState|abi.AttrTimeout|abi.AttrRetryCnt|abi.AttrRNRRetry|abi.AttrSQPSN|abi.AttrMaxRdAtomic)
}

func (o *ConnectOptions) defaults(q *QP) {
	a := &q.dev.Attr
	set(&o.MTU, min(abi.MTU1024, q.dev.Config.MTU))
	set(&o.Access, a.Access&(abi.AccessRemoteWrite|abi.AccessRemoteRead|abi.AccessRemoteAtomic))
	set(&o.Timeout, 14)
	set(&o.MinRNRTimer, 12)
	set(&o.MaxRdAtomic, int(a.MaxRdAtomic))
	set(&o.MaxDestRdAtomic, int(a.MaxDestRdAtomic))
	set(&o.HopLimit, 64)
	set(&o.UDPSPort, 0xc000|uint16(q.num)&0x3fff)
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
