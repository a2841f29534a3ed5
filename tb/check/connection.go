package check

import "rnic/roce"

// Connection is a pair of QPs of RC or UC as one of its ports sees it.
type Connection struct {
	Transport        roce.Transport
	Local, Remote    roce.QPN
	MTU              int      // payload bytes of a full packet
	SendPSN, RecvPSN roce.PSN // the first of the requests sent and received
}

// Connect begins a connection: what the same QP numbers did before is forgotten,
// and PSNs and MSN begin anew. Nothing of the old may be under way any more.
func (w *Wire) Connect(c Connection) {
	w.pairs[c.Remote] = c.Local
	w.out[c.Remote] = &flow{transport: c.Transport, mtu: c.MTU, known: true, next: c.SendPSN}
	w.in[c.Local] = &flow{transport: c.Transport, mtu: c.MTU, known: true, next: c.RecvPSN}
	delete(w.acks, c.Remote)
}

// Cut tells that a QP of a connection stops, or its peer does: what is under way
// need not come to an end.
func (w *Wire) Cut(local, remote roce.QPN) {
	w.flowOf(w.out, remote).cut = true
	w.flowOf(w.in, local).cut = true
}

// Disconnect ends a connection: Finish no longer asks for it.
func (w *Wire) Disconnect(local, remote roce.QPN) {
	delete(w.pairs, remote)
	delete(w.out, remote)
	delete(w.in, local)
	delete(w.acks, remote)
}

// Datagrams is a UD QP: those that it sends are numbered one by one, whoever they go
// to, and those to it carry its Q_Key.
type Datagrams struct {
	QPN  roce.QPN
	QKey uint32
	MTU  int      // payload bytes at most
	PSN  roce.PSN // the first sent
}

// Local tells of a UD QP of this port's host, Remote of one of the other host: there
// are no others.
func (w *Wire) Local(d Datagrams) { w.local[d.QPN] = d.flow() }

// Remote is Local of the other host.
func (w *Wire) Remote(d Datagrams) { w.remote[d.QPN] = d.flow() }

func (d *Datagrams) flow() *flow {
	return &flow{transport: roce.UD, mtu: d.MTU, qkey: d.QKey, known: true, next: d.PSN}
}

// datagram is the flow of the sender of one, whose ends it checks.
func (w *Wire) datagram(ps int64, p *roce.Packet, tx bool) *flow {
	from, to := w.remote, w.local
	if tx {
		from, to = w.local, w.remote
	}
	if d := to[p.BTH.DestQP]; d == nil {
		w.fail(ps, "QP %06x: datagram to a QP that there is not", p.BTH.DestQP)
	} else if p.DETH.QKey != d.qkey {
		w.fail(ps, "QP %06x: datagram with Q_Key %08x, the QP has %08x", p.BTH.DestQP, p.DETH.QKey, d.qkey)
	}
	if from[p.DETH.SrcQP] == nil {
		w.fail(ps, "QP %06x: datagram of QP %06x, which there is not", p.BTH.DestQP, p.DETH.SrcQP)
		return &flow{transport: roce.UD, mtu: w.MTU}
	}
	return from[p.DETH.SrcQP]
}
