package pktrx

import (
	"rnic/bits"
	"rnic/roce"
	"rnic/rtl/port"
)

// judge commits the frame in the frame register, or drops and counts it.
func (r *RX) judge() {
	f := &r.Q.Frame
	if f.Drop == dropDisabled {
		return
	}
	stats := r.Stats.Get()
	var bth roce.BTH
	counter, size := f.verdict(&stats, &bth)
	if counter == nil && (f.NoRoom || !r.Pkt.Ready()) {
		counter = &stats.DropOverflow
	}
	if counter != nil {
		*counter++
		r.rollBack()
	} else {
		if f.Raw != 0 {
			stats.RawFrames++
			r.putRaw()
		} else {
			r.put(&bth, size)
		}
		r.D.Frame.Stored = 0 // committed: the frame register holds nothing any more
	}
	if f.RoCE && !f.Bad && int(f.Bytes) >= int(f.End) {
		stats.RxPackets++
		stats.RxBytes += uint64(f.Bytes)
		if f.VLAN {
			stats.RxBytes += roce.VLANSize
		}
	}
	r.Stats.Set(stats)
}

// verdict finds the counter of the drop, nil for a good frame, and decodes the
// BTH. size is the length of the payload.
func (f *frame) verdict(s *port.RxStats, bth *roce.BTH) (counter *uint64, size int) {
	class := [...]*uint64{dropNotRoCE: &s.DropNotRoCE, dropMalformed: &s.DropMalformed}
	switch {
	case f.Bad:
		return &s.DropFCS, 0
	case f.Bytes < uint16(f.Need):
		return &s.DropMalformed, 0
	case f.Raw != 0 && f.Bytes > maxRaw:
		return &s.DropNotRoCE, 0
	case f.Raw != 0:
		return nil, int(f.Bytes)
	case f.Drop != dropNone && !f.UDP:
		return class[f.Drop], 0
	case f.Bytes < f.End:
		return &s.DropMalformed, 0
	case f.Drop != dropNone:
		return class[f.Drop], 0
	}
	decode(roce.BTHLayout, f.Header[:], bth)
	size = int(f.End) - f.payload(bth.Opcode) - int(bth.PadCnt) - roce.ICRCSize
	switch {
	case !f.checksumRight(), size < 0:
		return &s.DropMalformed, 0
	case f.CRC != roce.Residue:
		return &s.DropICRC, 0
	case bth.TVer != 0:
		return &s.DropMalformed, 0
	case bth.Opcode == roce.CNP:
		return &s.DropOther, 0
	}
	return nil, size
}

// payload is the offset of the payload in the frame.
func (f *frame) payload(op roce.Opcode) int { return f.udp() + roce.UDPSize + op.HeaderSize() }

// put describes the frame to ack_gen.
func (r *RX) put(bth *roce.BTH, size int) {
	f, op := &r.Q.Frame, bth.Opcode
	p := r.Pkt.Next()
	*p = port.RxPkt{
		Opcode: op, QPN: port.QPN(bth.DestQP), PSN: bth.PSN,
		AckReq: bth.AckReq, Solicited: bth.SE, Pad: bth.PadCnt, PKey: uint16(bth.PKey),
		V6: f.V6, SIP: f.SIP, DIP: f.DIP, CE: f.CE, VLAN: f.VLAN, TCI: f.TCI,
		Len:        uint16(size),
		BufAddr:    r.addr(f.payload(op)),
		IPAddr:     r.addr(l3Offset),
		FrameBeats: f.Stored,
	}
	f.extended(op, p)
}

// addr is where a byte of the frame lies in rx_buf.
func (r *RX) addr(offset int) uint32 {
	return (uint32(r.Q.Start)<<beatShift + uint32(offset)) & (uint32(r.depth)<<beatShift - 1)
}

// extended decodes the headers behind the BTH.
func (f *frame) extended(op roce.Opcode, p *port.RxPkt) {
	h := f.Header[roce.BTHSize:]
	if op.HasDETH() {
		var x roce.DETH
		h = decode(roce.DETHLayout, h, &x)
		p.QKey, p.SrcQPN = x.QKey, port.QPN(x.SrcQP)
	}
	if op.HasRETH() {
		var x roce.RETH
		h = decode(roce.RETHLayout, h, &x)
		p.Reth.VA, p.Reth.RKey, p.Reth.Len = port.VA(x.VA), port.Key(x.RKey), x.Length
	}
	if op.HasAtomicETH() {
		var x roce.AtomicETH
		h = decode(roce.AtomicETHLayout, h, &x)
		p.Reth.VA, p.Reth.RKey, p.Reth.Swap, p.Reth.Compare = port.VA(x.VA), port.Key(x.RKey), x.SwapAdd, x.Compare
	}
	if op.HasAETH() {
		var x roce.AETH
		h = decode(roce.AETHLayout, h, &x)
		p.Syndrome, p.MSN = uint8(x.Syndrome), port.MSN(x.MSN)
	}
	if op.HasAtomicAckETH() {
		var x roce.AtomicAckETH
		h = decode(roce.AtomicAckETHLayout, h, &x)
		p.Reth.Swap = x.Orig
	}
	if op.HasImm() {
		var x roce.ImmDt
		h = decode(roce.ImmDtLayout, h, &x)
		p.Imm = x.Imm
	}
	if op.HasIETH() {
		var x roce.IETH
		decode(roce.IETHLayout, h, &x)
		p.Imm = x.RKey
	}
}

// decode reads a header, which is there, and returns what follows it.
func decode[T any](l *bits.Layout[T], h []byte, v *T) []byte {
	_ = l.Decode(h[:l.Size], v) // it has the size
	return h[l.Size:]
}
