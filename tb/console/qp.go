package console

import (
	"fmt"
	"net/netip"
	"strings"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// create makes a queue pair, in INIT.
func (c *Console) create(a *args) (string, error) {
	gid := a.length("gid", 1)
	q, err := c.pd.CreateQP(driver.QPConfig{
		SendCQ: c.cq, RecvCQ: c.cq, MaxSend: depth, MaxRecv: depth, MaxSendSGE: 4, MaxRecvSGE: 4, IPv6: gid == 0,
	})
	if err != nil {
		return "", err
	}
	c.qps[a.id], c.gid[a.id] = q, gid
	return fmt.Sprintf("qpn=%d", q.Number()), q.Init(remote)
}

// onQP executes what needs a queue pair.
func (c *Console) onQP(a *args, q *driver.QP) (string, error) {
	switch a.verb {
	case "conn":
		return "", c.connect(a, q)
	case "recv":
		return "", c.recv(a, q)
	case "send":
		return "", c.send(a, q)
	case "err":
		return "", q.Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState)
	case "reset":
		if err := q.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState); err != nil {
			return "", err
		}
		return "", q.Init(remote)
	case "state":
		m, err := q.Query()
		return fmt.Sprintf("%v psn=%d rpsn=%d", m.State, m.NextPSN, m.ExpectedPSN), err
	case "del":
		delete(c.qps, a.id)
		return "", q.Destroy()
	}
	return "", fmt.Errorf("no command %q", a.verb)
}

// connect takes a queue pair from INIT to RTS.
func (c *Console) connect(a *args, q *driver.QP) error {
	mtu, ok := roce.MTUOf(a.length("mtu", 1024))
	if !ok {
		return fmt.Errorf("mtu=%s: must be 256, 512, 1024, 2048 or 4096", a.kv["mtu"])
	}
	av := abi.AV{
		DMAC: a.mac("mac"), DGID: a.gid("gid"), HopLimit: 64, TrafficClass: uint8(a.num("tc", 0)),
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
	err := q.Modify(rtr, abi.AttrState|abi.AttrAV|abi.AttrPathMTU|abi.AttrDestQPN|abi.AttrRQPSN|
		abi.AttrMaxDestRdAtomic|abi.AttrMinRNRTimer|abi.AttrAccessFlags)
	if err != nil {
		return err
	}
	return q.Modify(rts, abi.AttrState|abi.AttrTimeout|abi.AttrRetryCnt|abi.AttrRNRRetry|abi.AttrSQPSN|abi.AttrMaxRdAtomic)
}

// elements is the part of the buffer that a work request uses, by the key of all of
// it unless another is given.
func (c *Console) elements(a *args, off, n int) []driver.SGE {
	if n == 0 {
		return nil
	}
	e := c.all.SGE(off, n)
	e.LKey = abi.Key(a.num("lkey", uint64(e.LKey)))
	return []driver.SGE{e}
}

func (c *Console) recv(a *args, q *driver.QP) error {
	off, n, id := a.length("off", 0), a.length("len", 0), a.num("id", 0)
	for i := range a.length("n", 1) {
		w := driver.RecvWR{ID: id + uint64(i), SGEs: c.elements(a, off+i*n, n)}
		if _, err := q.PostRecv(w); err != nil {
			return err
		}
	}
	return nil
}

// ops are the operations by the names that send knows.
var ops = map[string]abi.WQEOp{
	"send": abi.OpSend, "send_imm": abi.OpSendImm, "send_inv": abi.OpSendInv, "write": abi.OpWrite,
	"write_imm": abi.OpWriteImm, "read": abi.OpRead, "cas": abi.OpCompareSwap, "faa": abi.OpFetchAdd,
}

func (c *Console) send(a *args, q *driver.QP) error {
	op, ok := ops[a.kv["op"]]
	if !ok {
		return fmt.Errorf("op=%s: no such operation", a.kv["op"])
	}
	off, n, flags := a.length("off", 0), a.length("len", 0), a.kv["flags"]
	w := driver.SendWR{
		Op: op, Imm: uint32(a.num("imm", 0)), RemoteAddr: a.num("addr", 0), RKey: abi.Key(a.num("rkey", 0)),
		Signaled: !strings.Contains(flags, "q"), Solicited: strings.Contains(flags, "s"), Fence: strings.Contains(flags, "f"),
		Compare: a.num("cmp", 0), SwapAdd: a.num("swap", 0) + a.num("add", 0), ID: a.num("id", 0),
	}
	if a.err != nil {
		return a.err
	}
	for i := range a.length("n", 1) {
		w.SGEs = c.elements(a, off+i*n, n)
		if _, err := q.PostSend(w); err != nil {
			return err
		}
		w.ID++
		if w.RemoteAddr != 0 {
			w.RemoteAddr += uint64(n)
		}
	}
	return nil
}

// poll waits for so many completions.
func (c *Console) poll(a *args) (string, error) {
	want, until := a.id, c.bus.Now()+int64(a.length("ms", 1000))*1_000_000_000
	var out strings.Builder
	n := 0
	for n < want {
		var wc [1]driver.WC
		k, err := c.cq.Wait(wc[:], until)
		if err != nil {
			return "", err
		}
		if k == 0 {
			break
		}
		n++
		out.WriteString(" | " + describe(&wc[0]))
	}
	return fmt.Sprint(n) + out.String(), nil
}

// describe is a completion as poll tells it; what it has no meaning for is left out.
func describe(w *driver.WC) string {
	s := fmt.Sprintf("id=%d status=%d", w.ID, w.Status)
	if w.Status != abi.StatusSuccess {
		return s
	}
	if w.Opcode.IsRecv() {
		s += fmt.Sprintf(" recv=%d", w.ByteLen)
	}
	switch {
	case w.Flags&abi.CQEWithImm != 0:
		s += fmt.Sprintf(" imm=%#x", w.Imm)
	case w.Flags&abi.CQEWithInv != 0:
		s += fmt.Sprintf(" inv=%#x", w.Imm)
	}
	return s
}
