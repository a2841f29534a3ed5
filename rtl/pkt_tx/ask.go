package pkttx

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// Ask has qpc look up what the headers of each packet need, in turns from the
// requester's and the responder's, and puts each into its lane. Answers come in
// the order of the questions; each question has a place for its job in the lane
// behind, so no answer ever waits.
type Ask struct {
	hdl.Regs[askState]
	Req    hdl.In[port.TxPkt]
	Resp   hdl.In[port.TxPkt]
	HdrReq hdl.Out[port.TxHdrReq]
	Hdr    hdl.In[port.TxHdr]

	again   hdl.In[port.TxHdrReq] // Send asks once more for a request
	answer  hdl.Out[again]
	epoch   hdl.Tap[uint8]
	stales  hdl.Tap[uint32]
	gone    hdl.Tap[uint16]
	payload hdl.Out[job] // requests, READ responses, and what may not overtake these
	fast    hdl.Out[job] // other responses

	pendOut hdl.Out[pending] // the questions under way
	pendIn  hdl.In[pending]

	Last hdl.RAM[uint16] // by QPN: number of its last response in the payload lane
}

type askState struct {
	Payload uint16 // questions under way for the payload lane
	Fast    uint16 // and for the fast one
	Turn    bool   // a response had the payload lane's last turn
	Quick   bool   // the last packet went to the fast lane
	Looked  bool   // Last shows the QP of the response at the head
	Number  uint16 // responses put into the payload lane, modulo 2^16
	Before  uint16 // responses put into the fast lane, modulo 2^16
}

// askKind says what a question is for.
type askKind uint8

const (
	askPayload askKind = iota
	askFast
	askAgain
	askPurge // no question: the marker of Purge, in its place
)

// Width is 2 bits.
func (askKind) Width() int { return 2 }

func (k askKind) String() string { return [...]string{"PAYLOAD", "FAST", "AGAIN", "PURGE"}[k&3] }

type pending struct {
	Kind   askKind
	Epoch  uint8
	Stales uint32
	Pkt    port.TxPkt
}

// again answers Send's question.
type again struct{ Drop, Stale bool }

// Eval asks at most one question, and deals with at most one answer.
func (a *Ask) Eval() {
	a.deal()
	if a.pendOut.Ready() {
		a.ask()
	}
}

// ask takes the next packet. The two sides take turns in the payload lane, and so
// do the lanes.
func (a *Ask) ask() {
	q, d := &a.Q, &a.D
	free := a.HdrReq.Ready()
	room := a.payload.Space() > int(q.Payload)
	request := a.Req.Valid() && room && (free || a.Req.Head().Purge)
	response, yields, lane := false, false, wayUnknown
	if a.Resp.Valid() {
		switch lane = a.way(a.Resp.Head()); lane {
		case wayFast:
			response, yields = free && a.fast.Space() > int(q.Fast), q.Quick
		case wayPayload:
			response, yields = free && room, q.Turn
		}
	}
	switch {
	case a.again.Valid():
		if free {
			a.HdrReq.Put(*a.again.Take())
			a.pendOut.Put(pending{Kind: askAgain})
		}
	case response && !(yields && request):
		a.response(a.Resp.Take(), lane)
	case request:
		d.Turn, d.Quick = false, false
		d.Payload++
		pkt := a.Req.Take()
		if pkt.Purge {
			a.pend(askPurge, pkt)
			return
		}
		a.put(askPayload, pkt)
	}
}

func (a *Ask) response(pkt *port.TxPkt, lane way) {
	d := &a.D
	d.Looked = false
	if pkt.NumPieces > 0 && !carriesData(pkt.Opcode) {
		a.Fail("%d bytes of payload for a %v", pkt.Len, pkt.Opcode)
	}
	if d.Quick = lane == wayFast; d.Quick {
		d.Fast++
		a.put(askFast, pkt)
		return
	}
	d.Turn = true
	d.Payload++
	a.number(pkt.QPN)
	a.put(askPayload, pkt)
}

func (a *Ask) put(kind askKind, pkt *port.TxPkt) {
	*a.HdrReq.Next() = question(pkt)
	a.pend(kind, pkt)
}

// question is what qpc is asked for a packet.
func question(pkt *port.TxPkt) port.TxHdrReq {
	return port.TxHdrReq{QPN: pkt.QPN, Resp: pkt.Resp, Gen: pkt.Gen, LastPSN: pkt.LastPSN, UD: pkt.UD, AH: pkt.AH}
}

func (a *Ask) pend(kind askKind, pkt *port.TxPkt) {
	p := a.pendOut.Next()
	p.Kind, p.Epoch, p.Stales, p.Pkt = kind, a.epoch.Get(), a.stales.Get(), *pkt
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
		d.Payload--
		a.payload.Put(job{Pkt: p.Pkt, Epoch: p.Epoch, Stales: p.Stales, Before: a.Q.Before})
		return
	}
	if !a.Hdr.Valid() {
		return
	}
	a.pendIn.Take()
	hdr := a.Hdr.Take()
	switch p.Kind {
	case askPayload:
		d.Payload--
		j := a.payload.Next()
		j.Pkt, j.Hdr, j.Epoch, j.Stales, j.Before = p.Pkt, *hdr, p.Epoch, p.Stales, a.Q.Before
	case askFast:
		d.Fast--
		if !hdr.Drop {
			d.Before++
			j := a.fast.Next()
			j.Pkt, j.Hdr, j.Epoch, j.Stales, j.Before = p.Pkt, *hdr, p.Epoch, p.Stales, 0
		}
	case askAgain:
		a.answer.Put(again{Drop: hdr.Drop, Stale: hdr.Stale})
	}
}
