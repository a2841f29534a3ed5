package dma

import (
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

// writeBeat is a beat of a write TLP on its way to Tx. Notify marks all beats of
// the TLP that a WriteDone is due for.
type writeBeat struct {
	pcie.Beat
	Notify bool
}

type writeRegs struct {
	Valid  bool // a request is being executed
	Notify bool
	Held   bool  // the beat that Lane counts in is in Carry, else at the head of Data
	Lane   uint8 // of the next byte
	Addr   port.BusAddr
	Left   uint16 // bytes of the request still to send, 1..4096
	Room   uint16 // of them, in the TLP that is under way; 0: the next beat starts one
}

// Write executes the writes of one client.
type Write struct {
	Req  hdl.In[port.WriteReq]
	Data hdl.In[port.Beat]
	TLP  hdl.Out[writeBeat]

	Carry  hdl.RAM[line] // the beat before the head of Data
	Params Params

	hdl.Regs[writeRegs]
}

// Eval sends one beat, or moves the first half of it into Carry.
func (w *Write) Eval() {
	q := &w.Q
	if !q.Valid {
		w.load()
		return
	}
	room := int(q.Room)
	if room == 0 {
		room = pcie.Chunk(uint64(q.Addr), int(q.Left), w.Params.MaxPayload)
	}
	n := min(room, port.BeatBytes)
	spans := int(q.Lane)+n > port.BeatBytes
	switch {
	case (spans || !q.Held) && !w.Data.Valid():
	case spans && !q.Held:
		w.Carry.Write(0, 0, (*line)(&w.take().Data))
		w.D.Held = true
	case w.TLP.Ready():
		w.send(room, n)
		w.advance(room, n, spans)
	}
}

// load starts the next request.
func (w *Write) load() {
	w.D.Valid = w.Req.Valid()
	if !w.D.Valid {
		return
	}
	r := w.Req.Take()
	if r.Len == 0 || r.Len > pcie.MaxRequest || r.Shift >= port.BeatBytes {
		w.Fail("write of %d bytes in lane %d", r.Len, r.Shift)
	}
	w.D = writeRegs{Valid: true, Notify: r.Notify, Lane: r.Shift, Addr: r.Addr, Left: uint16(r.Len)}
}

// send puts a beat of n bytes; room counts the bytes of the TLP from here on.
func (w *Write) send(room, n int) {
	q := &w.Q
	b := w.TLP.Next()
	b.Notify = q.Notify && room == int(q.Left)
	b.First, b.Last, b.Len = q.Room == 0, room == n, uint8(n)
	b.Hdr = pcie.TLP{}
	if b.First {
		b.Hdr = pcie.Request(pcie.MWr, uint64(q.Addr), room)
		b.Hdr.ID = w.Params.ID
	}
	if q.Held {
		copy(b.Data[:], w.Carry.Data(0)[q.Lane:])
		if end := port.BeatBytes - int(q.Lane); n > end {
			copy(b.Data[end:], w.Data.Head().Data[:])
		}
	} else {
		copy(b.Data[:], w.Data.Head().Data[q.Lane:])
	}
	clear(b.Data[n:])
}

// advance steps over n bytes and the beats that they used up.
func (w *Write) advance(room, n int, spans bool) {
	q, d := &w.Q, &w.D
	done := int(q.Left) == n
	d.Addr, d.Left, d.Room = q.Addr+port.BusAddr(n), q.Left-uint16(n), uint16(room-n)
	d.Lane = (q.Lane + uint8(n)) % port.BeatBytes
	switch {
	case spans && done:
		w.take()
	case spans:
		w.Carry.Write(0, 0, (*line)(&w.take().Data))
	case done || d.Lane == 0:
		if !q.Held {
			w.take()
		}
		d.Held = false
	}
	if done {
		w.load()
	}
}

// take removes the head of Data and checks that it is the last beat if it should
// be. A beat that goes to Carry, or is used up, starts at lane 0 or at Shift.
func (w *Write) take() *port.Beat {
	q := &w.Q
	b := w.Data.Take()
	end := int(q.Lane) + int(q.Left) // of the request, in lanes
	if q.Held {
		end -= port.BeatBytes
	}
	if b.Last != (end <= port.BeatBytes) {
		w.Fail("the data of a write ends %d bytes off its length", end-port.BeatBytes)
	}
	return b
}
