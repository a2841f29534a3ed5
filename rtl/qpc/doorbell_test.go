package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/rtl/port"
)

func TestDoorbell(t *testing.T) {
	// The queues have 64 units and 16 entries; SQ: executed to 5, announced to 7;
	// RQ: taken to 3, announced to 9.
	for _, c := range []struct {
		name  string
		state abi.QPState
		bell  port.QPDoorbell
		want  Bell
		sq    uint16
		rq    uint16
		notes Note
	}{
		{"send, RTS", abi.QPRTS, port.QPDoorbell{Index: 9, Page: 5}, Bell{Write: InSQ, Activate: true}, 9, 9, 0},
		{"send, again the same", abi.QPRTS, port.QPDoorbell{Index: 7, Page: 5}, Bell{Write: InSQ, Activate: true}, 7, 9, 0},
		{"send, full ring", abi.QPRTS, port.QPDoorbell{Index: 5 + 64, Page: 5}, Bell{Write: InSQ, Activate: true}, 69, 9, 0},
		{"send, over the ring", abi.QPRTS, port.QPDoorbell{Index: 5 + 65, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"send, back", abi.QPRTS, port.QPDoorbell{Index: 6, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"send, RESET", abi.QPReset, port.QPDoorbell{Index: 9, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"send, INIT", abi.QPInit, port.QPDoorbell{Index: 9, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"send, RTR", abi.QPRTR, port.QPDoorbell{Index: 9, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"send, SQD: later", abi.QPSQD, port.QPDoorbell{Index: 9, Page: 5}, Bell{Write: InSQ}, 9, 9, 0},
		{"send, SQE: to flush", abi.QPSQE, port.QPDoorbell{Index: 9, Page: 5}, Bell{Write: InSQ, Activate: true}, 9, 9, 0},
		{"send, ERR: to flush", abi.QPErr, port.QPDoorbell{Index: 9, Page: 5}, Bell{Write: InSQ, Activate: true}, 9, 9, 0},
		{"send, wrong page", abi.QPRTS, port.QPDoorbell{Index: 9, Page: 4}, Bell{BadPage: true}, 7, 9, 0},
		{"push, next", abi.QPRTS, port.QPDoorbell{Push: true, Index: 8, Page: 5}, Bell{Write: InSQ, Activate: true}, 8, 9, 0},
		{"push, not next", abi.QPRTS, port.QPDoorbell{Push: true, Index: 9, Page: 5}, Bell{Write: InSQ, Activate: true, Refuse: true}, 9, 9, NoteActivate},
		{"push, old", abi.QPRTS, port.QPDoorbell{Push: true, Index: 7, Page: 5}, Bell{Write: InSQ, Activate: true, Refuse: true}, 7, 9, NoteActivate},
		{"push, SQD", abi.QPSQD, port.QPDoorbell{Push: true, Index: 8, Page: 5}, Bell{Write: InSQ, Activate: true, Refuse: true}, 8, 9, 0},
		{"push, ERR", abi.QPErr, port.QPDoorbell{Push: true, Index: 8, Page: 5}, Bell{Write: InSQ, Activate: true, Refuse: true}, 8, 9, NoteActivate},
		{"push, INIT", abi.QPInit, port.QPDoorbell{Push: true, Index: 8, Page: 5}, Bell{BadNumber: true, Activate: true, Refuse: true}, 7, 9, 0},
		{"push, wrong page", abi.QPRTS, port.QPDoorbell{Push: true, Index: 8, Page: 6}, Bell{BadPage: true, Activate: true, Refuse: true}, 7, 9, 0},
		{"receive, RESET", abi.QPReset, port.QPDoorbell{RQ: true, Index: 10, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"receive, INIT", abi.QPInit, port.QPDoorbell{RQ: true, Index: 10, Page: 5}, Bell{Write: InResponder}, 7, 10, 0},
		{"receive, RTR", abi.QPRTR, port.QPDoorbell{RQ: true, Index: 10, Page: 5}, Bell{Write: InResponder}, 7, 10, 0},
		{"receive, SQE", abi.QPSQE, port.QPDoorbell{RQ: true, Index: 10, Page: 5}, Bell{Write: InResponder}, 7, 10, 0},
		{"receive, ERR: to flush", abi.QPErr, port.QPDoorbell{RQ: true, Index: 10, Page: 5}, Bell{Write: InResponder}, 7, 10, NoteFlushRQ},
		{"receive, full ring", abi.QPRTS, port.QPDoorbell{RQ: true, Index: 19, Page: 5}, Bell{Write: InResponder}, 7, 19, 0},
		{"receive, over the ring", abi.QPRTS, port.QPDoorbell{RQ: true, Index: 20, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"receive, back", abi.QPRTS, port.QPDoorbell{RQ: true, Index: 8, Page: 5}, Bell{BadNumber: true}, 7, 9, 0},
		{"receive, wrong page", abi.QPRTS, port.QPDoorbell{RQ: true, Index: 10}, Bell{BadPage: true}, 7, 9, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := inState(c.state)
			x.SQ.Exec, x.SQ.Entered, x.SQ.PI, x.Responder.CI, x.Responder.PI = 5, 5, 7, 3, 9
			want := *x
			require.Equal(t, c.want, x.ring(&c.bell))
			want.SQ.PI, want.Responder.PI, want.Common.Pending = c.sq, c.rq, c.notes
			require.Equal(t, want, *x)
		})
	}
}

func TestDoorbellOfNoQP(t *testing.T) {
	var x Context
	require.Equal(t, Bell{BadNumber: true}, x.ring(&port.QPDoorbell{Index: 1}))
	require.Equal(t, Bell{BadNumber: true, Activate: true, Refuse: true}, x.ring(&port.QPDoorbell{Push: true, Index: 1}))
	require.Zero(t, x)
}

// A driver may use the slots of WQEs that have completed in a service that is
// still open.
func TestDoorbellWhileServiceIsOpen(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI = 64
	x.get(&port.SQGet{Packets: 16}, &env)
	require.Equal(t, Bell{Write: InSQ, Activate: true}, x.ring(&port.QPDoorbell{Index: 64 + 8, Page: 5}))
	require.Equal(t, Bell{BadNumber: true}, x.ring(&port.QPDoorbell{Index: 72 + 65, Page: 5}))
}

func TestDoorbellIndicesWrap(t *testing.T) {
	x := inState(abi.QPRTS)
	x.SQ.PI, x.SQ.Exec, x.SQ.Entered = 0xffff, 0xfffe, 0xfffe
	require.Equal(t, Bell{Write: InSQ, Activate: true}, x.ring(&port.QPDoorbell{Push: true, Index: 0, Page: 5}))
	x.Responder.CI, x.Responder.PI = 0xfff8, 0xfffe
	require.Equal(t, Bell{Write: InResponder}, x.ring(&port.QPDoorbell{RQ: true, Index: 8, Page: 5}))
	require.Equal(t, Bell{BadNumber: true}, x.ring(&port.QPDoorbell{RQ: true, Index: 9, Page: 5}))
}
