package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

type qpRegs struct {
	SendCQN, RecvCQN port.CQN
	Recv             bool // which of the two is counted
	Tx, Rx           bool // the marker has come back
}

// askQP sends an operation to qpc.
func (m *Admin) askQP(op port.QPAdminOp, a *abi.QPMailbox) {
	if !m.QP.Ready() {
		return
	}
	o := m.QP.Next()
	*o = port.QPAdmin{Op: op, QPN: port.QPN(m.Q.Cmd.Object)}
	if a != nil {
		o.Attr = *a
	}
	m.D.State = qpResult
	if op == port.QPClear || op == port.QPFree {
		m.D.State = qpSettle
	}
}

// createQP looks whether the QP's CQs exist.
func (m *Admin) createQP(b *[abi.MailboxSize]byte) {
	var a abi.QPMailbox
	_ = abi.QPMailboxLayout.Decode(b[:], &a)
	limit := uint32(1) << m.par.LogCQ
	switch {
	case a.SendCQN >= limit:
		m.end(abi.AdminBadParam, abi.SynSendCQN)
		return
	case a.RecvCQN >= limit:
		m.end(abi.AdminBadParam, abi.SynRecvCQN)
		return
	}
	m.Use.Read(0, int(a.SendCQN))
	m.Use.Read(1, int(a.RecvCQN))
	m.D.QP = qpRegs{SendCQN: port.CQN(a.SendCQN), RecvCQN: port.CQN(a.RecvCQN)}
	m.D.State = checkCQs
}

func (m *Admin) checkCQs() {
	switch {
	case !m.Use.Data(0).Exists:
		m.end(abi.AdminBadParam, abi.SynSendCQN)
	case !m.Use.Data(1).Exists:
		m.end(abi.AdminBadParam, abi.SynRecvCQN)
	default:
		b := m.bytes()
		var a abi.QPMailbox
		_ = abi.QPMailboxLayout.Decode(b[:], &a)
		m.askQP(port.QPCreate, &a)
	}
}

func (m *Admin) modifyQP(b *[abi.MailboxSize]byte) {
	var a abi.QPMailbox
	_ = abi.QPMailboxLayout.Decode(b[:], &a)
	m.askQP(port.QPModify, &a)
}

// qpResult takes qpc's answer. One to write stays at the head until it is written.
func (m *Admin) qpResult() {
	if !m.QPRes.Valid() {
		return
	}
	r := m.QPRes.Head()
	good := r.Status == abi.AdminOK
	if good && m.Q.Cmd.Op == abi.AdminQueryQP {
		m.startAnswer()
		return
	}
	m.QPRes.Take()
	switch {
	case good && r.Quiesce:
		m.D.QP = qpRegs{SendCQN: port.CQN(r.Attr.SendCQN), RecvCQN: port.CQN(r.Attr.RecvCQN)}
		m.D.State = markers
	case good && m.Q.Cmd.Op == abi.AdminCreateQP:
		m.D.State = useRead
	default:
		m.end(r.Status, abi.AdminSyndrome(r.Syndrome))
	}
}

// fenceQPN is the QP whose markers DEREG_MR sends: no QP has this number (it is
// InfiniBand's management QP), so they only tell that what was begun before them
// is done.
const fenceQPN port.QPN = 0

// markers sends a marker behind all work of the QP, down the sending pipeline and,
// when that is back, down the receiving one.
func (m *Admin) markers() {
	p, out := port.Purge{QPN: port.QPN(m.Q.Cmd.Object), RX: m.Q.QP.Tx}, &m.PurgeTx
	if m.Q.Cmd.Op == abi.AdminDeregMR {
		p.QPN = fenceQPN
	}
	if p.RX {
		out = &m.PurgeRx
	}
	if out.Ready() {
		out.Put(p)
		m.D.State = markersBack
	}
}

// markersBack waits for a marker. When both have come back it has qpc end the QP's
// life; no QP's life ends with a region.
func (m *Admin) markersBack() {
	q, d := &m.Q.QP, &m.D.QP
	switch {
	case q.Rx && m.Q.Cmd.Op == abi.AdminDeregMR:
		m.end(abi.AdminOK, abi.SynNone)
	case q.Rx:
		op := port.QPClear
		if m.Q.Cmd.Op == abi.AdminDestroyQP {
			op = port.QPFree
		}
		m.askQP(op, nil)
	case m.Purged.Valid():
		m.Purged.Take()
		d.Tx, d.Rx = true, q.Tx
		if !q.Tx {
			m.D.State = markers
		}
	}
}

// qpSettle completes RESET and destruction.
func (m *Admin) qpSettle() {
	if !m.QPRes.Valid() {
		return
	}
	r := m.QPRes.Take()
	if r.Status == abi.AdminOK && m.Q.Cmd.Op == abi.AdminDestroyQP {
		m.D.State = useRead
		return
	}
	m.end(r.Status, abi.AdminSyndrome(r.Syndrome))
}
