package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// limit reads the armed limit of the queue.
func (w *shared) limit() (n int) {
	w.t.Helper()
	w.B.Must(func() error {
		a, err := w.srq.Query()
		n = a.Limit
		return err
	})
	return n
}

// arm sets the limit.
func (w *shared) arm(n int) {
	w.t.Helper()
	w.B.Must(func() error { return w.srq.Modify(driver.SRQAttr{Limit: n}, abi.SRQLimit) })
}

// consume has pair i take n receives, from first on, and returns the events of B.
func (w *shared) consume(i int, first uint64, n int) (l []abi.EventType) {
	w.t.Helper()
	p := w.pairs[i]
	for k := range uint64(n) {
		p.A.Send(w.send(i, 1, 0, 100))
		p.A.Sent(e2e.OK(1)...)
		p.B.Received(e2e.OK(first + k)...)
	}
	w.Sleep(1000)
	es := w.B.Events()
	for _, e := range es {
		if e.Type == abi.EventSRQLimitReached {
			require.Equal(w.t, w.srq.Number(), e.Number)
		}
	}
	return types(es)
}

// TestSharedLimit (B203, B206): fewer receives than the limit: one event, once, and the
// limit reads 0 from then on; armed when there are fewer already: one at the next take, or
// at once; taken back: none.
func TestSharedLimit(t *testing.T) {
	reached := []abi.EventType{abi.EventSRQLimitReached}
	for name, ts := range mixes {
		t.Run(name, func(t *testing.T) {
			w := newShared(t, quick, driver.SRQAttr{MaxRecv: 15, MaxSGE: 1}, ts...)
			w.recv(ids(0, 10)...)
			require.Empty(t, w.consume(0, 0, 1), "it is not armed")
			w.arm(5)
			require.Equal(t, 5, w.limit())
			require.Empty(t, w.consume(0, 1, 4), "5 are left")
			require.Equal(t, 5, w.limit())
			require.Equal(t, reached, w.consume(1, 5, 1), "4 are left")
			require.Zero(t, w.limit())
			require.Empty(t, w.consume(2, 6, 1), "once")
			// 3 are left.
			w.arm(5)
			w.Sleep(1000)
			early := types(w.B.Events())
			require.Equal(t, reached, append(early, w.consume(0, 7, 1)...), "one, at once or with the take")
			require.Zero(t, w.limit())
			w.arm(2)
			w.arm(0)
			require.Empty(t, w.consume(1, 8, 2))
			w.recv(ids(10, 10)...)
			w.arm(10)
			require.Equal(t, reached, w.consume(2, 10, 1))
			require.Empty(t, w.consume(2, 11, 9))
		})
	}
}

// TestSharedResize: the queue grows while QPs take from it; what was posted is taken in
// turn, and there is the new room for more.
func TestSharedResize(t *testing.T) {
	for name, ts := range mixes {
		t.Run(name, func(t *testing.T) {
			w := newShared(t, quick, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1, Limit: 1}, ts...)
			next, posted := uint64(0), uint64(0)
			for _, size := range []int{7, 15, 40, 100, 10} {
				for ; posted-next < 7; posted++ {
					w.recv(posted)
				}
				for i, p := range w.pairs { // messages that arrive meanwhile
					p.A.Send(w.send(i, 1, 0, 3000), w.send(i, 2, 0, 300))
				}
				w.B.Must(func() error { return w.srq.Modify(driver.SRQAttr{MaxRecv: size}, abi.SRQRing) })
				for _, p := range w.pairs {
					p.A.Sent(e2e.OK(1, 2)...)
					w.B.Await(p.B.RCQ, 2)
				}
				next += 6
				room := w.srq.MaxRecv
				require.GreaterOrEqual(t, room, size)
				for ; posted-next < uint64(room); posted++ {
					w.recv(posted)
				}
				w.B.Refused(driver.ErrNoMemory, func() error { _, err := w.srq.PostRecv(driver.RecvWR{}); return err })
				require.Empty(t, w.consume(int(next%3), next, room-1))
				next += uint64(room - 1)
			}
			require.Equal(t, 127, w.srq.MaxRecv)
			require.Equal(t, []abi.EventType{abi.EventSRQLimitReached}, w.consume(1, next, 1))
		})
	}
}

// endings are how a QP of a shared queue ends.
var endings = map[string]func(e *e2e.End){
	"ERR": func(e *e2e.End) { e.Fail() }, "RESET": func(e *e2e.End) { e.Reset() }, "destroyed": func(e *e2e.End) { e.Must(e.QP.Destroy) },
}

// TestSharedEnds (B208, B249): a QP ends in the midst of a message. ERR flushes the
// receive that it had taken, and then tells that this was its last; RESET and its end
// give the place back unseen, once. The others go on with those that are left.
func TestSharedEnds(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		for name, end := range endings {
			for _, taken := range []bool{true, false} {
				t.Run(fmt.Sprintf("%v, %s, taken %t", typ, name, taken), func(t *testing.T) {
					w := newShared(t, quick, driver.SRQAttr{MaxRecv: 15, MaxSGE: 1}, typ, typ)
					w.recv(ids(0, 15)...)
					p, next := w.pairs[0], uint64(0)
					if taken {
						first := roce.RCSendFirst
						if typ == abi.QPTypeUC {
							first = roce.UCSendFirst
						}
						w.B.Arrive(p.B.Forge(first, p.B.FirstPSN(), e2e.Bytes(1024, 1)))
						next = 1
					}
					require.Empty(t, w.consume(1, next, 3))
					end(p.B)
					var want []abi.EventType
					if name == "ERR" {
						want = []abi.EventType{abi.EventQPLastWQEReached}
						if taken {
							p.B.Received(e2e.Flushed(0)...)
						}
					}
					require.Equal(t, want, w.consume(1, next+3, 3), "a QP of 2")
					w.recv(ids(15, 6)...)
					if taken { // its place is free as well, once
						w.recv(21)
					}
					w.B.Refused(driver.ErrNoMemory, func() error { _, err := w.srq.PostRecv(driver.RecvWR{}); return err })
					n := 15
					if taken {
						n++
					}
					require.Empty(t, w.consume(1, next+6, n-int(next)))
					w.B.DemandNone(p.B.RCQ)
					if name != "destroyed" {
						p.B.Reset()
						p.A.Reset()
						p.A.Reconnect()
						p.B.Reconnect()
						w.recv(40, 41)
						require.Empty(t, w.consume(0, 40, 1))
						require.Empty(t, w.consume(1, 41, 1))
						p.B.Fail() // again once
						w.Sleep(1000)
						require.Equal(t, []abi.EventType{abi.EventQPLastWQEReached}, types(w.B.Events()))
					}
				})
			}
		}
	}
}

// TestSharedQPFails: a message that its receive can't take ends the QP, or for UC and UD the
// receive alone; the other QPs never notice.
func TestSharedQPFails(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD} {
		for _, bad := range []string{"key", "length", "broken"} {
			if bad == "broken" && typ != abi.QPTypeUC {
				continue
			}
			t.Run(fmt.Sprintf("%v, %s", typ, bad), func(t *testing.T) {
				w := newShared(t, quick, driver.SRQAttr{MaxRecv: 15, MaxSGE: 1}, typ, typ)
				p := w.pairs[0]
				sge := w.B.MR.SGE(0, 100)
				if bad == "key" {
					sge = driver.SGE{Addr: w.B.Buf.Addr, Length: 4096, LKey: 0x77700}
				}
				w.B.Must(func() error {
					_, err := w.srq.PostRecv(driver.RecvWR{ID: 1, SGEs: []driver.SGE{sge}})
					return err
				})
				w.recv(ids(2, 6)...)
				if bad == "broken" {
					w.B.Arrive(p.B.Forge(roce.UCSendFirst, p.B.FirstPSN(), e2e.Bytes(1024, 1)[:1024]))
				} else {
					p.A.Send(w.send(0, 1, 0, 1000))
				}
				sent, got, vendor, ends := abi.StatusSuccess, abi.StatusLocProt, abi.VendorLKeyUnknown, true
				if bad != "key" {
					got, vendor, ends = abi.StatusLocLen, abi.VendorRecvTooLong, typ == abi.QPTypeRC
				}
				if typ == abi.QPTypeRC {
					sent = abi.StatusRemOp
					if bad == "length" {
						sent = abi.StatusRemInvReq
					}
				}
				if bad != "broken" {
					p.A.Sent(e2e.All(sent, 1)...)
				}
				wc := p.B.Received(e2e.All(got, 1)...)[0]
				require.Equal(t, vendor, wc.VendorErr)
				var want []abi.EventType
				if ends {
					p.B.DemandState(abi.QPErr)
					want = []abi.EventType{abi.EventQPLastWQEReached}
				} else {
					p.B.DemandState(abi.QPRTS)
				}
				require.Equal(t, want, w.consume(1, 2, 3))
				if !ends && bad != "broken" {
					require.Empty(t, w.consume(0, 5, 2))
				}
			})
		}
	}
}

// TestSharedBroken: a message of UC that is given up can't give its receive back: it
// completes in error, and the QP goes on.
func TestSharedBroken(t *testing.T) {
	w := newShared(t, quick, driver.SRQAttr{MaxRecv: 15, MaxSGE: 1}, abi.QPTypeUC, abi.QPTypeUC)
	p := w.pairs[0]
	w.recv(ids(1, 6)...)
	psn := p.B.FirstPSN()
	full := e2e.Bytes(1024, 1)
	w.B.Arrive(p.B.Forge(roce.UCSendFirst, psn, full), p.B.Forge(roce.UCSendOnly, psn.Add(1), full[:50]))
	wcs := p.B.Received(then(e2e.All(abi.StatusLocQPOp, 1), e2e.OK(2))...)
	require.Equal(t, abi.VendorRecvSequence, wcs[0].VendorErr)
	w.B.Arrive(p.B.Forge(roce.UCSendFirst, psn.Add(2), full), p.B.Forge(roce.UCSendLast, psn.Add(4), full[:50]))
	p.B.Received(e2e.All(abi.StatusLocQPOp, 3)...)
	require.Empty(t, w.consume(1, 4, 2))
	w.B.Arrive(p.B.Forge(roce.UCSendOnly, psn.Add(5), full[:50]))
	p.B.Received(e2e.OK(6)...)
	p.B.DemandState(abi.QPRTS)
}

// TestSharedUnreadable: the queue can't be followed any more. It says so once, each QP that
// wants to take from it fails, and one without it works.
func TestSharedUnreadable(t *testing.T) {
	for name, types := range mixes {
		t.Run(name, func(t *testing.T) { testSharedUnreadable(t, types) })
	}
}

func testSharedUnreadable(t *testing.T, ts []abi.QPType) {
	w := newShared(t, quick, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1}, ts...)
	alone := w.Pair()
	w.recv(1)
	require.Empty(t, w.consume(0, 1, 1))
	// Doorbells for receives that are not there.
	bell(t, w.B, uint8(alone.B.Query().UARPage), abi.Doorbell{Number: w.srq.Number(), Kind: abi.DoorbellSRQ, Index: 3})
	for i := range 2 {
		p := w.pairs[i]
		p.A.Send(w.send(i, 1, 0, 100))
		if ts[i] == abi.QPTypeRC {
			p.A.Sent(e2e.All(abi.StatusRemOp, 1)...)
		} else { // nobody tells
			p.A.Sent(e2e.OK(1)...)
			w.Sleep(1000)
		}
		p.B.DemandState(abi.QPErr)
	}
	w.Sleep(1000)
	n := 0
	for _, e := range w.B.Events() {
		if e.Type == abi.EventSRQErr {
			require.Equal(t, w.srq.Number(), e.Number)
			n++
		}
	}
	require.Equal(t, 1, n)
	exchange(t, alone)
	for _, p := range w.pairs {
		w.B.Do(func() { _, _ = p.B.RCQ.Poll(make([]driver.WC, 4)) }) // of receives that nobody posted
		p.B.Must(p.B.QP.Destroy)
	}
	w.B.Must(w.srq.Destroy)
	number := w.srq.Number()
	w.srq, w.pairs, w.ahs = w.B.SRQ(driver.SRQAttr{MaxRecv: 7, MaxSGE: 1}), nil, nil
	for w.srq.Number() != number { // of its number nothing is left
		w.B.Must(w.srq.Destroy)
		w.srq = w.B.SRQ(driver.SRQAttr{MaxRecv: 7, MaxSGE: 1})
	}
	w.join(ts[0])
	w.recv(5)
	require.Empty(t, w.consume(0, 5, 1))
}

// TestSharedEventsAwaitAcks: the end of a shared queue waits until the event that is taken
// is acknowledged.
func TestSharedEventsAwaitAcks(t *testing.T) {
	w := newShared(t, quick, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1, Limit: 1}, abi.QPTypeRC)
	w.recv(1)
	p := w.pairs[0]
	p.A.Send(w.send(0, 1, 0, 100))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(1)...)
	var e driver.AsyncEvent
	w.B.Must(func() (err error) {
		e, _, err = w.B.Dev.AsyncEvent(w.B.Bus.Now() + 1_000_000_000)
		return err
	})
	require.Equal(t, abi.EventSRQLimitReached, e.Type)
	p.B.Must(p.B.QP.Destroy)
	var acked, ended int64
	w.B.Go("acknowledger", func(_ *hdl.Thread, b *host.Bus) {
		b.Spend(100_000_000)
		acked = b.Now()
		_ = w.B.Dev.On(b).AckAsync(e)
	})
	w.B.Must(func() error {
		err := w.srq.Destroy()
		ended = w.B.Bus.Now()
		return err
	})
	require.NotZero(t, acked)
	require.GreaterOrEqual(t, ended, acked)
}
