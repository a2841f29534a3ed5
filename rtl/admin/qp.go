package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

type qpRegs struct {
	SendCQN, RecvCQN port.CQN
	SRQN             port.SRQN
	HasSRQ           bool
	Counts           counted
	Tx, Rx           bool // the marker has come back
}

// uses is what of a mailbox is counted.
func uses(a *abi.QPMailbox) qpRegs {
	return qpRegs{
		SendCQN: port.CQN(a.SendCQN), RecvCQN: port.CQN(a.RecvCQN), SRQN: port.SRQN(a.SRQN), HasSRQ: a.Flags&abi.QPHasSRQ != 0,
	}
}

// askQP sends an operation on the command's object to qpc.
func (m *Admin) askQP(a port.QPAdmin) {
	if !m.QP.Ready() {
		return
	}
	a.QPN = port.QPN(m.Q.Cmd.Object)
	m.QP.Put(a)
	m.D.State = qpResult
	if a.Op == port.QPClear || a.Op == port.QPFree {
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
	m.D.QP = uses(&a)
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
		m.askQP(port.QPAdmin{Op: port.QPCreate, Attr: a})
	}
}

func (m *Admin) modifyQP(b *[abi.MailboxSize]byte) {
	var a abi.QPMailbox
	_ = abi.QPMailboxLayout.Decode(b[:], &a)
	m.askQP(port.QPAdmin{Op: port.QPModify, Attr: a})
}

// qpResult takes qpc's answer. One to write stays at the head until it is written.
func (m *Admin) qpResult() {
	if !m.QPRes.Valid() {
		return
	}
	r := m.QPRes.Head()
	good := r.Status == abi.AdminOK
	if good && writesMailbox(m.Q.Cmd.Op) {
		m.startAnswer()
		return
	}
	m.QPRes.Take()
	switch {
	case good && r.Quiesce:
		m.D.QP = uses(&r.Attr)
		m.D.State = markers
	case good && m.Q.Cmd.Op == abi.AdminCreateQP:
		m.D.State = useRead
	default:
		m.end(r.Status, abi.AdminSyndrome(r.Syndrome))
	}
}

// markers sends a marker behind all work of the QP, down the sending pipeline and,
// when that is back, down the receiving one.
func (m *Admin) markers() {
	p, out := port.Purge{QPN: port.QPN(m.Q.Cmd.Object), RX: m.Q.QP.Tx}, &m.PurgeTx
	if p.RX {
		out = &m.PurgeRx
	}
	if out.Ready() {
		out.Put(p)
		m.D.State = markersBack
	}
}

// markersBack waits for a marker. When both have come back the QP's life can end.
func (m *Admin) markersBack() {
	q, d := &m.Q.QP, &m.D.QP
	switch {
	case q.Rx:
		m.D.State = endWindows
	case m.Purged.Valid():
		m.Purged.Take()
		d.Tx, d.Rx = true, q.Tx
		if !q.Tx {
			m.D.State = markers
		}
	}
}

// endWindows has mpt unbind the QP's windows of type 2. Before its markers are back the
// QP may still bind one.
func (m *Admin) endWindows() {
	if m.MR.Ready() {
		m.MR.Put(port.MRAdmin{EndQP: true, QPN: port.QPN(m.Q.Cmd.Object)})
		m.D.State, m.D.MR = mrResult, mrRegs{}
	}
}

// endQP has qpc end the QP's life.
func (m *Admin) endQP() {
	op := port.QPClear
	if m.Q.Cmd.Op == abi.AdminDestroyQP {
		op = port.QPFree
	}
	m.askQP(port.QPAdmin{Op: op})
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
