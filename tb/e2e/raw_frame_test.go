package e2e_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// frames makes a QP for raw frames on each side, which gets those that are not RoCE.
func frames(t *testing.T, o e2e.Options) *e2e.Pair {
	t.Helper()
	s := e2e.New(t, o)
	c := driver.QPConfig{Type: abi.QPTypeRaw}
	p := s.Couple(s.A.QP(c).Start(), s.B.QP(c).Start())
	for _, e := range []*e2e.End{p.A, p.B} {
		e.Raw = true
		e.Must(func() error { return e.Dev.SetRawQP(e.QP) })
	}
	return p
}

// ethernet is a frame of a type with a payload of n bytes.
func ethernet(dst, src roce.MAC, typ uint16, n int, seed uint64) []byte {
	f := append(append([]byte(nil), dst[:]...), src[:]...)
	f = binary.BigEndian.AppendUint16(f, typ)
	return append(f, e2e.Bytes(n, seed)...)
}

// sendFrame has an end send a frame that it writes to its buffer.
func sendFrame(t *testing.T, e *e2e.End, f []byte) {
	t.Helper()
	_, err := e.Buf.WriteAt(f, 0)
	require.NoError(t, err)
	e.Send(e.SendWR(1, 0, len(f)))
}

var (
	hostA, hostB = roce.HostMAC(1), roce.HostMAC(2)
	broadcast    = roce.MAC{255, 255, 255, 255, 255, 255}
)

// TestRawFrames: frames of every kind and length, both ways: sent as they stand, padded on
// the wire, and received with the pad; a question to all, an answer to one.
func TestRawFrames(t *testing.T) {
	p := frames(t, quick)
	for i, c := range []struct {
		dst roce.MAC
		typ uint16
		n   int
	}{
		{hostB, 0x0800, 84}, {hostB, 0x0806, 28}, {broadcast, 0x0806, 28}, {roce.MAC{1, 0, 0x5e, 1, 2, 3}, 0x0800, 100},
		{roce.MAC{0x33, 0x33, 0, 0, 0, 1}, 0x86dd, 200}, {hostB, 0x88b5, 0}, {hostB, 0x88b5, 1}, {hostB, 0x88b5, 45}, {hostB, 0x88b5, 46},
		{hostB, 0x88b5, 47}, {hostB, 0x88b5, 50}, {hostB, 0x88b5, 51}, {hostB, 0x88b5, 113}, {hostB, 0x88b5, 114}, {hostB, 0x88b5, 115},
		{hostB, 0x88b5, 1500}, {hostB, 0x88b5, 4081}, {hostB, 0x88b5, 4082}, {hostB, 5, 60},
	} {
		f := ethernet(c.dst, hostA, c.typ, c.n, uint64(i))
		p.B.Recv(p.B.RecvWR(11, 4096, 4096))
		sendFrame(t, p.A, f)
		p.A.Sent(e2e.OK(1)...)
		wc := p.B.Received(e2e.OK(11)...)[0]
		want := e2e.Pad(append([]byte(nil), f...))
		require.EqualValues(t, len(want), wc.ByteLen)
		require.Zero(t, wc.Flags)
		p.B.Demand(4096, want)
		last := p.A.Seen[len(p.A.Seen)-1]
		same(t, want, last.All)
		// The answer.
		back := ethernet(hostA, hostB, c.typ, c.n, uint64(i)+100)
		p.A.Recv(p.A.RecvWR(12, 8192, 4096))
		sendFrame(t, p.B, back)
		p.B.Sent(e2e.OK(1)...)
		p.A.Received(e2e.OK(12)...)
		p.A.Demand(8192, back)
	}
	v := p.B.Counters()
	require.EqualValues(t, 19, v[abi.RawTxFrames])
	require.EqualValues(t, 19, v[abi.RawRxFrames])
	require.Zero(t, v[abi.TxPackets]+v[abi.RxPackets])
}

// TestRawElements: a frame is gathered from pieces, or inline, and scattered to pieces.
func TestRawElements(t *testing.T) {
	p := frames(t, quick)
	f := ethernet(hostB, hostA, 0x88b5, 300, 1)
	_, err := p.A.Buf.WriteAt(f, 1)
	require.NoError(t, err)
	wr := p.A.SendWR(1, 0, 0)
	wr.SGEs = []driver.SGE{p.A.MR.SGE(1, 13), p.A.MR.SGE(0, 0), p.A.MR.SGE(14, 1), p.A.MR.SGE(15, 300)}
	p.B.Recv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{p.B.MR.SGE(0, 14), p.B.MR.SGE(100, 5), p.B.MR.SGE(200, 1000)}}, p.B.RecvWR(12, 4096, 100))
	p.A.Send(wr)
	p.A.Send(driver.SendWR{ID: 2, Op: abi.OpSend, Signaled: true, Inline: f[:64]})
	p.A.Sent(e2e.OK(1, 2)...)
	p.B.Received(e2e.OK(11, 12)...)
	same(t, f, append(append(p.B.Read(0, 14), p.B.Read(100, 5)...), p.B.Read(200, 295)...))
	p.B.Demand(4096, f[:64])
}

// TestRawTags: a tag that the frame has is on the wire; at the receiver it is in the
// completion, and the first one only; others stay.
func TestRawTags(t *testing.T) {
	p := frames(t, quick)
	for i, c := range []struct {
		tags []byte
		tci  uint16
		left int // tags in the buffer
	}{
		{[]byte{0x81, 0, 0xe0, 77}, 0xe04d, 0}, {[]byte{0x81, 0, 0, 0}, 0, 0}, {[]byte{0x81, 0, 0x1f, 0xff}, 0x1fff, 0},
		{[]byte{0x81, 0, 0, 5, 0x81, 0, 0, 6}, 5, 1}, {[]byte{0x88, 0xa8, 0, 5, 0x81, 0, 0, 6}, 0, 2},
	} {
		for _, n := range []int{1, 38, 42, 46, 100, 1500, 4078 - len(c.tags)} {
			plain := ethernet(hostB, hostA, 0x0800, n, uint64(i))
			f := append(append(append([]byte(nil), plain[:12]...), c.tags...), plain[12:]...)
			p.B.Recv(p.B.RecvWR(11, 4096, 4096))
			sendFrame(t, p.A, f)
			p.A.Sent(e2e.OK(1)...)
			wc := p.B.Received(e2e.OK(11)...)[0]
			same(t, e2e.Pad(append([]byte(nil), f...)), p.A.Seen[len(p.A.Seen)-1].All)
			want := f
			if c.tags[0] == 0x81 {
				want = append(append([]byte(nil), f[:12]...), f[16:]...)
				require.Equal(t, abi.CQEVLAN, wc.Flags)
				require.EqualValues(t, c.tci, wc.Imm)
			} else {
				require.Zero(t, wc.Flags)
			}
			want = append(want, make([]byte, max(0, 60-len(f)))...)
			require.EqualValues(t, len(want), wc.ByteLen)
			p.B.Demand(4096, want)
		}
	}
}

// TestRawSorted: what the raw QP gets and what not: never RoCE to the own address, good or
// bad, never what is for another station; all else.
func TestRawSorted(t *testing.T) {
	p := frames(t, quick)
	s := p.B.Side
	rc := func(change func(q *roce.Packet)) []byte {
		q := p.B.Forge(roce.RCSendOnly, 1, e2e.Bytes(100, 1))
		change(&q)
		return q.Append(nil)
	}
	to := func(m roce.MAC) func(q *roce.Packet) { return func(q *roce.Packet) { q.Eth.Dst = m } }
	edit := func(f []byte, at int, v byte) []byte { f[at] = v; return f }
	for _, c := range []struct {
		name string
		f    []byte
		want abi.Counter // 0: it is received
	}{
		{"RoCE", rc(nothing), abi.RxDropBadTransport},
		{"RoCE over IPv6", rc(func(q *roce.Packet) { q.V6 = true }), abi.RxDropBadTransport},
		{"RoCE in a VLAN", rc(func(q *roce.Packet) { q.Tagged, q.VLAN.VID = true, 5 }), abi.RxDropBadTransport},
		{"RoCE, bad ICRC", edit(rc(nothing), 80, 0), abi.RxDropBadICRC},
		{"RoCE, bad IPv4 checksum", edit(rc(nothing), 24, 0), abi.RxDropMalformed},
		{"RoCE to all", rc(to(broadcast)), 0},
		{"RoCE to a group", rc(to(roce.MAC{1, 0, 0x5e, 0, 0, 1})), 0},
		{"RoCE to another station", rc(to(roce.HostMAC(7))), abi.RxDropNotRoCE},
		{"another station", ethernet(roce.HostMAC(7), hostA, 0x88b5, 100, 1), abi.RxDropNotRoCE},
		{"another port", frame(p.B.Forge(roce.RCSendOnly, 1, nil), func(f []byte) { f[37]++ }), 0},
		{"the RoCE port as source", frame(p.B.Forge(roce.RCSendOnly, 1, nil), func(f []byte) { copy(f[34:], f[36:38]); f[37]++ }), 0},
		{"TCP to the RoCE port", frame(p.B.Forge(roce.RCSendOnly, 1, nil), func(f []byte) { f[23] = 6 }), 0},
		{"ARP", ethernet(hostB, hostA, 0x0806, 46, 1), 0},
		{"LLDP", ethernet(roce.MAC{1, 0x80, 0xc2, 0, 0, 0xe}, hostA, 0x88cc, 46, 1), 0},
		{"length, no type", ethernet(hostB, hostA, 46, 46, 1), 0},
		{"longest", ethernet(hostB, hostA, 0x88b5, 4082, 1), 0},
		{"a byte longer", ethernet(hostB, hostA, 0x88b5, 4083, 1), abi.RxDropNotRoCE},
		{"longer than any", ethernet(hostB, hostA, 0x88b5, 9000, 1), abi.RxDropBadFCS},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, raws := s.Faults(), s.Counters()[abi.RawRxFrames]
			if c.want == 0 {
				p.B.Recv(p.B.RecvWR(11, 4096, 4096))
			}
			s.ArriveFrames(c.f)
			f := s.Faults().Since(before)
			if c.want != 0 {
				require.Equal(t, e2e.Faults{c.want: 1}, f)
				require.Equal(t, raws, s.Counters()[abi.RawRxFrames])
				return
			}
			require.Empty(t, f)
			require.EqualValues(t, len(e2e.Pad(bytes.Clone(c.f))), p.B.Received(e2e.OK(11)...)[0].ByteLen)
			s.Demand(4096, c.f)
			require.Equal(t, raws+1, s.Counters()[abi.RawRxFrames])
		})
	}
}

// TestRawNotTaken: no receive, or one too small: the frame is lost, the receive stays, the
// QP works on. Without a raw QP, or when it has ended, frames are dropped.
func TestRawNotTaken(t *testing.T) {
	p := frames(t, quick)
	f := ethernet(hostB, hostA, 0x88b5, 100, 1)
	send := func() {
		sendFrame(t, p.A, f)
		p.A.Sent(e2e.OK(1)...)
	}
	faults := func(want e2e.Faults, do func()) {
		t.Helper()
		before := p.B.Faults()
		do()
		p.B.Arrive()
		require.Equal(t, want, p.B.Faults().Since(before))
	}
	faults(e2e.Faults{abi.OutOfBuffer: 1, abi.RxDropOther: 1}, send)
	p.B.Recv(p.B.RecvWR(11, 4096, 113))
	faults(e2e.Faults{abi.RespLocalLengthError: 1}, send)
	p.B.DemandNone(p.B.RCQ)
	f = f[:113]
	faults(e2e.Faults{}, send)
	p.B.Received(e2e.OK(11)...)
	p.B.Demand(4096, f)
	p.B.DemandState(abi.QPRTS)
	p.B.Must(func() error { return p.B.Dev.SetRawQP(nil) })
	faults(e2e.Faults{abi.RxDropNotRoCE: 1}, send)
	p.B.Must(func() error { return p.B.Dev.SetRawQP(p.B.QP) })
	p.B.Reset()
	faults(e2e.Faults{abi.RxDropBadState: 1}, send)
	p.B.Start()
	p.B.Recv(p.B.RecvWR(11, 4096, 113))
	faults(e2e.Faults{}, send)
	p.B.Received(e2e.OK(11)...)
	p.B.Must(p.B.QP.Destroy)
	faults(e2e.Faults{abi.RxDropNotRoCE: 1}, send)
	p.B.Refused(driver.ErrInvalid, func() error { return p.B.Dev.SetRawQP(p.B.QP) })
	ud := p.B.Side.QP(driver.QPConfig{Type: abi.QPTypeUD})
	p.B.Refused(driver.ErrInvalid, func() error { return p.B.Dev.SetRawQP(ud.QP) })
}

// TestRawRefused: frames that can't be sent: too short, too long, or of memory that may not
// be read. SQE, and on again.
func TestRawRefused(t *testing.T) {
	for n, c := range map[int]struct {
		status abi.WCStatus
		vendor abi.VendorErr
	}{0: {abi.StatusLocLen, abi.VendorWQELength}, 1: {abi.StatusLocLen, abi.VendorWQELength}, 13: {abi.StatusLocLen, abi.VendorWQELength},
		4097: {abi.StatusLocLen, abi.VendorWQELength}, 1 << 20: {abi.StatusLocLen, abi.VendorWQELength}, 64: {abi.StatusLocProt, abi.VendorLKeyUnknown}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := frames(t, quick)
			f := ethernet(hostB, hostA, 0x88b5, 50, 1)
			_, err := p.A.Buf.WriteAt(f, 0)
			require.NoError(t, err)
			bad := p.A.SendWR(2, 0, n)
			if n == 64 {
				bad.SGEs[0].LKey ^= 0x40
			}
			p.B.Recv(p.B.Recvs(4096, 100, 11, 12)...)
			p.A.Send(p.A.SendWR(1, 0, 64), bad, p.A.SendWR(3, 0, 64))
			wcs := p.A.Sent(then(e2e.OK(1), e2e.All(c.status, 2), e2e.Flushed(3))...)
			require.Equal(t, c.vendor, wcs[1].VendorErr)
			p.A.DemandState(abi.QPSQE)
			p.A.Restart()
			p.A.Send(p.A.SendWR(4, 0, 64))
			p.A.Sent(e2e.OK(4)...)
			p.B.Received(e2e.OK(11, 12)...)
		})
	}
}

// TestRawBesideRoCE: raw frames and messages of RC share the wire, and neither suffers.
func TestRawBesideRoCE(t *testing.T) {
	p := frames(t, quick)
	s := p.A.Scene()
	q := s.Pair()
	s.A.Fill(100_000, 60_000, 3)
	f := ethernet(hostB, hostA, 0x88b5, 1000, 1)
	_, err := s.A.Buf.WriteAt(f, 0)
	require.NoError(t, err)
	for range 4 {
		q.B.Recv(q.B.RecvWR(12, 200_000, 60_000))
		p.B.Recv(p.B.Recvs(10_000, 1100, 0, 1, 2, 3, 4, 5, 6, 7)...)
		q.A.Send(q.A.SendWR(2, 100_000, 60_000))
		for i := range 8 {
			p.A.Send(p.A.SendWR(uint64(i), 0, len(f)))
		}
		p.A.Sent(e2e.OK(0, 1, 2, 3, 4, 5, 6, 7)...)
		q.A.Sent(e2e.OK(2)...)
		q.B.Received(e2e.OK(12)...)
		p.B.Received(e2e.OK(0, 1, 2, 3, 4, 5, 6, 7)...)
		s.B.Demand(200_000, e2e.Bytes(60_000, 3))
		for i := range 8 {
			s.B.Demand(10_000+1100*i, f)
		}
	}
}
