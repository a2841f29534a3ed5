package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// open registers the whole buffer of a side for its peer.
func open(t *testing.T, d *e2e.Side) (mr *driver.MR) {
	t.Helper()
	var err error
	d.Do(func() {
		mr, err = d.PD.RegMR(d.Buf, abi.AccessLocalWrite|abi.AccessRemoteWrite|abi.AccessRemoteRead|abi.AccessRemoteAtomic)
	})
	require.NoError(t, err)
	return mr
}

// readWR is a signalled READ of n bytes from and to the same offset.
func readWR(e *e2e.End, mr *driver.MR, id uint64, off, n int) driver.SendWR {
	wr := e.SendWR(id, off, n)
	wr.Op, wr.RemoteAddr, wr.RKey = abi.OpRead, mr.Addr+uint64(off), mr.RKey
	return wr
}

// TestUnreadableRead (B239): memory of a READ that cannot be read, in the first
// response or in a later one. A NAK takes its place, though acknowledgements are
// due behind it; what came before is there.
func TestUnreadableRead(t *testing.T) {
	const pages = 4
	for _, f := range []host.Fault{host.FaultUR, host.FaultPoison, host.FaultNever} {
		for page := range pages {
			bad := &readFaults{fault: f, n: 1}
			c := tb.Config{Host: host.Params{Fault: bad.judge}}
			c.NIC.Dma.Timeout = 20_000
			s := e2e.New(t, e2e.Options{Bench: c})
			p := s.Pair()
			mr := open(t, s.B)
			p.B.Fill(0, 4096*pages, 9)
			p.B.Recv(p.B.Recvs(100_000, 100, 11, 12, 13)...)
			bad.base, bad.size = s.B.Buf.Pages()[page], 4096
			p.A.Send(readWR(p.A, mr, 1, 4096*pages, 4096), readWR(p.A, mr, 2, 0, 4096*pages), p.A.SendWR(3, 0, 100), p.A.SendWR(4, 0, 100))
			wcs := p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusRemOp, 2)...), e2e.Flushed(3, 4)...)...)
			require.Equal(t, abi.VendorNAKOperational, wcs[1].VendorErr)
			require.Equal(t, 1, bad.fired)
			p.A.Demand(0, e2e.Bytes(4096*pages, 9)[:4096*page])
			answers := s.B.Answers(0)
			nak := answers[len(answers)-1]
			require.Equal(t, roce.NAKSyndrome(roce.NAKRemoteOperation), nak.AETH.Syndrome)
			require.Equal(t, p.B.FirstPSN().Add(uint32(4+4*page)), nak.BTH.PSN)
			p.A.DemandState(abi.QPErr)
			p.B.DemandState(abi.QPErr)
			for _, w := range p.B.Await(p.B.RCQ, 3) {
				require.Contains(t, []abi.WCStatus{abi.StatusSuccess, abi.StatusWRFlush}, w.Status)
			}
			p.A.Reset()
			p.B.Reset()
			p.A.Reconnect()
			p.B.Reconnect()
			p.A.Send(readWR(p.A, mr, 5, 0, 4096*pages))
			p.A.Sent(e2e.OK(5)...)
			p.A.Demand(0, e2e.Bytes(4096*pages, 9))
			s.Close()
		}
	}
}

// TestReadsBothWays: READs, SENDs and WRITEs of both sides at once, all in order.
func TestReadsBothWays(t *testing.T) {
	for _, credits := range []bool{false, true} {
		s := e2e.New(t, e2e.Options{Credits: credits})
		p := s.Pair()
		mrs := []*driver.MR{open(t, s.B), open(t, s.A)}
		ends := []*e2e.End{p.A, p.B}
		const n = 15
		for i, e := range ends {
			e.Fill(500_000, n*8192, uint64(i+1))
			e.Fill(700_000, n*8192, uint64(i+3))
			var ids []uint64
			for j := range uint64(n / 3) {
				ids = append(ids, 100+j)
			}
			e.Recv(e.Recvs(300_000, 9000, ids...)...)
		}
		for i, e := range ends {
			var wrs []driver.SendWR
			for j := range n {
				off, size := 500_000+j*8192, 1+j*577
				wr := e.SendWR(uint64(j), off, size)
				switch j % 3 {
				case 0:
					wr.Op, wr.RemoteAddr, wr.RKey = abi.OpWrite, mrs[i].Addr+uint64(off-500_000), mrs[i].RKey
				case 1:
					wr.Op, wr.RemoteAddr, wr.RKey = abi.OpRead, mrs[i].Addr+uint64(off+200_000), mrs[i].RKey
				}
				wrs = append(wrs, wr)
			}
			e.Send(wrs...)
		}
		for _, e := range ends {
			var ids []uint64
			for j := range uint64(n) {
				ids = append(ids, j)
			}
			e.Sent(e2e.OK(ids...)...)
			e.Received(e2e.OK(100, 101, 102, 103, 104)...)
		}
		for i, e := range ends {
			other := uint64(2 - i)
			for j := range n {
				from, size := j*8192, 1+j*577
				switch j % 3 {
				case 0:
					e.Demand(from, e2e.Bytes(n*8192, other)[from:from+size])
				case 1:
					e.Demand(500_000+from, e2e.Bytes(n*8192, other+2)[from:from+size])
				case 2:
					e.Demand(300_000+j/3*9000, e2e.Bytes(n*8192, other)[from:from+size])
				}
			}
		}
		s.Close()
	}
}

// TestResetWhileReading: the responder, or the requester, goes to RESET under a
// stream of READ responses; the next life is none the worse.
func TestResetWhileReading(t *testing.T) {
	for cycles := int64(0); cycles < 3000; cycles += 250 {
		for side := range 2 {
			s := e2e.New(t, quick)
			p := s.Pair()
			mr := open(t, s.B)
			p.B.Fill(0, 400_000, 9)
			p.A.Send(readWR(p.A, mr, 1, 0, 200_000), readWR(p.A, mr, 2, 200_000, 200_000))
			s.Sleep(cycles)
			[]*e2e.End{p.A, p.B}[side].Reset()
			[]*e2e.End{p.B, p.A}[side].Reset()
			p.A.Reconnect()
			p.B.Reconnect()
			p.A.Send(readWR(p.A, mr, 3, 100, 3000), readWR(p.A, mr, 4, 5000, 0))
			p.A.Sent(e2e.OK(3, 4)...)
			p.A.Demand(100, e2e.Bytes(400_000, 9)[100:3100])
			s.Close()
		}
	}
}

// TestOldAnswers: answers of a QP's old life that wait behind those of another QP,
// when everything is small, do not show up in its next one.
func TestOldAnswers(t *testing.T) {
	for _, jobs := range []int{1, 2, 0} {
		o := quick
		o.Bench.NIC.Responder.Jobs = jobs
		s := e2e.New(t, o)
		busy, p := s.Pair(), s.Pair()
		mr := open(t, s.B)
		p.B.Fill(0, 800_000, 9)
		busy.A.Send(readWR(busy.A, mr, 1, 0, 400_000), readWR(busy.A, mr, 2, 0, 400_000))
		s.Sleep(500)
		p.A.Send(readWR(p.A, mr, 1, 500_000, 3000), readWR(p.A, mr, 2, 500_000, 100_000), readWR(p.A, mr, 3, 500_000, 100_000))
		s.Sleep(1500)
		p.A.Reset()
		p.B.Reset()
		p.A.Reconnect()
		p.B.Reconnect()
		p.A.Send(readWR(p.A, mr, 4, 700_000, 5000))
		p.A.Sent(e2e.OK(4)...)
		p.A.Demand(700_000, e2e.Bytes(800_000, 9)[700_000:705_000])
		busy.A.Sent(e2e.OK(1, 2)...)
		s.Sleep(5000)
		p.A.DemandState(abi.QPRTS)
		s.Close()
	}
}
