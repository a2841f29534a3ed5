package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// use says whether a CQ exists, and how many send and receive queues of QPs
// complete on it.
type use struct {
	Exists bool
	Queues uint16
}

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

// checkUse refuses to destroy a CQ that a QP uses.
func (m *Admin) checkUse() {
	if m.Use.Data(0).Queues != 0 {
		m.end(abi.AdminBusy, abi.SynNone)
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

// useRead reads the use of one of the QP's two CQs, useWrite counts it up at
// creation and down at destruction, first the sends', then the receives'.
func (m *Admin) useRead() {
	cqn := m.Q.QP.SendCQN
	if m.Q.QP.Recv {
		cqn = m.Q.QP.RecvCQN
	}
	m.Use.Read(0, int(cqn))
	m.D.State = useWrite
}

func (m *Admin) useWrite() {
	cqn := m.Q.QP.SendCQN
	if m.Q.QP.Recv {
		cqn = m.Q.QP.RecvCQN
	}
	u := *m.Use.Data(0)
	if m.Q.Cmd.Op == abi.AdminCreateQP {
		u.Queues++
	} else {
		u.Queues--
	}
	m.Use.Write(0, int(cqn), &u)
	if m.Q.QP.Recv {
		m.end(abi.AdminOK, abi.SynNone)
		return
	}
	m.D.QP.Recv = true
	m.D.State = useRead
}
