package qpc

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// header is what the headers of one packet need. Requests are no longer sent
// once the send queue has failed; when a WQE could not be executed, those before
// it still are. Responses are sent in ERR too: the last one is the NAK that says
// why. A request from before a rewind is not sent.
//
// What a datagram needs is in its address handle, h.
func (c *Context) header(r *port.TxHdrReq, h *AH, e *Env) (port.TxHdr, Bank) {
	cm := &c.Common
	if !cm.Exists {
		return port.TxHdr{Drop: true}, 0
	}
	drop := false
	switch cm.State {
	case abi.QPRTS, abi.QPSQD:
	case abi.QPRTR:
		drop = !r.Resp
	case abi.QPSQE, abi.QPErr:
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
	t := port.TxHdr{Drop: drop || stale, Stale: stale, PD: cm.PD, QKey: cm.QKey, PKey: e.Reg.PKey}
	switch {
	case cm.Type != abi.QPTypeUD:
		t.DestQPN = cm.DestQPN
		cm.Address.header(&t)
	case !t.Drop:
		h.header(cm.PD, &t)
	}
	return t, w
}
