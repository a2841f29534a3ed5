package console

import (
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/driver"
)

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

// recv posts receives.
func (c *Console) recv(a *args, post func(driver.RecvWR) error) error {
	off, n, id := a.length("off", 0), a.length("len", 0), a.num("id", 0)
	for i := range a.length("n", 1) {
		w := driver.RecvWR{ID: id + uint64(i), SGEs: c.elements(a, off+i*n, n)}
		if err := post(w); err != nil {
			return err
		}
	}
	return nil
}

// ops are the operations by the names that send knows.
var ops = map[string]abi.WQEOp{
	"send": abi.OpSend, "send_imm": abi.OpSendImm, "send_inv": abi.OpSendInv, "write": abi.OpWrite,
	"write_imm": abi.OpWriteImm, "read": abi.OpRead, "cas": abi.OpCompareSwap, "faa": abi.OpFetchAdd, "local_inv": abi.OpLocalInv,
}

func (c *Console) send(a *args, q *queuePair) error {
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
	if q.typ == abi.QPTypeUD {
		w.RemoteQPN, w.RemoteQKey = uint32(a.num("qpn", 0)), uint32(a.num("qkey", uint64(q.qkey)))
		if w.AH = c.ahs[a.length("ah", 0)]; w.AH == nil {
			return fmt.Errorf("ah=%s: no such address handle", a.kv["ah"])
		}
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
	qps := a.num("qps", 0) != 0
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
		if qps {
			fmt.Fprintf(&out, " qp=%d", c.number(wc[0].QPN))
		}
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
	case w.Flags&abi.CQEVLAN != 0:
		s += fmt.Sprintf(" tag=%#x", w.Imm)
	}
	if w.Flags&abi.CQEGRH != 0 {
		s += fmt.Sprintf(" src=%d", w.SrcQPN)
	}
	return s
}

// number is the user's of a queue pair.
func (c *Console) number(qpn uint32) int {
	for id, q := range c.qps {
		if q.Number() == qpn {
			return id
		}
	}
	return -1
}
