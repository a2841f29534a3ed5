package ackgen

import (
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Judge hands verdicts on to scatter, in order, and counts them.
type Judge struct {
	Verdict hdl.In[port.RxVerdict]
	Place   hdl.Out[port.Place]
	Stats   hdl.Sig[port.RespStats]

	Order  hdl.In[order]
	Lost   hdl.In[port.QPN]
	Result hdl.Out[result]
	hdl.Regs[struct{}]
}

// Eval deals with one verdict.
func (j *Judge) Eval() {
	s := j.Stats.Get()
	if j.Verdict.Valid() && j.Order.Valid() && j.Place.Ready() && j.Result.Ready() {
		v, o := j.Verdict.Take(), j.Order.Take()
		j.judge(v, o)
		count(&s, v)
	}
	if j.Lost.Valid() {
		j.Lost.Take()
		s.DropOther++
	}
	if s != j.Stats.Get() {
		j.Stats.Set(s)
	}
}

func (j *Judge) judge(v *port.RxVerdict, o *order) {
	switch o.Kind {
	case port.RxFlushRQ:
		again := v.Action == port.RxFlushed
		j.Result.Put(result{QPN: o.QPN, Again: again})
		if !again {
			return
		}
	case port.RxPurge:
		j.Result.Put(result{QPN: o.QPN, Purge: true})
	}
	p := j.Place.Next()
	*p = port.Place{
		HasFrame: o.Kind == port.RxPacket, Purge: o.Kind == port.RxPurge, Send: o.Send, V: *v,
		Imm: o.Imm, HasImm: o.HasImm, Opcode: o.Opcode, Solicit: o.Solicit,
		Len: o.Len, BufAddr: o.BufAddr, Beats: o.Beats, PSN: o.PSN, MSN: before(v, o.Opcode), Value: o.Value,
	}
	p.V.Kind, p.V.QPN = o.Kind, o.QPN
}

// before is the number of messages completed before a request: that of a verdict
// counts the packet's own, if it ends one (IBTA 9.7.5.1.2).
func before(v *port.RxVerdict, op roce.Opcode) port.MSN {
	if v.Action == port.RxPlace && op.Ends() && op.IsRequest() {
		return (v.Ack.MSN - 1) & 0xffffff
	}
	return v.Ack.MSN
}
