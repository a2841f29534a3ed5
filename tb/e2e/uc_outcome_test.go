package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestUCNotTaken: what the responder of UC can't do is dropped with the rest of its
// message: SUCCESS at the sender, at the receiver a counter, no event, and both stay in
// RTS. A receive that was taken takes the next message.
func TestUCNotTaken(t *testing.T) {
	type row struct {
		name    string
		access  abi.AccessFlags
		recvs   func(w *world) []driver.RecvWR
		wr      func(w *world) driver.SendWR
		counter abi.Counter
		drops   uint64 // packets that count as dropped besides
		stays   bool   // what the first two packets of a WRITE brought
	}
	var rows []row
	for _, n := range []int{100, 1024, 3000} {
		packets := uint64((n + 1023) / 1024)
		for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpWriteImm} {
			r := row{name: fmt.Sprintf("%v of %d bytes, no receive", op, n), wr: func(w *world) driver.SendWR { return w.op(1, op, 0, n) }, counter: abi.OutOfBuffer, drops: packets}
			if op == abi.OpWriteImm {
				r.drops, r.stays = 1, n == 3000
			}
			rows = append(rows, r)
		}
		for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpWriteImm} {
			rows = append(rows, row{name: fmt.Sprintf("%v of %d bytes, not a right of the QP", op, n), access: abi.AccessRemoteRead, recvs: two,
				wr: func(w *world) driver.SendWR { return w.op(1, op, 0, n) }, counter: abi.RxDropOther, drops: packets - 1})
			for _, x := range badTargets {
				rows = append(rows, row{name: fmt.Sprintf("%v of %d bytes, %s", op, n, x.name), recvs: two,
					wr: func(w *world) driver.SendWR {
						wr := aim(w, w.op(1, op, 0, n), x)
						wr.Signaled = true
						return wr
					}, counter: abi.RespRemoteAccessErrors, drops: ^uint64(0)})
			}
		}
		rows = append(rows, row{name: fmt.Sprintf("SEND of %d bytes, too long", n),
			recvs: func(w *world) []driver.RecvWR { return w.B.Recvs(0, n-1, 11, 12) },
			wr:    func(w *world) driver.SendWR { return w.op(1, abi.OpSend, 0, n) }, counter: abi.RespLocalLengthError, drops: ^uint64(0)})
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w := reach(t, driver.QPConfig{Type: abi.QPTypeUC, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4}, driver.ConnectOptions{Access: r.access})
			if r.recvs != nil {
				w.B.Recv(r.recvs(w)...)
			}
			before := w.s.B.Faults()
			w.A.Send(r.wr(w))
			w.A.Sent(e2e.OK(1)...)
			w.s.Sleep(3000)
			f := w.s.B.Faults().Since(before)
			if r.counter == abi.RxDropOther {
				require.EqualValues(t, r.drops+1, f[r.counter])
			} else {
				require.EqualValues(t, 1, f[r.counter], "%v", f)
				if r.drops != ^uint64(0) {
					require.EqualValues(t, r.drops, f[abi.RxDropOther])
				}
			}
			w.B.DemandNone(w.B.RCQ)
			if r.recvs == nil {
				w.B.Recv(two(w)...)
			}
			w.A.Send(w.op(2, abi.OpSend, 5000, 99), w.op(3, abi.OpSendImm, 6000, 98))
			w.A.Sent(e2e.OK(2, 3)...)
			wcs := w.B.Received(e2e.OK(11, 12)...)
			require.EqualValues(t, 99, wcs[0].ByteLen)
			require.EqualValues(t, 98, wcs[1].ByteLen)
			w.A.DemandState(abi.QPRTS)
			w.B.DemandState(abi.QPRTS)
			require.Empty(t, w.s.B.Events())
			if r.stays { // WRITE_IMM: what came before the last packet stays
				copy(w.b[farAt:farAt+2048], w.a)
			}
			w.s.B.Demand(farAt, w.b[farAt:farAt+farSize])
		})
	}
}

// TestUCLocalFaults: a receive of UC that may not be written. Its completion tells, the
// QP fails with all that it has, and the sender notices nothing.
func TestUCLocalFaults(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeUC, abi.QPTypeUD} {
		for _, l := range badKeys(t) {
			t.Run(fmt.Sprintf("%v, %s", typ, l.name), func(t *testing.T) {
				s := e2e.New(t, quick)
				var p *e2e.Pair
				var wr driver.SendWR
				if typ == abi.QPTypeUD {
					p = s.Datagrams(driver.QPConfig{IPv6: true}) // the header fills its 40 bytes
					wr = p.A.Datagram(1, 0, 960, s.A.AHTo(p.B), p.B)
				} else {
					c := driver.QPConfig{Type: typ}
					p = s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{})
					wr = p.A.SendWR(1, 0, 1000)
				}
				p.B.Recv(driver.RecvWR{ID: 11, SGEs: l.list(s.B)}, p.B.RecvWR(12, 0, 4096))
				p.A.Send(wr)
				p.A.Sent(e2e.OK(1)...)
				wcs := p.B.Received(then(e2e.All(abi.StatusLocProt, 11), e2e.Flushed(12))...)
				require.Equal(t, l.vendor, wcs[0].VendorErr)
				p.B.DemandState(abi.QPErr)
				p.A.DemandState(abi.QPRTS)
				require.Empty(t, s.B.Events())
				require.EqualValues(t, 1, s.B.Faults()[abi.RespLocalProtectionErrors])
			})
		}
	}
}

// TestUCSendFaults: a send of UC that fails. What was before it is done, what is behind
// flushes, the state is SQE and the peer notices no more than a message that ends too
// soon; in RTS again both queues work.
func TestUCSendFaults(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpWrite, abi.OpWriteImm} {
		for _, l := range badKeys(t) {
			t.Run(fmt.Sprintf("%v, %s", op, l.name), func(t *testing.T) {
				w := reachUC(t)
				w.B.Recv(w.B.Recvs(0, 4096, 11, 12, 13)...)
				w.A.Recv(w.A.Recvs(60_000, 4096, 21, 22)...)
				bad := w.op(2, op, 0, 0)
				bad.SGEs, bad.Signaled = append([]driver.SGE{w.A.MR.SGE(0, 2000)}, l.list(w.s.A)...), false
				w.A.Send(w.op(1, abi.OpSend, 0, 3000), bad, w.op(3, abi.OpWrite, 0, 10), w.op(4, abi.OpSend, 0, 10))
				wcs := w.A.Sent(then(e2e.OK(1), e2e.All(abi.StatusLocProt, 2), e2e.Flushed(3, 4))...)
				require.Equal(t, l.vendor, wcs[1].VendorErr)
				w.B.Received(e2e.OK(11)...)
				w.A.DemandState(abi.QPSQE)
				w.A.Send(w.op(5, abi.OpSend, 0, 10))
				w.A.Sent(e2e.Flushed(5)...)
				w.B.Send(w.B.SendWR(1, 0, 100))
				w.B.Sent(e2e.OK(1)...)
				w.A.Received(e2e.OK(21)...)
				w.A.Restart()
				w.A.Send(w.op(6, abi.OpSend, 3000, 2000))
				w.A.Sent(e2e.OK(6)...)
				w.B.Received(e2e.OK(12)...)
				w.s.B.Demand(4096, w.a[3000:5000])
				w.B.Send(w.B.SendWR(2, 0, 100))
				w.B.Sent(e2e.OK(2)...)
				w.A.Received(e2e.OK(22)...)
				require.Empty(t, w.s.A.Events())
				require.Empty(t, w.s.B.Events())
			})
		}
	}
}

// TestSQEStates: what may be done in SQE. To RTS only, and to ERR and RESET as from any
// state: ERR flushes the receives as well. RC has no SQE, and it is none to ask for.
func TestSQEStates(t *testing.T) {
	fail := func(t *testing.T) *world {
		w := reachUC(t)
		bad := w.op(1, abi.OpSend, 0, 0)
		bad.SGEs = []driver.SGE{{Addr: 1, Length: 5, LKey: 0x77700}}
		w.A.Recv(w.A.Recvs(0, 100, 21, 22)...)
		w.A.Send(bad)
		w.A.Sent(e2e.All(abi.StatusLocProt, 1)...)
		w.A.DemandState(abi.QPSQE)
		return w
	}
	to := func(s abi.QPState) driver.QPAttr { return driver.QPAttr{State: s, CurState: abi.QPSQE, Port: 1} }
	w := fail(t)
	w.A.Refused(driver.ErrInvalid, func() error { return w.A.QP.Modify(to(abi.QPSQD), abi.AttrState) })
	w.A.Refused(driver.ErrInvalid, func() error { return w.A.QP.Modify(to(abi.QPSQE), abi.AttrState) })
	w.A.Refused(driver.ErrInvalid, func() error { return w.A.QP.Modify(to(abi.QPInit), abi.AttrState) })
	w.A.Refused(driver.ErrInvalid, func() error {
		a := to(abi.QPRTS)
		a.CurState = abi.QPRTS
		return w.A.QP.Modify(a, abi.AttrState|abi.AttrCurState)
	})
	w.A.Refused(driver.ErrInvalid, func() error { return w.A.QP.Modify(to(abi.QPRTS), abi.AttrState|abi.AttrSQPSN) })
	w.A.DemandState(abi.QPSQE)
	w.A.Must(func() error { return w.A.QP.Modify(to(abi.QPErr), abi.AttrState) })
	w.A.Received(e2e.Flushed(21, 22)...)
	w = fail(t)
	w.A.Reset()
	w.B.Reset()
	w.A.Reconnect()
	w.B.Reconnect()
	w.B.Recv(w.B.RecvWR(11, 0, 100))
	w.A.Send(w.op(2, abi.OpSend, 0, 100))
	w.A.Sent(e2e.OK(2)...)
	w.B.Received(e2e.OK(11)...)
	r := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
	r.A.Refused(driver.ErrInvalid, func() error { return r.A.QP.Modify(to(abi.QPSQE), abi.AttrState) })
	r.A.DemandState(abi.QPRTS)
}

// TestOperationsOfTypes (B066): what a type of QP does not do is refused at the post, and
// a WQE that does it all the same completes once, in error.
func TestOperationsOfTypes(t *testing.T) {
	ops := map[abi.QPType][]abi.WQEOp{
		abi.QPTypeUC:  {abi.OpSendInv, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd},
		abi.QPTypeUD:  {abi.OpSendInv, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd, abi.OpLocalInv, abi.OpBindMW, abi.OpFastReg},
		abi.QPTypeRaw: {abi.OpSendImm, abi.OpSendInv, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd, abi.OpLocalInv, abi.OpBindMW, abi.OpFastReg},
	}
	for typ, list := range ops {
		for _, op := range append(list, abi.OpNop+1, 0xff) {
			t.Run(fmt.Sprintf("%v, %v", typ, op), func(t *testing.T) {
				s := e2e.New(t, quick)
				c := driver.QPConfig{Type: typ}
				var e *e2e.End
				if typ == abi.QPTypeUC {
					e = s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{}).A
				} else {
					e = s.A.QP(c).Start()
				}
				wr := e.SendWR(1, 0, 8)
				wr.Op = op
				e.Refused(driver.ErrInvalid, func() error {
					_, err := e.QP.PostSend(wr)
					return err
				})
				// The same by hand.
				wr.Op = abi.OpNop
				ring := e.Query().SQBase
				spoil(t, e, func() error {
					_, err := e.QP.PostSend(wr, driver.SendWR{ID: 2, Op: abi.OpNop, Signaled: true})
					return err
				}, ring, []byte{byte(op)})
				wcs := e.Sent(then(e2e.All(abi.StatusLocQPOp, 1), e2e.Flushed(2))...)
				require.Equal(t, abi.VendorWQEOp, wcs[0].VendorErr)
				e.DemandState(abi.QPSQE)
				require.Empty(t, s.A.Requests(0))
			})
		}
	}
}
