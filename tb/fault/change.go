package fault

import (
	"encoding/binary"
	"fmt"
	"slices"

	"rnic/roce"
)

// target is what a Change befalls: n bytes of a frame, and the bit to turn over by default.
type target struct {
	at, n int
	bit   uint64
}

// find is the target of the change, if the frame has it. draw chooses a number below
// its argument. known tells whether the frame is a RoCE packet, p.
func (c *Change) find(p *roce.Packet, known bool, frame []byte, draw func(int) int) (target, bool) {
	if !known && (!c.ByteSet || c.Repair) {
		return target{}, false
	}
	if c.ByteSet {
		at := c.Byte
		if at < 0 {
			at += len(frame)
		}
		return target{at, 1, 1}, at >= 0 && at < len(frame)
	}
	l := layoutOf(p, frame)
	if c.Field != "" {
		f := fieldOf(c.Field)
		at := f.at(p, &l)
		return target{at, f.width, f.bit}, at >= 0
	}
	at := l.bth + draw(l.icrc+roce.ICRCSize-l.bth)
	if at == l.bth+4 {
		at++ // FECN, BECN and reserved bits: no ICRC covers them
	}
	return target{at, 1, 1}, true
}

// apply changes a copy of the frame.
func (c *Change) apply(p *roce.Packet, frame []byte, t target) []byte {
	f := slices.Clone(frame)
	var b [8]byte
	copy(b[8-t.n:], f[t.at:t.at+t.n])
	v := binary.BigEndian.Uint64(b[:])
	switch {
	case c.Set:
		v = c.Value
	case c.Value != 0:
		v ^= c.Value
	default:
		v ^= t.bit
	}
	binary.BigEndian.PutUint64(b[:], v)
	copy(f[t.at:t.at+t.n], b[8-t.n:])
	if c.Repair {
		c.repair(p, f)
	}
	return f
}

// repair makes the checksums of a packet right again, with its headers where they
// were before the change.
func (c *Change) repair(p *roce.Packet, f []byte) {
	l := layoutOf(p, f)
	if !p.V6 && c.Field != "ip-checksum" {
		binary.BigEndian.PutUint16(f[l.l3+10:], roce.IPv4Checksum(f[l.l3:l.udp]))
	}
	binary.LittleEndian.PutUint32(f[l.icrc:], roce.ICRC(f[l.l3:l.icrc]))
	if p.UDP.Checksum != 0 {
		binary.BigEndian.PutUint16(f[l.udp+6:], roce.UDPChecksum(f[l.l3:l.udp], f[l.udp:l.icrc+roce.ICRCSize]))
	}
}

// fits demands that the value has room in what the change befalls.
func (c *Change) fits() error {
	n, what := 1, "a byte"
	if c.Field != "" {
		n, what = fieldOf(c.Field).width, c.Field
	}
	if c.Value>>(8*n) != 0 {
		return fmt.Errorf("%#x is more than the %d bits of %s", c.Value, 8*n, what)
	}
	return nil
}
