package pkttx

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// Ask has qpc look up what the headers of each packet need. Answers come in the
// order of the questions, over both lanes; each question has a place for its job
// in the lane behind, so no answer ever waits.
type Ask struct {
	hdl.Regs[askState]
	Req    hdl.In[port.TxPkt]
	Resp   hdl.In[port.TxPkt]
	HdrReq hdl.Out[port.TxHdrReq]
	Hdr    hdl.In[port.TxHdr]

	again    hdl.In[port.QPN] // Send asks once more for a request of this QP
	answer   hdl.Out[again]
	epoch    hdl.Tap[uint8]
	request  hdl.Out[job]
	response hdl.Out[job]

	pendOut hdl.Out[pending] // the questions under way
	pendIn  hdl.In[pending]
}

type askState struct {
	Requests  uint16 // under way
	Responses uint16
	Turn      bool // responses had the last turn
}

// askKind says what a question is for.
type askKind uint8

const (
	askRequest askKind = iota
	askResponse
	askAgain
	askPurge // no question: the marker of Purge, in its place
)

// Width is 2 bits.
func (askKind) Width() int { return 2 }

func (k askKind) String() string { return [...]string{"REQUEST", "RESPONSE", "AGAIN", "PURGE"}[k&3] }

type pending struct {
	Kind  askKind
	Epoch uint8
	Pkt   port.TxPkt
}

// again answers Send's question.
type again struct{ Drop bool }

// Eval asks at most one question, and deals with at most one answer.
func (a *Ask) Eval() {
	a.deal()
	if a.pendOut.Ready() {
		a.ask()
	}
}

// ask takes the next packet, in turns from the two lanes.
func (a *Ask) ask() {
	q, d := &a.Q, &a.D
	free := a.HdrReq.Ready()
	request := a.Req.Valid() && a.request.Space() > int(q.Requests) && (free || a.Req.Head().Purge)
	response := a.Resp.Valid() && a.response.Space() > int(q.Responses) && free
	switch {
	case a.again.Valid():
		if free {
			a.HdrReq.Put(port.TxHdrReq{QPN: *a.again.Take()})
			a.pendOut.Put(pending{Kind: askAgain})
		}
	case response && !(q.Turn && request):
		d.Turn = true
		d.Responses++
		pkt := a.Resp.Take()
		if pkt.Len != 0 {
			a.Fail("response with %d bytes of payload", pkt.Len)
		}
		a.put(askResponse, pkt, true)
	case request:
		d.Turn = false
		d.Requests++
		pkt := a.Req.Take()
		if pkt.Purge {
			a.pendOut.Put(pending{Kind: askPurge, Epoch: a.epoch.Get(), Pkt: *pkt})
			return
		}
		a.put(askRequest, pkt, pkt.Resp)
	}
}

func (a *Ask) put(kind askKind, pkt *port.TxPkt, response bool) {
	*a.HdrReq.Next() = port.TxHdrReq{QPN: pkt.QPN, Resp: response}
	p := a.pendOut.Next()
	p.Kind, p.Epoch, p.Pkt = kind, a.epoch.Get(), *pkt
}

// deal passes on the oldest packet once it is answered.
func (a *Ask) deal() {
	d := &a.D
	if !a.pendIn.Valid() {
		return
	}
	p := a.pendIn.Head()
	if p.Kind == askPurge {
		a.pendIn.Take()
		d.Requests--
		a.request.Put(job{Pkt: p.Pkt, Epoch: p.Epoch})
		return
	}
	if !a.Hdr.Valid() {
		return
	}
	a.pendIn.Take()
	hdr := a.Hdr.Take()
	switch p.Kind {
	case askRequest:
		d.Requests--
		j := a.request.Next()
		j.Pkt, j.Hdr, j.Epoch = p.Pkt, *hdr, p.Epoch
	case askResponse:
		d.Responses--
		if !hdr.Drop {
			j := a.response.Next()
			j.Pkt, j.Hdr, j.Epoch = p.Pkt, *hdr, p.Epoch
		}
	case askAgain:
		a.answer.Put(again{Drop: hdr.Drop})
	}
}
