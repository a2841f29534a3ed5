package dma

import (
	"math/bits"

	"rnic/pcie"
	"rnic/rtl/port"
)

// fill takes a line that came. It always has a place.
func (r *Read) fill() {
	q, d := &r.Q, &r.D
	if !r.Line.Valid() {
		return
	}
	l := r.Line.Take()
	if l.First {
		d.Taking = r.accept(l)
		d.Take = l.Tag
	}
	if !d.Taking {
		return
	}
	bit := uint64(1) << l.Tag
	t := &d.Tags[l.Tag]
	if !l.Fail && q.Open&bit != 0 {
		bank, addr := r.slot(int(l.Tag), int(t.Base)+int(t.Lines))
		r.Bank[bank].Write(0, addr, &l.Data)
		t.Lines++
	}
	if (l.Fail || l.Short || l.First && l.Poison) && q.Open&bit != 0 {
		d.Bad |= bit
		d.Count.Errors++
	}
	if l.Last {
		d.Taking = false
		if l.Fail || t.Left == 0 {
			d.Open &^= bit
			d.Late &^= bit
		}
	}
}

// accept judges a completion by its header: it must be the next one of a read
// that is outstanding, or in quarantine.
func (r *Read) accept(l *cplLine) bool {
	q, d := &r.Q, &r.D
	if int(l.Tag) >= r.Params.Tags || (q.Open|q.Late)>>l.Tag&1 == 0 {
		d.Count.Unexpected++
		return false
	}
	if l.Fail {
		return true
	}
	t := &q.Tags[l.Tag]
	ends := l.Bytes == t.Left || (int(l.Lower)+int(l.Bytes))%pcie.RCB == 0
	if l.Count != t.Left || l.Lower != t.Lower || l.Bytes == 0 || l.Bytes > t.Left || !ends {
		d.Count.Unexpected++
		return false
	}
	d.Tags[l.Tag].Left -= l.Bytes
	d.Tags[l.Tag].Lower = (l.Lower + pcie.LowerAddr(l.Bytes&0x7f)) & 0x7f
	return true
}

// tick gives up, at multiples of Timeout/2, reads that were outstanding at the
// tick before, and at every eighth tick frees tags that were in quarantine at the
// eighth tick before.
func (r *Read) tick() {
	q, d := &r.Q, &r.D
	if q.Open|q.Late == 0 {
		return
	}
	period := max(1, r.Params.Timeout/2)
	r.WakeAt((r.Now()/period + 1) * period)
	if r.Now()%period != 0 {
		return
	}
	if d.Tick = (q.Tick + 1) % 8; d.Tick == 0 {
		free := q.Late & q.LateOld
		if d.Taking {
			free &^= 1 << d.Take
		}
		d.Late &^= free
		d.LateOld = q.Late
	}
	expired := d.Open & q.Old
	d.Open &^= expired
	d.Bad |= expired
	d.Late |= expired
	d.LateOld &^= expired
	d.Old = d.Open
	d.Count.Errors += uint64(bits.OnesCount64(expired))
}

var _ [port.BeatBytes - pcie.RCB]struct{} // a line is what lies between two RCBs
