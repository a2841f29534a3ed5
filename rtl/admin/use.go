package admin

import (
	"rnic/abi"
	"rnic/hdl"
)

// use says whether a CQ exists, and how many send and receive queues of QPs
// complete on it.
type use struct {
	Exists bool
	Queues uint16
}

// counted is what of a QP is being counted.
type counted uint8

const (
	sendCQ counted = iota
	recvCQ
	sharedRQ
)

// Width is 2 bits.
func (counted) Width() int { return 2 }

func (c counted) String() string { return [...]string{"SEND_CQ", "RECV_CQ", "SRQ", "RESERVED"}[c&3] }

// useRead reads the use of what the QP uses, one after the other; useWrite counts it up
// at creation and down at destruction.
func (m *Admin) useRead() {
	switch q := &m.Q.QP; q.Counts {
	case sendCQ:
		m.Use.Read(0, int(q.SendCQN))
	case recvCQ:
		m.Use.Read(0, int(q.RecvCQN))
	default:
		m.SRQUse.Read(0, int(q.SRQN))
	}
	m.D.State = useWrite
}

func (m *Admin) useWrite() {
	q := &m.Q.QP
	by := uint16(1)
	if m.Q.Cmd.Op == abi.AdminDestroyQP {
		by = ^uint16(0)
	}
	switch q.Counts {
	case sendCQ:
		count(&m.Use, int(q.SendCQN), by)
	case recvCQ:
		count(&m.Use, int(q.RecvCQN), by)
	default:
		n := *m.SRQUse.Data(0) + by
		m.SRQUse.Write(0, int(q.SRQN), &n)
	}
	if q.Counts == sharedRQ || q.Counts == recvCQ && !q.HasSRQ {
		m.end(abi.AdminOK, abi.SynNone)
		return
	}
	m.D.QP.Counts = q.Counts + 1
	m.D.State = useRead
}

// count adds to the queues that complete on a CQ, which was read.
func count(t *hdl.RAM[use], cqn int, by uint16) {
	u := *t.Data(0)
	u.Queues += by
	t.Write(0, cqn, &u)
}
