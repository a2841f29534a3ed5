package e2e

import (
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// End is a QP of a side with its completion queues, one for each direction.
type End struct {
	*Side
	QP         *driver.QP
	SCQ, RCQ   *driver.CQ
	other      *End
	psn        roce.PSN // first PSN that it sends
	Connection driver.ConnectOptions
}

// Pair is two connected QPs.
type Pair struct{ A, B *End }

// QP makes a QP in RESET. Zero values stand for 16 work requests a queue with 4
// elements, 64 bytes of inline data and completion queues of its own.
func (d *Side) QP(c driver.QPConfig) *End {
	d.scene.t.Helper()
	if c.MaxSend == 0 {
		c.MaxSend, c.MaxRecv, c.MaxSendSGE, c.MaxRecvSGE, c.MaxInline = 16, 16, 4, 4, 64
	}
	if c.SendCQ == nil {
		c.SendCQ = d.CQ(4 * c.MaxSend)
	}
	if c.RecvCQ == nil {
		c.RecvCQ = d.CQ(4 * max(1, c.MaxRecv))
	}
	e := &End{Side: d, SCQ: c.SendCQ, RCQ: c.RecvCQ}
	d.try(func() (err error) {
		e.QP, err = d.PD.CreateQP(c)
		return err
	})
	d.qps = append(d.qps, e.QP)
	return e
}

// Join makes two QPs each other's peers, in RTS.
func (s *Scene) Join(a, b *End, o driver.ConnectOptions) *Pair {
	s.t.Helper()
	p := s.Couple(a, b)
	for _, e := range []*End{a, b} {
		e.Connection = o
		e.Reconnect()
	}
	return p
}

// Reconnect takes the end from RESET to RTS, as it was connected before.
func (e *End) Reconnect() {
	e.scene.t.Helper()
	e.psn = roce.PSN(e.QP.Endpoint().PSN)
	e.try(func() error { return e.QP.Connect(e.other.QP.Endpoint(), e.Connection) })
}

// Pair makes two QPs and connects them.
func (s *Scene) Pair() *Pair {
	s.t.Helper()
	return s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
}

// Send posts sends, which the driver must take.
func (e *End) Send(wrs ...driver.SendWR) {
	e.scene.t.Helper()
	e.try(func() error {
		_, err := e.QP.PostSend(wrs...)
		return err
	})
}

// Recv posts receives, which the driver must take.
func (e *End) Recv(wrs ...driver.RecvWR) {
	e.scene.t.Helper()
	e.try(func() error {
		_, err := e.QP.PostRecv(wrs...)
		return err
	})
}

// SendWR is a signalled SEND of n bytes at an offset of the buffer.
func (e *End) SendWR(id uint64, off, n int) driver.SendWR {
	return driver.SendWR{ID: id, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{e.MR.SGE(off, n)}}
}

// RecvWR is a receive of n bytes at an offset of the buffer.
func (e *End) RecvWR(id uint64, off, n int) driver.RecvWR {
	return driver.RecvWR{ID: id, SGEs: []driver.SGE{e.MR.SGE(off, n)}}
}

// Recvs are receives of n bytes each with the given IDs, side by side from an
// offset of the buffer.
func (e *End) Recvs(off, n int, ids ...uint64) (wrs []driver.RecvWR) {
	for i, id := range ids {
		wrs = append(wrs, e.RecvWR(id, off+i*n, n))
	}
	return wrs
}

// Done is a completion as tests name it: work request and status.
type Done struct {
	ID     uint64
	Status abi.WCStatus
}

// Sent waits for send completions, which must be these in this order, and
// returns them.
func (e *End) Sent(want ...Done) []driver.WC {
	e.scene.t.Helper()
	return e.demand(e.SCQ, false, want)
}

// Received waits for receive completions, which must be these in this order.
func (e *End) Received(want ...Done) []driver.WC {
	e.scene.t.Helper()
	return e.demand(e.RCQ, true, want)
}

func (e *End) demand(c *driver.CQ, recv bool, want []Done) []driver.WC {
	t := e.scene.t
	t.Helper()
	wcs := e.Await(c, len(want))
	got := make([]Done, len(wcs))
	for i, w := range wcs {
		got[i] = Done{w.ID, w.Status}
		require.Equal(t, e.QP.Number(), w.QPN)
		require.Equal(t, recv, w.Opcode.IsRecv(), "%+v", w)
	}
	require.Equal(t, append([]Done{}, want...), got)
	for _, w := range wcs { // IBTA: vendor syndromes tell flushes from failures
		require.Equal(t, w.Status == abi.StatusWRFlush, w.VendorErr == abi.VendorFlush, "%+v", w)
		require.Equal(t, w.Status == abi.StatusSuccess, w.VendorErr == abi.VendorNone, "%+v", w)
	}
	return wcs
}

// All are completions of the work requests with one status.
func All(s abi.WCStatus, ids ...uint64) (d []Done) {
	for _, id := range ids {
		d = append(d, Done{id, s})
	}
	return d
}

// OK are completions of the work requests in success.
func OK(ids ...uint64) []Done { return All(abi.StatusSuccess, ids...) }

// Flushed are completions of flushed work requests.
func Flushed(ids ...uint64) []Done { return All(abi.StatusWRFlush, ids...) }

// Query asks the device for the QP.
func (e *End) Query() (m abi.QPMailbox) {
	e.scene.t.Helper()
	e.try(func() (err error) {
		m, err = e.QP.Query()
		return err
	})
	return m
}

// DemandState demands that the device has the QP in a state.
func (e *End) DemandState(want abi.QPState) {
	e.scene.t.Helper()
	require.Equal(e.scene.t, want, e.Query().State)
}

// Reset takes the QP to RESET.
func (e *End) Reset() {
	e.scene.t.Helper()
	e.try(func() error { return e.QP.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState) })
}

// Fail takes the QP to ERR by request.
func (e *End) Fail() {
	e.scene.t.Helper()
	e.try(func() error { return e.QP.Modify(driver.QPAttr{State: abi.QPErr}, abi.AttrState) })
}

// DemandNone demands that a completion queue has nothing now.
func (d *Side) DemandNone(c *driver.CQ) {
	t := d.scene.t
	t.Helper()
	var wc [1]driver.WC
	var n int
	d.Do(func() { n, d.err = c.Poll(wc[:]) })
	require.NoError(t, d.err)
	require.Zero(t, n, "%s, CQ %d: completion that nobody expects: %+v", d.K.Name(), c.Number(), wc)
}

// Poll takes all completions that a queue has now.
func (d *Side) Poll(c *driver.CQ) (wcs []driver.WC) {
	d.scene.t.Helper()
	d.try(func() error {
		for {
			var wc [16]driver.WC
			n, err := c.Poll(wc[:])
			if n == 0 || err != nil {
				return err
			}
			wcs = append(wcs, wc[:n]...)
		}
	})
	return wcs
}
