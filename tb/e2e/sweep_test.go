package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestLengths (B028, B098, B105, B111): lengths around nothing, one packet and two, for
// every MTU.
func TestLengths(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	for mtu := abi.MTU256; mtu <= abi.MTU4096; mtu++ {
		p := s.Join(s.A.QP(driver.QPConfig{MaxSend: 64, MaxRecv: 64, MaxSendSGE: 1, MaxRecvSGE: 1}),
			s.B.QP(driver.QPConfig{MaxSend: 64, MaxRecv: 64, MaxSendSGE: 1, MaxRecvSGE: 1}), driver.ConnectOptions{MTU: mtu})
		m := int(mtu.Bytes())
		var lengths []int
		for d := -8; d <= 8; d++ {
			for _, base := range []int{8, m, 2 * m} {
				lengths = append(lengths, base+d)
			}
		}
		p.A.Fill(0, 9000, uint64(mtu))
		var sends []driver.SendWR
		var recvs []driver.RecvWR
		var ids []uint64
		for i, n := range lengths {
			sends = append(sends, p.A.SendWR(uint64(i), i, n))
			recvs = append(recvs, p.B.RecvWR(uint64(i), 9000*i, 9000))
			ids = append(ids, uint64(i))
		}
		from := len(s.A.Seen)
		p.B.Recv(recvs...)
		p.A.Send(sends...)
		p.A.Sent(e2e.OK(ids...)...)
		wcs := p.B.Received(e2e.OK(ids...)...)
		packets := 0
		for i, n := range lengths {
			require.EqualValues(t, n, wcs[i].ByteLen)
			p.B.Demand(9000*i, e2e.Bytes(9000, uint64(mtu))[i:i+n])
			packets += max(1, (n+m-1)/m)
		}
		require.Equal(t, packets, len(s.A.Requests(from)))
	}
}

// TestRandomMoments (B194): a post at every distance in cycles from the one before,
// while the device works, ends and sleeps. The last one is always executed.
func TestRandomMoments(t *testing.T) {
	for _, c := range []driver.Config{{}, {NoPush: true}} {
		c.PostCost = 1
		s := e2e.New(t, e2e.Options{Driver: c})
		p := s.Pair()
		late := []int{}
		var err error
		s.A.Do(func() {
			for d := 0; d < 330 && err == nil; d++ {
				for k := range uint64(2) {
					if _, err = p.A.QP.PostSend(driver.SendWR{ID: k, Op: abi.OpNop, Signaled: true}); err != nil {
						return
					}
					s.A.Bus.Spend(int64(d) * 4000)
				}
				var wcs [2]driver.WC
				for n := 0; n < 2; {
					k, e := p.A.SCQ.Wait(wcs[n:], s.A.Bus.Now()+50_000_000)
					if n += k; e != nil || k == 0 {
						late, err = append(late, d), e
						return
					}
				}
				s.A.Bus.Spend(3_000_000)
			}
		})
		require.NoError(t, err)
		require.Empty(t, late, "distances at which a post was never executed")
		s.Close()
	}
}

// TestRings (B078, B189): work requests of one and two units, round rings of all
// small sizes; each completes once.
func TestRings(t *testing.T) {
	for _, depth := range []int{1, 2, 3, 4, 7} {
		s := e2e.New(t, e2e.Options{})
		c := driver.QPConfig{MaxSend: depth, MaxRecv: depth, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 64}
		p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{})
		p.A.Fill(0, 1000, 1)
		for i := range uint64(40) {
			n := int(i) % 5
			wr := driver.SendWR{ID: i, Op: abi.OpSend, Signaled: true}
			for k := range n {
				wr.SGEs = append(wr.SGEs, p.A.MR.SGE(10*k, 10))
			}
			if n == 0 {
				wr.Inline = e2e.Bytes(1000, 1)[:40]
				n = 4
			}
			p.B.Recv(driver.RecvWR{ID: i, SGEs: []driver.SGE{p.B.MR.SGE(0, 10), p.B.MR.SGE(10, 20), p.B.MR.SGE(30, 10)}})
			p.B.Fill(0, 100, 2)
			p.A.Send(wr)
			p.A.Sent(e2e.OK(i)...)
			p.B.Received(e2e.OK(i)...)
			p.B.Demand(0, e2e.Bytes(1000, 1)[:10*n])
			p.B.Demand(10*n, e2e.Bytes(100, 2)[10*n:])
		}
		s.Close()
	}
}

// TestUnaligned (B145, B149, B237): regions that begin and end anywhere in pages
// that lie anywhere; every byte arrives where it should, its neighbours stay.
func TestUnaligned(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	for _, off := range []int{0, 1, 0x123, 63, 4095} {
		var from, to *driver.Buffer
		var ma, mb *driver.MR
		var err [2]error
		const n = 20_000
		s.Both(func() {
			if from, err[0] = s.A.Dev.AllocBuffer(n+100, off); err[0] == nil {
				ma, err[0] = s.A.PD.RegMRRange(from, 7, n+50, 0)
			}
		}, func() {
			if to, err[1] = s.B.Dev.AllocBuffer(n+100, 4095-off); err[1] == nil {
				mb, err[1] = s.B.PD.RegMRRange(to, 13, n+50, abi.AccessLocalWrite)
			}
		})
		require.Equal(t, [2]error{}, err)
		data := e2e.Bytes(n+100, uint64(off))
		_, e := from.WriteAt(data, 0)
		require.NoError(t, e)
		clean := make([]byte, n+100)
		for i := range clean {
			clean[i] = 0xc5
		}
		for _, at := range []int{0, 1, 49} {
			_, e = to.WriteAt(clean, 0)
			require.NoError(t, e)
			p.B.Recv(driver.RecvWR{ID: 2, SGEs: []driver.SGE{mb.SGE(50-at, n)}})
			p.A.Send(driver.SendWR{ID: 1, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{ma.SGE(at, n)}})
			p.A.Sent(e2e.OK(1)...)
			p.B.Received(e2e.OK(2)...)
			got := make([]byte, n+100)
			_, e = to.ReadAt(got, 0)
			require.NoError(t, e)
			want := append([]byte(nil), clean...)
			copy(want[13+50-at:], data[7+at:7+at+n])
			require.True(t, string(want) == string(got), "offset %d, %d", off, at)
		}
	}
}

// TestHugeRegion (B104): a region of more than 4 GiB is not cut short.
func TestHugeRegion(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	const gib4 = 4 << 30
	var b *driver.Buffer
	var m *driver.MR
	s.B.Do(func() {
		var err error
		if b, err = s.B.Dev.AllocContiguous(gib4+8192, 1<<30); err == nil {
			m, _ = s.B.PD.RegMR(b, abi.AccessLocalWrite)
		}
	})
	require.NotNil(t, m)
	p.A.Fill(0, 3000, 1)
	for i, at := range []int{gib4 - 1500, gib4, gib4 + 8192 - 3000, 0} {
		p.B.Recv(driver.RecvWR{ID: uint64(i), SGEs: []driver.SGE{m.SGE(at, 3000)}})
		p.A.Send(p.A.SendWR(uint64(i), 0, 3000))
		p.A.Sent(e2e.OK(uint64(i))...)
		p.B.Received(e2e.OK(uint64(i))...)
		got := make([]byte, 3000)
		_, err := b.ReadAt(got, int64(at))
		require.NoError(t, err)
		require.True(t, string(e2e.Bytes(3000, 1)) == string(got), "at %d", at)
	}
	p.B.Recv(driver.RecvWR{ID: 5, SGEs: []driver.SGE{m.SGE(gib4+8192-2999, 3000)}})
	p.A.Send(p.A.SendWR(6, 0, 3000))
	p.A.Sent(e2e.All(abi.StatusRemOp, 6)...)
	p.B.Received(e2e.All(abi.StatusLocProt, 5)...)
}

// TestInline (B133): the data is that of the time of posting, and no key is looked at.
func TestInline(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	for n := range 65 {
		p.B.Recv(p.B.RecvWR(uint64(n), 64*n, 64))
		data := e2e.Bytes(n, uint64(n))
		var err error
		s.A.Do(func() {
			_, err = p.A.QP.PostSend(driver.SendWR{ID: uint64(n), Op: abi.OpSend, Signaled: true, Inline: data})
			clear(data)
		})
		require.NoError(t, err)
		p.A.Sent(e2e.OK(uint64(n))...)
		wc := p.B.Received(e2e.OK(uint64(n))...)
		require.EqualValues(t, n, wc[0].ByteLen)
		p.B.Demand(64*n, e2e.Bytes(n, uint64(n)))
	}
}

// TestImmediate (B114, B121, B124): the immediate has one value at both ends and
// stands big-endian on the wire, in the last packet only; the sender's completion
// has none.
func TestImmediate(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	for i, n := range []int{0, 1, 1024, 3000} {
		from := len(s.A.Seen)
		p.B.Recv(p.B.RecvWR(uint64(i), 0, 4000))
		wr := p.A.SendWR(uint64(i), 0, n)
		wr.Op, wr.Imm = abi.OpSendImm, 0x11223344
		p.A.Send(wr)
		a, b := p.A.Sent(e2e.OK(uint64(i))...)[0], p.B.Received(e2e.OK(uint64(i))...)[0]
		require.Equal(t, driver.WC{Opcode: abi.WCSend}, driver.WC{Opcode: a.Opcode, Flags: a.Flags, Imm: a.Imm})
		require.Equal(t, abi.WCRecv, b.Opcode)
		require.Equal(t, abi.CQEWithImm, b.Flags)
		require.EqualValues(t, 0x11223344, b.Imm)
		rs := s.A.Requests(from)
		for k, r := range rs {
			require.Equal(t, k == len(rs)-1, r.BTH.Opcode.HasImm())
			if r.BTH.Opcode.HasImm() {
				f := r.Append(nil)
				require.Equal(t, []byte{0x11, 0x22, 0x33, 0x44}, f[14+20+8+12:14+20+8+16])
			}
		}
	}
}

// TestSourcePorts (B223): one port a QP, in the range for entropy, and not the same
// for all.
func TestSourcePorts(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	ports := map[uint16]bool{}
	for range 8 {
		p := s.Pair()
		from := len(s.A.Seen)
		exchange(t, p)
		rs := append(s.A.Requests(from), s.A.Answers(from)...)
		for _, r := range rs {
			require.Equal(t, rs[0].UDP.SrcPort, r.UDP.SrcPort)
		}
		ports[rs[0].UDP.SrcPort] = true
		require.Equal(t, roce.HostMAC(2), rs[0].Eth.Dst)
	}
	require.Greater(t, len(ports), 1)
}

// TestUnsignalled (B172): every k-th work request is signalled.
func TestUnsignalled(t *testing.T) {
	for _, k := range []uint64{1, 2, 3, 5, 8} {
		s := e2e.New(t, e2e.Options{})
		p := s.Join(s.A.QP(driver.QPConfig{MaxSend: 16, MaxRecv: 1}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{})
		const total = 200
		var got []uint64
		var err error
		s.A.Do(func() {
			for id := uint64(1); id <= total; {
				_, e := p.A.QP.PostSend(driver.SendWR{ID: id, Op: abi.OpNop, Signaled: id%k == 0})
				if e == nil {
					id++
					continue
				}
				var wcs [16]driver.WC
				n, e := p.A.SCQ.Wait(wcs[:], s.A.Bus.Now()+50_000_000)
				if n == 0 || e != nil {
					err = driver.ErrTimeout
					return
				}
				for _, w := range wcs[:n] {
					got = append(got, w.ID)
				}
			}
		})
		require.NoError(t, err)
		s.Sleep(2000)
		for _, w := range s.A.Poll(p.A.SCQ) {
			got = append(got, w.ID)
		}
		require.Equal(t, total/int(k), len(got))
		for i, id := range got {
			require.EqualValues(t, uint64(i+1)*k, id)
		}
		s.Close()
	}
}
