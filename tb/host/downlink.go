package host

import (
	"rnic/pcie"
)

// transmit puts a beat to the NIC if the link has time for it.
func (r *RootComplex) transmit(now uint64) {
	if !r.ToNIC.Ready() || !r.down.free(now) {
		return
	}
	if r.sending == nil && !r.pending(now) || !r.Params.Down.Go("down", now) {
		return
	}
	if r.sending == nil {
		if r.sending = r.next(now); r.sending == nil {
			return
		}
	}
	p := r.sending
	b := r.ToNIC.Next()
	*b = pcie.Beat{First: p.sent == 0}
	cost := 0
	if b.First {
		b.Hdr = p.hdr
		cost = p.hdr.LinkBytes()
		if p.hdr.Kind.HasData() {
			cost -= len(p.data)
		}
		r.Stats.DownTLPs++
		r.Stats.DownBytes += uint64(p.hdr.LinkBytes())
	}
	n := copy(b.Data[:], p.data[p.sent:])
	p.sent += n
	b.Len, b.Last = uint8(n), p.sent == len(p.data)
	r.down.use(now, cost+n)
	if b.Last {
		r.done(p)
		r.sending = nil
	}
}

// pending tells whether there may be something to send.
func (r *RootComplex) pending(now uint64) bool {
	return r.postedDue(now) || r.inject.len() > 0 ||
		now >= r.stopped && (len(r.ready) > 0 || len(r.reads) > 0 && r.reads[0].due <= now)
}

func (r *RootComplex) postedDue(now uint64) bool {
	return r.posted.len() > 0 && (*r.posted.head()).due <= now
}

// next chooses what to send. MMIO that is due goes first, so that no completion
// passes it.
func (r *RootComplex) next(now uint64) *packet {
	if r.postedDue(now) {
		r.room.Notify()
		return r.posted.pop()
	}
	if r.inject.len() > 0 {
		return r.inject.pop()
	}
	if now < r.stopped {
		return nil
	}
	return r.completion(now)
}

// Inject sends a completion that the NIC did not ask for, or any other TLP, with
// its payload.
func (r *RootComplex) Inject(h pcie.TLP, data []byte) {
	p := r.packet(h)
	p.data = append(p.data, data...)
	r.inject.push(p)
	r.Wake()
}
