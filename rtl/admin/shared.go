package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

// createAH has qpc make an address handle.
func (m *Admin) createAH(b *[abi.MailboxSize]byte) {
	a := port.QPAdmin{Op: port.AHCreate}
	_ = abi.AHMailboxLayout.Decode(b[:], &a.AH)
	m.askQP(a)
}

// changeSRQ has qpc make or change a shared receive queue.
func (m *Admin) changeSRQ(op port.QPAdminOp, b *[abi.MailboxSize]byte) {
	a := port.QPAdmin{Op: op}
	_ = abi.SRQMailboxLayout.Decode(b[:], &a.SRQ)
	m.askQP(a)
}
