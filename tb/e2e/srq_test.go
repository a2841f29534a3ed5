package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
)

// shared is a scene in which QPs of B take their receives from one queue.
type shared struct {
	*e2e.Scene
	t     *testing.T
	srq   *driver.SRQ
	pairs []*e2e.Pair
	ahs   []*driver.AH // of UD pairs
}

// newShared has a QP of each type listed.
func newShared(t *testing.T, o e2e.Options, a driver.SRQAttr, types ...abi.QPType) *shared {
	t.Helper()
	w := &shared{Scene: e2e.New(t, o), t: t}
	w.srq = w.B.SRQ(a)
	w.A.Fill(0, image, 1)
	for _, typ := range types {
		w.join(typ)
	}
	return w
}

// join adds a pair.
func (w *shared) join(typ abi.QPType) {
	c := driver.QPConfig{Type: typ, MaxSend: 32, MaxRecv: 1, MaxSendSGE: 4, MaxRecvSGE: 4}
	cb := c
	cb.SRQ, cb.RecvCQ = w.srq, w.B.CQ(64)
	a, b := w.A.QP(c), w.B.QP(cb)
	var ah *driver.AH
	if typ == abi.QPTypeUD {
		w.pairs = append(w.pairs, w.Couple(a.Start(), b.Start()))
		ah = w.A.AHTo(b)
	} else {
		w.pairs = append(w.pairs, w.Join(a, b, driver.ConnectOptions{Timeout: 20, RNRRetry: 7, MinRNRTimer: 1}))
	}
	w.ahs = append(w.ahs, ah)
}

// recv posts receives of 4,096 bytes, from id on; each has a place of its own, by its
// ID modulo 64.
func (w *shared) recv(ids ...uint64) {
	w.t.Helper()
	w.B.Must(func() error {
		var wrs []driver.RecvWR
		for _, id := range ids {
			wrs = append(wrs, driver.RecvWR{ID: id, SGEs: []driver.SGE{w.B.MR.SGE(w.at(id), 4096)}})
		}
		_, err := w.srq.PostRecv(wrs...)
		return err
	})
}

func (w *shared) at(id uint64) int { return int(id%64) * 4096 }

// ids are n numbers from first on.
func ids(first uint64, n int) (l []uint64) {
	for i := range uint64(n) {
		l = append(l, first+i)
	}
	return l
}

// send is a send of pair i of n bytes from offset off.
func (w *shared) send(i int, id uint64, off, n int) driver.SendWR {
	p := w.pairs[i]
	if w.ahs[i] != nil {
		return p.A.Datagram(id, off, min(n, 1000), w.ahs[i], p.B)
	}
	return p.A.SendWR(id, off, n)
}

// demand demands that a receive of pair i got n bytes from offset off.
func (w *shared) demand(i int, id uint64, off, n int) {
	w.t.Helper()
	at := w.at(id)
	if w.ahs[i] != nil {
		at, n = at+40, min(n, 1000)
	}
	w.B.Demand(at, e2e.Bytes(image, 1)[off:off+n])
}

// mixes are the QPs that share a queue.
var mixes = map[string][]abi.QPType{
	"RC":         {abi.QPTypeRC, abi.QPTypeRC, abi.QPTypeRC},
	"UC":         {abi.QPTypeUC, abi.QPTypeUC, abi.QPTypeUC},
	"UD":         {abi.QPTypeUD, abi.QPTypeUD, abi.QPTypeUD},
	"each a bit": {abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD},
}

// TestSharedInTurn (B208): receives are taken in the order in which they were posted,
// by whichever QP has a message; those that are left when all QPs are gone are taken by
// the next ones.
func TestSharedInTurn(t *testing.T) {
	for name, types := range mixes {
		t.Run(name, func(t *testing.T) {
			w := newShared(t, quick, driver.SRQAttr{MaxRecv: 30, MaxSGE: 2}, types...)
			require.Equal(t, 31, w.srq.MaxRecv)
			next, posted := uint64(100), uint64(100)
			for round := range 6 {
				w.recv(ids(posted, 10)...)
				posted += 10
				for k := range 7 {
					i := (k*k + round) % len(types)
					at := len(w.pairs) - len(types) + i
					p, n := w.pairs[at], 1+397*k
					p.A.Send(w.send(at, 1, 100*k, n))
					p.A.Sent(e2e.OK(1)...)
					wc := p.B.Received(e2e.OK(next)...)[0]
					if w.ahs[at] == nil {
						require.EqualValues(t, n, wc.ByteLen)
					}
					w.demand(at, next, 100*k, n)
					next++
				}
				if round%2 == 1 { // others take over
					for _, p := range w.pairs[len(w.pairs)-len(types):] {
						p.B.Must(p.B.QP.Destroy)
					}
					for _, typ := range types {
						w.join(typ)
					}
				}
			}
		})
	}
}

// TestSharedAtOnce: all QPs at the same time. Each message is in a receive of its own, and
// each receive completes once.
func TestSharedAtOnce(t *testing.T) {
	for name, types := range mixes {
		t.Run(name, func(t *testing.T) {
			w := newShared(t, quick, driver.SRQAttr{MaxRecv: 63, MaxSGE: 1}, types...)
			first := uint64(64)
			for round := range 4 {
				w.recv(ids(first, 60)...)
				for k := range 20 {
					for i, p := range w.pairs {
						p.A.Send(w.send(i, uint64(k), 1000*i+17*k+round, 1+(k*331)%3000))
					}
				}
				var got []uint64
				for i, p := range w.pairs {
					p.A.Sent(e2e.OK(ids(0, 20)...)...)
					last := uint64(0)
					for k, wc := range p.B.Await(p.B.RCQ, 20) {
						require.Equal(t, abi.StatusSuccess, wc.Status)
						require.True(t, k == 0 || wc.ID > last, "a QP takes in order")
						last = wc.ID
						w.demand(i, wc.ID, 1000*i+17*k+round, 1+(k*331)%3000)
						got = append(got, wc.ID)
					}
				}
				slices.Sort(got)
				require.Equal(t, ids(first, 60), got)
				first += 60
			}
		})
	}
}

// TestSharedFull (B193): a queue of n takes n receives, in one list of more than 32, and
// no more; the list stops at the one that has no room. One QP's message does not end,
// others come and go: freed places are used again, none twice, and the one that is held
// never.
func TestSharedFull(t *testing.T) {
	w := newShared(t, quick, driver.SRQAttr{MaxRecv: 40, MaxSGE: 1}, abi.QPTypeRC, abi.QPTypeRC)
	n := w.srq.MaxRecv
	require.Equal(t, 63, n)
	full := func(first uint64, room int) {
		w.B.Do(func() {
			var wrs []driver.RecvWR
			for i := range uint64(room + 3) {
				wrs = append(wrs, driver.RecvWR{ID: first + i, SGEs: []driver.SGE{w.B.MR.SGE(w.at(first+i), 4096)}})
			}
			k, err := w.srq.PostRecv(wrs...)
			require.ErrorIs(t, err, driver.ErrNoMemory)
			require.Equal(t, room, k)
		})
	}
	full(64, n)
	// Pair 0 sends 2 packets, the last of which waits for 3,000 others.
	psn := w.pairs[0].B.FirstPSN()
	hold := &tb.Strike{Name: "held", Match: requestAt(psn.Add(1)), Do: func(tb.Frame) tb.Verdict { return tb.Verdict{Delay: 60_000} }}
	w.B.SetFault(tb.Strikes(hold))
	w.pairs[0].A.Send(w.send(0, 1, 0, 2000))
	w.Sleep(2000)
	require.Equal(t, 1, hold.Fired)
	next, posted := uint64(65), uint64(64+n)
	q := w.pairs[1]
	for range 5 {
		for range 30 {
			q.A.Send(w.send(1, 2, 5000, 100))
		}
		q.A.Sent(e2e.OK(slices.Repeat([]uint64{2}, 30)...)...)
		q.B.Received(e2e.OK(ids(next, 30)...)...)
		next += 30
		full(posted, 30)
		posted += 30
	}
	w.pairs[0].A.Sent(e2e.OK(1)...)
	w.pairs[0].B.Received(e2e.OK(64)...)
	w.B.Demand(100, e2e.Bytes(image, 1)[100:2000]) // the first 100 are of others, later
	full(posted, 1)
	posted++
	for next < posted {
		q.A.Send(w.send(1, 2, 5000, 100))
		q.A.Sent(e2e.OK(2)...)
		q.B.Received(e2e.OK(next)...)
		next++
	}
}

// TestSharedEmpty: no receive is left. RC waits for one by RNR NAKs, and gets no credits
// told in any answer; UC and UD lose the message.
func TestSharedEmpty(t *testing.T) {
	for _, credits := range []bool{false, true} {
		o := quick
		o.Credits = credits
		w := newShared(t, o, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1}, abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD)
		w.recv(1, 2)
		p := w.pairs[0]
		p.A.Send(w.send(0, 1, 0, 10), w.send(0, 2, 0, 10), w.send(0, 3, 50, 2000))
		p.A.Sent(e2e.OK(1, 2)...)
		p.B.Received(e2e.OK(1, 2)...)
		for i := 1; i < 3; i++ {
			w.pairs[i].A.Send(w.send(i, 9, 0, 10))
			w.pairs[i].A.Sent(e2e.OK(9)...)
		}
		w.Sleep(2000)
		require.GreaterOrEqual(t, w.B.Faults()[abi.OutOfBuffer], uint64(3))
		require.NotZero(t, w.B.Faults()[abi.RNRNaksSent])
		w.recv(3, 4, 5)
		p.A.Sent(e2e.OK(3)...)
		p.B.Received(e2e.OK(3)...)
		w.demand(0, 3, 50, 2000)
		for i := 1; i < 3; i++ {
			w.pairs[i].A.Send(w.send(i, 9, 0, 10))
			w.pairs[i].A.Sent(e2e.OK(9)...)
			w.pairs[i].B.Received(e2e.OK(uint64(3 + i))...)
		}
		for _, a := range w.B.Answers(0) {
			require.True(t, a.AETH.Syndrome>>5 == 1 || a.AETH.Syndrome == 31, "%v", a.AETH.Syndrome)
		}
		w.Close()
	}
}

// TestSharedImmediate: WRITE_IMM takes a receive and leaves its buffer alone.
func TestSharedImmediate(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		w := newShared(t, quick, driver.SRQAttr{MaxRecv: 7, MaxSGE: 1}, typ, typ)
		far := region(t, w.B, w.B.PD, 512<<10, 8192, all)
		w.B.Fill(0, image, 2)
		w.recv(1, 2, 3)
		for i, n := range []int{0, 1000, 3000} {
			p := w.pairs[i%2]
			wr := p.A.SendWR(1, 100, n)
			wr.Op, wr.Imm, wr.RemoteAddr, wr.RKey = abi.OpWriteImm, 77, far.Addr, far.RKey
			p.A.Send(wr)
			p.A.Sent(e2e.OK(1)...)
			wc := p.B.Received(e2e.OK(uint64(i + 1))...)[0]
			require.EqualValues(t, n, wc.ByteLen)
			require.EqualValues(t, 77, wc.Imm)
			w.B.Demand(512<<10, e2e.Bytes(image, 1)[100:100+n])
		}
		w.B.Demand(0, e2e.Bytes(image, 2))
		w.Close()
	}
}

// TestSharedDomains: the elements of a shared queue are of its own domain, not that of
// the QP; keys of the peer are of the QP's.
func TestSharedDomains(t *testing.T) {
	for _, good := range []bool{true, false} {
		t.Run(fmt.Sprint(good), func(t *testing.T) {
			s := e2e.New(t, quick)
			other := domain(s.B)
			mr := region(t, s.B, other, 0, 4096, abi.AccessLocalWrite)
			pd := s.B.PD // of the QP
			if !good {
				mr = s.B.MR
			}
			var srq *driver.SRQ
			s.B.Must(func() (err error) {
				srq, err = other.CreateSRQ(driver.SRQAttr{MaxRecv: 4, MaxSGE: 1})
				return err
			})
			require.NotNil(t, pd)
			p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{SRQ: srq}), driver.ConnectOptions{})
			s.B.Must(func() error {
				_, err := srq.PostRecv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{mr.SGE(0, 100)}}, driver.RecvWR{ID: 12, SGEs: []driver.SGE{mr.SGE(0, 100)}})
				return err
			})
			far := region(t, s.B, s.B.PD, farAt, 100, all)
			w := p.A.SendWR(1, 0, 100)
			w.Op, w.RemoteAddr, w.RKey = abi.OpWrite, far.Addr, far.RKey
			p.A.Send(w, p.A.SendWR(2, 0, 100))
			if good {
				p.A.Sent(e2e.OK(1, 2)...)
				p.B.Received(e2e.OK(11)...)
				return
			}
			p.A.Sent(then(e2e.OK(1), e2e.All(abi.StatusRemOp, 2))...)
			wc := p.B.Received(e2e.All(abi.StatusLocProt, 11)...)[0]
			require.Equal(t, abi.VendorLKeyPD, wc.VendorErr)
			p.B.DemandState(abi.QPErr)
			s.Sleep(1000)
			require.Equal(t, []abi.EventType{abi.EventQPLastWQEReached}, types(s.B.Events()))
		})
	}
}

// types are those of events.
func types(es []driver.AsyncEvent) (l []abi.EventType) {
	for _, e := range es {
		l = append(l, e.Type)
	}
	return l
}

// TestSharedRules: what the verbs of a shared queue refuse; nothing changes then.
func TestSharedRules(t *testing.T) {
	w := newShared(t, quick, driver.SRQAttr{MaxRecv: 4, MaxSGE: 2, Limit: 2}, abi.QPTypeRC)
	p, d := w.pairs[0], w.B
	attr := func(want driver.SRQAttr) {
		d.Must(func() error {
			a, err := w.srq.Query()
			require.Equal(t, want, a)
			return err
		})
	}
	d.Refused(driver.ErrInvalid, func() error { _, err := p.B.QP.PostRecv(driver.RecvWR{}); return err })
	d.Refused(driver.ErrInvalid, func() error {
		n, err := w.srq.PostRecv(driver.RecvWR{ID: 1}, driver.RecvWR{SGEs: make([]driver.SGE, 3)}, driver.RecvWR{ID: 2})
		require.Equal(t, 1, n)
		return err
	})
	d.Refused(driver.ErrBusy, w.srq.Destroy)
	d.Refused(driver.ErrInvalid, func() error { return w.srq.Modify(driver.SRQAttr{Limit: 8}, abi.SRQLimit) })
	d.Refused(driver.ErrInvalid, func() error { return w.srq.Modify(driver.SRQAttr{MaxRecv: 1 << 20}, abi.SRQRing) })
	d.Refused(driver.ErrInvalid, func() error { return w.srq.Modify(driver.SRQAttr{}, 1<<5) })
	d.Refused(driver.ErrInvalid, func() error { _, err := d.PD.CreateSRQ(driver.SRQAttr{MaxRecv: 1 << 20}); return err })
	d.Refused(driver.ErrInvalid, func() error { _, err := d.PD.CreateSRQ(driver.SRQAttr{MaxSGE: 17}); return err })
	d.Refused(driver.ErrInvalid, func() error { _, err := d.PD.CreateSRQ(driver.SRQAttr{MaxRecv: 1, Limit: 2}); return err })
	pd := domain(d)
	var lone *driver.SRQ
	d.Must(func() (err error) { lone, err = pd.CreateSRQ(driver.SRQAttr{}); return err })
	d.Refused(driver.ErrBusy, pd.Destroy)
	d.Must(lone.Destroy)
	d.Refused(driver.ErrInvalid, func() error { _, err := lone.PostRecv(driver.RecvWR{}); return err })
	d.Must(pd.Destroy)
	require.Zero(t, p.B.QP.MaxRecv)
	attr(driver.SRQAttr{MaxRecv: 7, MaxSGE: 2, Limit: 2})
	p.A.Send(p.A.SendWR(1, 0, 0))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(1)...)
	w.Sleep(1000)
	require.Equal(t, []abi.EventType{abi.EventSRQLimitReached}, types(d.Events()))
	attr(driver.SRQAttr{MaxRecv: 7, MaxSGE: 2})
}
