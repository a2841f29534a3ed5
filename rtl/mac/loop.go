package mac

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Loop keeps frames for the port's own address until they are whole, and then has
// Receive take them between frames of the wire. They come padded and without FCS, and
// leave as from the wire: a tag among their bytes is taken out.
type Loop struct {
	hdl.Regs[loopState]
	PortReg hdl.Tap[port.PortReg]

	own      hdl.Sig[roce.MAC] // the port's address, for Transmit
	in       hdl.In[port.EthBeat]
	out      hdl.Out[port.EthBeat]
	store    hdl.RAM[port.EthBeat] // port 0 writes, 1 reads
	maxFrame uint16                // without FCS
}

type loopState struct {
	Bytes   uint16 // of the frame coming in so far
	Swallow bool   // cut: the rest of it is of no interest
	Remove  removal
	Open    uint16 // beats of it in the store
	Whole   uint16 // beats of whole frames in the store
	Wr, Rd  uint16
	Busy    bool // the store's output register holds a beat for out
}

// removal is the state of taking a tag out of a frame.
type removal struct {
	On    bool
	First bool // Carry is of the frame's first beat
	Bad   bool // with Tail: the frame is
	TCI   uint16
	Tail  uint8 // bytes of Carry that are the frame's last beat
	Carry [tagCut]byte
}

// Eval stores a beat and passes one on.
func (l *Loop) Eval() {
	if mac := roce.MAC(l.PortReg.Get().MAC); mac != l.own.Get() {
		l.own.Set(mac)
	}
	q := &l.Q
	if q.Busy && l.out.Ready() {
		*l.out.Next() = *l.store.Data(1)
		l.D.Busy = false
	}
	if q.Whole > 0 && (!q.Busy || l.out.Ready()) {
		l.store.Read(1, int(q.Rd))
		l.D.Busy, l.D.Rd = true, after(q.Rd, l.store.Depth())
		l.D.Whole--
	}
	switch {
	case int(q.Whole+q.Open) == l.store.Depth():
	case q.Remove.Tail > 0:
		l.tail()
	case l.in.Valid():
		l.take(l.in.Take())
	}
}

// take stores a beat of a frame. One that is too long is cut, and Bad.
func (l *Loop) take(in *port.EthBeat) {
	q, d := &l.Q, &l.D
	if q.Swallow {
		d.Swallow = !in.Last
		return
	}
	bytes := q.Bytes + uint16(in.Len)
	long := bytes > l.maxFrame
	last, bad := in.Last || long, in.Bad || long
	d.Bytes, d.Swallow = bytes, last && !in.Last
	if last {
		d.Bytes = 0
	}
	first := q.Bytes == 0
	switch {
	case first && !in.VLAN && isTagged(in):
		l.begin(in, last, bad)
	case q.Remove.On:
		l.goOn(in, last, bad)
	default:
		out := l.next(in.Len, last, bad)
		out.Data, out.VLAN, out.TCI = in.Data, in.VLAN, in.TCI
	}
}

// begin takes the tag out of the first beat of a frame.
func (l *Loop) begin(in *port.EthBeat, last, bad bool) {
	r := removal{On: true, First: true, Bad: bad, TCI: binary.BigEndian.Uint16(in.Data[tagAt+2:])}
	copy(r.Carry[:], in.Data[:tagAt])
	copy(r.Carry[tagAt:], in.Data[tagEnd:])
	if last {
		r.Tail = in.Len - roce.VLANSize
	}
	l.D.Remove = r
}

// goOn stores what came before, and the first bytes of this beat.
func (l *Loop) goOn(in *port.EthBeat, last, bad bool) {
	ends := last && in.Len <= roce.VLANSize
	n := uint8(beatBytes)
	next := removal{On: true, Bad: bad, Carry: [tagCut]byte(in.Data[roce.VLANSize:])}
	switch {
	case ends:
		n, next = tagCut+in.Len, removal{}
	case last:
		next.Tail = in.Len - roce.VLANSize
	}
	l.D.Remove = next
	l.carried(l.next(n, ends, bad), in.Data[:])
}

// tail stores what is left of the last beat.
func (l *Loop) tail() {
	r := &l.Q.Remove
	l.D.Remove = removal{}
	l.carried(l.next(r.Tail, true, r.Bad), none[:])
}

// carried fills a beat with what came before and what is behind it.
func (l *Loop) carried(out *port.EthBeat, behind []byte) {
	r := &l.Q.Remove
	out.VLAN, out.TCI = r.First, r.TCI
	copy(out.Data[copy(out.Data[:], r.Carry[:]):], behind)
}

// next is the next free beat of the store. The last one makes its frame whole.
func (l *Loop) next(n uint8, last, bad bool) *port.EthBeat {
	q, d := &l.Q, &l.D
	d.Open++
	if last {
		d.Whole += q.Open + 1
		d.Open = 0
	}
	d.Wr = after(q.Wr, l.store.Depth())
	out := l.store.WriteNext(0, int(q.Wr))
	out.Len, out.Last, out.Bad = n, last, bad && last
	return out
}

// returns tells whether a frame begins that is for the port's own address.
func (t *Transmit) returns() bool {
	q := &t.Q
	return !q.Open && q.SpillLen == 0 && t.TxIn.Valid() && roce.MAC(t.TxIn.Head().Data[:6]) == t.own.Get()
}

// turn hands a beat to the loop, with pad: as long as the frame would be on the wire.
func (t *Transmit) turn() {
	if !t.TxIn.Valid() || !t.loop.Ready() {
		return
	}
	in, out := t.TxIn.Take(), t.loop.Next()
	*out = *in
	least := uint8(roce.MinFrame)
	if in.VLAN {
		least -= roce.VLANSize
	}
	if !t.Q.Loop && in.Last && in.Len < least {
		clear(out.Data[in.Len:])
		out.Len = least
	}
	t.D.Loop = !in.Last
}
