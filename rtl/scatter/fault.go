package scatter

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// fault says why a packet can't be placed. Status is success if it can.
type fault struct {
	Silent bool         // the peer is not told
	Status abi.WCStatus // for qpc
	WQE    abi.WCStatus // of the receive WQE, if the packet has one
	Vendor abi.VendorErr
}

// quiet tells whether a fault is the peer's alone, so that a QP which acknowledges
// nothing drops the message, and goes on.
func (f *fault) quiet(p *packet) bool {
	return p.Quiet && (f.Status == abi.StatusLocLen || f.Status == abi.StatusRemAccess || f.Status == abi.StatusLocAccess)
}

// faulty is the fault of a packet: what Split found, or mpt's first refusal.
func (p *packet) faulty(refused port.MptStatus) fault {
	switch {
	case p.Status != abi.StatusSuccess:
		return fault{Status: p.Status, WQE: p.Status, Vendor: p.Vendor}
	case refused == port.MptOK:
		return fault{}
	case p.Target == port.TargetRemote && p.WQE: // the CQE tells of it
		return fault{Status: abi.StatusLocAccess, WQE: abi.StatusLocAccess, Vendor: refused.Vendor(true)}
	case p.Target == port.TargetRemote:
		return fault{Status: abi.StatusRemAccess, Vendor: refused.Vendor(true)}
	}
	return fault{Status: abi.StatusLocProt, WQE: abi.StatusLocProt, Vendor: refused.Vendor(false)}
}
