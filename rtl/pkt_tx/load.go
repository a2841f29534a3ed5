package pkttx

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// Load reserves the beats of a packet in the payload buffer, reads its pieces,
// run by run, and tells Buffer what will come. When mpt refuses a piece, the
// pieces behind it are not read, and the packet's last landing says so. A request from
// before a rewind reserves and reads nothing.
//
// No more is asked for than PCIe brings, so that reads wait here and not in the host,
// where nobody can take back those that a rewind makes useless.
type Load struct {
	hdl.Regs[loadState]
	MptRes hdl.In[port.MptRes]
	Read   hdl.Out[port.ReadReq]

	ops      hdl.In[op]
	land     hdl.Out[landing]
	old      hdl.In[port.Stale]
	released hdl.Tap[uint16]
	beats    uint16

	fence fence
	rate  uint32 // bytes a cycle that PCIe brings, headers included
}

type loadState struct {
	Debt     uint32        // bytes on PCIe that were asked for and cannot have come yet
	Reserved uint16        // beats reserved so far, modulo 2^16
	Second   bool          // the second run of the piece is to be read
	Skip     bool          // the packet is stale: it has no beats
	Vendor   abi.VendorErr // why the rest of the packet is not read
	Fence    fenceState
}

// landing is a run of payload that arrives next at Buffer: inline, or as beats
// of one read. One without bytes only ends its packet. One with Fence is a marker of mpt,
// and nothing else.
type landing struct {
	Fence  port.Fence
	Inline bool
	Last   bool // of its packet
	Len    uint16
	Start  uint8         // lane of the first byte of the packet's payload
	Beats  uint8         // that the packet's payload takes
	Vendor abi.VendorErr // with Last: the packet cannot be sent
	Data   [beatBytes]byte
}

// Eval deals with one run.
func (l *Load) Eval() {
	q, d := &l.Q, &l.D
	d.Debt = q.Debt - min(q.Debt, l.rate)
	if l.old.Valid() {
		l.fence.take(&d.Fence, l.old.Take())
	}
	if !l.land.Ready() {
		return
	}
	if l.MptRes.Valid() && l.MptRes.Head().Fence != 0 { // whatever the op at the head waits for
		*l.land.Next() = landing{Fence: l.MptRes.Take().Fence}
		return
	}
	if !l.ops.Valid() {
		return
	}
	o := l.ops.Head()
	skip, reserved, vendor := q.Skip, q.Reserved, q.Vendor
	if o.First && !q.Second {
		stale, known := l.fence.stale(&q.Fence, &d.Fence, &o.From)
		if !known {
			return
		}
		if skip = stale; skip {
			vendor = abi.VendorFlush
		} else if reserved += uint16(o.Beats); reserved-l.released.Get() > l.beats {
			return
		}
	}
	var res *port.MptRes
	if !o.Inline {
		if !l.MptRes.Valid() || !l.Read.Ready() || q.Debt > slack {
			return
		}
		if res = l.MptRes.Head(); vendor == abi.VendorNone {
			vendor = res.Status.Vendor(o.Resp)
		}
	}
	d.Skip, d.Reserved = skip, reserved
	switch {
	case vendor != abi.VendorNone:
		if o.Last {
			l.put(o, 0, true, vendor)
		}
	case o.Inline:
		l.put(o, o.Len, o.Last, vendor)
	case q.Second:
		l.read(o, res.Addr1, res.Len1, o.Lane+uint8(res.Len0%beatBytes), o.Last)
	default:
		l.read(o, res.Addr0, res.Len0, o.Lane, o.Last && res.Len1 == 0)
		if res.Len1 != 0 {
			d.Second = true
			return
		}
	}
	d.Second = false
	if !o.Inline {
		l.MptRes.Take()
	}
	l.ops.Take()
	d.Vendor = vendor
	if o.Last {
		d.Vendor = abi.VendorNone
	}
}

const (
	slack      = 1024 // bytes of answers that may queue in the host
	completion = 256  // bytes of payload of a completion
	cplHeader  = 20   // bytes of its header, and of what frames it
)

// read asks for one run.
func (l *Load) read(o *op, addr port.BusAddr, n uint16, lane uint8, last bool) {
	l.D.Debt += uint32(n) + (uint32(n)+completion-1)/completion*cplHeader
	*l.Read.Next() = port.ReadReq{Addr: addr, Len: uint32(n), Shift: lane % beatBytes}
	l.put(o, n, last, abi.VendorNone)
}

func (l *Load) put(o *op, n uint16, last bool, vendor abi.VendorErr) {
	x := l.land.Next()
	x.Fence, x.Inline, x.Last, x.Len, x.Start, x.Beats, x.Vendor, x.Data = 0, o.Inline, last, n, o.Start, o.Beats, vendor, o.Data
	if l.D.Skip {
		x.Beats = 0
	}
}
