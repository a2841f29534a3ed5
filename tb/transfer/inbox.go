package transfer

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/host"
)

// inbox is the receive queue of QP n of host b as its thread sees it. The ID of a
// receive is its slot in the memory of host b.
type inbox struct {
	r     *run
	n     int
	dev   *driver.Device
	qp    *driver.QP
	cq    *driver.CQ
	round int
	wrs   []driver.RecvWR
}

// slots are those of the receives that this thread posts at the start of a round. The
// thread of QP 0 posts those of an SRQ. Receives of UC and UD are posted once, and
// again when one is done: a message that is lost leaves its receive to another.
func (in *inbox) slots() (l []int) {
	j, first, step := &in.r.j, in.n, in.r.j.QPs
	if j.SRQ {
		first, step = 0, 1
	}
	switch {
	case !j.received(), j.SRQ && in.n > 0, j.unreliable() && in.round > 1:
		return nil
	case j.unreliable():
		for k := first; k < j.slots(); k += step {
			l = append(l, k)
		}
		return l
	}
	begin, end := in.r.span(in.round)
	for i := begin; i < end; i++ {
		if i%step == first%step {
			l = append(l, i%j.round())
		}
	}
	return l
}

// span is the messages of a round, from first to before end.
func (r *run) span(round int) (first, end int) {
	per := r.j.round()
	return (round - 1) * per, min(round*per, r.messages)
}

// post posts receives.
func (in *inbox) post(slots ...int) error {
	s := &in.r.b
	in.wrs = in.wrs[:0]
	for _, k := range slots {
		s.open[k] = true
		in.wrs = append(in.wrs, driver.RecvWR{ID: uint64(k), SGEs: s.sges(nil, in.r.j.at(k), in.r.j.space())})
	}
	if len(slots) == 0 {
		return nil
	}
	if s.srq != nil {
		_, err := s.srq.On(in.dev).PostRecv(in.wrs...)
		return err
	}
	_, err := in.qp.PostRecv(in.wrs...)
	return err
}

// taken judges that a receive was posted, and that it succeeded.
func (in *inbox) taken(wc *driver.WC) error {
	s := &in.r.b
	if wc.ID >= uint64(len(s.open)) || !s.open[wc.ID] {
		return fmt.Errorf("QP %d: receive %d completes, which is not posted: %v", in.qp.Number(), wc.ID, wc.Status)
	}
	s.open[wc.ID] = false
	return nil
}

// complete judges the completion of message i, whose turn it is, and its bytes.
func (in *inbox) complete(wc *driver.WC, i int) error {
	r := in.r
	if wc.Status != abi.StatusSuccess {
		return fmt.Errorf("message %d: %v (%v)", i, wc.Status, wc.VendorErr)
	}
	if err := in.taken(wc); err != nil {
		return err
	}
	if !r.j.SRQ && wc.ID != uint64(i%r.j.round()) {
		return fmt.Errorf("QP %d: message %d completes receive %d, out of turn", in.qp.Number(), i, wc.ID)
	}
	if err := in.judge(wc, i); err != nil {
		return err
	}
	if err := r.equal(&r.b, in.place(wc, i), i); err != nil {
		return err
	}
	r.b.arrived++
	return nil
}

// judge judges what a completion says of message i.
func (in *inbox) judge(wc *driver.WC, i int) error {
	j := &in.r.j
	opcode, flags := abi.WCRecv, abi.CQEFlags(0)
	if j.Op == abi.OpWriteImm {
		opcode = abi.WCRecvWithImm
	}
	if j.Op != abi.OpSend {
		flags = abi.CQEWithImm
	}
	if j.datagrams() {
		flags |= abi.CQEGRH
	}
	if n := j.length(i) + j.header(); wc.Opcode != opcode || wc.QPN != in.qp.Number() || int(wc.ByteLen) != n || wc.Flags != flags ||
		j.Op != abi.OpSend && wc.Imm != uint32(i) {
		return fmt.Errorf("QP %d: message %d of %d bytes completes with %d bytes: %v, QP %d, %v, immediate data %d",
			in.qp.Number(), i, n, wc.ByteLen, wc.Opcode, wc.QPN, wc.Flags, wc.Imm)
	}
	return nil
}

// place is where the bytes of message i are, in the memory of host b.
func (in *inbox) place(wc *driver.WC, i int) int {
	if in.r.j.Op == abi.OpWriteImm {
		return in.r.j.slot(i)
	}
	return in.r.j.at(int(wc.ID)) + in.r.j.header()
}

// lull is how long a thread waits for messages that might not come, ps.
const lull = 20_000_000

// drain takes what comes in a round of UC or UD until nothing more does.
func (in *inbox) drain(bus *host.Bus, wcs []driver.WC) error {
	s := &in.r.b
	var again []int
	for in.r.j.received() && s.err == nil {
		over := s.drained >= in.round
		n, err := in.cq.Wait(wcs, bus.Now()+lull)
		if err != nil {
			return err
		}
		if n == 0 && over {
			return nil
		}
		again = again[:0]
		for i := range wcs[:n] {
			if err := in.arrive(&wcs[i]); err != nil {
				return err
			}
			again = append(again, int(wcs[i].ID))
		}
		if err := in.post(again...); err != nil {
			return err
		}
	}
	return nil
}
