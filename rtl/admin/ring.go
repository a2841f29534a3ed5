package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// off waits to be enabled, and takes the rings over then.
func (m *Admin) off() {
	r := m.Reg.Get()
	if !r.Enable {
		return
	}
	m.D = regs{State: idle, Ring: r}
	m.D.Stats = port.AdminStats{Commands: m.Q.Stats.Commands, Enabled: true}
}

// idle reads the next command.
func (m *Admin) idle() {
	r := &m.Q.Ring
	waiting := m.Reg.Get().PI - m.Q.CI
	switch {
	case m.D.Stop:
		m.D.State = off
		m.D.Stats.Enabled = false
	case waiting > 1<<r.LogSize:
		m.fail()
	case waiting != 0 && m.Read.Ready():
		slot := abi.RingSlot(m.Q.CI, r.LogSize)
		m.Read.Put(port.ReadReq{Addr: r.SQBase + port.BusAddr(slot)*abi.AdminCommandSize, Len: abi.AdminCommandSize})
		m.D.State = fetch
	}
}

// fetch takes the command.
func (m *Admin) fetch() {
	if !m.Data.Valid() {
		return
	}
	b := m.Data.Take()
	if b.Err {
		m.fail()
		return
	}
	var c abi.AdminCommand
	_ = abi.AdminCommandLayout.Decode(b.Data[:], &c) // a beat is long enough
	m.D.Cmd = command{c.Op, c.ID, c.Object, port.BusAddr(c.Mailbox)}
	m.D.State = dispatch
}

// fail stops the block: it can't tell the driver of commands that it can't see.
func (m *Admin) fail() {
	m.D.State = failed
	m.D.Stats.Failed, m.D.Stats.Enabled = true, false
}

// failed waits to be disabled.
func (m *Admin) failed() {
	if m.D.Stop {
		m.D.State = off
		m.D.Stats.Failed = false
	}
}

// complete writes the completion.
func (m *Admin) complete() {
	if !m.Write.Ready() || !m.WriteData.Ready() {
		return
	}
	q := &m.Q
	slot := abi.RingSlot(q.CI, q.Ring.LogSize)
	m.Write.Put(port.WriteReq{
		Addr: q.Ring.CQBase + port.BusAddr(slot)*abi.AdminCompletionSize, Len: abi.AdminCompletionSize, Notify: true,
	})
	c := abi.AdminCompletion{
		ID: q.Cmd.ID, Status: q.Status, Syndrome: q.Syn, Object: q.Cmd.Object, Result: uint64(q.Result),
		Phase: abi.RingPhase(q.CI, q.Ring.LogSize),
	}
	b := m.WriteData.Next()
	*b = port.Beat{Len: abi.AdminCompletionSize, Last: true}
	abi.AdminCompletionLayout.Encode(&c, b.Data[:])
	m.D.CI = q.CI + 1
	m.D.Stats.Commands++
	m.D.State = posted
}

// posted waits until the completion can't be passed any more.
func (m *Admin) posted() {
	if m.WriteDone.Valid() {
		m.WriteDone.Take()
		m.D.State = idle
		if m.Q.Ring.VectorOn {
			m.D.State = raise
		}
	}
}

// raise has cq_writer, whose writes follow in the same queue, raise the interrupt.
func (m *Admin) raise() {
	if m.CQ.Ready() {
		m.CQ.Put(port.CQAdmin{Op: port.IRQRaise, Number: uint32(m.Q.Ring.Vector)})
		m.D.State = idle
	}
}
