package ackgen

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Sizes of IP headers: the last bytes of the room before a datagram.
const (
	grhBytes  = 40
	ipv4Bytes = 20
)

type judgeRegs struct {
	Ended  bool // of the verdict at the head: the receive WQE that it breaks is told of
	Header bool // and so is the IP header
}

// Judge hands verdicts on to scatter, in order, and counts them. One may make several
// elements: the end of a receive WQE whose message is broken, the IP header of a
// datagram, and the packet itself, which alone has the frame.
type Judge struct {
	Verdict hdl.In[port.RxVerdict]
	Place   hdl.Out[port.Place]
	Stats   hdl.Sig[port.RespStats]

	Order  hdl.In[order]
	Lost   hdl.In[port.QPN]
	Result hdl.Out[result]
	hdl.Regs[judgeRegs]
}

// Eval makes one element of a verdict, and is done with it at the last.
func (j *Judge) Eval() {
	s := j.Stats.Get()
	if j.Verdict.Valid() && j.Order.Valid() && j.Place.Ready() && j.Result.Ready() {
		v, o := j.Verdict.Head(), j.Order.Head()
		if !j.before(v, o) {
			j.judge(v, o)
			count(&s, v)
			j.Verdict.Take()
			j.Order.Take()
			j.D = judgeRegs{}
		}
	}
	if j.Lost.Valid() {
		j.Lost.Take()
		s.DropOther++
	}
	if s != j.Stats.Get() {
		j.Stats.Set(s)
	}
}

// before makes an element that comes before that of the operation itself, if one is due.
func (j *Judge) before(v *port.RxVerdict, o *order) bool {
	q, d := &j.Q, &j.D
	switch {
	case v.HasBroken && !q.Ended:
		d.Ended = true
		j.put(port.Place{Broken: true}, v, o)
	case v.GRH && v.Action == port.RxPlace && !v.Error && !q.Header:
		d.Header = true
		n := uint16(ipv4Bytes)
		if v.V6 {
			n = grhBytes
		}
		p := j.put(port.Place{GRH: true, Len: n, BufAddr: o.IPAddr, Need: grhBytes + o.Len}, v, o)
		p.V.Offset = uint32(grhBytes - n)
	default:
		return false
	}
	return true
}

// put makes an element, of a verdict on what an operation was for.
func (j *Judge) put(e port.Place, v *port.RxVerdict, o *order) *port.Place {
	p := j.Place.Next()
	*p = e
	p.V, p.Opcode, p.PSN, p.MSN = *v, o.Opcode, o.PSN, done(v, o.Opcode)
	p.V.Kind, p.V.QPN = o.Kind, o.QPN
	return p
}

func (j *Judge) judge(v *port.RxVerdict, o *order) {
	switch o.Kind {
	case port.RxFlushRQ:
		again := v.Action == port.RxFlushed
		j.Result.Put(result{QPN: o.QPN, Again: again})
		if !again && !v.LastWQE {
			return
		}
	case port.RxPurge:
		j.Result.Put(result{QPN: o.QPN, Purge: true})
	}
	j.put(port.Place{
		HasFrame: o.Kind == port.RxPacket, Purge: o.Kind == port.RxPurge, Send: o.Send, VLAN: o.VLAN,
		Imm: o.Imm, HasImm: o.HasImm, Solicit: o.Solicit,
		Len: o.Len, BufAddr: o.BufAddr, Beats: o.Beats, Value: o.Value,
	}, v, o)
}

// done is the number of messages completed before a request: that of a verdict
// counts the packet's own, if it ends one (IBTA 9.7.5.1.2).
func done(v *port.RxVerdict, op roce.Opcode) port.MSN {
	if v.Action == port.RxPlace && op.Ends() && op.IsRequest() {
		return (v.Ack.MSN - 1) & 0xffffff
	}
	return v.Ack.MSN
}
