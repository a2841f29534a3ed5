package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// AH is an address handle: where datagrams go. It is good for QPs of its domain.
type AH struct {
	Exists bool
	PD     port.PD
	Address
}

// admin creates or destroys a handle. known tells whether the number is one of the
// device's. What fails changes nothing.
func (h *AH) admin(a *port.QPAdmin, known bool, e *Env) (port.QPAdminRes, Bank) {
	r := result{}
	av := &a.AH.AV
	switch create := a.Op == port.AHCreate; {
	case !known, !create && !h.Exists:
		r = result{abi.AdminBadObject, abi.SynObject}
	case create && h.Exists:
		r = result{abi.AdminExists, abi.SynObject}
	case create && !validAV(av, &e.GIDs):
		r = badParam(abi.SynAV)
	case create:
		*h = AH{Exists: true, PD: port.PD(a.AH.PD), Address: addressOf(av, &e.GIDs)}
	default:
		*h = AH{}
	}
	res := port.QPAdminRes{Status: r.status, Syndrome: uint8(r.syndrome)}
	if !r.ok() {
		return res, 0
	}
	return res, InAH
}

// header puts the address into the headers of a datagram of domain pd.
func (h *AH) header(pd port.PD, t *port.TxHdr) {
	if t.BadAH = !h.Exists || h.PD != pd; !t.BadAH {
		h.Address.header(t)
	}
}
