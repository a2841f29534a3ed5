package e2e_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// lastAccess is two connections between A and B, whose driver ends keys of B while A uses
// them on the first.
type lastAccess struct {
	t    *testing.T
	s    *e2e.Scene
	p, r *e2e.Pair
	base *driver.MR // of B, for windows
	mr   *driver.MR // of B, of which the key is
	w1   *driver.MW
	w2   *driver.MW

	op      abi.WQEOp
	n       int // bytes of each operation
	wrs     int // operations
	done    int // that A has seen to be good, in all
	refused int
}

// most is the most bytes that a key opens.
const most = 64 << 10

// end is a way to end a key of B: open makes one good, close has B or A end it.
type end struct {
	name  string
	open  func(l *lastAccess) (k abi.Key, addr uint64)
	close func(l *lastAccess, k abi.Key) error
	peer  bool // A does
	clean func(l *lastAccess)
}

func newLastAccess(t *testing.T, op abi.WQEOp, n, wrs int, h host.Params) *lastAccess {
	o := quick
	o.Bench.Host = h
	s := e2e.New(t, o)
	c := driver.QPConfig{MaxSend: 32, MaxRecv: 16, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}
	depth := driver.ConnectOptions{MTU: abi.MTU4096, Timeout: 14, MaxRdAtomic: 16, MaxDestRdAtomic: 16}
	l := &lastAccess{t: t, s: s, op: op, n: n, wrs: wrs}
	l.p, l.r = s.Join(s.A.QP(c), s.B.QP(c), depth), s.Join(s.A.QP(c), s.B.QP(c), depth)
	l.base = region(t, s.B, s.B.PD, farAt, most, all|abi.AccessMWBind)
	s.B.Must(func() (err error) {
		if l.w1, err = s.B.PD.AllocMW(abi.KeyWindow1); err == nil {
			l.w2, err = s.B.PD.AllocMW(abi.KeyWindow2)
		}
		return err
	})
	return l
}

// all of the region through a window.
func (l *lastAccess) view(w *driver.MW) driver.Bind {
	return driver.Bind{MW: w, MR: l.base, Addr: l.base.Addr, Length: most, Access: remoteAll}
}

// window1 binds w1.
func window1(l *lastAccess) (abi.Key, uint64) {
	l.s.B.Must(func() error { return l.w1.Bind(l.p.B.QP, driver.BindWR{ID: 5, Signaled: true, Bind: l.view(l.w1)}) })
	l.p.B.Sent(e2e.OK(5)...)
	return l.w1.RKey, l.base.Addr
}

// ends are all ways. A region is one that was registered for it.
func ends() []end {
	fresh := func(l *lastAccess) (abi.Key, uint64) {
		l.mr = region(l.t, l.s.B, l.s.B.PD, farAt, most, all)
		return l.mr.RKey, l.mr.Addr
	}
	dereg := func(l *lastAccess) { l.s.B.Must(l.mr.Dereg) }
	post := func(q *driver.QP, wr driver.SendWR) error {
		_, err := q.PostSend(wr)
		return err
	}
	return []end{
		{"LOCAL_INV of a region", fresh, func(l *lastAccess, k abi.Key) error {
			return post(l.p.B.QP, driver.SendWR{ID: 9, Op: abi.OpLocalInv, Signaled: true, Imm: uint32(k)})
		}, false, dereg},
		{"LOCAL_INV of a window", func(l *lastAccess) (abi.Key, uint64) {
			b := l.view(l.w2)
			b.RKey = abi.MakeKey(l.w2.RKey.Index(), l.w2.RKey.Low()+1)
			l.w2.RKey = b.RKey
			l.p.B.Send(driver.SendWR{ID: 5, Op: abi.OpBindMW, Signaled: true, Bind: &b})
			l.p.B.Sent(e2e.OK(5)...)
			return b.RKey, b.Addr
		}, func(l *lastAccess, k abi.Key) error {
			return post(l.p.B.QP, driver.SendWR{ID: 9, Op: abi.OpLocalInv, Signaled: true, Imm: uint32(k)})
		}, false, nil},
		{"unbind", window1, func(l *lastAccess, k abi.Key) error {
			return l.w1.Bind(l.p.B.QP, driver.BindWR{ID: 9, Signaled: true})
		}, false, nil},
		{"rebind", window1, func(l *lastAccess, k abi.Key) error {
			b := l.view(l.w1)
			b.Addr, b.Length = b.Addr+100, 8
			return l.w1.Bind(l.p.B.QP, driver.BindWR{ID: 9, Signaled: true, Bind: b})
		}, false, nil},
		{"SEND_INV", fresh, func(l *lastAccess, k abi.Key) error {
			return post(l.r.A.QP, driver.SendWR{ID: 9, Op: abi.OpSendInv, Signaled: true, Imm: uint32(k)})
		}, true, dereg},
		{"DEREG_MR", fresh, nil, false, nil},
	}
}

var errLate = errors.New("no completion")

// poll waits for a completion as one that looks all the time.
func poll(d *e2e.Side, c *driver.CQ) error {
	var wc [1]driver.WC
	for until := d.Bus.Now() + 1_000_000_000; d.Bus.Now() < until; {
		n, err := c.Poll(wc[:])
		if err == nil && n == 1 && wc[0].Status != abi.StatusSuccess {
			err = fmt.Errorf("completion in error: %v", wc[0].Status)
		}
		if n == 1 || err != nil {
			return err
		}
	}
	return errLate
}

// try has A begin its operations, and the key end so many ps later, or before. Then the driver of B
// gives the memory a new content, if A reads. In the end no byte is another than when the
// driver knew that the key had ended, and A has read nothing new.
func (l *lastAccess) try(e *end, after int64, seed uint64) {
	t, a, b := l.t, l.s.A, l.s.B
	t.Helper()
	k, addr := e.open(l)
	old, secret := e2e.Bytes(most, 3*seed), e2e.Bytes(most, 3*seed+1)
	_, err := b.Buf.WriteAt(old, farAt)
	require.NoError(t, err)
	a.Fill(0, most, 3*seed+2)
	var wrs []driver.SendWR
	for i := range l.wrs {
		wr := driver.SendWR{ID: uint64(i), Op: l.op, Signaled: true, SGEs: []driver.SGE{a.MR.SGE(i*l.n, l.n)},
			RemoteAddr: addr + uint64(i*l.n), RKey: k, SwapAdd: 1 + uint64(i)}
		wrs = append(wrs, wr)
	}
	if e.peer {
		l.r.B.Recv(l.r.B.RecvWR(8, 0, 100))
	}
	from := len(b.Seen)
	atEnd := make([]byte, most)
	var aErr, bErr error
	begin := a.Bus.Now()
	l.s.Both(func() {
		if e.peer && after < 0 {
			aErr = e.close(l, k)
		}
		a.Bus.Spend(max(0, -after))
		if aErr == nil {
			_, aErr = l.p.A.QP.PostSend(wrs...)
		}
		if e.peer && after >= 0 && aErr == nil {
			a.Bus.Spend(after)
			aErr = e.close(l, k)
		}
	}, func() {
		if !e.peer {
			b.Bus.Spend(max(0, after))
		}
		switch {
		case e.peer:
			bErr = poll(b, l.r.B.RCQ)
		case e.close == nil:
			bErr = l.mr.Dereg()
		default:
			if bErr = e.close(l, k); bErr == nil {
				bErr = poll(b, l.p.B.SCQ)
			}
		}
		if l.op == abi.OpRead {
			_, _ = b.Buf.WriteAt(secret, farAt)
		}
		_, _ = b.Buf.ReadAt(atEnd, farAt)
	})
	what := fmt.Sprintf("%v, %s after %d ns, at %d", l.op, e.name, after/1000, begin/1000)
	require.NoError(t, aErr, what)
	require.NoError(t, bErr, what)
	sent := l.p.A.Await(l.p.A.SCQ, l.wrs)
	if e.peer {
		l.r.A.Sent(e2e.OK(9)...)
	}
	l.s.Sleep(500)
	now := b.Read(farAt, most)
	if at := differs(now, atEnd); at >= 0 {
		t.Fatalf("%s: byte %d changed behind the end of its key", what, at)
	}
	l.judge(what, sent, from, old, now)
	if l.refused += b2i(sent[l.wrs-1].Status != abi.StatusSuccess); sent[l.wrs-1].Status != abi.StatusSuccess {
		for _, p := range []*e2e.End{l.p.A, l.p.B} {
			p.Reset()
		}
		l.p.A.Reconnect()
		l.p.B.Reconnect()
		b.Events()
	}
	if e.clean != nil {
		e.clean(l)
	}
}

// judge looks at what has left B for READs, and at what A was told to be done.
func (l *lastAccess) judge(what string, sent []driver.WC, from int, old, now []byte) {
	at := 0
	for _, f := range l.s.B.Seen[from:] {
		if op := f.BTH.Opcode; f.Tx && f.Err == nil && op.IsResponse() && len(f.Payload) > 0 {
			require.True(l.t, bytes.Equal(old[at:at+len(f.Payload)], f.Payload), "%s: byte %d and more were read behind the end of their key", what, at)
			at += len(f.Payload)
		}
	}
	for i, wc := range sent {
		if wc.Status != abi.StatusSuccess {
			require.Contains(l.t, []abi.WCStatus{abi.StatusRemAccess, abi.StatusWRFlush}, wc.Status, what)
			continue
		}
		l.done++
		switch lo := i * l.n; l.op {
		case abi.OpWrite:
			require.True(l.t, bytes.Equal(l.s.A.Read(lo, l.n), now[lo:lo+l.n]), what)
		case abi.OpFetchAdd:
			require.Equal(l.t, binary.LittleEndian.Uint64(old[lo:])+1+uint64(i), binary.LittleEndian.Uint64(now[lo:]), what)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// differs is the first byte in which two images differ, -1 if none.
func differs(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
