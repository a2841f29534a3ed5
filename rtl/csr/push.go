package csr

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/rtl/port"
)

// merge adds 8 bytes to the push window of their page. They come in order; the
// last completes the unit, and a unit that has gaps is forgotten.
func (c *CSR) merge() {
	q, d := &c.Q, &c.D
	w := *c.Windows.Data(0)
	if q.Lane == 0 {
		w = window{}
	}
	if q.Lane != w.Next {
		d.State = ready
		d.Stats.PushIgnored++
		c.Windows.Write(1, int(q.Page), &window{})
		return
	}
	binary.LittleEndian.PutUint64(w.Data[8*q.Lane:], q.Bytes)
	w.Next++
	if int(w.Next) == abi.PushSize/8 {
		if !c.push(q.Page, &w.Data) {
			return
		}
		w = window{}
	}
	c.Windows.Write(1, int(q.Page), &w)
	d.State = ready
}

// push passes a complete unit on, and the doorbell that goes with it; false: no
// room yet. A WQE of several units is left to be read from memory: only its
// doorbell goes on.
func (c *CSR) push(page uint8, data *[abi.PushSize]byte) bool {
	if !c.Push.Ready() || !c.QPBell.Ready() {
		return false
	}
	var ctrl abi.WQEControl
	_ = abi.WQEControlLayout.Decode(data[:], &ctrl) // 64 bytes are enough
	if ctrl.Units == 0 || ctrl.Units > abi.MaxUnits {
		c.D.Stats.PushIgnored++
		return true
	}
	bell := port.QPDoorbell{QPN: port.QPN(ctrl.QPN), Index: ctrl.Index + uint16(ctrl.Units), Page: page}
	if ctrl.Units == 1 {
		bell.Push = true
		c.Push.Put(port.PushedWQE{QPN: bell.QPN, Idx: ctrl.Index, Data: *data})
	} else {
		c.D.Stats.PushIgnored++
	}
	c.QPBell.Put(bell)
	c.D.Stats.Doorbells++
	return true
}
