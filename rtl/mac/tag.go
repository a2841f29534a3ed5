package mac

import (
	"encoding/binary"

	"rnic/roce"
	"rnic/rtl/port"
)

// An 802.1Q tag lies behind the two addresses of a frame: type 0x8100 and the tag
// control. All that follows comes four lanes later with it.
const (
	tagAt  = 12
	tagEnd = tagAt + roce.VLANSize
	tagCut = beatBytes - roce.VLANSize // lanes of a beat that stay in it
)

// insert is the state of putting a tag into a frame.
type insert struct {
	On    bool                // inside a frame that gets one
	Carry [roce.VLANSize]byte // of the beat before, pushed out by the tag
	Tail  uint8               // bytes of Carry that are to be sent behind the last beat
}

// insert copies a beat, with the tag if it has one. It returns the bytes of the beat
// that is sent and whether the frame's data ends in it.
func (t *Transmit) insert(in *port.EthBeat, out *[beatBytes]byte) (n int, last bool) {
	q, d := &t.Q.Tag, &t.D.Tag
	on := q.On
	if !t.Q.Open {
		on = in.VLAN && in.Len >= tagAt
	}
	if !on {
		*out = in.Data
		return int(in.Len), in.Last
	}
	if t.Q.Open {
		copy(out[:], q.Carry[:])
		copy(out[roce.VLANSize:], in.Data[:])
	} else {
		copy(out[:], in.Data[:tagAt])
		binary.BigEndian.PutUint16(out[tagAt:], uint16(roce.EtherTypeVLAN))
		binary.BigEndian.PutUint16(out[tagAt+2:], in.TCI)
		copy(out[tagEnd:], in.Data[tagAt:])
	}
	n = int(in.Len) + roce.VLANSize
	if n <= beatBytes {
		*d = insert{On: !in.Last}
		return n, in.Last
	}
	d.On, d.Carry, d.Tail = true, [roce.VLANSize]byte(in.Data[tagCut:]), 0
	if in.Last {
		d.Tail = uint8(n - beatBytes)
	}
	return beatBytes, false
}

// isTagged tells whether the first beat of a frame has a tag.
func isTagged(b *port.EthBeat) bool {
	return b.Len >= tagEnd+roce.FCSSize && binary.BigEndian.Uint16(b.Data[tagAt:]) == uint16(roce.EtherTypeVLAN)
}

// remove makes a beat of a frame without its tag: what is left of a beat, and the
// first bytes of the one behind it. The frame's first beat has the tag beside its data.
func remove(out *port.EthBeat, first bool, beat, behind *[beatBytes]byte) {
	out.VLAN, out.TCI = first, 0
	from := roce.VLANSize
	if first {
		out.TCI = binary.BigEndian.Uint16(beat[tagAt+2:])
		from = tagEnd
		copy(out.Data[:], beat[:tagAt])
	}
	n := copy(out.Data[from-roce.VLANSize:tagCut], beat[from:])
	copy(out.Data[from-roce.VLANSize+n:], behind[:])
}
