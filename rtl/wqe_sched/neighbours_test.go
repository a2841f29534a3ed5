package wqesched_test

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/rtl/port"
)

// What follows are the blocks around, as the bench has them.

// read is dma: it gives the beats of WQEs, after a while.
func (b *bench) read(r port.ReadReq) {
	at := b.k.Cycle() + b.latency()
	if n := len(b.due); n > 0 {
		at = max(at, b.due[n-1])
	}
	q := b.lives[r.Addr>>24-1]
	err := false
	for off := uint32(0); off < r.Len; off += 64 {
		err = err || b.bad[r.Addr+port.BusAddr(off)]
	}
	for off := uint32(0); off < r.Len; off += 64 {
		var beat port.ReadBeat
		beat.Data = q.Ring[(r.Addr+port.BusAddr(off)-q.Base)/64]
		beat.Len, beat.Last = 64, off+64 == r.Len
		if err { // the data is void
			clear(beat.Data[16:])
			beat.Err = beat.Last
		}
		b.due = append(b.due, at)
		b.Data.Push(beat)
	}
}

func (b *bench) sent(s port.Sent) {
	b.entries--
	if b.entries < 0 {
		b.t.Errorf("the outstanding table overflows")
	}
	q := b.qps[s.QPN]
	if q.CQN != s.SendCQN {
		b.t.Errorf("QP %d: an entry of an older life", s.QPN)
	}
	q.out.sent = append(q.out.sent, s)
	q.Live = append(q.Live, s)
	q.Pushed++
	if s.Kind == port.SentWire {
		q.Wire++
		if takes(s.Op) {
			q.Takers++
		}
	}
	if w := q.at(s.UnitIdx); w != nil && w.Ctrl.Flags&abi.WQEFence != 0 && s.Status == abi.StatusSuccess {
		for _, r := range q.Reads {
			if r.FirstPSN.Before(s.FirstPSN) {
				b.t.Errorf("QP %d: a fenced WQE while a READ is outstanding", s.QPN)
			}
		}
	}
	if len(q.Live) > q.Messages {
		b.t.Errorf("QP %d: more entries than granted", s.QPN)
	}
	if s.Gen != q.Open {
		b.t.Errorf("QP %d: an entry of generation %d, not %d", s.QPN, s.Gen, q.Open)
	}
	if s.Kind == port.SentLocal || s.LastPSN.Before(q.Una) || q.down() {
		b.acks = append(b.acks, ack{at: b.k.Cycle() + 5, qpn: int(s.QPN), una: q.Una, cqn: q.CQN, local: true})
		b.ackEvent.Notify()
	}
}

func (b *bench) readPost(r port.ReadPost) {
	q := b.qps[r.QPN]
	q.out.posts = append(q.out.posts, r)
	if !r.LastPSN.Before(q.Una) && q.State == abi.QPRTS {
		q.Reads = append(q.Reads, r)
	}
	if len(q.Reads) > q.Depth {
		b.t.Errorf("QP %d: %d READs outstanding", r.QPN, len(q.Reads))
	}
}

// pkt acknowledges what asks for it.
func (b *bench) pkt(p port.TxPkt) {
	q := b.qps[p.QPN]
	b.owner = append(b.owner, q)
	if p.Purge {
		q.out.purged++
		b.progress.Notify()
		return
	}
	q.out.gens = append(q.out.gens, q.Gens-int(q.gen()-p.Gen))
	after := p.LastPSN.Add(1)
	if q.Told.Before(after) && !gaveUp(&p) {
		q.Told = after
	}
	if p.Gen != q.gen() {
		return // pkt_tx drops it
	}
	if gaveUp(&p) {
		b.fail(int(p.QPN))
	}
	if p.AckReq || p.Unacked {
		b.acks = append(b.acks, ack{at: b.k.Cycle() + b.ackDelay(), qpn: int(p.QPN), una: after, cqn: q.CQN})
		b.ackEvent.Notify()
	}
}

// acknowledge plays the peer and retrans: it moves una on, retires entries, and
// activates the QP as qpc does.
func (b *bench) acknowledge(th *hdl.Thread) {
	for {
		next := uint64(0)
		for i := 0; i < len(b.acks); i++ {
			a := b.acks[i]
			if a.at > th.Now() {
				if next == 0 || a.at < next {
					next = a.at
				}
				continue
			}
			b.acks = append(b.acks[:i], b.acks[i+1:]...)
			i--
			if a.settle {
				b.settle(a)
			} else {
				b.retire(a)
			}
		}
		if next == 0 {
			next = th.Now() + 1<<40
		}
		th.Wait(&b.ackEvent, next)
	}
}

func (b *bench) retire(a ack) {
	q := b.qps[a.qpn]
	if q.CQN != a.cqn {
		return
	}
	if q.Una.Before(a.una) && q.State == abi.QPRTS {
		q.Una = a.una
	}
	for len(q.Reads) > 0 && (q.Reads[0].LastPSN.Before(q.Una) || q.State != abi.QPRTS) {
		q.Reads = q.Reads[1:]
	}
	n := 0
	for ; n < len(q.Live); n++ {
		s := q.Live[n]
		if s.Kind == port.SentWire && !s.LastPSN.Before(a.una) && q.State == abi.QPRTS {
			break
		}
		q.Taken = s.UnitIdx + 1
		if w := q.at(s.UnitIdx); w != nil {
			q.Taken += w.Units - 1
		}
		if s.Kind == port.SentWire && takes(s.Op) {
			q.Credits++
		}
	}
	q.Live = q.Live[n:]
	q.Entries -= n
	b.entries += n
	if n > 0 {
		b.Free.Push(port.SentFree{N: uint8(n)})
	}
	if (q.PI != q.Exec || q.Busy) && q.State != abi.QPReset {
		b.Activate.Push(port.Activate{QPN: port.QPN(a.qpn)})
	}
	if q.beyond() {
		b.again(a.qpn)
	}
	b.progress.Notify()
}
