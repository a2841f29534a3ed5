package console

import (
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/driver"
)

// shared executes what is of shared receive queues.
func (c *Console) shared(a *args) (string, error) {
	if a.verb == "srq" {
		s, err := c.pd.CreateSRQ(driver.SRQAttr{MaxRecv: a.length("max", depth), MaxSGE: 4, Limit: a.length("limit", 0)})
		if err != nil {
			return "", err
		}
		c.srq[a.id] = s
		return fmt.Sprintf("srqn=%d max=%d", s.Number(), s.MaxRecv), nil
	}
	s := c.srq[a.id]
	if s == nil {
		return "", fmt.Errorf("no shared receive queue %d", a.id)
	}
	switch a.verb {
	case "srecv":
		return "", c.recv(a, func(w driver.RecvWR) error { _, err := s.PostRecv(w); return err })
	case "slimit":
		return "", s.Modify(driver.SRQAttr{Limit: a.length("limit", 0)}, abi.SRQLimit)
	case "sdel":
		return "", gone(c.srq, a.id, s.Destroy())
	}
	attr, err := s.Query()
	return fmt.Sprintf("limit=%d max=%d", attr.Limit, attr.MaxRecv), err
}

// gone forgets an object, if it is no more.
func gone[T any](m map[int]T, id int, err error) error {
	if err == nil {
		delete(m, id)
	}
	return err
}

// handle makes an address handle of UD, or destroys it.
func (c *Console) handle(a *args) (string, error) {
	if a.verb == "ah" {
		v := vector(a)
		if a.err != nil {
			return "", a.err
		}
		h, err := c.pd.CreateAH(v)
		if err != nil {
			return "", err
		}
		c.ahs[a.id] = h
		return fmt.Sprintf("ahn=%d", h.Number()), nil
	}
	h := c.ahs[a.id]
	if h == nil {
		return "", fmt.Errorf("no address handle %d", a.id)
	}
	return "", gone(c.ahs, a.id, h.Destroy())
}

// window makes a memory window of type 2 and posts its bind, or gives it up.
func (c *Console) window(a *args) (string, error) {
	if a.verb == "mwdel" {
		w := c.mws[a.id]
		if w == nil {
			return "", fmt.Errorf("no window %d", a.id)
		}
		return "", gone(c.mws, a.id, w.Dealloc())
	}
	q := c.qps[a.length("qp", 0)]
	if q == nil {
		return "", fmt.Errorf("qp=%s: no such queue pair", a.kv["qp"])
	}
	w, err := c.pd.AllocMW(abi.KeyWindow2)
	if err != nil {
		return "", err
	}
	c.mws[a.id] = w
	b := &driver.Bind{
		MW: w, MR: c.all, RKey: w.RKey + 1, Addr: c.all.Addr + uint64(a.length("off", 0)), Length: uint64(a.length("len", 0)),
		Access: abi.AccessRemoteRead | abi.AccessRemoteWrite,
	}
	_, err = q.PostSend(driver.SendWR{ID: a.num("wr", 0), Op: abi.OpBindMW, Signaled: true, Bind: b})
	return fmt.Sprintf("rkey=%#x", uint32(b.RKey)), err
}

// events are the asynchronous events since the last time.
func (c *Console) events() (string, error) {
	list, err := c.dev.AsyncEvents()
	var out []string
	for _, e := range list {
		out = append(out, e.String())
	}
	if len(out) == 0 {
		return "none", err
	}
	return strings.Join(out, " | "), err
}
