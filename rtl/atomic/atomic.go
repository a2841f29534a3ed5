package atomic

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/rtl/port"
)

// maxSlots is the most operations under way.
const maxSlots = 8

// wordBytes is the size of what an atomic works on.
const wordBytes = 8

// Params are the sizes of the block; 0 takes the default.
type Params struct {
	Slots int // operations under way, at most 8; default 8
}

type regs struct {
	Slot     [maxSlots]slot
	Reading  order // slots in READ
	Posting  order // slots in POST
	Read     uint8 // slot that began to read last
	Written  uint8 // slot that began to write last
	Finished uint8 // slot that ended last
}

// Atomic is the block. Its ports are described in the package comment.
type Atomic struct {
	Req       hdl.In[port.AtomicReq]
	Res       hdl.Out[port.AtomicRes]
	Done      hdl.Out[port.AtomicDone]
	Read      hdl.Out[port.ReadReq]
	Data      hdl.In[port.ReadBeat]
	Write     hdl.Out[port.WriteReq]
	WriteData hdl.Out[port.Beat]
	WriteDone hdl.In[port.WriteDone]

	hdl.Regs[regs]
	slots int
}

// New makes the block.
func New(p Params) *Atomic {
	hdl.Default(&p.Slots, maxSlots)
	return &Atomic{slots: min(max(p.Slots, 1), maxSlots)}
}

// Eval takes what has come and then begins what that makes possible.
func (a *Atomic) Eval() {
	a.posted()
	a.data()
	a.finish()
	a.take()
	a.read()
	a.write()
}

// posted ends the operation whose new value has entered the posted queue.
func (a *Atomic) posted() {
	if a.WriteDone.Valid() {
		a.WriteDone.Take()
		a.end(a.D.Posting.pop())
	}
}

// data takes the word of the oldest read.
func (a *Atomic) data() {
	d := &a.D
	if !a.Data.Valid() {
		return
	}
	b := a.Data.Take()
	i := d.Reading.pop()
	s := &d.Slot[i]
	s.Err = b.Err
	if !b.Err {
		s.Value = binary.LittleEndian.Uint64(b.Data[:])
	}
	if s.Err || !s.matches() {
		a.end(i)
		return
	}
	s.State = write
}

// end lets the next operation on the word go on.
func (a *Atomic) end(i int) {
	d := &a.D
	d.Slot[i].State = finish
	for j := range d.Slot {
		d.Slot[j].Behind &^= 1 << i
	}
}

// finish tells of an operation that is over.
func (a *Atomic) finish() {
	d := &a.D
	i := a.turn(finish, d.Finished)
	if i < 0 || !a.Res.Ready() || !a.Done.Ready() {
		return
	}
	d.Finished = uint8(i)
	s := &d.Slot[i]
	a.Res.Put(port.AtomicRes{QPN: s.QPN, PSN: s.PSN, Slot: s.Slot, Value: s.Value, Err: s.Err})
	a.Done.Put(port.AtomicDone{QPN: s.QPN, Err: s.Err})
	*s = slot{}
}

// take gives a request a slot, behind those that are on the same word.
func (a *Atomic) take() {
	d := &a.D
	if !a.Req.Valid() {
		return
	}
	addr := a.Req.Head().Addr &^ (wordBytes - 1)
	into, behind := -1, uint8(0)
	for i := range d.Slot[:a.slots] {
		switch s := &d.Slot[i]; {
		case s.State == free:
			into = i
		case s.State != finish && s.Addr == addr:
			behind |= 1 << i
		}
	}
	if into < 0 {
		return
	}
	r := a.Req.Take()
	d.Slot[into] = slot{
		State: wait, Behind: behind, QPN: r.QPN, PSN: r.PSN, Slot: r.Slot,
		Addr: addr, Op: r.Op, Swap: r.Swap, Compare: r.Compare,
	}
}

// read begins to read a word on which nothing older is under way.
func (a *Atomic) read() {
	d := &a.D
	i := a.turn(wait, d.Read)
	if i < 0 || !a.Read.Ready() {
		return
	}
	d.Read = uint8(i)
	a.Read.Put(port.ReadReq{Addr: d.Slot[i].Addr, Len: wordBytes})
	d.Slot[i].State = read
	d.Reading.push(i)
}

// write begins to write a new value.
func (a *Atomic) write() {
	d := &a.D
	i := a.turn(write, d.Written)
	if i < 0 || !a.Write.Ready() || !a.WriteData.Ready() {
		return
	}
	d.Written = uint8(i)
	s := &d.Slot[i]
	beat := port.Beat{Len: wordBytes, Last: true}
	binary.LittleEndian.PutUint64(beat.Data[:], s.next())
	a.Write.Put(port.WriteReq{Addr: s.Addr, Len: wordBytes, Notify: true})
	a.WriteData.Put(beat)
	s.State = post
	d.Posting.push(i)
}

// turn picks a slot in a state that waits for nothing older, round robin.
func (a *Atomic) turn(st state, last uint8) int {
	var requests uint64
	for i := range a.D.Slot {
		if s := &a.D.Slot[i]; s.State == st && s.Behind == 0 {
			requests |= 1 << i
		}
	}
	return hdl.RoundRobin(requests, int(last))
}
