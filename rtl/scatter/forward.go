package scatter

import (
	"encoding/binary"

	"rnic/hdl"
	"rnic/rtl/port"
)

// Forward passes payload from rx_buf to dma as it is, a run after the other, puts
// the result of an atomic in its place, and releases frames.
type Forward struct {
	Data      hdl.In[port.Beat]
	WriteData hdl.Out[port.Beat]
	Runs      hdl.In[run]
	Free      hdl.Out[port.RxFree]
	hdl.Regs[struct{}]
}

// Eval moves a beat, and ends the run with its last.
func (f *Forward) Eval() {
	if !f.Runs.Valid() || !f.Free.Ready() {
		return
	}
	r := f.Runs.Head()
	if r.Read || r.Value {
		if !f.WriteData.Ready() || r.Read && !f.Data.Valid() {
			return
		}
		b := f.WriteData.Next()
		if r.Read {
			*b = *f.Data.Take()
		} else {
			*b = valueBeat(r)
		}
		if !b.Last {
			return
		}
	}
	if r.Last && r.Beats != 0 {
		f.Free.Put(port.RxFree{Beats: r.Beats})
	}
	f.Runs.Take()
}

// valueBeat is the beat of a run of the result of an atomic, as it lies in memory:
// little-endian.
func valueBeat(r *run) port.Beat {
	b := port.Beat{Len: r.Shift + r.Len, Last: true}
	binary.LittleEndian.PutUint64(b.Data[:], r.Data)
	return b
}
