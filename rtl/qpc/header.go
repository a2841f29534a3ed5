package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// header is what the headers of one packet need. Requests are no longer sent
// once the send queue has failed; when a WQE could not be executed, those before
// it still are. Responses are sent in ERR too: the last one is the NAK that says
// why. A request from before a rewind is not sent.
func (c *Context) header(r *port.TxHdrReq, e *Env) (port.TxHdr, Bank) {
	cm := &c.Common
	if !cm.Exists {
		return port.TxHdr{Drop: true}, 0
	}
	drop := false
	switch cm.State {
	case abi.QPRTS, abi.QPSQD:
	case abi.QPRTR, abi.QPSQE:
		drop = !r.Resp
	case abi.QPErr:
		drop = !r.Resp && c.Requester.Fail != FailLocal
	default:
		drop = true
	}
	stale := !drop && !r.Resp && r.Gen != c.Requester.Gen
	w := Bank(0)
	if next := r.LastPSN.Add(1); !drop && !stale && !r.Resp && next.After(c.Requester.Asked) {
		c.Requester.Asked = next
		w = InRequester
	}
	return port.TxHdr{
		Drop:    drop || stale,
		Stale:   stale,
		PD:      cm.PD,
		DestQPN: cm.DestQPN,
		PKey:    e.Reg.PKey,
		DMAC:    cm.DMAC,
		V6:      cm.V6,
		DIP:     cm.DGID,
		SPort:   cm.SPort,
		TOS:     cm.TOS,
		TTL:     cm.TTL,
		Flow:    cm.Flow,
	}, w
}
