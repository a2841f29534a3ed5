package ether

import (
	"encoding/binary"
	"fmt"
	"math"

	"rnic/abi"
	"rnic/driver"
)

// slots are the frames that may wait for the software.
const slots = 64

// software is the part of a host's software that others find it by: it has a raw QP,
// which gets all that is not RoCE, and answers through the NIC.
type software struct {
	neighbour
	qp    *driver.QP
	buf   *driver.Buffer
	mr    *driver.MR
	frame int // bytes of a slot
}

// serve answers as long as the device is there, and tells when it begins to.
func (n neighbour) serve(d *driver.Device, ready func()) error {
	s := software{neighbour: n, frame: int(d.Attr.MaxRawFrame)}
	cq, err := s.open(d)
	if err != nil {
		return fmt.Errorf("raw frames: %w", err)
	}
	ready()
	for {
		var wcs [slots]driver.WC
		k, err := cq.Wait(wcs[:], math.MaxInt64)
		if err != nil {
			return fmt.Errorf("raw frames: %w", err)
		}
		for i := range wcs[:k] {
			if err := s.done(&wcs[i]); err != nil {
				return fmt.Errorf("raw frames: %w", err)
			}
		}
	}
}

func (s *software) open(d *driver.Device) (*driver.CQ, error) {
	pd, err := d.AllocPD()
	if err != nil {
		return nil, err
	}
	cq, err := d.CreateCQ(2*slots, driver.CQOptions{Vector: d.Config.Vectors - 1})
	if err != nil {
		return nil, err
	}
	if s.buf, err = d.AllocBuffer(slots*s.frame, 0); err != nil {
		return nil, err
	}
	if s.mr, err = pd.RegMR(s.buf, abi.AccessLocalWrite); err != nil {
		return nil, err
	}
	s.qp, err = pd.CreateQP(driver.QPConfig{
		Type: abi.QPTypeRaw, SendCQ: cq, RecvCQ: cq, MaxSend: slots, MaxRecv: slots, MaxSendSGE: 1, MaxRecvSGE: 1,
	})
	if err != nil {
		return nil, err
	}
	if err := s.qp.Start(0); err != nil {
		return nil, err
	}
	for i := range uint64(slots) {
		if err := s.post(i); err != nil {
			return nil, err
		}
	}
	return cq, d.SetRawQP(s.qp)
}

// post gives a slot to the next frame.
func (s *software) post(slot uint64) error {
	_, err := s.qp.PostRecv(driver.RecvWR{ID: slot, SGEs: []driver.SGE{s.mr.SGE(int(slot)*s.frame, s.frame)}})
	return err
}

// done goes on with a slot: a frame came, and is answered from where it lies, or the
// answer has left.
func (s *software) done(wc *driver.WC) error {
	if err := wc.Err(); err != nil {
		return err
	}
	if !wc.Opcode.IsRecv() {
		return s.post(wc.ID)
	}
	at := int(wc.ID) * s.frame
	f := make([]byte, wc.ByteLen)
	if _, err := s.buf.ReadAt(f, int64(at)); err != nil {
		return err
	}
	r := s.answer(f)
	if r != nil && wc.Flags&abi.CQEVLAN != 0 {
		tag := binary.BigEndian.AppendUint16([]byte{0x81, 0}, uint16(wc.Imm))
		r = append(r[:12:12], append(tag, r[12:]...)...)
	}
	if r == nil || len(r) > s.frame {
		return s.post(wc.ID)
	}
	if _, err := s.buf.WriteAt(r, int64(at)); err != nil {
		return err
	}
	_, err := s.qp.PostSend(driver.SendWR{ID: wc.ID, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{s.mr.SGE(at, len(r))}})
	return err
}
