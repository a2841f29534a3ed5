package scatter_test

import (
	"encoding/binary"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// outcome works out what scatter does with a verdict on a packet.
func (m *model) outcome(q *qp, s *sentPkt, v *port.RxVerdict) {
	response := v.Action == port.RxPlace && s.pkt.Opcode.IsResponse()
	switch {
	case v.Action == port.RxReply && q.poison && v.Error:
		m.flushed(q, v.RQIdx)
	case v.Action == port.RxReply && !q.poison:
		if v.Error {
			m.wqeFails(q, v, v.Status, v.Vendor)
		}
		m.answerAck(q, v.Ack)
	case response && !q.sendPoison:
		m.responded(q, s, v)
	case response:
	case v.Action == port.RxPlace && q.poison:
		if v.Target == port.TargetRecv || v.TakesWQE {
			m.flushed(q, v.RQIdx)
		}
	case v.Action == port.RxPlace:
		m.deliver(q, s, v)
	}
	if v.Action == port.RxAck || v.HasEvent {
		m.event(q, v)
	}
}

// event gives a verdict an event, which goes on unless a response is missing.
func (m *model) event(q *qp, v *port.RxVerdict) {
	m.stamp = m.stamp.Add(1)
	v.HasEvent = v.Action != port.RxAck
	v.Event = port.AckEvent{QPN: q.n, Una: m.stamp}
	if m.stamp%4 == 0 {
		v.Event.Rewind, v.Event.At, v.Event.Gen, v.Event.Wait = true, m.stamp, uint8(m.stamp), uint64(m.stamp)
	}
	if !q.sendPoison {
		q.events = append(q.events, dueEvent{v.Event, q.placed})
	}
}

// refusal is mpt's answer to a use of a key, in the order of the verdicts.
func (m *model) refusal(k port.Key, access uint8, n uint32) port.MptStatus {
	switch {
	case m.killed[k]:
		return port.MptBadKey
	case k&7 != 0:
		return port.MptStatus(k & 7)
	case access&^uint8(k>>keyAccess) != 0:
		return port.MptBadAccess
	case n > region:
		return port.MptBadBounds
	}
	return port.MptOK
}

// scattered is where the bytes of a packet go along a list, or the fault.
func (m *model) scattered(w *wqe, offset int, data []byte) (bytes []byteAt, status abi.WCStatus, vendor abi.VendorErr) {
	end := offset + len(data)
	switch {
	case w.wrong != abi.VendorNone:
		return nil, abi.StatusLocQPOp, w.wrong
	case end > w.total:
		return nil, abi.StatusLocLen, abi.VendorRecvTooLong
	}
	at := 0
	for _, e := range w.list.SGE[:w.list.Num] {
		refused := m.refusal(e.Key, uint8(abi.AccessLocalWrite), 0)
		for i := range int(e.Len) {
			if at >= offset && at < end {
				if refused != port.MptOK && status == abi.StatusSuccess {
					status = abi.StatusLocProt
					vendor = [...]abi.VendorErr{0, abi.VendorLKeyUnknown, abi.VendorLKeyPD, abi.VendorLKeyAccess, abi.VendorLKeyBounds}[refused]
				}
				bytes = append(bytes, byteAt{bus(e.VA + port.VA(i)), data[at-offset]})
			}
			at++
		}
	}
	return bytes, status, vendor
}

// write puts bytes into memory.
func (m *model) write(bytes []byteAt) {
	for _, b := range bytes {
		m.memory.set(b.at, b.x)
	}
	m.bytes += len(bytes)
}

// responded places a response.
func (m *model) responded(q *qp, s *sentPkt, v *port.RxVerdict) {
	if v.Target == port.TargetNone {
		return
	}
	data := s.payload
	if s.pkt.Opcode == roce.RCAtomicAck {
		data = binary.LittleEndian.AppendUint64(nil, s.pkt.Reth.Swap)
	}
	bytes, status, vendor := m.scattered(s.wqe, int(v.Offset), data)
	if status == abi.StatusSuccess {
		m.write(bytes)
		q.placed = m.bytes
		return
	}
	if status == abi.StatusLocLen {
		vendor = abi.VendorRespLength
	}
	m.faults[1]++
	q.sendPoison = true
	q.faults = append(q.faults, port.RxOp{
		Kind: port.RxFault, QPN: q.n, PSN: s.pkt.PSN, Send: true, Status: status, Vendor: vendor,
	})
}

// deliver places a request.
func (m *model) deliver(q *qp, s *sentPkt, v *port.RxVerdict) {
	var bytes []byteAt
	status, vendor, silent := abi.StatusSuccess, abi.VendorNone, false
	switch v.Target {
	case port.TargetRecv:
		w := q.wqe(v.RQIdx)
		if v.GRH {
			if status, vendor = m.header(&w, s); status != abi.StatusSuccess {
				break
			}
		}
		if len(s.payload) > 0 || v.EndsWQE {
			bytes, status, vendor = m.scattered(&w, int(v.Offset), s.payload)
		}
	case port.TargetRemote:
		r := &v.Remote
		if refused := m.refusal(r.Key, r.Access, r.Range); refused != port.MptOK {
			status = abi.StatusRemAccess
			vendor = [...]abi.VendorErr{0, abi.VendorRKeyUnknown, abi.VendorRKeyPD, abi.VendorRKeyAccess, abi.VendorRKeyBounds}[refused]
			break
		}
		for i, x := range s.payload {
			bytes = append(bytes, byteAt{bus(r.VA + port.VA(i)), x})
		}
	}
	wqe := status
	if v.TakesWQE && status == abi.StatusRemAccess {
		wqe, status = abi.StatusLocAccess, abi.StatusLocAccess
	}
	if status == abi.StatusSuccess {
		m.write(bytes)
		if key := port.Key(s.pkt.Imm); s.pkt.Opcode.HasIETH() {
			if m.refusal(key, 0, 0) == port.MptOK {
				m.killed[key] = true
			} else {
				wqe, status, vendor, silent = abi.StatusMWBind, abi.StatusMWBind, abi.VendorInvalidate, true
				m.faults[2]++
			}
		}
	}
	if status != abi.StatusSuccess && v.Job.Again {
		j := v.Job
		j.Kind = port.JobNone
		q.jobs = append(q.jobs, due{job: j, mark: m.bytes})
		return
	}
	if status != abi.StatusSuccess {
		m.faults[0]++
		q.quiet = q.unacked() && peersFault(status)
		if (!q.quiet || q.srq != nil) && (v.Target == port.TargetRecv || v.TakesWQE) {
			m.wqeFails(q, v, wqe, vendor)
			q.last = int(v.RQIdx)
		}
		q.poison = true
		f := port.RxOp{
			Kind: port.RxFault, QPN: q.n, PSN: s.pkt.PSN, MSN: q.msn, RQIdx: v.RQIdx, Silent: silent, Status: status, Vendor: vendor,
		}
		if s.pkt.Opcode.Ends() {
			f.MSN = (q.msn - 1) & 0xffffff
		}
		q.faults = append(q.faults, f)
		return
	}
	if v.Job.Kind == port.JobAtomic && !v.Job.Again {
		m.atomic(q, v)
	}
	if v.EndsWQE {
		m.received(q, s, v)
	}
	if v.Job.Kind != port.JobNone {
		q.jobs = append(q.jobs, due{job: v.Job, mark: m.bytes})
	}
	m.answerAck(q, v.Ack)
}

// received expects the CQE of a message.
func (m *model) received(q *qp, s *sentPkt, v *port.RxVerdict) {
	op := s.pkt.Opcode
	c := port.CQEReq{
		CQN: v.RecvCQN, QPN: q.n, UnitIdx: q.unit(v.RQIdx), Opcode: abi.WCRecv, SrcQPN: v.SrcQPN,
		ByteLen: v.Offset + uint32(len(s.payload)), Solicited: s.pkt.Solicited,
	}
	if op.IsWrite() {
		c.Opcode = abi.WCRecvWithImm
	}
	switch {
	case op.HasImm():
		c.Flags, c.Imm = 2, s.pkt.Imm
	case op.HasIETH():
		c.Flags, c.Imm = 8, s.pkt.Imm
	}
	if v.GRH {
		c.Flags |= uint8(abi.CQEGRH)
	}
	m.cqe(q, c)
}

// atomic does one in its turn, and expects it to be asked for.
func (m *model) atomic(q *qp, v *port.RxVerdict) {
	q.atomics++
	r := port.AtomicReq{
		QPN: q.n, PSN: v.Job.PSN, Slot: v.Job.Slot, Addr: bus(v.Job.VA), Op: v.Job.Op, Swap: v.Job.Swap, Compare: v.Job.Compare,
	}
	m.atomics = append(m.atomics, dueAtomic{r, m.bytes})
	modify(m.memory, &r)
}

// modify does an atomic on memory.
func modify(m memory, r *port.AtomicReq) {
	var word [8]byte
	for i := range word {
		word[i] = m.get(r.Addr + port.BusAddr(i))
	}
	v := binary.LittleEndian.Uint64(word[:])
	switch {
	case r.Op == roce.RCFetchAdd:
		v += r.Swap
	case v == r.Compare:
		v = r.Swap
	}
	binary.LittleEndian.PutUint64(word[:], v)
	for i, x := range word {
		m.set(r.Addr+port.BusAddr(i), x)
	}
}

// purge ends a QP's life.
func (m *model) purge(n port.QPN) {
	q := m.qps[n]
	m.cqe(q, port.CQEReq{Purge: true, RX: true, QPN: n})
	q.poison, q.quiet, q.sendPoison, q.last, q.faults = false, false, false, -1, nil
	for i := range q.jobs {
		q.jobs[i].void = true
	}
	q.jobs = append(q.jobs, due{job: port.Job{Purge: true, QPN: n}})
}

func (m *model) cqe(q *qp, c port.CQEReq) {
	m.cqes = append(m.cqes, dueCQE{c, m.bytes, q.atomics})
}

func (m *model) wqeFails(q *qp, v *port.RxVerdict, s abi.WCStatus, e abi.VendorErr) {
	m.failed(q, port.CQEReq{
		CQN: v.RecvCQN, QPN: q.n, UnitIdx: q.unit(v.RQIdx), Opcode: abi.WCRecv, Status: s, Vendor: e, Solicited: true,
	})
}

// failed expects a CQE in error. It promises nothing of the QP's atomics.
func (m *model) failed(q *qp, c port.CQEReq) {
	m.cqe(q, c)
	m.cqes[len(m.cqes)-1].atomics = 0
}

// flushed expects a receive WQE to be flushed, unless it was completed already.
func (m *model) flushed(q *qp, i uint16) {
	if q.last == int(i) || q.quiet && q.srq == nil { // quiet: it goes back to its queue
		return
	}
	if q.poison {
		q.last = int(i)
	}
	m.failed(q, port.CQEReq{
		CQN: port.CQN(q.n & 7), QPN: q.n, UnitIdx: q.unit(i), Opcode: abi.WCRecv, Status: abi.StatusWRFlush, Vendor: abi.VendorFlush, Solicited: true,
	})
}

func (m *model) answerAck(q *qp, a port.AckReq) {
	if a.Send {
		j := port.Job{Kind: port.JobAck, QPN: a.QPN, PSN: a.PSN, Syndrome: a.Syndrome, MSN: a.MSN}
		q.jobs = append(q.jobs, due{job: j, mark: m.bytes})
	}
}
