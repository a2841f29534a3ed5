package console

import (
	"fmt"
	"net/netip"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// queuePair is one with its type, and the Q_Key it was started with.
type queuePair struct {
	*driver.QP
	typ  abi.QPType
	qkey uint32
}

// types are those of queue pairs by the names that qp knows.
var types = map[string]abi.QPType{"": abi.QPTypeRC, "rc": abi.QPTypeRC, "uc": abi.QPTypeUC, "ud": abi.QPTypeUD, "raw": abi.QPTypeRaw}

// create makes a queue pair, in INIT.
func (c *Console) create(a *args) (string, error) {
	typ, ok := types[a.kv["type"]]
	if !ok {
		return "", fmt.Errorf("type=%s: must be rc, uc, ud or raw", a.kv["type"])
	}
	cfg := driver.QPConfig{
		Type: typ, SendCQ: c.cq, RecvCQ: c.cq, MaxSend: depth, MaxRecv: depth, MaxSendSGE: 4, MaxRecvSGE: 4, IPv6: a.length("gid", 1) == 0,
	}
	if _, ok := a.kv["srq"]; ok {
		if cfg.SRQ = c.srq[a.length("srq", 0)]; cfg.SRQ == nil {
			return "", fmt.Errorf("srq=%s: no such shared receive queue", a.kv["srq"])
		}
	}
	if a.err != nil {
		return "", a.err
	}
	q, err := c.pd.CreateQP(cfg)
	if err != nil {
		return "", err
	}
	p := &queuePair{QP: q, typ: typ, qkey: uint32(a.num("qkey", 0))}
	c.qps[a.id] = p
	return fmt.Sprintf("qpn=%d", q.Number()), p.init()
}

// init takes a queue pair to INIT.
func (q *queuePair) init() error {
	needs, _, _ := abi.Transition(q.typ, abi.QPReset, abi.QPInit)
	attr := driver.QPAttr{State: abi.QPInit, Port: 1, Access: remote, QKey: q.qkey}
	if q.typ == abi.QPTypeUC {
		attr.Access = abi.AccessLocalWrite | abi.AccessRemoteWrite
	}
	return q.Modify(attr, abi.AttrState|needs)
}

// onQP executes what needs a queue pair.
func (c *Console) onQP(a *args, q *queuePair) (string, error) {
	switch a.verb {
	case "conn":
		return "", c.connect(a, q)
	case "start":
		return "", q.start(a)
	case "raw":
		return "", c.dev.SetRawQP(q.QP)
	case "recv":
		return "", c.recv(a, func(w driver.RecvWR) error { _, err := q.PostRecv(w); return err })
	case "send":
		return "", c.send(a, q)
	case "err":
		return "", q.Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState)
	case "reset":
		if err := q.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState); err != nil {
			return "", err
		}
		return "", q.init()
	case "state":
		m, err := q.Query()
		return fmt.Sprintf("%v psn=%d rpsn=%d", m.State, m.NextPSN, m.ExpectedPSN), err
	case "del":
		return "", gone(c.qps, a.id, q.Destroy())
	}
	return "", fmt.Errorf("no command %q", a.verb)
}

// start takes a queue pair without a peer from INIT to RTS.
func (q *queuePair) start(a *args) error {
	attr := driver.QPAttr{SQPSN: uint32(a.num("psn", 0))}
	for _, to := range []abi.QPState{abi.QPRTR, abi.QPRTS} {
		needs, _, ok := abi.Transition(q.typ, to-1, to)
		if !ok {
			return fmt.Errorf("no way to %v", to)
		}
		attr.State = to
		if err := q.Modify(attr, abi.AttrState|needs); err != nil {
			return err
		}
	}
	return nil
}

// vector is the way to a peer.
func vector(a *args) driver.AHAttr {
	v := driver.AHAttr{MAC: a.mac("mac"), DGID: a.gid("gid"), TrafficClass: uint8(a.num("tc", 0))}
	if _, ok := a.kv["vlan"]; ok {
		v.VLANValid, v.VLAN = true, uint16(a.num("vlan", 0))
	}
	return v
}

// connect takes a queue pair from INIT to RTS.
func (c *Console) connect(a *args, q *queuePair) error {
	mtu, ok := roce.MTUOf(a.length("mtu", 1024))
	if !ok {
		return fmt.Errorf("mtu=%s: must be 256, 512, 1024, 2048 or 4096", a.kv["mtu"])
	}
	v := vector(a)
	av := abi.AV{
		DMAC: v.MAC, DGID: v.DGID, HopLimit: 64, TrafficClass: v.TrafficClass, VLANValid: v.VLANValid, VLAN: v.VLAN,
		UDPSPort: roce.SourcePort(roce.QPN(q.Number()), roce.QPN(a.num("qpn", 0))),
	}
	if netip.AddrFrom16(av.DGID).Is4In6() {
		av.SGIDIndex = 1
	}
	rd := uint8(a.num("rd", 4))
	rtr := driver.QPAttr{
		State: abi.QPRTR, AV: av, PathMTU: abi.MTU(mtu), DestQPN: uint32(a.num("qpn", 0)), RQPSN: uint32(a.num("rpsn", 0)),
		MaxDestRdAtomic: rd, MinRNRTimer: uint8(a.num("minrnr", 12)), Access: remote,
	}
	if l, ok := a.kv["access"]; ok {
		rtr.Access = access(l)
	}
	rts := driver.QPAttr{
		State: abi.QPRTS, SQPSN: uint32(a.num("psn", 0)), Timeout: uint8(a.num("timeout", 0)),
		RetryCnt: uint8(a.num("retry", 0)), RNRRetry: uint8(a.num("rnr", 0)), MaxRdAtomic: rd,
	}
	if a.err != nil {
		return a.err
	}
	if q.typ == abi.QPTypeUC {
		rtr.Access &= abi.AccessLocalWrite | abi.AccessRemoteWrite
	}
	needs, _, _ := abi.Transition(q.typ, abi.QPInit, abi.QPRTR)
	if err := q.Modify(rtr, abi.AttrState|needs|abi.AttrAccessFlags); err != nil {
		return err
	}
	needs, _, _ = abi.Transition(q.typ, abi.QPRTR, abi.QPRTS)
	return q.Modify(rts, abi.AttrState|needs)
}
