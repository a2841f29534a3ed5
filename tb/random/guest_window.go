package random

import (
	"encoding/binary"
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/accept"
)

// window is a key of a guest that comes and goes while the peer uses it: a window of
// either type, or a region that is registered from the send queue. Those of RC are closed
// when the peer has said that it is done with them; those of UC at any time.
type window struct {
	kind  abi.KeyKind
	mw    *driver.MW
	mr    *driver.MR // of FAST_REG
	state windowState
	key   abi.Key
	addr  uint64
	len   int
	id    uint64 // of the work request that is under way
}

// windowState is how far a window is.
type windowState uint8

const (
	shut     windowState = iota // it may be opened
	opening                     // a work request is under way
	open                        // the peer was told
	asked                       // and is asked to be done with it
	released                    // it may be closed
	closing
)

// opened is a window of the peer.
type opened struct {
	key  abi.Key
	addr uint64
	len  int
}

// Messages about windows: what, guest and window, key, address and length.
const (
	windowOpen = iota
	windowAsk
	windowDone
)

// windowBytes is the memory of a window.
const windowBytes = 4 * 4096

// windows makes those of a guest.
func (q *guest) makeWindows() (err error) {
	if q.Type == abi.QPTypeUD || q.windows != nil {
		return nil
	}
	pd := q.s.pds[0]
	for _, kind := range []abi.KeyKind{abi.KeyWindow1, abi.KeyWindow2, abi.KeyFastReg} {
		w := &window{kind: kind}
		if kind == abi.KeyFastReg {
			w.mr, err = pd.AllocFastMR(4)
		} else {
			w.mw, err = pd.AllocMW(kind)
		}
		if err != nil {
			return err
		}
		q.windows = append(q.windows, w)
	}
	q.cloth, q.frame, err = q.region(windowBytes, 0, abi.AccessLocalWrite|abi.AccessRemoteWrite|abi.AccessMWBind)
	return err
}

// remake forgets windows when the QP begins anew.
func (q *guest) remake() {
	q.opened = map[int]opened{}
	for _, w := range q.windows {
		switch {
		case w.kind == abi.KeyWindow2:
			w.state = shut
		case w.state == open || w.state == asked:
			w.state = released
		}
	}
}

// turn opens or closes a window, if one may be; ok tells whether w does.
func (q *guest) turn(r *rand.Rand, w *guestWR) (ok bool) {
	if len(q.windows) == 0 {
		return false
	}
	i := r.IntN(len(q.windows))
	v := q.windows[i]
	switch {
	case v.kind == abi.KeyWindow1 && v.state == open && q.Type == abi.QPTypeUC:
		v.state = released // another bind ends it
		q.opens(r, v, w)
	case v.state == shut || v.kind == abi.KeyWindow1 && v.state == released:
		q.opens(r, v, w)
	case v.state == open && q.Type == abi.QPTypeRC:
		v.state = asked
		q.say(windowAsk, i)
		return false
	case v.state == released || v.state == open && v.kind != abi.KeyWindow1:
		w.Op, w.Imm = abi.OpLocalInv, uint32(v.key)
		w.change.Ends = v.key
		v.state = closing
	default:
		return false
	}
	v.id, w.Signaled = w.ID, true
	return true
}

// opens draws what a window opens.
func (q *guest) opens(r *rand.Rand, v *window, w *guestWR) {
	old := v.key
	off := r.IntN(windowBytes - 1)
	v.len = 1 + r.IntN(windowBytes-off)
	access := abi.AccessRemoteWrite
	reg := accept.Region{Len: uint64(v.len), Access: access, Of: q.frame.RKey, At: q.frame.Addr + uint64(off), Read: func(at, n int) []byte {
		b := make([]byte, n)
		_, _ = q.cloth.ReadAt(b, int64(off+at)) // it is inside
		return b
	}}
	if v.kind == abi.KeyFastReg {
		first, last := off/4096, (off+v.len-1)/4096
		v.addr = 1<<44 + uint64(r.IntN(1<<20))<<12 + uint64(off%4096)
		v.key = abi.MakeKey(v.mr.RKey.Index(), v.mr.RKey.Low()+1)
		w.Op = abi.OpFastReg
		w.FastReg = &driver.FastReg{
			MR: v.mr, Key: v.key, Addr: v.addr, Length: uint64(v.len), Pages: q.cloth.Pages()[first : last+1],
			Access: access | abi.AccessLocalWrite,
		}
	} else {
		v.addr = q.frame.Addr + uint64(off)
		v.key = abi.MakeKey(v.mw.RKey.Index(), v.mw.RKey.Low()+1)
		w.Op = abi.OpBindMW
		w.Bind = &driver.Bind{MW: v.mw, RKey: v.key, MR: q.frame, Addr: v.addr, Length: uint64(v.len), Access: access}
	}
	if v.kind == abi.KeyWindow2 {
		reg.QPN = q.qp.Number()
	}
	w.window1 = v.kind == abi.KeyWindow1
	if v.kind == abi.KeyWindow1 && v.state == released {
		w.change.Ends = old
	}
	reg.Addr = v.addr
	w.change.Begins, w.change.Region = v.key, reg
	v.state = opening
}

// turned notes that a work request on a window is done, or was flushed.
func (q *guest) turned(id uint64, good bool) {
	for i, v := range q.windows {
		if v.id != id {
			continue
		}
		v.id = 0
		switch v.state {
		case opening:
			if v.state = open; !good {
				v.state = shut
				continue
			}
			q.say(windowOpen, i)
		case closing:
			if v.state = shut; !good {
				v.state = released
			}
		}
	}
}

// say sends a message about a window; of the peer's, if it is done with it.
func (q *guest) say(what, i int) {
	key, addr, n := q.opened[i].key, uint64(0), 0
	if what != windowDone {
		v := q.windows[i]
		key, addr, n = v.key, v.addr, v.len
	}
	m := []byte{msgWindow, byte(what), byte(q.i), byte(i)}
	m = binary.LittleEndian.AppendUint32(m, uint32(key))
	m = binary.LittleEndian.AppendUint64(m, addr)
	q.s.h.OOB.Send(binary.LittleEndian.AppendUint32(m, uint32(n)))
}

// hear takes one.
func (g *guests) hear(m []byte) {
	q, i := g.list[m[2]], int(m[3])
	key := abi.Key(binary.LittleEndian.Uint32(m[4:]))
	switch m[1] {
	case windowOpen:
		q.opened[i] = opened{key, binary.LittleEndian.Uint64(m[8:]), int(binary.LittleEndian.Uint32(m[16:]))}
	case windowAsk:
		if q.opened[i].key == key {
			q.leaving = append(q.leaving, i)
			q.let()
		}
	case windowDone:
		if v := q.windows[i]; v.key == key && v.state == asked {
			v.state = released
		}
	}
}

// let says that the guest is done with windows, when nothing is under way.
func (q *guest) let() {
	if len(q.order) > 0 {
		return
	}
	for _, i := range q.leaving {
		q.say(windowDone, i)
		delete(q.opened, i)
	}
	q.leaving = nil
}

// through has a WRITE go through a window of the peer's, if there is one that it may use.
func (q *guest) through(r *rand.Rand, w *guestWR) {
	i := r.IntN(3)
	o, ok := q.opened[i]
	if !ok || len(w.data) > o.len || len(q.leaving) > 0 {
		return
	}
	w.RemoteAddr, w.RKey = o.addr+uint64(r.IntN(o.len-len(w.data)+1)), o.key
}
