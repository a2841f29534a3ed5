package e2e

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// Must has the host do something that must work.
func (d *Side) Must(fn func() error) {
	d.scene.t.Helper()
	d.try(fn)
}

// Refused has the host do something that must fail with an error.
func (d *Side) Refused(want error, fn func() error) {
	d.scene.t.Helper()
	d.Do(func() { d.err = fn() })
	require.ErrorIs(d.scene.t, d.err, want)
}

// SRQ makes a shared receive queue.
func (d *Side) SRQ(a driver.SRQAttr) (s *driver.SRQ) {
	d.scene.t.Helper()
	d.try(func() (err error) {
		s, err = d.PD.CreateSRQ(a)
		return err
	})
	return s
}

// QKey is that of the UD QPs that Start starts.
const QKey = 0x12345

// Start takes a UD or RAW_PACKET QP from RESET to RTS.
func (e *End) Start() *End {
	e.scene.t.Helper()
	e.psn = roce.PSN(e.QP.Endpoint().PSN)
	e.try(func() error { return e.QP.Start(QKey) })
	return e
}

// Datagrams makes a UD QP on each side and starts it.
func (s *Scene) Datagrams(c driver.QPConfig) *Pair {
	s.t.Helper()
	c.Type = abi.QPTypeUD
	return s.Couple(s.A.QP(c).Start(), s.B.QP(c).Start())
}

// AHTo is a new address handle for another end.
func (d *Side) AHTo(to *End, change ...func(a *driver.AHAttr)) (h *driver.AH) {
	d.scene.t.Helper()
	d.try(func() (err error) {
		p := to.QP.Endpoint()
		a := driver.AHAttr{MAC: p.MAC, DGID: p.GID}
		for _, f := range change {
			f(&a)
		}
		h, err = d.PD.CreateAH(a)
		return err
	})
	return h
}

// Datagram is a signalled SEND of n bytes at an offset of the buffer to another end.
func (e *End) Datagram(id uint64, off, n int, h *driver.AH, to *End) driver.SendWR {
	wr := e.SendWR(id, off, n)
	wr.AH, wr.RemoteQPN, wr.RemoteQKey = h, to.QP.Number(), QKey
	return wr
}

// ForgeDatagram is Forge of a datagram.
func (e *End) ForgeDatagram(psn roce.PSN, payload []byte) roce.Packet {
	p := e.Forge(roce.UDSendOnly, psn, payload)
	p.DETH = roce.DETH{QKey: QKey, SrcQP: roce.QPN(e.other.QP.Number())}
	return p
}

// Restart takes a send queue in SQE to RTS.
func (e *End) Restart() {
	e.scene.t.Helper()
	e.try(func() error {
		return e.QP.Modify(driver.QPAttr{State: abi.QPRTS, CurState: abi.QPSQE}, abi.AttrState|abi.AttrCurState)
	})
}
