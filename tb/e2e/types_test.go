package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// talk is a pair of QPs of a type that can send to each other what the type sends:
// messages, datagrams or frames.
type talk struct {
	*e2e.Pair
	t    *testing.T
	s    *e2e.Scene
	typ  abi.QPType
	ah   *driver.AH
	head int // bytes in front of the data in a receive
}

// bytesFrom is where the buffer of A has the bytes to send, and of B the receives.
const (
	bytesFrom = 0
	bytesTo   = 128 << 10
)

// newTalk makes a pair in RTS. Of raw frames the data begins with the header, so one of
// less than 14 bytes is none.
func newTalk(t *testing.T, s *e2e.Scene, typ abi.QPType, ca, cb driver.QPConfig) *talk {
	t.Helper()
	ca.Type, cb.Type = typ, typ
	k := &talk{t: t, s: s, typ: typ}
	a, b := s.A.QP(ca), s.B.QP(cb)
	s.A.Fill(bytesFrom, image, 1)
	switch typ {
	case abi.QPTypeUD:
		k.Pair, k.head = s.Couple(a.Start(), b.Start()), driver.GRHSize
		k.ah = s.A.AHTo(b)
	case abi.QPTypeRaw:
		k.Pair = s.Couple(a.Start(), b.Start())
		s.A.Raw, s.B.Raw = true, true
		b.Must(func() error { return b.Dev.SetRawQP(b.QP) })
	default:
		k.Pair = s.Join(a, b, timeout8)
	}
	return k
}

// send is a send of n bytes from offset off of A's buffer.
func (k *talk) send(id uint64, off, n int) driver.SendWR {
	if k.typ == abi.QPTypeUD {
		return k.A.Datagram(id, off, n, k.ah, k.B)
	}
	if k.typ == abi.QPTypeRaw {
		_, err := k.A.Buf.WriteAt(ethernet(hostB, hostA, 0x88b5, n-14, uint64(off)), int64(off))
		require.NoError(k.t, err)
	}
	return k.A.SendWR(id, off, n)
}

// slot is where receive i is, of 4 KiB.
func slot(i int) int { return bytesTo + 4096*i }

// recvs are n receives of 4 KiB, from ID 11 on.
func (k *talk) recvs(n int) []driver.RecvWR {
	var l []driver.RecvWR
	for i := range n {
		l = append(l, k.B.RecvWR(uint64(11+i), slot(i), 4096))
	}
	return l
}

// demand demands that receive i has n bytes from offset off of A's buffer.
func (k *talk) demand(i, off, n int) {
	k.t.Helper()
	k.B.Demand(slot(i)+k.head, k.A.Read(off, n))
}

// failed is what becomes of the sender when the receiver has a fault of its own: of RC it
// is told.
func (k *talk) failed(s abi.WCStatus, id uint64) []e2e.Done {
	if k.typ == abi.QPTypeRC {
		return e2e.All(s, id)
	}
	return e2e.OK(id)
}

// fails is the state of a send queue with a fault of its own.
func (k *talk) fails() abi.QPState {
	if k.typ == abi.QPTypeRC {
		return abi.QPErr
	}
	return abi.QPSQE
}

var fourTypes = []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw}

// ofTypes runs a test with a pair of each type, with no faults else.
func ofTypes(t *testing.T, test func(t *testing.T, k *talk)) {
	t.Helper()
	for _, typ := range fourTypes {
		t.Run(typ.String(), func(t *testing.T) {
			test(t, newTalk(t, e2e.New(t, quick), typ, driver.QPConfig{}, driver.QPConfig{}))
		})
	}
}

// nothingAt is an element of no bytes, of a key and an address that there are not.
var nothingAt = driver.SGE{Addr: 77, LKey: 0xdeadbe00}

// TestUnsignalledOfTypes: no completion of a send that asked for none, and all the same
// the data is there; one that fails has one.
func TestUnsignalledOfTypes(t *testing.T) {
	ofTypes(t, func(t *testing.T, k *talk) {
		k.B.Recv(k.recvs(5)...)
		for i := range 4 {
			wr := k.send(uint64(i+1), 200*i, 64+i)
			wr.Signaled = i == 3
			k.A.Send(wr)
		}
		k.A.Sent(e2e.OK(4)...)
		k.B.Received(e2e.OK(11, 12, 13, 14)...)
		for i := range 4 {
			k.demand(i, 200*i, 64+i)
		}
		good, bad, last := k.send(5, 0, 64), k.send(6, 1000, 64), k.send(7, 2000, 64)
		good.Signaled, bad.Signaled, last.Signaled = false, false, false
		bad.SGEs[0].LKey ^= 0x40
		k.A.Send(good, bad, last)
		k.A.Sent(then(e2e.All(abi.StatusLocProt, 6), e2e.Flushed(7))...)
		k.B.Received(e2e.OK(15)...)
		k.A.DemandState(k.fails())
		k.B.DemandState(abi.QPRTS)
		require.Empty(t, k.s.A.Events())
		require.Empty(t, k.s.B.Events())
	})
}

// TestElementsOfTypes: of elements without bytes neither key nor address is looked at, in
// sends and in receives; inline data has no key, and is what it was at the post.
func TestElementsOfTypes(t *testing.T) {
	ofTypes(t, func(t *testing.T, k *talk) {
		k.B.Recv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{nothingAt, k.B.MR.SGE(slot(0), 4096), nothingAt}})
		wr := k.send(1, 0, 300)
		wr.SGEs = []driver.SGE{nothingAt, k.A.MR.SGE(0, 100), nothingAt, k.A.MR.SGE(100, 200)}
		k.A.Send(wr)
		k.A.Sent(e2e.OK(1)...)
		k.B.Received(e2e.OK(11)...)
		k.demand(0, 0, 300)

		k.B.Recv(k.B.RecvWR(12, slot(1), 4096))
		wr = k.send(2, 0, 64)
		source := k.A.Read(0, 64)
		wr.SGEs, wr.Inline = nil, source
		k.A.Must(func() error {
			_, err := k.A.QP.PostSend(wr)
			clear(source)
			return err
		})
		k.A.Sent(e2e.OK(2)...)
		k.B.Received(e2e.OK(12)...)
		k.demand(1, 0, 64)
		if k.typ == abi.QPTypeRaw {
			return // a frame has 14 bytes
		}
		k.B.Recv(driver.RecvWR{ID: 13, SGEs: []driver.SGE{k.B.MR.SGE(slot(2), k.head), nothingAt}}, k.B.RecvWR(14, slot(3), 4096))
		k.B.Fill(slot(3), 4096, 5)
		for i, sges := range [][]driver.SGE{nil, {nothingAt, nothingAt}} {
			wr = k.send(uint64(3+i), 0, 0)
			wr.SGEs = sges
			k.A.Send(wr)
		}
		k.A.Sent(e2e.OK(3, 4)...)
		for _, wc := range k.B.Received(e2e.OK(13, 14)...) {
			require.EqualValues(t, k.head, wc.ByteLen)
		}
		k.B.Demand(slot(3)+k.head, e2e.Bytes(4096, 5)[k.head:])
		if k.typ == abi.QPTypeUC { // nothing to any key and address
			k.B.Recv(driver.RecvWR{ID: 15, SGEs: []driver.SGE{{Addr: 3, Length: 2, LKey: 0xbad00}}})
			wr = driver.SendWR{ID: 5, Op: abi.OpWrite, RemoteAddr: 0xfffffffffffffff0, RKey: 0xdeadbeef, Signaled: true}
			imm := wr
			imm.ID, imm.Op, imm.Imm = 6, abi.OpWriteImm, 9
			k.A.Send(wr, imm)
			k.A.Sent(e2e.OK(5, 6)...)
			wc := k.B.Received(e2e.OK(15)...)[0]
			require.Equal(t, abi.WCRecvWithImm, wc.Opcode)
			require.Zero(t, wc.ByteLen)
			require.EqualValues(t, 9, wc.Imm)
		}
	})
}

// TestReceivesOfTypes: a receive whose element reaches past its
// region takes a message that does not; one that may not be written fails with its QP, and
// what is behind it flushes.
func TestReceivesOfTypes(t *testing.T) {
	ofTypes(t, func(t *testing.T, k *talk) {
		m := region(t, k.s.B, k.s.B.PD, slot(0), 1000, abi.AccessLocalWrite)
		k.B.Recv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{m.SGE(0, 4096)}})
		k.A.Send(k.send(1, 0, 1000-k.head))
		k.A.Sent(e2e.OK(1)...)
		k.B.Received(e2e.OK(11)...)
		k.demand(0, 0, 1000-k.head)
	})
	rows := append(badKeys(t), sges{"no local write", func(d *e2e.Side) []driver.SGE {
		m := region(t, d, d.PD, slot(0), 4096, abi.AccessRemoteRead)
		return []driver.SGE{m.SGE(0, 1000)}
	}, abi.VendorLKeyAccess})
	for _, l := range rows {
		for _, typ := range fourTypes {
			t.Run(fmt.Sprintf("%v, %s", typ, l.name), func(t *testing.T) {
				c := driver.QPConfig{IPv6: typ == abi.QPTypeUD} // the header fills its 40 bytes
				k := newTalk(t, e2e.New(t, quick), typ, c, c)
				k.B.Recv(driver.RecvWR{ID: 11, SGEs: l.list(k.s.B)}, k.B.RecvWR(12, slot(1), 4096))
				k.B.Fill(slot(1), 4096, 3)
				k.A.Send(k.send(1, 0, 1000-k.head))
				k.A.Sent(k.failed(abi.StatusRemOp, 1)...)
				wcs := k.B.Received(then(e2e.All(abi.StatusLocProt, 11), e2e.Flushed(12))...)
				require.Equal(t, l.vendor, wcs[0].VendorErr)
				k.B.DemandState(abi.QPErr)
				require.Empty(t, k.s.B.Events())
				require.EqualValues(t, 1, k.s.B.Faults()[abi.RespLocalProtectionErrors])
				k.B.Demand(slot(1), e2e.Bytes(4096, 3))
				k.B.Send(driver.SendWR{ID: 5, Op: abi.OpNop}) // the send queue fails with it
				k.B.Sent(e2e.Flushed(5)...)
			})
		}
	}
}

// TestFullOfTypes: what a queue has no room for, or is more than it takes, is refused at the
// post; a chain stops there, and what is before is posted.
func TestFullOfTypes(t *testing.T) {
	ofTypes(t, func(t *testing.T, k *talk) {
		k.B.Recv(k.recvs(4)...)
		wide := k.send(2, 0, 64)
		wide.SGEs = make([]driver.SGE, 5)
		fat := k.send(2, 0, 64)
		fat.SGEs, fat.Inline = nil, make([]byte, 65)
		for _, bad := range []driver.SendWR{wide, fat} {
			k.A.Refused(driver.ErrInvalid, func() error {
				n, err := k.A.QP.PostSend(k.send(1, 0, 64), bad, k.send(3, 0, 64))
				require.Equal(t, 1, n)
				return err
			})
			k.A.Sent(e2e.OK(1)...)
		}
		k.B.Received(e2e.OK(11, 12)...)
		k.B.Refused(driver.ErrInvalid, func() error {
			n, err := k.B.QP.PostRecv(k.B.RecvWR(15, slot(4), 4096), driver.RecvWR{SGEs: make([]driver.SGE, 5)}, driver.RecvWR{ID: 99})
			require.Equal(t, 1, n)
			return err
		})
		full := func(e *e2e.End, room int, post func() (int, error)) {
			t.Helper()
			e.Refused(driver.ErrNoMemory, func() error {
				n, err := post()
				require.Equal(t, room, n)
				return err
			})
		}
		var recvs []driver.RecvWR
		for i := range k.B.QP.MaxRecv {
			recvs = append(recvs, k.B.RecvWR(uint64(20+i), slot(5), 4096))
		}
		full(k.B, k.B.QP.MaxRecv-3, func() (int, error) { return k.B.QP.PostRecv(recvs...) })
		k.A.Must(func() error { return k.A.QP.Modify(driver.QPAttr{State: abi.QPSQD}, abi.AttrState) })
		var sends []driver.SendWR
		for i := range k.A.QP.MaxSend + 5 {
			sends = append(sends, driver.SendWR{ID: uint64(20 + i), Op: abi.OpNop, Signaled: true})
		}
		room := 0
		k.A.Refused(driver.ErrNoMemory, func() (err error) {
			room, err = k.A.QP.PostSend(sends...)
			return err
		})
		require.GreaterOrEqual(t, room, k.A.QP.MaxSend)
		full(k.A, 0, func() (int, error) { return k.A.QP.PostSend(sends[room:]...) })
		k.A.Must(func() error { return k.A.QP.Modify(driver.QPAttr{State: abi.QPRTS}, abi.AttrState) })
		k.A.Sent(e2e.OK(ids(20, room)...)...)
		k.B.Fail()
		k.B.Received(e2e.Flushed(append([]uint64{13, 14, 15}, ids(20, k.B.QP.MaxRecv-3)...)...)...)
	})
}
