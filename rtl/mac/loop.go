package mac

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

// Loop turns frames for the port's own address around.
type Loop struct {
	hdl.Regs[loopState]
	PortReg hdl.Tap[port.PortReg]

	own hdl.Sig[[6]byte] // the port's address, for Transmit
}

type loopState struct {
	Known bool // own has been set
}

// Eval takes the address over.
func (l *Loop) Eval() {
	if mac := l.PortReg.Get().MAC; mac != l.own.Get() {
		l.own.Set(mac)
		l.D.Known = true
	}
}
