package driver

import (
	"fmt"

	"rnic/abi"
)

// Poll takes up to len(wcs) completions, oldest first, and never waits. An error
// comes with the n completions before it: it wraps ErrDevice for a CQE that makes
// no sense, which is then left out, and ErrOverrun when the queue has lost some.
func (c *CQ) Poll(wcs []WC) (n int, err error) {
	call := c.dev.begin(Call{Name: "Poll", Object: "cq", Number: c.num})
	n, err = c.poll(wcs)
	c.dev.end(call, n, err)
	return n, err
}

func (c *CQ) poll(wcs []WC) (n int, err error) {
	if c.destroyed {
		return 0, fmt.Errorf("poll: CQ %d is destroyed: %w", c.num, ErrInvalid)
	}
	for n < len(wcs) {
		ok, e := c.read(c.ci)
		if e != nil {
			err = e
			break
		}
		if !ok {
			if n == 0 {
				err = c.health()
			}
			break
		}
		c.consume(c.ci + 1)
		if err = c.complete(&wcs[n]); err != nil {
			break
		}
		n++
	}
	if e := c.announce(); err == nil {
		err = e
	}
	if n == 0 && err == nil {
		c.dev.bus.Spend(c.dev.Config.PollCost)
	}
	return n, err
}

// health is why an empty queue stays empty, if it does: a program that only polls
// must learn of it too. It consumes the events that may tell.
func (c *CQ) health() error {
	if err := c.drain(); err != nil {
		return err
	}
	return c.dead
}

// complete turns c.cqe into a completion and frees the places of its queue.
func (c *CQ) complete(wc *WC) error {
	e := &c.cqe
	if int64(e.QPN) >= int64(len(c.dev.qps)) || c.dev.qps[e.QPN] == nil {
		return c.senseless("no such QP")
	}
	q := c.dev.qps[e.QPN]
	w := &q.sq
	if e.Opcode.IsRecv() {
		w = &q.rq
	}
	if w.cq != c.cq {
		return c.senseless("the QP does not complete here")
	}
	wr, err := c.retire(q, w)
	switch {
	case err != nil:
		return err
	case !knownStatus(e.Status):
		return c.senseless("no such status")
	}
	*wc = WC{ID: wr.id, Status: e.Status, Opcode: e.Opcode, VendorErr: e.VendorErr, QPN: e.QPN, QP: q.handle, Timestamp: e.Timestamp}
	if e.Status != abi.StatusSuccess {
		return nil
	}
	if w == &q.sq && (e.Opcode != wr.op.WCOpcode() || !wr.signalled) {
		return c.senseless(fmt.Sprintf("posted was %s, signalled: %t", wr.op, wr.signalled))
	}
	wc.ByteLen, wc.Imm, wc.SrcQPN, wc.Flags = e.ByteLen, e.Imm, e.SrcQPN, e.Flags
	return nil
}

// retire ends the work request that c.cqe is of.
func (c *CQ) retire(q *qp, w *workQueue) (wr workRequest, err error) {
	e := &c.cqe
	if w == &q.rq && q.srq != nil {
		if e.Index == abi.NoSlot && e.Status != abi.StatusSuccess {
			return workRequest{}, nil // of a queue that is dead
		}
		id, ok := q.srq.list.free(e.Index)
		if !ok {
			return wr, c.senseless(fmt.Sprintf("no work request is in the slot of SRQ %d", q.srq.num))
		}
		return workRequest{id: id}, nil
	}
	if e.Index-w.ci >= w.pi-w.ci {
		return wr, c.senseless(fmt.Sprintf("indices %d to %d are posted", w.ci, w.pi))
	}
	wr, skipped, ok := w.retire(e.Index)
	switch {
	case !ok:
		return wr, c.senseless("no work request begins there")
	case skipped:
		return wr, c.senseless("an earlier work request had no CQE")
	}
	return wr, nil
}

// senseless is the error of a CQE that can't be.
func (c *CQ) senseless(why string) error {
	e := &c.cqe
	return fmt.Errorf("CQ %d: CQE of QP %d, index %d, %s, %s: %s: %w", c.num, e.QPN, e.Index, e.Opcode, e.Status, why, ErrDevice)
}

func knownStatus(s abi.WCStatus) bool {
	const known = 1<<abi.StatusSuccess | 1<<abi.StatusLocLen | 1<<abi.StatusLocQPOp | 1<<abi.StatusLocProt |
		1<<abi.StatusWRFlush | 1<<abi.StatusMWBind | 1<<abi.StatusBadResp | 1<<abi.StatusLocAccess |
		1<<abi.StatusRemInvReq | 1<<abi.StatusRemAccess | 1<<abi.StatusRemOp | 1<<abi.StatusRetryExc |
		1<<abi.StatusRNRRetryExc | 1<<abi.StatusFatal | 1<<abi.StatusGeneral
	return s < 32 && uint32(known)>>s&1 != 0
}
