package e2e

import (
	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// What the transitions of an RC QP must name.
const (
	RTRMask = abi.AttrState | abi.AttrAV | abi.AttrPathMTU | abi.AttrDestQPN | abi.AttrRQPSN |
		abi.AttrMaxDestRdAtomic | abi.AttrMinRNRTimer
	RTSMask = abi.AttrState | abi.AttrTimeout | abi.AttrRetryCnt | abi.AttrRNRRetry | abi.AttrSQPSN | abi.AttrMaxRdAtomic
)

// ConnectBy takes an end, in RESET, to RTS by attributes that change may alter;
// the driver's Connect has no words for some of them. It returns the first error.
func (e *End) ConnectBy(change func(rtr, rts *driver.QPAttr)) (err error) {
	e.scene.t.Helper()
	remote := e.other.QP.Endpoint()
	e.psn = roce.PSN(e.QP.Endpoint().PSN)
	rtr := driver.QPAttr{
		State: abi.QPRTR, PathMTU: abi.MTU1024, DestQPN: remote.QPN, RQPSN: remote.PSN, MinRNRTimer: 12,
		MaxDestRdAtomic: 1,
		AV:              abi.AV{DMAC: remote.MAC, HopLimit: 64, DGID: remote.GID, SGIDIndex: 1, UDPSPort: 0xc000},
	}
	rts := driver.QPAttr{State: abi.QPRTS, Timeout: 14, SQPSN: uint32(e.psn), MaxRdAtomic: 1}
	change(&rtr, &rts)
	e.psn = roce.PSN(rts.SQPSN)
	e.Do(func() {
		if err = e.QP.Init(0); err != nil {
			return
		}
		if err = e.QP.Modify(rtr, RTRMask); err != nil {
			return
		}
		err = e.QP.Modify(rts, RTSMask)
	})
	return err
}

// Couple makes two QPs each other's peers, without connecting them.
func (s *Scene) Couple(a, b *End) *Pair {
	a.other, b.other = b, a
	if a.Side == b.Side {
		a.Loops = true
	}
	return &Pair{a, b}
}
