package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

const mailboxBeats = abi.MailboxSize / port.BeatBytes

// limit is the number of objects of the kind that a command names; with none, all
// numbers are good.
func (m *Admin) limit(op abi.AdminOp) uint64 {
	switch op {
	case abi.AdminCreateEQ, abi.AdminDestroyEQ:
		return 1 << m.par.LogEQ
	case abi.AdminCreateCQ, abi.AdminDestroyCQ, abi.AdminModifyCQ, abi.AdminResizeCQ:
		return 1 << m.par.LogCQ
	case abi.AdminCreateQP, abi.AdminModifyQP, abi.AdminQueryQP, abi.AdminDestroyQP:
		return 1 << m.par.LogQP
	case abi.AdminRegMR, abi.AdminDeregMR:
		return uint64(m.par.Keys)
	case abi.AdminCreateAH, abi.AdminDestroyAH:
		return 1 << m.par.LogAH
	case abi.AdminCreateSRQ, abi.AdminModifySRQ, abi.AdminQuerySRQ, abi.AdminDestroySRQ:
		return 1 << m.par.LogSRQ
	}
	return 1 << 32
}

// readsMailbox tells whether a command has a mailbox to read.
func readsMailbox(op abi.AdminOp) bool {
	switch op {
	case abi.AdminCreateEQ, abi.AdminCreateCQ, abi.AdminModifyCQ, abi.AdminResizeCQ,
		abi.AdminCreateQP, abi.AdminModifyQP, abi.AdminRegMR, abi.AdminCreateAH, abi.AdminCreateSRQ, abi.AdminModifySRQ:
		return true
	}
	return false
}

// writesMailbox tells whether a command has a mailbox to write.
func writesMailbox(op abi.AdminOp) bool {
	return op == abi.AdminQueryDevice || op == abi.AdminQueryQP || op == abi.AdminQuerySRQ
}

// managementQPN is the number of InfiniBand's subnet management QP, which no QP gets.
const managementQPN = 0

// dispatch checks the command and takes the first step of its execution.
func (m *Admin) dispatch() {
	c := &m.Q.Cmd
	switch {
	case c.Op >= abi.NumAdminOps:
		m.end(abi.AdminBadOpcode, abi.SynNone)
		return
	case uint64(c.Object) >= m.limit(c.Op), c.Op == abi.AdminCreateQP && c.Object == managementQPN:
		m.end(abi.AdminBadObject, abi.SynObject)
		return
	case readsMailbox(c.Op), writesMailbox(c.Op):
		if c.Mailbox == 0 || c.Mailbox%abi.MailboxSize != 0 {
			m.end(abi.AdminBadParam, abi.SynMailbox)
			return
		}
	}
	switch {
	case c.Op == abi.AdminNop:
		m.end(abi.AdminOK, abi.SynNone)
	case readsMailbox(c.Op):
		if m.Read.Ready() {
			m.Read.Put(port.ReadReq{Addr: c.Mailbox, Len: abi.MailboxSize})
			m.D.State, m.D.Beat = mailbox, 0
		}
	case c.Op == abi.AdminQueryDevice:
		m.startAnswer()
	case c.Op == abi.AdminQueryQP:
		m.askQP(port.QPAdmin{Op: port.QPQuery})
	case c.Op == abi.AdminQuerySRQ:
		m.askQP(port.QPAdmin{Op: port.SRQQuery})
	case c.Op == abi.AdminDestroyQP:
		m.askQP(port.QPAdmin{Op: port.QPDestroy})
	case c.Op == abi.AdminDestroyAH:
		m.askQP(port.QPAdmin{Op: port.AHDestroy})
	case c.Op == abi.AdminDestroyEQ:
		m.askQueue(port.CQAdmin{Op: port.EQDestroy, Number: c.Object})
	case c.Op == abi.AdminDestroyCQ:
		m.Use.Read(0, int(c.Object))
		m.D.State = checkUse
	case c.Op == abi.AdminDestroySRQ:
		m.SRQUse.Read(0, int(c.Object))
		m.D.State = checkUse
	case c.Op == abi.AdminDeregMR:
		m.deregister()
	}
}

// mailbox takes the mailbox.
func (m *Admin) mailbox() {
	if !m.Data.Valid() {
		return
	}
	b := m.Data.Take()
	m.Mailbox[m.Q.Beat%mailboxBeats].Write(0, 0, &b.Data)
	m.D.Beat = m.Q.Beat + 1
	switch {
	case b.Err:
		m.end(abi.AdminDMAError, abi.SynMailbox)
	case b.Last:
		m.D.State = execute
	}
}

// bytes is the mailbox as a whole.
func (m *Admin) bytes() (b [abi.MailboxSize]byte) {
	for i := range m.Mailbox {
		copy(b[i*port.BeatBytes:], m.Mailbox[i].Data(0)[:])
	}
	return b
}

// execute does what the mailbox says.
func (m *Admin) execute() {
	b := m.bytes()
	switch m.Q.Cmd.Op {
	case abi.AdminCreateEQ:
		m.createEQ(&b)
	case abi.AdminCreateCQ:
		m.createCQ(&b)
	case abi.AdminModifyCQ:
		m.changeCQ(port.CQModify, &b)
	case abi.AdminResizeCQ:
		m.changeCQ(port.CQResize, &b)
	case abi.AdminCreateQP:
		m.createQP(&b)
	case abi.AdminModifyQP:
		m.modifyQP(&b)
	case abi.AdminRegMR:
		m.register(&b)
	case abi.AdminCreateAH:
		m.createAH(&b)
	case abi.AdminCreateSRQ:
		m.changeSRQ(port.SRQCreate, &b)
	case abi.AdminModifySRQ:
		m.changeSRQ(port.SRQModify, &b)
	}
}

// startAnswer announces a mailbox to write.
func (m *Admin) startAnswer() {
	if m.Write.Ready() {
		m.Write.Put(port.WriteReq{Addr: m.Q.Cmd.Mailbox, Len: abi.MailboxSize})
		m.D.State, m.D.Beat = answer, 0
	}
}

// answer writes the mailbox, beat by beat. That of a QP or SRQ stays at the head of
// QPRes meanwhile.
func (m *Admin) answer() {
	if !m.WriteData.Ready() {
		return
	}
	i := m.Q.Beat
	all := m.device
	switch m.Q.Cmd.Op {
	case abi.AdminQueryQP:
		abi.QPMailboxLayout.Encode(&m.QPRes.Head().Attr, all[:])
	case abi.AdminQuerySRQ:
		abi.SRQMailboxLayout.Encode(&m.QPRes.Head().SRQ, all[:])
	}
	b := m.WriteData.Next()
	*b = port.Beat{Len: port.BeatBytes, Last: i == mailboxBeats-1}
	copy(b.Data[:], all[int(i)*port.BeatBytes:])
	m.D.Beat = i + 1
	if b.Last {
		if m.Q.Cmd.Op != abi.AdminQueryDevice {
			m.QPRes.Take()
		}
		m.end(abi.AdminOK, abi.SynNone)
	}
}
