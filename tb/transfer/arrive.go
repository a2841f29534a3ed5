package transfer

import (
	"bytes"
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// arrive judges a completed receive of UC or UD: one of the messages sent to this QP
// must be in it.
func (in *inbox) arrive(wc *driver.WC) error {
	r, s := in.r, &in.r.b
	if err := in.taken(wc); err != nil {
		return err
	}
	switch {
	case r.j.Transport == abi.QPTypeUC && r.j.SRQ &&
		wc.Status == abi.StatusLocQPOp && wc.VendorErr == abi.VendorRecvSequence:
		return nil // a message whose rest was lost: with an SRQ its receive ends
	case wc.Status != abi.StatusSuccess:
		return fmt.Errorf("QP %d: receive %d: %v (%v)", in.qp.Number(), wc.ID, wc.Status, wc.VendorErr)
	}
	from := in.n
	if r.j.datagrams() {
		var err error
		if from, err = in.from(wc); err != nil {
			return err
		}
	}
	i, err := in.which(wc, from)
	if err != nil {
		return err
	}
	if err := in.judge(wc, i); err != nil {
		return err
	}
	r.arrive(s, i)
	if r.j.Op != abi.OpWriteImm { // so that what was here is not found again
		_, err = s.buf.WriteAt(make([]byte, r.j.space()), int64(r.j.at(int(wc.ID))))
	}
	return err
}

// arrive counts message i.
func (r *run) arrive(s *side, i int) {
	if r.arrived[i] {
		r.repeated++
		return
	}
	r.arrived[i] = true
	s.arrived++
	r.received += int64(r.j.length(i))
}

// from is the QP of host a that a datagram is of, as the completion and the header in
// front of the data say.
func (in *inbox) from(wc *driver.WC) (int, error) {
	r, s := in.r, &in.r.b
	grh := make([]byte, driver.GRHSize)
	if _, err := s.buf.ReadAt(grh, int64(r.j.at(int(wc.ID)))); err != nil {
		return 0, err
	}
	way, err := in.dev.AHAttrFromWC(wc, grh)
	if err != nil {
		return 0, err
	}
	want := driver.AHAttr{DGID: roce.GIDFromIPv4(roce.HostIPv4(1)), SGIDIndex: 1, HopLimit: way.HopLimit}
	if r.j.IPv6 {
		want.DGID, want.SGIDIndex = roce.HostIPv6(1), 0
	}
	if way != want {
		return 0, fmt.Errorf("QP %d: datagram by the way %+v, expected %+v", in.qp.Number(), way, want)
	}
	for n, q := range s.qpns {
		if q == wc.SrcQPN {
			return n, nil
		}
	}
	return 0, fmt.Errorf("QP %d: datagram of QP %d, which host a does not have", in.qp.Number(), wc.SrcQPN)
}

// which is the message in a receive: the one whose turn it is of those of a QP of host
// a, or else the nearest that has the same bytes: messages alike can't be told apart.
// Without faults none comes again, or late. Immediate data names it.
func (in *inbox) which(wc *driver.WC, from int) (int, error) {
	r, j := in.r, &in.r.j
	lo, hi := r.span(in.round)
	if j.Op != abi.OpSend {
		i := int(wc.Imm)
		if i < lo || i >= hi || i%j.QPs != from || j.dest(i) != in.n {
			return 0, fmt.Errorf("QP %d: immediate data %d, which is not of a message of QP %d of this round", in.qp.Number(), i, from)
		}
		return i, r.equal(&r.b, in.place(wc, i), i)
	}
	first, step := from, j.QPs
	if j.datagrams() {
		first, step = (in.n-from+j.QPs)%j.QPs*j.QPs+from, j.QPs*j.QPs
	}
	flow := [2]int{in.n, from}
	up := max(r.next[flow], first)
	for up < lo {
		up += step
	}
	wrong := errors.New("none is as long")
	found := false
	down := up - step
	if j.Faults == nil {
		down = lo - 1
	}
	for ; up < hi || down >= lo; up, down = up+step, down-step {
		for _, i := range []int{up, down} {
			if i < lo || i >= hi || int(wc.ByteLen) != j.length(i)+j.header() {
				continue
			}
			err := r.equal(&r.b, in.place(wc, i), i)
			if err == nil {
				r.next[flow] = i + step
				return i, nil
			}
			if !found {
				wrong, found = err, true
			}
		}
	}
	return 0, fmt.Errorf("QP %d: %d bytes of QP %d, which are no message: %w", in.qp.Number(), wc.ByteLen, from, wrong)
}

// landed judges WRITE i in the memory of host b, when all that came has landed. Of UC
// each packet's part of it is there, or is untouched.
func (r *run) landed(s *side, i int) error {
	if !r.j.unreliable() {
		return r.compare(s, 0, i)
	}
	err := r.equal(s, r.j.slot(i), i)
	if err == nil {
		r.arrive(s, i)
		return nil
	}
	want, e := r.j.message(i)
	if e != nil {
		return e
	}
	got := make([]byte, len(want))
	if _, e := s.buf.ReadAt(got, int64(r.j.slot(i))); e != nil {
		return e
	}
	for mtu := r.j.MTU.Bytes(); len(want) > 0; {
		n := min(mtu, len(want))
		if !bytes.Equal(got[:n], want[:n]) {
			for k := range n {
				if got[k] != ^want[k] {
					return err
				}
			}
		}
		got, want = got[n:], want[n:]
	}
	return nil
}
