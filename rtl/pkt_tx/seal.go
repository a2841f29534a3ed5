package pkttx

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Seal appends the ICRC, at a beat a cycle, and counts frames.
type Seal struct {
	hdl.Regs[sealState]
	Eth   hdl.Out[port.EthBeat]
	Stats hdl.Sig[port.TxStats]

	in hdl.In[beat]
}

type sealState struct {
	CRC      roce.CRC
	Beat     uint8  // number of the next beat, at most 2
	Bytes    uint16 // of the frame so far, with its tag
	Ack      bool   // the frame with the spill is an acknowledgement
	Synd     roce.Syndrome
	SpillLen uint8 // bytes of the ICRC that had no room behind the last beat
	Spill    [roce.ICRCSize]byte
}

// Eval passes a beat on.
func (s *Seal) Eval() {
	q, d := &s.Q, &s.D
	if !s.Eth.Ready() {
		return
	}
	if q.SpillLen > 0 {
		out := s.Eth.Next()
		*out = port.EthBeat{Len: q.SpillLen, Last: true}
		copy(out.Data[:], q.Spill[:q.SpillLen])
		d.SpillLen = 0
		s.count(q.Bytes, q.Ack, q.Synd)
		return
	}
	if !s.in.Valid() {
		return
	}
	in, out := s.in.Take(), s.Eth.Next()
	out.Data, out.Len, out.Last, out.Bad = in.Data, in.Len, false, false
	out.VLAN, out.TCI = in.VLAN, 0
	bytes := q.Bytes + uint16(in.Len)
	if in.VLAN {
		out.TCI = in.TCI
		bytes += roce.VLANSize
	}
	if in.Raw {
		s.raw(out, in.Last)
		return
	}
	crc := q.CRC
	if q.Beat == 0 {
		crc = roce.ICRCStart
	}
	crc = crc.ICRCBeat(&out.Data, int(in.Len), int(q.Beat), false, in.V6)
	if !in.Last {
		d.CRC, d.Beat, d.Bytes = crc, min(q.Beat+1, 2), bytes
		return
	}
	s.end(out, crc, in, bytes+roce.ICRCSize)
}

// raw passes a beat of a frame that is not RoCE.
func (s *Seal) raw(out *port.EthBeat, last bool) {
	if out.Last = last; last {
		t := s.Stats.Get()
		t.RawFrames++
		s.Stats.Set(t)
	}
}

// end writes the ICRC behind the last beat, as far as there is room.
func (s *Seal) end(out *port.EthBeat, crc roce.CRC, in *beat, bytes uint16) {
	d := &s.D
	var icrc [roce.ICRCSize]byte
	binary.LittleEndian.PutUint32(icrc[:], crc.Sum())
	fit := copy(out.Data[out.Len:], icrc[:])
	out.Len += uint8(fit)
	d.Beat, d.Bytes = 0, 0
	if fit < len(icrc) {
		d.SpillLen = uint8(copy(d.Spill[:], icrc[fit:]))
		d.Bytes, d.Ack, d.Synd = bytes, in.Ack, in.Synd
		return
	}
	out.Last = true
	s.count(bytes, in.Ack, in.Synd)
}

// count adds a frame, with the pad that the MAC gives it.
func (s *Seal) count(bytes uint16, ack bool, synd roce.Syndrome) {
	s.D.Bytes = 0
	t := s.Stats.Get()
	t.TxPackets++
	t.TxBytes += uint64(max(bytes, roce.MinFrame))
	switch {
	case !ack:
	case synd.Kind() == roce.KindACK:
		t.AcksSent++
	case synd.Kind() == roce.KindRNR:
		t.RnrNaksSent++
	default:
		t.NaksSent++
	}
	s.Stats.Set(t)
}
