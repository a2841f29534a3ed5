package scatter_test

import (
	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// atomicUnit is atomic: up to 8 operations at once, on different words, which end in
// any order.
type atomicUnit struct {
	hdl.Behave
	In       hdl.In[port.AtomicReq]
	Out      hdl.Out[port.AtomicDone]
	Throttle agent.Throttle
	Latency  func() uint64         // nil: 40
	Bad      map[port.BusAddr]bool // words that can't be read
	OnTake   func(r port.AtomicReq)
	Seen     []port.AtomicReq
	At       []uint64 // cycle in which each was taken

	b     *bench
	slots []atomicSlot
	done  map[port.QPN]int
}

type atomicSlot struct {
	req  port.AtomicReq
	due  uint64
	look uint64
}

func (u *atomicUnit) Tick() {
	now := u.Now()
	if u.Out.Ready() {
		for i, s := range u.slots {
			if s.due <= now {
				if !u.Bad[s.req.Addr] {
					modify(u.b.dma.posted, &s.req)
				}
				u.done[s.req.QPN]++
				u.Out.Put(port.AtomicDone{QPN: s.req.QPN, Err: u.Bad[s.req.Addr]})
				u.slots = append(u.slots[:i:i], u.slots[i+1:]...)
				break
			}
		}
	}
	if u.In.Valid() && len(u.slots) < 8 && u.Throttle.Go(u.Path(), now) {
		r := *u.In.Take()
		var look uint64
		r.Addr, look = u.b.Mark.untag(r.Addr)
		for _, s := range u.slots {
			require.NotEqual(u.b.t, s.req.QPN, r.QPN, "two atomics of a QP at once")
		}
		u.Seen, u.At = append(u.Seen, r), append(u.At, now)
		latency := uint64(40)
		if u.Latency != nil {
			latency = u.Latency()
		}
		u.slots = append(u.slots, atomicSlot{r, now + latency, look})
		if u.OnTake != nil {
			u.OnTake(r)
		}
	}
	if len(u.slots) > 0 || u.In.Valid() {
		u.WakeAt(now + 1)
	}
}
