package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// to has an end change its state.
func to(e *e2e.End, s abi.QPState) {
	e.Must(func() error { return e.QP.Modify(driver.QPAttr{State: s}, abi.AttrState) })
}

// TestFlushOfTypes (B063, B068): ERR by request flushes sends and receives, each in post
// order on its own queue, also those posted later, and once each; the peer notices nothing,
// and in its next life the QP works.
func TestFlushOfTypes(t *testing.T) {
	ofTypes(t, func(t *testing.T, k *talk) {
		k.A.Recv(k.A.Recvs(slot(0), 100, 31, 32, 33)...)
		to(k.A, abi.QPSQD)
		k.A.Send(k.send(1, 0, 64), k.send(2, 100, 64), driver.SendWR{ID: 3, Op: abi.OpNop}, k.send(4, 200, 64))
		k.A.Fail()
		k.A.Send(k.send(5, 0, 64))
		k.A.Recv(k.A.RecvWR(34, slot(0), 100))
		k.A.Sent(e2e.Flushed(1, 2, 3, 4, 5)...)
		k.A.Received(e2e.Flushed(31, 32, 33, 34)...)
		require.Equal(t, e2e.Faults{abi.ReqCQEError: 5, abi.RespCQEError: 4}, k.s.A.Faults())
		require.Empty(t, k.s.A.Requests(0))
		k.B.DemandState(abi.QPRTS)
		k.again()
	})
}

// again takes both ends through RESET and has them talk.
func (k *talk) again() {
	k.t.Helper()
	k.A.Reset()
	k.B.Reset()
	for _, e := range []*e2e.End{k.A, k.B} {
		if k.typ == abi.QPTypeRC || k.typ == abi.QPTypeUC {
			e.Reconnect()
		} else {
			e.Start()
		}
	}
	k.B.Recv(k.B.RecvWR(50, slot(2), 4096))
	k.A.Send(k.send(40, 300, 64))
	k.A.Sent(e2e.OK(40)...)
	k.B.Received(e2e.OK(50)...)
	k.demand(2, 300, 64)
}

// TestResetOfTypes (B008, B076): two QPs of a type share completion queues, with completions
// that nobody has taken. RESET of one, or its end, takes away its own and no others; and its
// next life works.
func TestResetOfTypes(t *testing.T) {
	for _, typ := range fourTypes[:3] { // there is one raw QP that receives
		for name, end := range endings {
			if name == "ERR" {
				continue
			}
			t.Run(fmt.Sprintf("%v, %s", typ, name), func(t *testing.T) {
				s := e2e.New(t, quick)
				ca, cb := driver.QPConfig{SendCQ: s.A.CQ(64), RecvCQ: s.A.CQ(64)}, driver.QPConfig{SendCQ: s.B.CQ(64), RecvCQ: s.B.CQ(64)}
				k, o := newTalk(t, s, typ, ca, cb), newTalk(t, s, typ, ca, cb)
				for i := range 3 {
					for _, x := range []*talk{k, o} {
						x.B.Recv(x.B.RecvWR(uint64(11+i), slot(i), 4096))
						x.A.Send(x.send(uint64(1+i), 100*i, 64))
						s.Sleep(1000)
					}
				}
				end(k.A)
				end(k.B)
				o.A.Sent(e2e.OK(1, 2, 3)...)
				o.B.Received(e2e.OK(11, 12, 13)...)
				s.A.DemandNone(ca.SendCQ)
				s.B.DemandNone(cb.RecvCQ)
				if name == "RESET" {
					k.again()
				}
				o.again()
			})
		}
	}
}

// TestDrainOfTypes: SQD lets the sends that have begun finish and begins none; the event tells
// when, once; RTS goes on where it stopped, and ERR flushes what has not begun.
func TestDrainOfTypes(t *testing.T) {
	for _, next := range []abi.QPState{abi.QPRTS, abi.QPErr} {
		for _, typ := range fourTypes {
			t.Run(fmt.Sprintf("%v, then %v", typ, next), func(t *testing.T) {
				const count, n = 60, 4000
				c := driver.QPConfig{MaxSend: count, MaxRecv: count, MaxSendSGE: 1, MaxRecvSGE: 1}
				k := newTalk(t, e2e.New(t, quick), typ, c, c)
				k.B.Recv(k.recvs(count)...)
				var wrs []driver.SendWR
				for i := range count {
					wrs = append(wrs, k.send(uint64(1+i), n*(i%20), n))
				}
				var err error
				k.A.Do(func() {
					if _, err = k.A.QP.PostSend(wrs...); err != nil {
						return
					}
					k.A.Bus.Spend(150 * tb.PeriodPs) // some have begun
					attr, mask := driver.QPAttr{State: abi.QPSQD, SQDAsyncNotify: true}, abi.AttrState
					if k.typ != abi.QPTypeRaw {
						mask |= abi.AttrSQDAsyncNotify
					}
					err = k.A.QP.Modify(attr, mask)
				})
				require.NoError(t, err)
				k.s.Sleep(6000)
				begun := succeeded(t, k.A.Poll(k.A.SCQ), 1)
				require.Positive(t, begun)
				require.Less(t, begun, count, "all had begun before it came")
				var want []abi.EventType
				if k.typ != abi.QPTypeRaw {
					want = []abi.EventType{abi.EventSQDrained}
				}
				require.Equal(t, want, types(k.s.A.Events()))
				k.B.Received(e2e.OK(ids(11, begun)...)...)
				k.B.DemandNone(k.B.RCQ)
				to(k.A, next)
				if next == abi.QPErr {
					k.A.Sent(e2e.Flushed(ids(uint64(1+begun), count-begun)...)...)
					k.s.Sleep(1000)
					k.B.DemandNone(k.B.RCQ)
					k.B.Fail()
					k.B.Received(e2e.Flushed(ids(uint64(11+begun), count-begun)...)...)
				} else {
					k.A.Sent(e2e.OK(ids(uint64(1+begun), count-begun)...)...)
					k.B.Received(e2e.OK(ids(uint64(11+begun), count-begun)...)...)
				}
				for i := range count {
					if i < begun || next == abi.QPRTS {
						k.demand(i, n*(i%20), n)
					}
				}
				require.Empty(t, k.s.A.Events(), "one event a drain")
			})
		}
	}
}

// TestOverrunOfTypes (B164): a completion queue without room fails, and with it, by an event
// of its own, the QP that needs it: of the sender, or of the receiver.
func TestOverrunOfTypes(t *testing.T) {
	for _, typ := range fourTypes {
		for _, receiver := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, receiver %t", typ, receiver), func(t *testing.T) {
				o := quick
				o.Dirty = true
				s := e2e.New(t, o)
				var ca, cb driver.QPConfig
				if receiver {
					cb.RecvCQ = s.B.CQ(4)
				} else {
					ca.SendCQ = s.A.CQ(4)
				}
				k := newTalk(t, s, typ, ca, cb)
				d, e, small := k.s.A, k.A, k.A.SCQ
				if receiver {
					d, e, small = k.s.B, k.B, k.B.RCQ
				}
				k.B.Recv(k.recvs(12)...)
				for i := range 12 {
					k.A.Send(k.send(uint64(1+i), 100*i, 64))
				}
				s.Sleep(100_000)
				e.DemandState(abi.QPErr)
				es := d.Events()
				require.Equal(t, []abi.EventType{abi.EventCQErr, abi.EventQPFatal}, types(es))
				require.Equal(t, small.Number(), es[0].Number)
				require.Equal(t, e.QP.Number(), es[1].Number)
				wcs, err := pollAll(d, small)
				require.ErrorIs(t, err, driver.ErrOverrun)
				first := uint64(1)
				if receiver {
					first = 11
				}
				for i, w := range wcs {
					require.Equal(t, first+uint64(i), w.ID)
					require.Equal(t, abi.StatusSuccess, w.Status)
				}
				require.GreaterOrEqual(t, len(wcs), 4)
				exchange(t, s.Pair())
			})
		}
	}
}

// TestUnreadableOfTypes (B239): host memory that can't be read: payload, send WQE, receive
// WQE. What needs it fails as its type does, tells so by a completion, and never by an
// event; the other end goes on.
func TestUnreadableOfTypes(t *testing.T) {
	for _, typ := range fourTypes {
		for _, what := range []string{"payload", "WQE", "receive WQE"} {
			t.Run(fmt.Sprintf("%v, %s", typ, what), func(t *testing.T) {
				bad := &readFaults{fault: host.FaultUR, n: 1}
				o := quick
				o.Bench.Host, o.Driver.NoPush = host.Params{Fault: bad.judge}, true
				s := e2e.New(t, o)
				k := newTalk(t, s, typ, driver.QPConfig{}, driver.QPConfig{})
				switch what {
				case "payload":
					bad.base, bad.size = s.A.Buf.Pages()[1], 4096
				case "WQE":
					bad.base, bad.size = k.A.Query().SQBase, 64
				case "receive WQE":
					bad.base, bad.size = k.B.Query().RQBase, 4096
				}
				k.B.Recv(k.recvs(3)...)
				s.Sleep(2000)
				k.A.Send(k.send(1, 4096, 64))
				if what == "receive WQE" {
					k.A.Sent(k.failed(abi.StatusRemOp, 1)...)
					k.B.Received(then(e2e.All(abi.StatusLocQPOp, 11), e2e.Flushed(12, 13))...)
					k.B.DemandState(abi.QPErr)
				} else {
					k.A.Send(k.send(2, 0, 64))
					k.A.Sent(then(e2e.All(abi.StatusLocQPOp, 1), e2e.Flushed(2))...)
					k.A.DemandState(k.fails())
					k.B.DemandState(abi.QPRTS)
					if typ != abi.QPTypeRC {
						k.A.Restart()
						k.A.Send(k.send(3, 100, 64))
						k.A.Sent(e2e.OK(3)...)
						k.B.Received(e2e.OK(11)...)
						k.demand(0, 100, 64)
					}
				}
				require.Equal(t, 1, bad.fired)
				require.Empty(t, s.A.Events())
				require.Empty(t, s.B.Events())
				require.NotZero(t, s.A.Faults()[abi.DMAReadErrors]+s.B.Faults()[abi.DMAReadErrors])
				k.drop()
				k.again()
			})
		}
	}
}

// drop takes both ends to ERR and forgets what is flushed.
func (k *talk) drop() {
	for _, e := range []*e2e.End{k.A, k.B} {
		e.Fail()
		k.s.Sleep(2000)
		e.Poll(e.SCQ)
		e.Poll(e.RCQ)
	}
}
