package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// inState runs a test for each type of QP, with and without SRQ, in each state that it can
// be in.
func inState(t *testing.T, test func(t *testing.T, w *walker, srq *driver.SRQ, state abi.QPState)) {
	t.Helper()
	for _, c := range qpTypes {
		for state := abi.QPReset; state <= abi.QPErr; state++ {
			if state == abi.QPSQE && c.typ == abi.QPTypeRC {
				continue
			}
			t.Run(typeName(c.typ, c.srq)+", "+state.String(), func(t *testing.T) {
				s := e2e.New(t, quick)
				var srq *driver.SRQ
				if c.srq {
					srq = s.A.SRQ(driver.SRQAttr{MaxRecv: 4, MaxSGE: 1})
				}
				w := newWalker(t, s, c.typ, srq)
				w.bring(state)
				test(t, w, srq, state)
				s.A.Events()
			})
		}
	}
}

// TestStates (B071): who may post in which state. Sends are refused up to RTR and receives
// in RESET; in SQD sends wait, in SQE they flush, in ERR both do, in post order each on
// its own queue. A QP with SRQ takes no receives of its own, and one that is destroyed none
// of anything.
func TestStates(t *testing.T) {
	inState(t, func(t *testing.T, w *walker, srq *driver.SRQ, state abi.QPState) {
		post := func(id uint64) (send, recv error) {
			w.Do(func() {
				_, send = w.QP.PostSend(driver.SendWR{ID: id, Op: abi.OpNop, Signaled: true})
				_, recv = w.QP.PostRecv(driver.RecvWR{ID: id + 10})
			})
			return send, recv
		}
		sends, receives := state >= abi.QPRTS, state != abi.QPReset && srq == nil
		for id := range uint64(2) {
			send, recv := post(id)
			if sends {
				require.NoError(t, send)
			} else {
				require.ErrorIs(t, send, driver.ErrInvalid)
			}
			if receives {
				require.NoError(t, recv)
			} else {
				require.ErrorIs(t, recv, driver.ErrInvalid)
			}
		}
		w.Scene().Sleep(3000)
		switch state {
		case abi.QPRTS:
			w.Sent(e2e.OK(0, 1)...)
		case abi.QPSQE, abi.QPErr:
			w.Sent(e2e.Flushed(0, 1)...)
		}
		w.DemandNone(w.SCQ)
		if state == abi.QPSQD {
			require.NoError(t, w.modify(0, abi.QPRTS, abi.AttrState))
			w.Sent(e2e.OK(0, 1)...)
		}
		if state == abi.QPErr && receives {
			w.Received(e2e.Flushed(10, 11)...)
		}
		w.DemandNone(w.RCQ)
		if state != abi.QPErr {
			w.Fail() // from every state
			if receives {
				w.Received(e2e.Flushed(10, 11)...)
			}
		}
		send, recv := post(5) // those that mark the end
		require.NoError(t, send)
		w.Sent(e2e.Flushed(5)...)
		if srq == nil {
			require.NoError(t, recv)
			w.Received(e2e.Flushed(15)...)
		} else {
			require.ErrorIs(t, recv, driver.ErrInvalid)
		}
		w.Must(w.QP.Destroy)
		send, recv = post(6)
		require.ErrorIs(t, send, driver.ErrInvalid)
		require.ErrorIs(t, recv, driver.ErrInvalid)
	})
}

// TestEventsOfStates: what each state has to tell by an event: with an SRQ, ERR that there
// will be no more completions of it, once; RTS to SQD with a wish for it, that it has
// drained, once; and nothing else.
func TestEventsOfStates(t *testing.T) {
	inState(t, func(t *testing.T, w *walker, srq *driver.SRQ, state abi.QPState) {
		s := w.Scene()
		events := func(want ...abi.EventType) {
			t.Helper()
			s.Sleep(2000)
			es := s.A.Events()
			require.Equal(t, want, types(es))
			for _, e := range es {
				require.Equal(t, w.QP.Number(), e.Number)
			}
		}
		var last []abi.EventType
		if srq != nil {
			last = []abi.EventType{abi.EventQPLastWQEReached}
		}
		if state == abi.QPErr {
			events(last...)
		} else {
			events()
		}
		if state == abi.QPRTS && w.typ != abi.QPTypeRaw {
			for _, wish := range []bool{false, true, false, true} {
				w.attr.SQDAsyncNotify = wish
				require.NoError(t, w.modify(0, abi.QPSQD, abi.AttrState|abi.AttrSQDAsyncNotify))
				if wish {
					events(abi.EventSQDrained)
				} else {
					events()
				}
				require.NoError(t, w.modify(0, abi.QPRTS, abi.AttrState))
				events()
			}
		}
		if state != abi.QPErr {
			w.Fail()
			events(last...)
		}
		w.Fail()
		events()
		w.Reset()
		events()
		w.Fail()
		events(last...) // of its next life
	})
}

// TestEstablished: a message that finds its receiver in RTR is taken, and tells that the
// connection stands: once, and of RC and UC alone, for UD and raw QPs have none. One that
// is not taken tells nothing.
func TestEstablished(t *testing.T) {
	for _, c := range qpTypes {
		t.Run(typeName(c.typ, c.srq), func(t *testing.T) {
			s := e2e.New(t, quick)
			var srq *driver.SRQ
			if c.srq {
				srq = s.A.SRQ(driver.SRQAttr{MaxRecv: 4, MaxSGE: 1})
			}
			w := newWalker(t, s, c.typ, srq)
			w.bring(abi.QPRTR)
			if c.srq {
				w.Must(func() error {
					_, err := srq.PostRecv(w.Recvs(0, 200, 11, 12, 13)...)
					return err
				})
			} else {
				w.Recv(w.Recvs(0, 200, 11, 12, 13)...)
			}
			arrive, wrong := w.arrivals()
			wrong()
			require.Empty(t, s.A.Events())
			w.DemandNone(w.RCQ)
			var want []abi.EventType
			if c.typ == abi.QPTypeRC || c.typ == abi.QPTypeUC {
				want = []abi.EventType{abi.EventCommEst}
			}
			arrive(0)
			w.Received(e2e.OK(11)...)
			es := s.A.Events()
			require.Equal(t, want, types(es))
			for _, e := range es {
				require.Equal(t, w.QP.Number(), e.Number)
			}
			arrive(1)
			w.Received(e2e.OK(12)...)
			w.DemandState(abi.QPRTR)
			require.NoError(t, w.modify(0, abi.QPRTS, abi.AttrState|w.needs(abi.QPRTR, abi.QPRTS)))
			arrive(2)
			w.Received(e2e.OK(13)...)
			require.Empty(t, s.A.Events(), "once")
		})
	}
}

// arrivals are what has message i arrive at the QP, of 100 bytes, and what has one arrive
// that is not good.
func (w *walker) arrivals() (arrive func(i uint32), wrong func()) {
	data, first := e2e.Bytes(100, 1), roce.PSN(w.attr.RQPSN)
	switch w.typ {
	case abi.QPTypeUD:
		return func(i uint32) { w.Arrive(w.ForgeDatagram(first.Add(i), data)) }, func() {
			p := w.ForgeDatagram(first, data)
			p.DETH.QKey++
			w.Arrive(p)
		}
	case abi.QPTypeRaw:
		w.Raw = true
		w.Must(func() error { return w.Dev.SetRawQP(w.QP) })
		return func(uint32) { w.ArriveFrames(ethernet(hostA, hostB, 0x88b5, 86, 1)) }, func() {
			w.ArriveFrames(ethernet(roce.HostMAC(7), hostB, 0x88b5, 86, 1))
		}
	case abi.QPTypeUC:
		return func(i uint32) { w.Arrive(w.Forge(roce.UCSendOnly, first.Add(i), data)) }, func() {
			w.Arrive(w.Forge(roce.UCSendLast, first, data))
		}
	}
	return func(i uint32) { w.Arrive(w.Forge(roce.RCSendOnly, first.Add(i), data)) }, func() {
		w.Arrive(w.Forge(roce.RCSendOnly, first.Add(5), data))
	}
}
