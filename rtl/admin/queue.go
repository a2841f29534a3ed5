package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// askQueue sends an operation to cq_writer.
func (m *Admin) askQueue(o port.CQAdmin) {
	if m.CQ.Ready() {
		m.CQ.Put(o)
		m.D.State = queueResult
	}
}

func (m *Admin) createEQ(b *[abi.MailboxSize]byte) {
	var a abi.EQMailbox
	_ = abi.EQMailboxLayout.Decode(b[:], &a)
	if a.UARPage >= abi.UARPages {
		m.end(abi.AdminBadParam, abi.SynUARPage)
		return
	}
	m.askQueue(port.CQAdmin{
		Op: port.EQCreate, Number: m.Q.Cmd.Object, Base: port.BusAddr(a.Base), LogSize: a.LogSize,
		Vector: a.Vector, Page: uint8(a.UARPage),
	})
}

func (m *Admin) createCQ(b *[abi.MailboxSize]byte) {
	var a abi.CQMailbox
	_ = abi.CQMailboxLayout.Decode(b[:], &a)
	if a.UARPage >= abi.UARPages {
		m.end(abi.AdminBadParam, abi.SynUARPage)
		return
	}
	m.askQueue(port.CQAdmin{
		Op: port.CQCreate, Number: m.Q.Cmd.Object, Base: port.BusAddr(a.Base), LogSize: a.LogSize,
		EQN: port.EQN(a.EQN), Page: uint8(a.UARPage), Count: a.Count, Period: a.Period,
	})
}

// changeCQ changes a CQ that may be in use.
func (m *Admin) changeCQ(op port.CQAdminOp, b *[abi.MailboxSize]byte) {
	var a abi.CQMailbox
	_ = abi.CQMailboxLayout.Decode(b[:], &a)
	m.askQueue(port.CQAdmin{
		Op: op, Number: m.Q.Cmd.Object, Base: port.BusAddr(a.Base), LogSize: a.LogSize,
		Count: a.Count, Period: a.Period, CI: a.CI,
	})
}

// checkUse refuses to destroy a CQ or SRQ that a QP uses.
func (m *Admin) checkUse() {
	srq := m.Q.Cmd.Op == abi.AdminDestroySRQ
	if srq && *m.SRQUse.Data(0) != 0 || !srq && m.Use.Data(0).Queues != 0 {
		m.end(abi.AdminBusy, abi.SynNone)
		return
	}
	if srq {
		m.askQP(port.QPAdmin{Op: port.SRQDestroy})
		return
	}
	m.askQueue(port.CQAdmin{Op: port.CQDestroy, Number: m.Q.Cmd.Object})
}

// queueResult takes cq_writer's answer, and notes which CQs exist.
func (m *Admin) queueResult() {
	if !m.CQRes.Valid() {
		return
	}
	r := m.CQRes.Take()
	m.end(r.Status, abi.AdminSyndrome(r.Syndrome))
	m.D.Result = r.Index
	if r.Status != abi.AdminOK {
		return
	}
	switch m.Q.Cmd.Op {
	case abi.AdminCreateCQ:
		m.Use.Write(0, int(m.Q.Cmd.Object), &use{Exists: true})
	case abi.AdminDestroyCQ:
		m.Use.Write(0, int(m.Q.Cmd.Object), &use{})
	}
}
